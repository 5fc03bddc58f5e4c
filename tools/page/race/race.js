/*
 * The race: two machines side by side with the same memory and the same workload, under two policies. They advance in
 * step in their own time: neither continues until the other has come as far, or has ended. When the first has ended,
 * the race stops and says how much of the work the other has done, until the reader lets it go on.
 */
import { base } from "../lib/data.js";
import { complain, element } from "../lib/dom.js";
import { impossible, read, usual, write } from "../link/plan.js";
import { Chart } from "./chart.js";
import { Controls } from "./controls.js";
import { Lane, seconds } from "./lane.js";

const LEAST_STEP_MS = 4; // of the machines' time
const LONG_MS = 90; // host time of a step above which the next step is made shorter
const SHORT_MS = 30;
const GROWTH = 1.4;
const COLOURS = ["--first", "--second"];
const HEARING_MS = 4000; // between announcements to a screen reader

/** A part of the work, from 0 to 1, as a text. */
const share = (part) => (part < 0.01 ? "less than 1 %" : `${Math.min(99, Math.round(100 * part))} %`);
const times = (ratio) => `${ratio < 10 ? ratio.toFixed(1) : ratio.toFixed(0)} times`;

/** A machine's entry in a chart's legend, with the last value. */
const legend = (lane, chart) =>
  element("span", { class: lane.nth ? "second" : "first" }, `${lane.name} ${chart.last(lane.points)}`.trimEnd());

class Race {
  /** `linked`: this is the race of the page's address, not one in a chapter. */
  constructor(place, plan, complaints, linked) {
    this.place = place;
    this.linked = linked;
    this.lanes = [];
    this.controls = new Controls(plan, {
      start: () => this.chosen(),
      stop: () => this.stop(),
      link: () => this.link(),
    });
    this.notes = element("div", {});
    this.pair = element("div", { class: "pair" });
    this.result = element("div", { class: "result", role: "status" });
    this.says = element("p", { class: "unseen", "aria-live": "polite" });
    const charts = element("div", { class: "pair charts" }, ...this.makeCharts());
    place.replaceChildren(this.controls.place, this.notes, this.result, charts, this.pair, this.says);
    this.complain(complaints);
    new ResizeObserver(() => this.draw()).observe(place);
    this.frame = 0;
  }

  makeCharts() {
    const common = { colours: COLOURS };
    this.charts = [
      new Chart({ ...common, title: "Processor utilisation", unit: "%", most: 100, value: (p) => 100 * p.utilisation }),
      new Chart({ ...common, title: "Major faults", unit: "", value: (p) => p.majors }),
    ];
    const titles = ["Processor utilisation", "Major faults a second"];
    this.legends = titles.map(() => element("span", { class: "legend" }));
    return this.charts.map((chart, i) =>
      element("figure", { class: "card" }, element("figcaption", {}, titles[i], this.legends[i]), chart.canvas),
    );
  }

  complain(sentences) {
    this.notes.replaceChildren(...sentences.map((one) => element("p", { class: "note", role: "alert" }, one)));
  }

  /** The reader starts the controls' settings: from then on the address shows them. */
  chosen() {
    if (this.start() && this.linked) history.replaceState(null, "", write(this.plan));
  }

  /**
   * Starts the controls' settings. Returns false if that is impossible. `told`: what was wrong with the link they come
   * from.
   */
  start(told = []) {
    this.stop();
    const { plan, wrong } = this.controls.plan();
    const why = wrong || impossible(plan);
    this.complain(why ? [...told, why] : told);
    if (why) return false;
    this.plan = plan;
    this.goal = 0;
    this.step = LEAST_STEP_MS;
    this.winner = null;
    this.heard = 0;
    this.halted = false;
    this.lanes = plan.vm.map((vm, nth) => new Lane(plan, nth, () => this.changed()));
    this.pair.replaceChildren(...this.lanes.map((lane) => lane.card));
    this.tell(plan.vm.length > 1 ? "The race stops when the first machine is done." : "One machine runs.");
    for (const lane of this.lanes) lane.machine.start();
    this.controls.running(true);
    this.say(`${this.lanes.map((lane) => lane.name).join(" against ")}: started.`);
    this.onward();
    return true;
  }

  stop() {
    for (const lane of this.lanes) if (lane.state === "runs") lane.fail("stopped");
    this.controls.running(false);
    this.result.replaceChildren();
  }

  get running() {
    return this.lanes.filter((lane) => lane.state === "runs");
  }

  /**
   * Runs both machines to the next common time; a wait may have taken one further. A machine that is alone never waits.
   */
  onward() {
    const last = Math.min(...this.running.map((lane) => lane.time * 1000));
    this.goal = this.running.length > 1 ? Math.max(this.goal, last) + this.step : Infinity;
    this.since = performance.now();
    for (const lane of this.running) lane.machine.until(this.goal);
  }

