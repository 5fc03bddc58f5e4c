/*
 * The policy, step by step: a reference string, one or two policies, and what each decides. The whole string is run at
 * once, which takes hardly any time; stepping shows another row of the result.
 *
 *	strings.js  accepted input           engine.js   runs a policy         names.js   names of its lists
 *	words.js    decisions in words       view.js     draws one policy      source.js  its source
 */
import { data } from "../lib/data.js";
import { complain, element } from "../lib/dom.js";
import { Engine, STEP_NS } from "./engine.js";
import { Form, isLink } from "./form.js";
import { refName } from "./strings.js";
import { View } from "./view.js";

const PLAY_MS = 900;
const OFFERS_MIN = "min";

let loading;

/** The only engine of the page. */
function engine() {
  loading ??= Promise.all([data("step.wasm"), data("step.json")]).then(([bytes, tables]) =>
    Engine.load(bytes, JSON.parse(new TextDecoder().decode(tables))),
  );
  return loading;
}

function legend() {
  return element(
    "p",
    { class: "faint" },
    "● fault, ○ minor fault, · hit. a: accessed bit set; d: dirty; dashed: a ghost, a page that was evicted and is remembered; " +
      "▲ a hand. In the source, a bar stands at each line that called the core.",
  );
}

/** In a chapter the figure comes first, and the form is folded. */
function folded(form) {
  return element("details", {}, element("summary", {}, "Another string, another policy"), form);
}

class Stepper {
  constructor(place, engine) {
    this.place = place;
    this.engine = engine;
    this.at = 0;
    this.views = [];
    this.message = element("div");
    this.form = new Form(engine.policies, this.message, (wanted) => this.run(wanted));
    this.told = element("p", { class: "unseen", "aria-live": "polite" });
    this.string = element("ol", { class: "step-string", tabindex: "0", "aria-label": "The string; arrow keys step" });
    this.cards = element("div", { class: "pair" });
    const form = place.dataset.link ? folded(this.form.place) : this.form.place;
    place.replaceChildren(form, this.message, this.buttons(), this.string, this.told, this.cards, legend());
    place.classList.add("step");
    place.addEventListener("keydown", (event) => this.key(event));
  }

  buttons() {
    const button = (text, label, go) => element("button", { type: "button", title: label, onclick: go }, text);
    this.playing = button("Play", "Play", () => this.play());
    this.where = element("span", { class: "numbers" });
    return element(
      "div",
      { class: "controls step-buttons", role: "group", "aria-label": "Steps" },
      button("|◀ Start", "To the beginning (Home)", () => this.go(0)),
      button("◀ Back", "One reference back (left arrow)", () => this.go(this.at - 1)),
      button("Step ▶", "One reference forward (right arrow)", () => this.go(this.at + 1)),
      this.playing,
      button("End ▶|", "To the end (End)", () => this.go(this.refs?.length)),
      this.where,
    );
  }

  /** Runs the content of the form, and shows reference `at`. */
  async run({ refs, sides, ns, at = 0 }) {
    this.pause();
    const turn = (this.turn = {});
    const runs = await Promise.all(sides.map((side) => this.engine.run({ ...side, refs, ns })));
    const least = await Promise.all(sides.map(({ frames }) => this.least(refs, frames, ns)));
    if (turn !== this.turn) return; // another run was started meanwhile
    this.refs = refs;
    this.views = runs.map((run, i) => {
      const policy = this.engine.policies.find(({ name }) => name === sides[i].policy);
      const empty = Array(sides[i].frames).fill(null);
      return new View(policy, sides[i].title, { ...run, empty, least: least[i] }, this.engine.tables.texts);
    });
    this.cards.replaceChildren(...this.views.map((view) => view.place));
    this.drawString();
    this.go(Math.min(at, refs.length));
  }

  /** The faults of the policy min; none for a string with pages of files, for which there is no future. */
  async least(refs, frames, ns = STEP_NS) {
    if (refs.some(({ kind }) => kind & 1)) return undefined;
    return (await this.engine.run({ policy: OFFERS_MIN, frames, refs, ns })).result?.faults;
  }

  drawString() {
    this.items = this.refs.map((ref, i) => {
      const marks = this.views.map((view, v) => {
        const result = view.row(i + 1)?.result ?? "none";
        return element(
          "span",
          { class: `mark ${result} of-${v}` },
          { hit: "·", fault: "●", minor: "○", none: "×" }[result],
        );
      });
      const said = this.views.map((view) => `${view.title}: ${view.row(i + 1)?.result ?? "ended"}`).join(", ");
      return element(
        "li",
        { title: `reference ${i + 1}, page ${refName(ref)}; ${said}`, onclick: () => this.go(i + 1) },
        refName(ref),
        ...marks,
      );
    });
    this.string.replaceChildren(...this.items);
  }

  go(at) {
    if (!this.refs || at < 0 || at > this.refs.length) return;
    this.items[this.at - 1]?.removeAttribute("aria-current");
    this.at = at;
    for (const view of this.views) view.show(at);
    const item = this.items[at - 1];
    item?.setAttribute("aria-current", "step");
    if (item) this.string.scrollLeft = item.offsetLeft - this.string.clientWidth / 2;
    this.where.textContent = `reference ${at} of ${this.refs.length}`;
    const where = at ? `Reference ${at}. ` : "";
    this.told.textContent = where + this.views.map((view) => `${view.title}: ${view.words(at)}`).join(" ");
    if (at === this.refs.length) this.pause();
    this.place.dataset.at = at;
    this.form.remember(at);
  }

  play() {
    if (this.timer) return this.pause();
    if (this.at === this.refs?.length) this.go(0);
    this.timer = setInterval(() => this.go(this.at + 1), PLAY_MS);
    this.playing.textContent = "Pause";
  }

  pause() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.playing.textContent = "Play";
  }

  key(event) {
    if (event.target.closest("input, select, .step-source") || event.altKey || event.ctrlKey || event.metaKey) return;
    const to = { ArrowRight: this.at + 1, ArrowLeft: this.at - 1, Home: 0, End: this.refs?.length }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.pause();
    this.go(to);
  }
}

/** Waits until the reader comes near, or has a link to it: what is above must not wait for it. */
function nearlySeen(place) {
  if (!place.dataset.link && isLink(location.hash)) return undefined;
  return new Promise((resolve) => {
    const watch = ([entry]) => entry.isIntersecting && (observer.disconnect(), resolve());
    const observer = new IntersectionObserver(watch, { rootMargin: "600px" });
    observer.observe(place);
  });
}

/** Fills an element: data-link="vm=clock,lru&frames=3&string=1 2 3 4 1 2 5&at=4" gives the initial state. */
export async function step(place) {
  place.replaceChildren();
  try {
    await nearlySeen(place);
    const stepper = new Stepper(place, await engine());
    stepper.form.start(place);
    if (!place.dataset.link) stepper.form.follow(place);
  } catch (error) {
    complain(place, `The stepper could not start: ${error.message}`);
  }
}
