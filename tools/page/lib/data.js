/*
 * The page's data files. Each is a script data/NAME.js beside page.js, which is loaded on first use, and which calls
 * tidemarkData with its bytes, compressed and in base64.
 */

/** The address of page.js, in the page's folder. */
export const base = document.currentScript?.src ?? "";
const waiting = new Map(); // name -> what to do with [length, text]
const known = new Map(); // name -> promise of the bytes

globalThis.tidemarkData = (name, length, text) => waiting.get(name)?.(length, text);

/** The text of a data script. */
function loaded(name) {
  return new Promise((resolve, reject) => {
    waiting.set(name, (length, text) => resolve([length, text]));
    const script = document.createElement("script");
    script.src = new URL(`data/${name}.js`, base);
    script.onerror = () => reject(new Error(`data/${name}.js is missing; the folder of the page is incomplete`));
    document.head.append(script);
  });
}

async function unpacked(name) {
  const [length, text] = await loaded(name);
  waiting.delete(name);
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  if (bytes.length !== length) throw new Error(`data/${name}.js is damaged`);
  return bytes;
}

/**
 * Returns a promise of the bytes (Uint8Array) of a file of PAGE_DATA in page.mk. They are shared: do not change or
 * transfer them.
 */
export function data(name) {
  if (!known.has(name)) known.set(name, unpacked(name));
  return known.get(name);
}
