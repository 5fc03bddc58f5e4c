/* One side of the race: a machine with its policy, its memory map and its console output. */
import { element } from "../lib/dom.js";
import { Telemetry } from "../lib/telemetry.js";
import { commandLine, machineName, makeLine } from "../link/plan.js";
import { Machine } from "../machine/machine.js";
import { MemoryMap } from "./map.js";

const OK = 16; // the value that an orderly end writes to the exit port
const CONSOLE_LINES = 6;

export const seconds = (s) => (s < 10 ? s.toFixed(3) : s.toFixed(s < 100 ? 2 : 1));

export class Lane {
  /** `changed()` is called after each report; the lane's place is .card. */
  constructor(plan, nth, changed) {
    Object.assign(this, { plan, nth, changed, vm: plan.vm[nth], name: machineName(plan, nth) });
    this.telemetry = new Telemetry();
    this.points = [];
    this.console = "";
    this.time = 0; // seconds
    this.state = "runs"; // or "ended", "failed", "idle"
    this.why = "";
    this.map = new MemoryMap();
    this.machine = new Machine({
      mib: plan.mem,
      cmdline: commandLine(plan, nth),
      progress: (report) => this.take(report),
      failed: (why) => this.fail(why),
    });
    this.make();
  }

  make() {
    this.verdict = element("p", { class: "verdict numbers" }, "starts …");
    this.words = element("p", { class: "faint numbers" }, " ");
    this.output = element("pre", { class: "output", tabindex: "0", "aria-label": "Last lines of the console" });
    this.tail = element("div", { class: "tail" });
    const title = element("h3", { class: this.nth ? "second" : "first" }, this.name);
    this.card = element(
      "article",
      { class: "card lane" },
      title,
      this.verdict,
      this.words,
      this.map.place,
      this.output,
      this.tail,
    );
  }

  take({ time, console, telemetry, map, ended, status, idle }) {
    this.time = time / 1000;
    if (console.length) this.print(console);
    const known = this.telemetry.samples.length;
    this.telemetry.feed(telemetry);
    this.points.push(...this.telemetry.points(known));
    if (map && map.processes.length) this.lastMap = map;
    if (ended) this.end(status);
    else if (idle)
      this.fail("The machine waits for something that cannot come, such as a key. The prompt below has a keyboard.");
    this.changed();
  }

  print(bytes) {
    this.console += new TextDecoder().decode(bytes).replaceAll("\r", "");
  }

  fail(why) {
    if (this.state !== "runs") return;
    this.state = "failed";
    this.why = why;
    this.machine.stop();
    this.changed();
  }

  end(status) {
    this.state = "ended";
    this.good = status === OK;
    if (this.telemetry.end) this.time = this.telemetry.end.t_us / 1e6;
    this.machine.stop();
    this.tail.replaceChildren(this.ending());
  }

  /** What is shown under a finished run: the telemetry for download, its fingerprint, the same run in QEMU. */
  ending() {
    const save = element("button", { type: "button", onclick: () => this.save() }, "Save the telemetry");
    const print = element(
      "p",
      { class: "faint numbers" },
      "Telemetry: ",
      element("span", { class: "fingerprint" }, this.telemetry.fingerprint),
    );
    const qemu = element(
      "details",
      {},
      element("summary", {}, "The same in QEMU"),
      element("code", {}, makeLine(this.plan, this.nth)),
    );
    return element("div", {}, print, save, qemu);
  }

  save() {
    const address = URL.createObjectURL(new Blob(this.telemetry.pieces, { type: "application/x-ndjson" }));
    element("a", { href: address, download: `${this.vm}.ndjson` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  /** Describes the kernel's last sample in words. */
  summary() {
    const last = this.telemetry.samples.at(-1);
    if (!last) return "boots";
    const busy = 1 - last.idle_us / last.t_us;
    const { pgfault, pgmajfault, pswpin, pswpout } = last.vm;
    const held = last.held ? `; ${last.held} held back` : "";
    return `processor busy ${(100 * busy).toFixed(1)}% · ${pgfault} faults, ${pgmajfault} of them major · ${pswpin} pages in, ${pswpout} out${held}`;
  }

  /** Updates the card. `won`: this machine ended first. */
  show(won) {
    const says = {
      runs: `${seconds(this.time)} s, runs`,
      ended: `${seconds(this.time)} s, ${this.good ? (won ? "finished first" : "finished") : "ended with an error: see the lines below"}`,
      failed: this.why,
    };
    this.verdict.textContent = says[this.state];
    this.card.classList.toggle("won", won);
    this.verdict.classList.toggle("bad", this.state === "failed" || (this.state === "ended" && !this.good));
    this.words.textContent = this.summary();
    if (this.lastMap) this.map.show(this.lastMap);
    this.lastMap = null;
    const lines = this.console.trimEnd().split("\n");
    this.output.textContent = lines.slice(this.state === "ended" && !this.good ? 0 : -CONSOLE_LINES).join("\n");
  }
}
