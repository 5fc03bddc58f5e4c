/* The stepper's input: the string, the frames, the policies. Nothing runs while the input is invalid. */
import { complain, element } from "../lib/dom.js";
import { STEP_NS } from "./engine.js";
import { READY, frameNumbers, parse } from "./strings.js";

const WITHOUT_FILES = ["min", "vmin"];
const MOST_NS = 1_000_000_000;
const PREFIX = "#step=";
const WORDS = ["vm", "frames", "string", "us", "at"];

/** Does this part of an address belong to the stepper? */
export const isLink = (hash) => hash.startsWith(PREFIX);

/** clock, unless the page was built for the user's own policy (make page VM=mine). */
function usual() {
  return ["2q", "ws"].includes(PAIR[0]) ? "clock" : PAIR[0];
}

function labelled(text, field) {
  return element("label", {}, text, field);
}

/** Lists the words of a link that this page does not know. */
function unknownWords(link) {
  const unknown = [...link.keys()].filter((name) => !WORDS.includes(name) && !name.includes("."));
  return unknown.length ? `The link has words that this page does not know: ${unknown.join(", ")}. ` : "";
}

export class Form {
  /** `policies`: with their parameters; `message`: the place for error messages; `run`: called with the input. */
  constructor(policies, message, run) {
    this.policies = policies;
    this.message = message;
    this.run = run;
    const change = () => this.changed();
    this.string = element("input", {
      type: "text",
      spellcheck: "false",
      autocomplete: "off",
      size: "34",
      onchange: change,
    });
    this.ready = element("select", { onchange: () => this.take(READY[this.ready.value]) });
    this.ready.append(
      element("option", { value: "" }, "choose one …"),
      ...READY.map(({ name }, i) => element("option", { value: i }, name)),
    );
    this.frames = element("input", {
      type: "text",
      size: "4",
      title: "A number, or one for each policy: 3,4",
      onchange: change,
    });
    this.first = this.choice([], change);
    this.second = this.choice([["", "none"]], change);
    this.ns = element("input", {
      type: "text",
      inputmode: "numeric",
      size: "9",
      value: STEP_NS / 1000,
      onchange: change,
    });
    this.params = element("div", { class: "controls" });
    this.place = element("form", { onsubmit: (event) => (event.preventDefault(), change()) }, ...this.fields());
  }

  choice(before, onchange) {
    const options = [...before, ...this.policies.map(({ name, summary }) => [name, `${name}: ${summary}`])];
    return element("select", { onchange }, ...options.map(([value, text]) => element("option", { value }, text)));
  }

  fields() {
    return [
      element(
        "div",
        { class: "controls" },
        labelled("String", this.string),
        labelled("or a ready one", this.ready),
        labelled("Frames", this.frames),
        labelled("Policy", this.first),
        labelled("beside it", this.second),
      ),
      element(
        "details",
        {},
        element("summary", {}, "Time and parameters"),
        element("div", { class: "controls" }, labelled("µs that a reference takes", this.ns)),
        this.params,
      ),
    ];
  }

  take(ready) {
    if (!ready) return;
    this.string.value = ready.string;
    this.frames.value = ready.frames;
    this.changed();
  }

  names() {
    return [this.first.value, this.second.value].filter(Boolean);
  }

  /** Shows fields for the parameters of the chosen policies. */
  offerParams() {
    const names = this.names();
    const key = names.join();
    if (key === this.offered) return;
    this.offered = key;
    const wanted = names.map((one) => this.policies.find(({ name }) => name === one));
    const fields = wanted.flatMap(({ name, params }, side) =>
      params.map((param) => {
        const field = element("input", {
          type: "number",
          min: param.min,
          max: param.max,
          value: param.value,
          title: param.help,
          "data-param": `${name}.${param.name}`,
          "data-side": side,
          onchange: () => this.changed(),
        });
        const which = side && names[0] === name ? "second " : "";
        return labelled(`${which}${name}.${param.name}${param.unit ? `, ${param.unit}` : ""}`, field);
      }),
    );
    this.params.replaceChildren(...fields);
  }

  /** The parameters of each policy: {name: number}. */
  paramValues() {
    const values = this.names().map(() => ({}));
    for (const field of this.paramFields()) {
      if (!field.checkValidity() || !field.value || !Number.isInteger(Number(field.value)))
        throw new Error(
          `${field.dataset.param}=${field.value}: give a whole number from ${field.min} to ${field.max}.`,
        );
      values[field.dataset.side][field.dataset.param.split(".")[1]] = Number(field.value);
    }
    return values;
  }

