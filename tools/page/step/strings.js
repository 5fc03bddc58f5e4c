/*
 * Reference strings, as typed or as carried by a link: the syntax of tools/tidemark/strings/refstrings.py. A page
 * number, or a range such as 1-9; a letter before it says what is done to the page.
 */
export const MOST_REFERENCES = 2000;
export const MOST_FRAMES = 64;
const MOST_PAGE = 9999;

const OF_FILE = 1;
const BY_CALL = 2;
const LOADS = 4;
const FETCHES = 8;
const KINDS = {
  "": 0,
  l: LOADS,
  f: OF_FILE | LOADS,
  F: OF_FILE,
  x: OF_FILE | LOADS | FETCHES,
  r: OF_FILE | BY_CALL | LOADS,
  w: OF_FILE | BY_CALL,
};

export const READY = [
  { name: "Belady's string: one frame more, one fault more", string: "1 2 3 4 1 2 5 1 2 3 4 5", frames: 3 },
  { name: "a loop, one page too long", string: "1-4 1-4 1-4 1-4", frames: 3 },
  { name: "a scan beside a hot set", string: "1 2 3 1 2 3 11 1 12 2 13 3 14 1 15 2 16 3 17 1 2 3", frames: 4 },
  { name: "a change of phase", string: "1 2 3 1 2 3 2 1 3 7 8 9 7 8 9 8 7 9", frames: 4 },
  { name: "a textbook's", string: "7 0 1 2 0 3 0 4 2 3 0 3 2 1 2 0 1 7 0 1", frames: 3 },
  { name: "some pages are written, some only read", string: "1 2 3 l1 l2 l3 l4 l1 5 l2 l4 l1 l3 5 l2", frames: 4 },
  {
    name: "a file, read by calls, beside a program's pages",
    string: "1 2 r1 3 r2 r3 1 2 r4 3 r5 1 r1 2 r6 3",
    frames: 4,
  },
];

const kindLetter = Object.fromEntries(Object.entries(KINDS).map(([letter, kind]) => [kind, letter]));

/** The reference as typed: l3, f3. */
export function refName({ page, kind }) {
  return kindLetter[kind] + page;
}

/** The page as in the simulator's table: the process's page 3 is 3, the file's is f3. */
export function pageName(page) {
  return page >= 0 ? String(page) : `f${-1 - page}`;
}

function references(word) {
  const match = /^([lfFxrw]?)(\d{1,9})(?:-(\d{1,9}))?$/.exec(word);
  if (!match)
    throw new Error(
      `“${word.slice(0, 20)}” is not a page. Give numbers such as 1 2 3 or 1-9; l3 only reads page 3, f3 reads it in a file.`,
    );
  const first = Number(match[2]);
  const last = Number(match[3] ?? first);
  if (last < first) throw new Error(`${word}: a range goes upwards, such as 1-9.`);
  if (last > MOST_PAGE) throw new Error(`${word}: pages go up to ${MOST_PAGE}.`);
  return Array.from({ length: last - first + 1 }, (_, i) => ({ page: first + i, kind: KINDS[match[1]] }));
}

/** Parses a text to [{page, kind}]. Throws an Error whose message says what is wrong. */
export function parse(text) {
  const words = text.split(/[\s,;]+/).filter(Boolean);
  if (!words.length) throw new Error("The string is empty. Give the numbers of some pages, such as 1 2 3 4 1 2 5.");
  const refs = [];
  for (const word of words) {
    refs.push(...references(word));
    if (refs.length > MOST_REFERENCES)
      throw new Error(
        `The string has more than ${MOST_REFERENCES} references. That is too much to step through; ` +
          "make sim takes strings of any length.",
      );
  }
  return refs;
}

/** The numbers of frames in a text, one for each of `count` policies: "3" for all, or "3,4". */
export function frameNumbers(text, count) {
  const numbers = text.split(",").map(frameNumber);
  if (numbers.length > count)
    throw new Error(
      `${text}: these are frames for ${numbers.length} policies. Choose a policy beside the first, or give one number.`,
    );
  return Array.from({ length: count }, (_, i) => numbers[i] ?? numbers[0]);
}

/** The number of frames in a text. */
export function frameNumber(text) {
  const number = /^\s*\d+\s*$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > MOST_FRAMES)
    throw new Error(`${text.trim() || "Nothing"} is not a possible number of frames. Give 1 to ${MOST_FRAMES}.`);
  return number;
}
