/*
 * Runs a policy's C file, compiled to WebAssembly with the simulator's core (core/step.h), over a string. Each run uses
 * its own instance of the module, from its first reference to its last, and produces a row for each reference. Stepping
 * only moves between the rows.
 */
import { future } from "./future.js";
import { named } from "./names.js";

export const STEP_NS = 100_000; // same as in tools/tidemark/strings/refstrings.py
const PROCESS = "mm"; // the name of its variable in tables.js
const WITH_FUTURE = ["min", "vmin"];

class Run {
  constructor(instance) {
    this.calls = instance.exports;
    this.decoder = new TextDecoder();
  }

  /** Returns what the module has printed, as objects. */
  lines(at) {
    const bytes = new Uint8Array(this.calls.memory.buffer, at, this.calls.length());
    return this.decoder
      .decode(bytes)
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }

  /** Calls an export that prints. A trap is a broken rule, or a crash whose cause the module cannot name. */
  ask(name, ...args) {
    try {
      return this.lines(this.calls[name](...args));
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      return this.lastWords();
    }
  }

  /** Returns the broken rule that was printed before the trap; if there is none, the policy crashed. */
  lastWords() {
    let said = [];
    try {
      said = this.lines(this.calls.text());
    } catch {
      // The output ended in the middle of a line.
    }
    return [said.find((line) => line.violation) ?? this.lines(this.calls.crashed())[0]];
  }

  tell(pages, ns) {
    const words = future(pages, ns);
    const at = this.calls.future(words.byteLength);
    new Uint32Array(this.calls.memory.buffer, at, words.length).set(words);
  }

  /** Returns the trees of pages in these variables: {address of the root: {kind, nodes: [[page, depth], ...]}}. */
  trees(variables) {
    const found = variables.map(([address, bytes]) => this.ask("trees", address, bytes)[0]);
    return Object.assign({}, ...found);
  }

  /** Returns the targets of the policy's pointers into lists: {name: frame}, or {name: address} of the list's head. */
  hands({ pointers, heads }) {
    const words = new Uint32Array(this.calls.memory.buffer);
    const found = {};
    for (const [address, , name] of pointers) {
      const to = words[address / 4];
      const frame = this.calls.frame(to);
      if (frame >= 0) found[name] = frame;
      else if (heads.includes(to)) found[name] = `0x${to.toString(16)}`;
    }
    return found;
  }
}

/**
 * Adds the page that MIN would evict at each reference with an eviction: the resident page whose next use is furthest
 * away.
 */
export function withMin(rows) {
  const next = new Map();
  const after = [];
  for (let i = rows.length - 1; i >= 0; i--) {
    after[i] = new Map(next);
    next.set(rows[i].page, i);
  }
  return rows.map((row, i) => {
    const taken = row.hooks.some((hook) => hook.act === "evict" && !hook.trim);
    const held = i && taken ? rows[i - 1].frames.filter((page) => page !== null) : [];
    const uses = held.map((page) => ({ page, next: after[i].get(page) ?? Infinity }));
    const last = Math.max(...uses.map((use) => use.next));
    const best = uses.filter((use) => use.next === last).map((use) => use.page);
    return { ...row, min: best, minNext: last === Infinity ? null : last + 1 };
  });
}

export class Engine {
  /** `bytes`: the module; `tables`: the output of tables.js. */
  static async load(bytes, tables) {
    const engine = new Engine();
    engine.module = await WebAssembly.compile(bytes);
    engine.tables = tables;
    engine.policies = (await engine.instance()).ask("policies");
    return engine;
  }

  async instance() {
    return new Run(await WebAssembly.instantiate(this.module));
  }

  variables(policy) {
    const own = this.tables.variables[policy] ?? [];
    return [...own, ...(this.tables.variables[""] ?? [])].sort(([a], [b]) => a - b);
  }

  /** The policy's pointer variables, and the addresses of its other variables, which may be heads of lists. */
  pointers(policy) {
    const own = this.tables.variables[policy] ?? [];
    const text = this.tables.texts[`${policy}.c`] ?? "";
    const pointers = own.filter(([, , name]) => new RegExp(`^static .*\\*${name}[,;]`, "m").test(text));
    return { pointers, heads: own.map(([address]) => address) };
  }

  /** The variables that may hold roots of trees: the policy's own of these types, and its data of the process. */
  roots(policy) {
    const text = this.tables.texts[`${policy}.c`] ?? "";
    return this.variables(policy).filter(
      ([, , name]) => name === PROCESS || new RegExp(`^static struct (rb_root|bag) ${name}\\b`, "m").test(text),
    );
  }

  /**
   * refs: [{page, kind}], page f3 of a file is page 3 of a kind with OF_FILE (strings.js). params: {name: number}.
   * Returns {rows, result}; if a rule is broken, {rows, violation} with the rows before it.
   */
  async run({ policy, frames, refs, params = {}, ns = STEP_NS }) {
    const number = this.policies.findIndex(({ name }) => name === policy);
    const run = await this.instance();
    const own = this.policies[number].params;
    own.forEach(({ name }, i) => name in params && run.calls.set(number, i, params[name]));
    if (WITH_FUTURE.includes(policy))
      run.tell(
        refs.map(({ page }) => page),
        ns,
      );
    const rows = [];
    let [answer] = run.ask("start", number, frames);
    const pointers = this.pointers(policy);
    const roots = this.roots(policy);
    for (let i = 0; i < refs.length && !answer?.violation; i++) {
      const [row, beside] = run.ask("refer", refs[i].page, ns, refs[i].kind);
      answer = row;
      if (!row.violation) rows.push({ ...row, ...beside, hands: run.hands(pointers), trees: run.trees(roots) });
    }
    if (!answer?.violation) [answer] = run.ask("end");
    const finished = withMin(named(rows, this.variables(policy)));
    return answer.violation ? { rows: finished, violation: answer.violation } : { rows: finished, result: answer };
  }
}