  /** A lane has reported. The first to end is known when each has come as far as the goal, or has ended. */
  changed() {
    const running = this.running;
    if (running.every((lane) => lane.time * 1000 >= this.goal)) {
      const ended = this.lanes.filter((lane) => lane.state === "ended" && lane.good);
      const before = this.winner;
      this.winner ??= ended.length ? ended.reduce((a, b) => (b.time < a.time ? b : a)) : null;
      if (!running.length) this.finish();
      else if (this.winner && !before) this.halt();
      else if (!this.halted) this.next();
    }
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  /** The first machine is done: the other waits. Its share of the work is that at the same time of the machines. */
  halt() {
    this.halted = true;
    const { winner } = this;
    const [other] = this.running;
    const whole = winner.telemetry.workUntil(Infinity);
    const done = share(other.telemetry.workUntil(winner.time * 1e6) / whole);
    const text = `${winner.name} is done after ${seconds(winner.time)} s; ${other.name} has done ${done} of the work.`;
    const button = element("button", { class: "chief", type: "button", onclick: () => this.goOn() }, "Go on");
    this.tell(text, button);
    this.say(text);
  }

  goOn() {
    this.halted = false;
    this.tell(`${this.winner.name} is done after ${seconds(this.winner.time)} s.`);
    this.onward();
  }

  tell(text, ...more) {
    this.result.replaceChildren(element("strong", {}, text), ...more);
  }

  /** How much longer the second to end took. */
  ratio() {
    const { winner } = this;
    const other = this.lanes.find((lane) => lane !== winner && lane.state === "ended" && lane.good);
    if (!winner || !other) return "";
    const both = `${winner.name}: ${seconds(winner.time)} s; ${other.name}: ${seconds(other.time)} s.`;
    return `${both} ${other.name} took ${times(other.time / winner.time)} as long.`;
  }

  next() {
    const took = performance.now() - this.since;
    if (took > LONG_MS) this.step = Math.max(LEAST_STEP_MS, this.step / GROWTH);
    else if (took < SHORT_MS) this.step *= GROWTH;
    this.onward();
  }

  finish() {
    this.controls.running(false);
    if (this.ratio()) this.tell(this.ratio());
    else this.result.replaceChildren();
    this.draw(); // a hidden page gets no animation frames
    this.say(this.lanes.map((lane) => `${lane.name}: ${lane.verdict.textContent}`).join(". "));
  }

  draw() {
    this.frame = 0;
    for (const lane of this.lanes) lane.show(this.lanes.length > 1 && lane === this.winner);
    const end = Math.max(...this.lanes.map((lane) => lane.time));
    this.charts.forEach((chart, i) => {
      chart.draw(
        this.lanes.map((lane) => lane.points),
        end,
      );
      chart.describe(this.lanes.map((lane) => `${lane.name}: ${lane.summary()}`).join(". "));
      this.legends[i].replaceChildren(...this.lanes.map((lane) => legend(lane, chart)));
    });
    if (this.running.length && performance.now() - this.heard > HEARING_MS) {
      this.say(this.lanes.map((lane) => `${lane.name}: ${lane.verdict.textContent}`).join(". "));
    }
  }

  say(text) {
    this.heard = performance.now();
    this.says.textContent = text;
  }

  /** Copies the link of the controls' settings to the clipboard, if that is allowed, and into the page's address. */
  async link() {
    const { plan, wrong } = this.controls.plan();
    if (wrong) return this.complain([wrong]);
    const address = new URL(write(plan), this.linked ? location.href : new URL("index.html", base)).href;
    if (this.linked) history.replaceState(null, "", address);
    const shown = this.linked ? "in the address line." : `this: ${address}`;
    try {
      await navigator.clipboard.writeText(address);
      this.controls.tell(`The link is in the clipboard, and ${shown}`);
    } catch {
      this.controls.tell(`The link is ${shown}`);
    }
  }
}

/** Fills `place` with the race: with the plan of data-link or, if there is none, of the page's address. */
export function race(place) {
  const own = place.dataset.link;
  const { plan, complaints } = read(own ?? raceOf(location.hash));
  const made = new Race(place, plan, complaints, own === undefined);
  if (own === undefined) {
    addEventListener("hashchange", () => follow(made));
    if (!location.hash.startsWith("#step=")) made.start(complaints); // that is a link to the stepper
  }
}

/** The part of the address that belongs to the race; anchors and the links of other parts do not. */
const raceOf = (hash) =>
  /^#(vm|mem|run|seed|tau|build)=/.test(hash) || (hash.includes("=") && !hash.startsWith("#step=")) ? hash : "";

function follow(made) {
  if (!raceOf(location.hash)) return;
  const { plan, complaints } = read(location.hash);
  made.controls.show(plan);
  made.start(complaints);
  made.place.scrollIntoView();
}
