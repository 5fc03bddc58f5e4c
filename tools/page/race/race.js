/*
 * The race: two machines side by side with the same memory and the same workload, under two policies. They advance in
 * step in their own time: neither continues until the other has come as far, or has ended.
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
    this.says = element("p", { class: "unseen", "aria-live": "polite" });
    const charts = element("div", { class: "pair charts" }, ...this.makeCharts());
    place.replaceChildren(this.controls.place, this.notes, charts, this.pair, this.says);
    this.complain(complaints);
    new ResizeObserver(() => this.draw()).observe(place);
    this.frame = 0;
  }

  makeCharts() {
    const common = { colours: COLOURS };
    this.charts = [
      new Chart({ ...common, title: "Processor utilisation", unit: "%", value: (p) => 100 * p.utilisation }),
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
    this.lanes = plan.vm.map((vm, nth) => new Lane(plan, vm, nth, () => this.changed()));
    this.pair.replaceChildren(...this.lanes.map((lane) => lane.card));
    for (const legend of this.legends) {
      legend.replaceChildren(...plan.vm.map((vm, nth) => element("span", { class: nth ? "second" : "first" }, vm)));
    }
    for (const lane of this.lanes) lane.machine.start();
    this.controls.running(true);
    this.say(`${plan.vm.join(" against ")}: started.`);
    this.onward();
    return true;
  }

  stop() {
    for (const lane of this.lanes) if (lane.state === "runs") lane.fail("stopped");
    this.controls.running(false);
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

  /** A lane has reported. */
  changed() {
    const running = this.running;
    const ended = this.lanes.filter((lane) => lane.state === "ended" && lane.good);
    this.winner ??= ended.length ? ended.reduce((a, b) => (b.time < a.time ? b : a)) : null;
    if (!running.length) this.finish();
    else if (running.every((lane) => lane.time * 1000 >= this.goal)) this.next();
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  next() {
    const took = performance.now() - this.since;
    if (took > LONG_MS) this.step = Math.max(LEAST_STEP_MS, this.step / GROWTH);
    else if (took < SHORT_MS) this.step *= GROWTH;
    this.onward();
  }

  finish() {
    this.controls.running(false);
    this.draw(); // a hidden page gets no animation frames
    this.say(this.lanes.map((lane) => `${lane.vm}: ${lane.verdict.textContent}`).join(". "));
  }

  draw() {
    this.frame = 0;
    for (const lane of this.lanes) lane.show(this.lanes.length > 1 && lane === this.winner);
    const end = Math.max(0.1, ...this.lanes.map((lane) => lane.time));
    for (const chart of this.charts) {
      chart.draw(
        this.lanes.map((lane) => lane.points),
        end,
      );
      chart.describe(this.lanes.map((lane) => `${lane.vm}: ${lane.summary()}`).join(". "));
    }
    if (this.running.length && performance.now() - this.heard > HEARING_MS) {
      this.say(this.lanes.map((lane) => `${lane.vm}: ${lane.verdict.textContent}`).join(". "));
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
}
