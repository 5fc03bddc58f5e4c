/* A policy's source, with a mark at the line of its last call of the core before it chose. */
import { element } from "../lib/dom.js";

const TOKENS =
  /\/\*[^]*?\*\/|\/\/.*|"(?:\\.|[^"\\\n])*"|^#\w+|\b(?:static|const|struct|enum|union|void|bool|int|char|u8|u16|u32|u64|return|if|else|for|while|do|switch|case|break|continue|default|goto|sizeof|true|false|NULL)\b/gm;

function kindOf(token) {
  if (token.startsWith("/*") || token.startsWith("//")) return "comment";
  return token.startsWith('"') ? "quoted" : "word";
}

/** [[kind, text], ...] for the whole text; kind is "" between tokens. */
function tokens(text) {
  const found = [];
  let at = 0;
  for (const match of text.matchAll(TOKENS)) {
    found.push(["", text.slice(at, match.index)], [kindOf(match[0]), match[0]]);
    at = match.index + match[0].length;
  }
  found.push(["", text.slice(at)]);
  return found;
}

/** An element for each line. */
function lines(text) {
  const made = [element("li")];
  for (const [kind, token] of tokens(text.trimEnd()))
    token.split("\n").forEach((part, i) => {
      if (i) made.push(element("li"));
      if (part) made.at(-1).append(kind ? element("span", { class: kind }, part) : part);
    });
  return made;
}

export class Source {
  /** `texts`: by file name. */
  constructor(texts) {
    this.texts = texts;
    this.files = new Map();
    this.caption = element("p", { class: "faint" });
    this.list = element("ol", { class: "step-source", tabindex: "0", "aria-label": "The policy's source" });
    this.place = element("div", {}, this.caption, this.list);
  }

  linesOf(file) {
    if (!this.files.has(file)) this.files.set(file, lines(this.texts[file] ?? ""));
    return this.files.get(file);
  }

  open(file) {
    if (this.file === file) return;
    this.file = file;
    this.list.replaceChildren(...this.linesOf(file));
  }

  /**
   * Marks the lines of a row: `calls`, [hook, file, line], and `line`, the last one before a page was chosen, or null.
   */
  show(row, file) {
    const [hook, chosenFile, chosenLine] = row?.line ?? [];
    this.open(chosenFile ?? file);
    for (const marked of this.list.querySelectorAll(".called, .chose")) {
      marked.classList.remove("called", "chose");
      marked.removeAttribute("aria-current");
    }
    const all = this.linesOf(this.file);
    for (const [, name, line] of row?.calls ?? []) if (name === this.file) all[line - 1]?.classList.add("called");
    const chosen = all[chosenLine - 1];
    chosen?.classList.add("chose");
    chosen?.setAttribute("aria-current", "step");
    this.caption.replaceChildren(
      ...(chosen
        ? [element("code", {}, `${this.file}:${chosenLine}`), ` was the last call of the core before ${hook} chose`]
        : [
            element("code", {}, this.file),
            row?.calls.length ? ": it called the core from the marked lines" : ": it called nothing",
          ]),
    );
    this.scrollTo(chosen ?? this.list.querySelector(".called"));
  }

  scrollTo(line) {
    if (line) this.list.scrollTop = line.offsetTop - this.list.clientHeight / 2;
  }
}
