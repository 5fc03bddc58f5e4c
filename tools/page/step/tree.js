/*
 * A tree of pages, drawn in a grid: a column for each node, from left to right, and a row for each depth. Each column
 * has two halves, so that an edge can go from the middle of a node to the middle of its parent.
 */
import { element } from "../lib/dom.js";

/**
 * Returns the parent of the ith node, -1 for the root: of the nearest less deep nodes on both sides, the deeper one.
 */
export function parentOf(nodes, i) {
  const depth = nodes[i][1];
  const left = nodes.slice(0, i).findLastIndex(([, other]) => other < depth);
  const right = nodes.findIndex(([, other], j) => j > i && other < depth);
  if (left < 0 || right < 0) return Math.max(left, right);
  return nodes[left][1] > nodes[right][1] ? left : right;
}

const middle = (i) => 2 * i + 2;

function edge(from, to, row) {
  const side = from < to ? "from-left" : "from-right";
  const [first, last] = [middle(from), middle(to)].sort((a, b) => a - b);
  const style = `grid-area: ${row} / ${first} / auto / ${last}`;
  return element("li", { class: `edge ${side}`, "aria-hidden": "true", style });
}

/** `nodes`: [[page, depth], ...] from left to right; `box(page)` makes the element of one. */
export function drawTree(nodes, box) {
  const items = nodes.flatMap(([page, depth], i) => {
    const made = box(page);
    const row = depth + 1;
    made.style.gridArea = `${row} / ${middle(i) - 1} / auto / span 2`;
    const parent = parentOf(nodes, i);
    if (parent < 0) return [made];
    made.classList.add("below");
    return [made, edge(i, parent, row)];
  });
  return element("ul", { class: "step-tree", tabindex: "0" }, ...items);
}
