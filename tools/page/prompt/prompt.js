/* The prompt: a terminal with the whole system, and a menu that switches the policy while it runs. */
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { complain, element } from "../lib/dom.js";
import { Machine, SWAP_MIB } from "../machine/machine.js";

const MIB = 32;
const ROWS = 24;
const CLEAR = "\x15"; // Ctrl-U: clears an unfinished line
const EXAMPLES = ["time thrash 8 5120 10 &", "vmstat", "ps", "cat /proc/vm/policy"];

const cmdline = `build/tidemark.elf vm=${PAIR[0]} mem=${MIB}M swap=sim:hdd,size=${SWAP_MIB}M exact`;

class Prompt {
  constructor(place) {
    this.place = place;
    this.terminal = new Terminal({
      rows: ROWS,
      convertEol: true,
      screenReaderMode: true,
      fontSize: 13,
      scrollback: 2000,
    });
    this.fit = new FitAddon();
    this.terminal.loadAddon(this.fit);
    this.terminal.onData((text) => this.machine?.type(text));
    this.terminal.attachCustomKeyEventHandler((event) => !(event.key === "Tab" && event.shiftKey));
    this.make();
  }

  make() {
    const options = POLICIES.map((one) => element("option", { value: one, selected: one === PAIR[0] }, one));
    this.menu = element(
      "select",
      { onchange: () => this.command(`echo ${this.menu.value} > /proc/sys/vm/policy`) },
      ...options,
    );
    const policy = element("label", {}, "Policy of this machine", this.menu);
    const again = element("button", { type: "button", onclick: () => this.boot() }, "Boot again");
    const screen = element("div", { class: "terminal-place" });
    this.state = element("span", { class: "faint numbers" });
    const button = (text) =>
      element("button", { type: "button", onclick: () => this.command(text) }, element("code", {}, text));
    const controls = element("div", { class: "controls" }, policy, ...EXAMPLES.map(button), again, this.state);
    this.place.replaceChildren(controls, screen);
    this.terminal.open(screen);
    this.fitWidth();
    new ResizeObserver(() => this.fitWidth()).observe(screen);
  }

  /** Sets the number of columns to what fits. */
  fitWidth() {
    const cols = this.fit.proposeDimensions()?.cols;
    if (cols) this.terminal.resize(Math.max(20, cols), ROWS);
  }

  boot() {
    this.machine?.stop();
    this.terminal.reset();
    this.menu.value = PAIR[0];
    this.state.textContent = "boots …";
    this.machine = new Machine({
      mib: MIB,
      cmdline,
      progress: (report) => this.take(report),
      failed: (why) => complain(this.place, why),
    });
    this.machine.until(Infinity);
    this.machine.start();
  }

  take({ console, time, ended }) {
    if (console.length) this.terminal.write(console);
    this.state.textContent = ended ? "The machine is off." : `${(time / 1000).toFixed(3)} s of its own time`;
    if (ended) this.machine.stop();
  }

  /** Types a command. A program in the foreground has the keyboard; the shell then reads the command afterwards. */
  command(text) {
    this.machine?.type(`${CLEAR}${text}\n`);
    this.terminal.focus();
  }
}

/** Fills `place` with the prompt; its machine boots when the prompt is scrolled into view. */
export function prompt(place) {
  const made = new Prompt(place);
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    made.boot();
  });
  observer.observe(place);
}
