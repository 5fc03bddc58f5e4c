/* The reader's settings: policies, memory, processes, τ, and the command itself. */
import { element } from "../lib/dom.js";
import { LIMITS, SIDES, read, write } from "../link/plan.js";

const MOST_PROCESSES = 16;
const NONE = "(none)";

/** A slider that shows its value beside its name. */
function slider(name, { min, max, step, says, changed }) {
  const value = element("span", {});
  const input = element("input", { type: "range", min, max, step });
  const show = () => {
    value.textContent = says(input.value);
    input.setAttribute("aria-valuetext", says(input.value));
  };
  input.addEventListener("input", () => {
    show();
    changed?.(Number(input.value));
  });
  const set = (number) => {
    input.value = number;
    show();
  };
  return { input, set, place: element("label", {}, element("span", {}, `${name}: `, value), input) };
}

function menu(name, names) {
  const select = element("select", {}, ...names.map((one) => element("option", { value: one }, one)));
  return { select, place: element("label", {}, name, select) };
}

/** The numbers of processes of a command's `thrash`: those before the last one, and the last one. */
const thrash = /^((?:.*[;&]\s*)?thrash\s+)(\d+)\b/;
const earlier = (before) => [...before.matchAll(/\bthrash\s+(\d+)\b/g)].map(([, number]) => `${number} + `).join("");

export class Controls {
  /** `calls`: start, stop, link. */
  constructor(plan, calls) {
    this.calls = calls;
    this.first = menu("Policy", POLICIES);
    this.second = menu("against", [...POLICIES, NONE]);
    const [least, most] = LIMITS.mem;
    this.memory = slider("Memory", { min: least, max: most, step: 1, says: (v) => `${v} MiB` });
    this.processes = slider("Processes", {
      min: 1,
      max: MOST_PROCESSES,
      step: 1,
      says: (v) => `${this.before ?? ""}${v}`,
      changed: (n) => this.count(n),
    });
    const [shortest, longest] = LIMITS.tau;
    this.tau = slider("τ of ws", { min: shortest, max: longest, step: 10, says: (v) => `${v} ms` });
    this.run = element("input", {
      type: "text",
      spellcheck: "false",
      autocomplete: "off",
      size: "24",
      oninput: () => this.matchSlider(),
    });
    this.own = SIDES.map(() =>
      element("input", {
        type: "text",
        spellcheck: "false",
        autocomplete: "off",
        size: "18",
        placeholder: "guard=token",
      }),
    );
    this.told = element("span", { class: "faint", role: "status" });
    this.place = this.make();
    this.show(plan);
  }

  make() {
    const submit = (event) => {
      event.preventDefault();
      this.calls.start();
    };
    const toggle = () => (this.isRunning ? this.calls.stop() : this.calls.start());
    this.button = element("button", { class: "chief", type: "button", onclick: toggle }, "Start");
    const link = element("button", { type: "button", onclick: this.calls.link }, "Link to this run");
    const fields = [this.first, this.second, this.memory, this.processes, this.tau].map((one) => one.place);
    const run = element("label", {}, "Command in both machines", this.run);
    const own = element(
      "details",
      { class: "faint" },
      element("summary", {}, "Kernel parameters of one machine"),
      ...this.own.map((input, nth) => element("label", {}, `Of the ${SIDES[nth]}`, input)),
    );
    return element("form", { class: "controls", onsubmit: submit }, ...fields, run, this.button, link, own, this.told);
  }

  /** Shows a plan. */
  show(plan) {
    this.seed = plan.seed;
    this.first.select.value = plan.vm[0];
    this.second.select.value = plan.vm[1] ?? NONE;
    this.memory.set(plan.mem);
    this.tau.set(plan.tau);
    this.run.value = plan.run;
    this.own.forEach((input, nth) => (input.value = plan[SIDES[nth]]));
    this.matchSlider();
  }

  /** Writes the number of processes from the slider into the command's last `thrash`. */
  count(number) {
    this.run.value = this.run.value.replace(thrash, (_, name) => name + number);
  }

  matchSlider() {
    const found = thrash.exec(this.run.value);
    this.processes.input.disabled = !found;
    this.before = found ? earlier(found[1]) : "";
    if (found) this.processes.set(Number(found[2]));
  }

  /** Returns {plan, wrong}: the settings, checked like a link; `wrong`: a sentence if they are invalid, else "". */
  plan() {
    const second = this.second.select.value;
    const vm = [this.first.select.value, ...(second === NONE ? [] : [second])];
    const own = Object.fromEntries(SIDES.map((side, nth) => [side, this.own[nth].value]));
    const [mem, tau] = [this.memory.input.value, this.tau.input.value];
    const { plan, complaints } = read(write({ vm, mem, run: this.run.value, seed: this.seed, tau, ...own }));
    return { plan, wrong: complaints[0] ?? "" };
  }

  running(yes) {
    this.isRunning = yes;
    this.button.textContent = yes ? "Stop" : "Start";
    this.told.textContent = "";
  }

  tell(text) {
    this.told.textContent = text;
  }
}
