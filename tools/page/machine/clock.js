/*
 * Time in the machine. All devices of v86 ask performance.now(), which v86 takes when it is loaded: so this comes first.
 * Here an instruction takes a nanosecond, as in QEMU's exact runs, and waiting takes no time of the host's: the clock is
 * the number of instructions plus the waits that were skipped. It depends on nothing outside, so a run repeats to the byte.
 */

/** The host's clock, in ms. */
export const hostNow = performance.now.bind(performance);

const MS_PER_INSTRUCTION = 1e-6;
const WRAP = 2 ** 32;

let counter = null; // () => instructions, modulo 2^32
let low = 0;
let high = 0;
let skipped = 0; // ms

function instructions() {
  if (!counter) return 0;
  const now = counter();
  if (now < low) high += WRAP;
  low = now;
  return high + now;
}

/** The machine's time since it was switched on, in ms. */
export function now() {
  return instructions() * MS_PER_INSTRUCTION + skipped;
}

/** Lets `ms` pass at once. */
export function skip(ms) {
  skipped += ms;
}

/** From now on instructions are counted: `read` gives their number modulo 2^32. */
export function countWith(read) {
  counter = read;
}

const FIRST_DAY = Date.UTC(2024, 0, 1); // as QEMU is told
performance.now = now;
Date.now = () => FIRST_DAY + Math.floor(now());
Math.random = () => 0.5;
globalThis.crypto.getRandomValues = (array) => array.fill(7);
