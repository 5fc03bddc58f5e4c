/* One policy at one reference: its frames, its lists and hands, its decision, its numbers, its source. */
import { element } from "../lib/dom.js";
import { described, describedTree } from "./names.js";
import { Source } from "./source.js";
import { pageName } from "./strings.js";
import { drawTree } from "./tree.js";
import { minWords, told, victims, why } from "./words.js";

function handMark(name) {
  return element("span", { class: "hand" }, name.replaceAll("_", " "));
}

/** Draws a page as a box: its number, and marks for its bits. */
function box(page, { used, dirty, fresh = false, ghost = false, hands = [] }) {
  if (page === null) return element("li", { class: "step-page empty", title: "a free frame" }, "·");
  const states = [used && "used", dirty && "dirty", fresh && "fresh", ghost && "ghost"].filter(Boolean);
  const said = {
    used: "accessed bit set",
    dirty: "dirty",
    fresh: "just brought in",
    ghost: "a ghost: it was evicted",
  };
  const made = element(
    "li",
    {
      class: ["step-page", ...states].join(" "),
      title: [`page ${pageName(page)}`, ...states.map((s) => said[s])].join(", "),
    },
    pageName(page),
    element("span", { class: "bits", "aria-hidden": "true" }, `${used ? "a" : ""}${dirty ? "d" : ""}`),
    element("span", { class: "unseen" }, states.map((state) => `, ${said[state]}`).join("")),
  );
  made.append(...hands.map(handMark));
  return made;
}

/** Ghosts and pages of a list in one order: [page, is a ghost]. */
function members(row, name) {
  return row.ghosts[name] ?? row.lists[name].map((page) => [page, 0]);
}

export class View {
  /** `title`: the policy's name, and what makes this run differ; `run`: the result of Engine.run; `texts`: sources by file. */
  constructor(policy, title, run, texts) {
    this.policy = policy;
    this.title = title;
    this.run = run;
    this.texts = texts;
    this.file = `${policy.name}.c`;
    this.decision = element("p", { class: "step-decision" });
    this.min = element("p", { class: "faint" });
    this.frames = element("ul", { class: "step-row", "aria-label": "Frames" });
    this.lists = element("div");
    this.counts = element("p", { class: "numbers faint" });
    this.shown = element("pre", { class: "faint" });
    this.source = new Source(texts);
    this.place = element(
      "section",
      { class: "card step-card", "aria-label": title },
      element("h3", {}, element("code", {}, title)),
      element("p", { class: "faint" }, policy.summary),
      this.decision,
      this.min,
      element("h4", {}, "Frames"),
      this.frames,
      this.lists,
      this.counts,
      element("details", {}, element("summary", {}, "What the policy itself shows"), this.shown),
      this.source.place,
    );
  }

  /** The row after `at` references; there is none before the first, or after a broken rule. */
  row(at) {
    return this.run.rows[at - 1];
  }

  show(at) {
    const row = this.row(at);
    this.place.classList.toggle("fault", row?.result === "fault");
    this.decision.textContent = this.words(at);
    this.decision.title = row ? why(row) : "";
    this.min.textContent = row ? minWords(row) : "";
    this.showFrames(row, this.row(at - 1));
    this.showLists(row);
    this.showCounts(at);
    this.shown.textContent = row?.show ?? "";
    this.source.show(row, this.file);
    if (!row && at === 0) this.source.scrollTo(this.firstChoice());
  }

  firstChoice() {
    const line = this.run.rows.find((row) => row.line?.[1] === this.file)?.line[2];
    return line && this.source.linesOf(this.file)[line - 1];
  }

  words(at) {
    const row = this.row(at);
    if (row) return told(row, this.policy.name);
    if (at === 0) return "All frames are free.";
    const { rule, hook, what } = this.run.violation;
    const when = at === this.run.rows.length + 1 ? "Here the policy" : "The policy";
    return `${when} broke the rule “${rule}”${hook ? ` in ${hook}` : ""}: ${what}. The kernel would go on with fifo.`;
  }

  showFrames(row, before) {
    const pages = row?.frames ?? before?.frames ?? this.run.empty;
    const boxes = pages.map((page, i) =>
      box(page, {
        used: row?.used.includes(page),
        dirty: row?.dirty.includes(page),
        fresh: row?.result === "fault" && page === row.page,
        hands: this.handsAt(row, (frame) => frame === i),
      }),
    );
    this.frames.replaceChildren(...boxes);
    const left = row ? victims(row) : [];
    if (left.length) this.frames.append(element("li", { class: "step-left" }, `left: ${left.map(pageName).join(" ")}`));
  }

  handsAt(row, test) {
    return Object.entries(row?.hands ?? {})
      .filter(([, frame]) => test(frame))
      .map(([name]) => name);
  }

  /** Marks the position of a list's own hand, and the hands that point into it. */
  handsIn(row, name, member, i) {
    const [page, ghost] = member;
    const own = i === 0 ? this.describe(name).hand : undefined;
    const pointing = ghost ? [] : this.handsAt(row, (frame) => row.frames[frame] === page);
    return own ? [own, ...pointing] : pointing;
  }

  describe(name) {
    return described(name, this.texts[this.file] ?? "");
  }

  list(row, name) {
    const { title, note } = this.describe(name);
    const boxes = members(row, name).map((member, i) => {
      const [page, ghost] = member;
      const used = !ghost && row.used.includes(page);
      const dirty = !ghost && row.dirty.includes(page);
      return box(page, { ghost: !!ghost, used, dirty, hands: this.handsIn(row, name, member, i) });
    });
    for (const hand of this.handsAt(row, (to) => to === name))
      boxes.push(element("li", { class: "step-page empty" }, "head", handMark(hand)));
    return [
      element("h4", {}, "List ", element("code", {}, title), note && `: ${note}`),
      element("ul", { class: "step-row list", "aria-label": `List ${title}` }, ...boxes),
    ];
  }

  tree(row, name) {
    const { kind, nodes } = row.trees[name];
    const { title, note } = describedTree(name, kind, this.texts[this.file] ?? "");
    const drawn = drawTree(nodes, (page) =>
      box(page, { used: row.used.includes(page), dirty: row.dirty.includes(page) }),
    );
    const what = kind === "bag" ? "Bag" : "Tree";
    drawn.ariaLabel = `${what} ${title}, from left to right`;
    return [element("h4", {}, `${what} `, element("code", {}, title), note && `: ${note}`), drawn];
  }

  showLists(row) {
    const lists = row ? [...new Set([...Object.keys(row.lists), ...Object.keys(row.ghosts)])].sort() : [];
    const trees = row ? Object.keys(row.trees) : [];
    const none =
      row && !lists.length && !trees.length
        ? [element("p", { class: "faint" }, "Its pages are in no list or tree that can be shown here.")]
        : [];
    this.lists.replaceChildren(
      ...lists.flatMap((name) => this.list(row, name)),
      ...trees.flatMap((name) => this.tree(row, name)),
      ...none,
    );
  }

  showCounts(at) {
    const { rows, result, violation, least } = this.run;
    const faults = rows.slice(0, at).filter((row) => row.result === "fault").length;
    const parts = [`${faults} faults so far`];
    if (result) parts.push(`${result.faults} in the end`);
    if (violation) parts.push(`the run ended with the rule “${violation.rule}”: ${violation.what}`);
    if (least !== undefined) parts.push(`MIN has ${least}`);
    this.counts.textContent = `${parts.join(", ")}.`;
  }
}
