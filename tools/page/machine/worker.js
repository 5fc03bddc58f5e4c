/*
 * A worker with one machine. Each machine needs a clock of its own, and v86 uses the clock of the whole worker.
 *
 * Messages in:  start {memory, managed, cmdline, files}; until {ms} of the machine's time; type {bytes}
 * Messages out: progress {time, console, telemetry, map, ended, status, idle}; failed {why}
 */
import { Core } from "./core.js";
import { hostNow } from "./clock.js";
import { Roots, mapOf } from "./memory.js";

const SLICE_MS = 12; // between checks for messages
const MAP_MS = 60; // of the host's time, between maps
const PAGE = 4096;

const roots = new Roots();
const decoder = new TextDecoder();
const ticker = new MessageChannel(); // returns at once, after waiting messages
const written = { console: [], telemetry: [] };
let core = null;
let frames = 0;
let until = 0;
let ticking = false;
let lastMap = -Infinity;

function taken(name) {
  const bytes = Uint8Array.from(written[name]);
  written[name] = [];
  return bytes;
}

/** Returns the map, if one is due. */
function map() {
  if (!core.ended && hostNow() - lastMap < MAP_MS) return null;
  lastMap = hostNow();
  return mapOf(core.words, roots, frames);
}

function report() {
  const [console, telemetry] = [taken("console"), taken("telemetry")];
  roots.feed(decoder.decode(telemetry, { stream: true }));
  const { time, ended, status, idle } = core;
  postMessage({ kind: "progress", time, console, telemetry, map: map(), ended, status, idle });
}

function tick() {
  ticking = false;
  core.run(until, SLICE_MS);
  report();
  go();
}

function go() {
  if (ticking || !core || core.ended || core.idle || core.time >= until) return;
  ticking = true;
  ticker.port2.postMessage(0);
}

const take = {
  async start({ memory, managed, cmdline, files }) {
    frames = managed / PAGE;
    const console = (byte) => written.console.push(byte);
    const telemetry = (byte) => written.telemetry.push(byte);
    core = await Core.made({ memory, cmdline, files, console, telemetry });
    go();
  },
  until({ ms }) {
    until = ms;
    go();
  },
  type({ bytes }) {
    core?.type(bytes);
    go();
  },
};

/**
 * Reports a failure. Lack of memory shows in one of two ways: a JavaScript error, or a WebAssembly program that cannot
 * continue.
 */
function failed(error) {
  const memory = error instanceof RangeError || (!core && error instanceof WebAssembly.RuntimeError);
  postMessage({ kind: "failed", why: `The machine broke down: ${error?.message ?? error}`, memory });
}

ticker.port1.onmessage = () => {
  try {
    tick();
  } catch (error) {
    failed(error);
  }
};
onunhandledrejection = (event) => {
  event.preventDefault();
  failed(event.reason);
};
onmessage = ({ data }) => {
  Promise.resolve()
    .then(() => take[data.kind](data))
    .catch(failed);
};
