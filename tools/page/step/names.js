/*
 * Names for lists, which the module identifies by the address of their head. The rules are those of
 * tools/tidemark/strings/explain.py: a list has the name of the variable at that address. A head within a larger
 * variable has the name under which the policy's show hook prints a number that always equals the list's length, if
 * there is just one.
 */

/** The last of the variables, [address, bytes, name] in order, that begins at or before an address. */
function variableAt(address, variables) {
  return variables.findLast(([start]) => start <= address);
}

/** `queue`, or `zone+24` for an address within a variable, or the address itself. */
export function symbol(address, variables) {
  const [start, , name] = variableAt(address, variables) ?? [0, 0, ""];
  if (!name) return `0x${address.toString(16)}`;
  return address === start ? name : `${name}+${address - start}`;
}

/** Map of the lines "name: number" of a policy's show hook. */
export function shown(text) {
  const pairs = text.split("\n").map((line) => /^([^:]*):\s*(\d+)\s*$/.exec(line));
  return new Map(pairs.filter(Boolean).map(([, name, number]) => [name, Number(number)]));
}

function shownNames(rows, head) {
  let names = null;
  for (const row of rows) {
    const length = (row.lists[head] ?? []).length;
    const fitting = [...shown(row.show)].filter(([, number]) => number === length).map(([name]) => name);
    names = names === null ? fitting : names.filter((name) => fitting.includes(name));
  }
  return names ?? [];
}

function listNames(rows, variables) {
  const names = new Map();
  for (const row of rows)
    for (const head of Object.keys(row.lists)) {
      if (names.has(head)) continue;
      const name = symbol(Number(head), variables);
      const candidates = shownNames(rows, head);
      names.set(head, name.includes("+") && candidates.length === 1 ? candidates[0] : name);
    }
  return names;
}

function renamed(lists, names, variables) {
  const pairs = Object.entries(lists);
  return Object.fromEntries(pairs.map(([head, list]) => [names.get(head) ?? symbol(Number(head), variables), list]));
}

/** A hand that points to a list's head gets the list's name, any other the number of a frame. */
function pointing(hands, names, variables) {
  const name = (to) => (typeof to === "string" ? (names.get(to) ?? symbol(Number(to), variables)) : to);
  return Object.fromEntries(Object.entries(hands).map(([hand, to]) => [hand, name(to)]));
}

/** Returns the rows with names for their lists, lists of ghosts, and trees. */
export function named(rows, variables) {
  const names = listNames(rows, variables);
  return rows.map((row) => ({
    ...row,
    lists: renamed(row.lists, names, variables),
    ghosts: renamed(row.ghosts, names, variables),
    trees: renamed(row.trees, names, variables),
    hands: pointing(row.hands, names, variables),
  }));
}

const HEAD_BYTES = 8;
const ROOT_BYTES = { tree: 4, bag: 16 };
const IN_PROCESS = /^struct \w+_mm \{[^}]*?\bstruct rb_root (\w+);/m;
const NODE = /\bstruct rb_node \w+;[ \t]*\/\* (.*?) \*\//;

/**
 * What a policy's source says about a list: {title, note, hand}. The comment beside its declaration is the note; if the
 * comment contains "the hand is before the first", a hand is drawn there. In an array, `t+8` is t[1].
 */
export function described(name, text, bytes = HEAD_BYTES) {
  const [variable, offset] = name.split("+");
  const found = new RegExp(`^static .*\\b${variable}(\\[.*?\\])?\\)?;[ \\t]*(?:/\\* (.*?) \\*/)?`, "m").exec(text);
  const [, array, note = ""] = found ?? [];
  const hand = /(\w+) is before the first/.exec(note)?.[1];
  const at = Number(offset ?? 0) / bytes;
  return {
    title: array && Number.isInteger(at) ? `${variable}[${at}]` : name,
    note: note.replace(/; data: .*/, ""),
    hand,
  };
}

/** The same for a tree. In a process's data it has its name there; the comment beside the nodes may give the order. */
export function describedTree(name, kind, text) {
  const { title, note } = described(name, text, ROOT_BYTES[kind]);
  if (kind === "bag") return { title, note: "drawn from by number, which goes row by row" };
  const inProcess = /^mm\b/.test(name) && IN_PROCESS.exec(text)?.[1];
  return { title: inProcess || title, note: note || (NODE.exec(text)?.[1] ?? "").replace(": ", ", ") };
}
