/*
 * Time in the machine. All devices of v86 use performance.now(), which v86 reads when it is loaded: so this module
 * comes first. Here an instruction takes a nanosecond, as in QEMU's exact runs, and waiting takes no host time: the
 * clock is the number of instructions plus the skipped waits. It depends on nothing outside the machine, so a run
 * repeats byte for byte.
 */

/** The host's clock, in ms. */
export const hostNow = performance.now.bind(performance);

const MS_PER_INSTRUCTION = 1e-6;
const LOOP = 8; // instructions from one reading to the next in a loop that waits for a time
const WRAP = 2 ** 32;

let counter = null; // () => instructions, modulo 2^32
let low = 0;
let high = 0;
let ahead = 0; // instructions, of the current stretch
let skipped = 0; // ms

/*
 * v86 adds up its instructions at the end of each stretch of code. A loop that waits for a time is one stretch, in which
 * the counter stands still; without `ahead` it would end only when v86 interrupts it, after 100,003 instructions.
 */
function instructions() {
  if (!counter) return 0;
  const now = counter();
  if (now < low) high += WRAP;
  ahead = now === low ? ahead + LOOP : Math.max(0, ahead - ((now - low) >>> 0));
  low = now;
  return high + now + ahead;
}

/** The machine's time since it was switched on, in ms. */
export function now() {
  return instructions() * MS_PER_INSTRUCTION + skipped;
}

/** Advances the clock by `ms` at once. */
export function skip(ms) {
  skipped += ms;
}

/** From now on instructions are counted: `read` returns their number modulo 2^32. */
export function countWith(read) {
  counter = read;
}

const FIRST_DAY = Date.UTC(2024, 0, 1); // the same date as in QEMU
performance.now = now;
Date.now = () => FIRST_DAY + Math.floor(now());
Math.random = () => 0.5;
globalThis.crypto.getRandomValues = (array) => array.fill(7);
