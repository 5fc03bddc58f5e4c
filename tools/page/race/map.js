/* The memory map of a machine: its frames, coloured by the owning process, and each process's pages. */
import { element } from "../lib/dom.js";
import { SWAPPED, USED } from "../machine/memory.js";

const COLUMNS = 128; // frames per row
const PAGES = 256; // pages of a process per row
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#8268b8"];
const SHADE = 0.62; // of a page not used recently

const parts = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

/** The colour of the nth process. */
export const colourOf = (nth) => COLOURS[nth % COLOURS.length];

/** Paints a list of colours, as [r, g, b] or null for none, onto a canvas with a pixel for each. */
function paint(canvas, colours, columns) {
  const rows = Math.ceil(colours.length / columns);
  if (canvas.width !== columns || canvas.height !== rows) Object.assign(canvas, { width: columns, height: rows });
  const g = canvas.getContext("2d");
  const image = g.createImageData(columns, rows);
  colours.forEach((colour, i) => colour && image.data.set([...colour, 255], 4 * i));
  g.putImageData(image, 0, 0);
}

const canvasOf = (name) => element("canvas", { class: name, role: "img", height: 1 });

export class MemoryMap {
  constructor() {
    this.frames = canvasOf("frames");
    this.list = element("ul", { class: "pages" });
    this.place = element("div", {}, this.frames, this.list);
    this.rows = new Map(); // pid -> {row, canvas, text}
    this.order = []; // pids, in order of appearance, so that their colours stay the same
  }

  /** Shows a map of machine/memory.js; omits init, which only waits. */
  show({ owners, processes }) {
    const shown = processes.filter(({ pid, states }) => pid !== 1 && states.length);
    if (!shown.length) return; // all have ended: keep the last picture
    for (const { pid } of shown) if (!this.order.includes(pid)) this.order.push(pid);
    const colours = new Map(this.order.map((pid, nth) => [pid, parts(colourOf(nth))]));
    paint(
      this.frames,
      Array.from(owners, (pid) => colours.get(pid)),
      COLUMNS,
    );
    const held = owners.reduce((n, pid) => n + (colours.has(pid) ? 1 : 0), 0);
    this.frames.setAttribute("aria-label", `${owners.length} frames of memory; processes hold ${held} of them.`);
    for (const one of shown) this.showPages(one, colours.get(one.pid));
    for (const [pid, { row }] of this.rows) row.classList.toggle("gone", !shown.some((one) => one.pid === pid));
  }

  showPages({ pid, comm, states }, colour) {
    if (!this.rows.has(pid)) this.rows.set(pid, this.newRow());
    const { canvas, text } = this.rows.get(pid);
    const pale = colour.map((part) => Math.round(part * SHADE));
    const colourOfState = (state) => (state === SWAPPED ? null : state === USED ? colour : pale);
    paint(canvas, Array.from(states, colourOfState), PAGES);
    const out = states.reduce((n, state) => n + (state === SWAPPED ? 1 : 0), 0);
    const label = `${comm} ${pid}: ${states.length - out} pages in memory, ${out} in swap`;
    text.textContent = label;
    text.style.borderColor = `rgb(${colour})`;
  }

  newRow() {
    const canvas = canvasOf("strip");
    canvas.setAttribute("aria-hidden", "true");
    const text = element("span", { class: "owner" });
    const row = element("li", {}, text, canvas);
    this.list.append(row);
    return { row, canvas, text };
  }
}