  nanoseconds() {
    const us = this.ns.value.trim();
    const ns = /^\d+(\.\d{1,3})?$/.test(us) ? Math.round(Number(us) * 1000) : -1;
    if (ns < 0 || ns > MOST_NS)
      throw new Error(`${us || "Nothing"} is not a possible time of a reference. Give 0 to ${MOST_NS / 1000} µs.`);
    return ns;
  }

  /** Returns the content of the fields. Throws an Error whose message says what is wrong. */
  asked() {
    const refs = parse(this.string.value);
    const policies = this.names();
    const blind = policies.find((name) => WITHOUT_FILES.includes(name));
    if (blind && refs.some(({ kind }) => kind & 1))
      throw new Error(`${blind} only knows the future of a program's own pages; this string has pages of a file.`);
    const frames = frameNumbers(this.frames.value, policies.length);
    const params = this.paramValues();
    const sides = policies.map((policy, i) => ({
      policy,
      frames: frames[i],
      params: params[i],
      title: this.title(policy, i, frames),
    }));
    return { refs, sides, ns: this.nanoseconds() };
  }

  /** A policy's name, with what differs between the two sides if both are the same policy. */
  title(policy, side, frames) {
    const changed = this.paramFields().filter(
      (field) => Number(field.dataset.side) === side && field.value !== field.defaultValue,
    );
    const own = frames.some((number) => number !== frames[0]) ? [`${frames[side]} frames`] : [];
    const twice = this.names().every((name) => name === policy) ? changed : [];
    return [policy, ...own, ...twice.map((field) => `${field.dataset.param.split(".")[1]}=${field.value}`)].join(", ");
  }

  /** Runs the content of the fields. `told`: what was wrong with the link that they come from. */
  async changed(at = 0, told = "") {
    try {
      this.offerParams();
      const asked = this.asked();
      complain(this.message, told);
      await this.run({ ...asked, at });
    } catch (error) {
      complain(this.message, told + error.message);
    }
  }

  /** Chooses a policy by name; returns an error message if there is no such policy. */
  choose(field, name) {
    if (!name) return "";
    field.value = name;
    if (field.value === name) return "";
    field.value = field === this.first ? "clock" : "";
    return `There is no policy ${name}; there are ${this.policies.map((policy) => policy.name).join(", ")}. `;
  }

  /** Follows another link that is put into the address of this page. */
  follow(place) {
    const show = () => isLink(location.hash) && place.scrollIntoView();
    addEventListener("hashchange", () => {
      if (isLink(location.hash)) this.start(place);
      show();
    });
    show();
  }

  paramFields() {
    return [...this.params.querySelectorAll("input")];
  }

  /** Sets the parameters of a link, such as lirs.hir_percent=10; returns a message about unknown ones. */
  setParams(link) {
    this.offerParams();
    const fields = this.paramFields();
    const given = [...new Set([...link.keys()].filter((name) => name.includes(".")))];
    const of = (name) => fields.filter((field) => field.dataset.param === name);
    for (const name of given) {
      const values = link.getAll(name); // one for each policy that has this parameter, or one for all
      of(name).forEach((field, i) => (field.value = values[i] ?? values[0]));
    }
    const unknown = given.filter((name) => !of(name).length);
    return unknown.length ? `There is no parameter ${unknown.join(", ")}. ` : "";
  }

  /** Begins with the element's data-link or, for the page's own stepper, with the address. */
  start(place) {
    this.linked = !place.dataset.link;
    const hash = this.linked && isLink(location.hash) ? location.hash.slice(PREFIX.length) : "";
    const link = new URLSearchParams(hash ? `vm=${hash}` : place.dataset.link);
    const [first, second, ...more] = (link.get("vm") || usual()).split(",");
    this.string.value = link.get("string") ?? READY[0].string;
    this.frames.value = link.get("frames") ?? READY[0].frames;
    this.ns.value = link.get("us") ?? STEP_NS / 1000;
    this.second.value = "";
    this.offered = undefined; // parameters that the link does not name have their defaults
    const wrong = this.choose(this.first, first) + this.choose(this.second, second) + this.setParams(link);
    const third = more.length ? "At most two policies are shown side by side. " : "";
    this.changed(Math.max(0, Math.trunc(Number(link.get("at"))) || 0), wrong + third + unknownWords(link));
  }

  /** Puts the current state into the address, once the reader has stepped. */
  remember(at) {
    if (!this.linked || (!at && !isLink(location.hash))) return;
    const rest = new URLSearchParams({ frames: this.frames.value, string: this.string.value, us: this.ns.value, at });
    const fields = this.paramFields();
    const changed = fields.filter((field) => field.value !== field.defaultValue).map((field) => field.dataset.param);
    for (const field of fields)
      if (changed.includes(field.dataset.param)) rest.append(field.dataset.param, field.value);
    history.replaceState(null, "", `${PREFIX}${this.names()}&${rest}`);
  }
}
