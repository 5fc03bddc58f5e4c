/* A machine as the page uses it; this module hides its worker. */
import code from "worker:./worker.js";
import { data } from "../lib/data.js";

const MIB = 1 << 20;
/** Memory of the machine beyond what the kernel manages: the modelled swap disk, and a margin for the loader. */
export const SWAP_MIB = 64;
const MARGIN_MIB = 4;

let address = null;
let files = null;

/** Files that every machine needs; the emulator is compiled once. */
async function common() {
  const [kernel, initramfs, wasm] = await Promise.all(["kernel", "initramfs", "wasm"].map(data));
  return { kernel, initramfs, wasm: await WebAssembly.compile(wasm) };
}

function newWorker() {
  address ??= URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  return new Worker(address);
}

const explained = ({ why, memory }) =>
  memory ? "This device has not enough free memory for the machine. Close other pages, or choose less memory." : why;

export class Machine {
  /**
   * `options`: mib (memory that the kernel manages), cmdline, progress(report) and failed(sentence). A report is {time (ms),
   * console, telemetry (Uint8Array), map or null (machine/memory.js), ended, status, idle}.
   */
  constructor(options) {
    this.options = options;
    this.worker = null;
    this.goal = 0;
    this.stopped = false;
  }

  /** Switches the machine on; it runs to `until()`. */
  async start() {
    try {
      files ??= common();
      const ready = await files;
      if (this.stopped) return;
      this.worker = newWorker();
      this.worker.onmessage = ({ data }) => this.take(data);
      this.worker.onerror = (event) => this.take({ kind: "failed", why: event.message || "The machine broke down." });
      const { mib, cmdline } = this.options;
      const memory = (mib + SWAP_MIB + MARGIN_MIB) * MIB;
      this.worker.postMessage({ kind: "start", memory, managed: mib * MIB, cmdline, files: ready });
      this.until(this.goal);
    } catch (error) {
      files = null;
      this.options.failed(error.message);
    }
  }

  take(message) {
    if (this.stopped) return;
    if (message.kind === "failed") this.options.failed(explained(message));
    else this.options.progress(message);
  }

  /** Lets the machine run until `ms` of its own time. */
  until(ms) {
    this.goal = ms;
    this.worker?.postMessage({ kind: "until", ms });
  }

  /** Sends a text as if it were typed at the console. */
  type(text) {
    this.worker?.postMessage({ kind: "type", bytes: new TextEncoder().encode(text) });
  }

  stop() {
    this.stopped = true;
    this.worker?.terminate();
  }
}
