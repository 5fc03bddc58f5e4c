/*
 * The future of a string, which the policies min and vmin receive: the file that kernel/include/lib/future.h
 * describes and tools/tidemark/trace/future.py writes, for the single process here.
 */
const MAGIC = 0x32465554;
const NEVER = 0xffffffff;
const HEADER = 7; // words
const SPACE = 11;
const REF = 3;
const PAGE = 6;
const TIME_SHIFT = 10n;

/** Positions in the string, without immediate repetitions. */
function changes(pages) {
  return pages.map((_, i) => i).filter((i) => i === 0 || pages[i] !== pages[i - 1]);
}

/** Returns the file as a Uint32Array, for page numbers referred to in order, each for ns. */
export function future(pages, ns) {
  const at = changes(pages);
  const numbers = [...new Set(pages)].sort((a, b) => a - b);
  const refs = HEADER + SPACE;
  const table = refs + REF * at.length;
  const run = table + PAGE * numbers.length; // an empty command: a word of zeros
  const words = new Uint32Array(run + 1);
  const next = numbers.map(() => NEVER);
  words.set([MAGIC, words.length * 4, 1, 0, 0, 0, run * 4, refs * 4, table * 4, at.length, numbers.length]);
  for (let i = at.length - 1; i >= 0; i--) {
    const page = numbers.indexOf(pages[at[i]]);
    words.set([page, next[page], Number((BigInt(at[i]) * BigInt(ns)) >> TIME_SHIFT)], refs + REF * i);
    next[page] = i;
  }
  numbers.forEach((number, i) => words.set([0, number, next[i]], table + PAGE * i));
  words[3] = -words.reduce((sum, word) => (sum + word) >>> 0, 0);
  return words;
}
