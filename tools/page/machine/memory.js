/*
 * The machine's memory, seen from outside: nothing in the machine runs for it. Telemetry names each process's page
 * directory (the record `mm`); from there the tables of the processor tell which frame holds which page, which pages were
 * used lately, and which are not in memory: an entry that is neither empty nor present names a place in the swap area.
 */

const ENTRIES = 1024;
const USER_TABLES = 768; // the kernel's part begins at 3 GiB
const PRESENT = 1;
const ACCESSED = 1 << 5;

/** What a page of a process is: in memory, in memory and used lately, in the swap area. */
export const RESIDENT = 1;
export const USED = 2;
export const SWAPPED = 3;

const state = (entry) => (entry & PRESENT ? (entry & ACCESSED ? USED : RESIDENT) : SWAPPED);

/** The processes of a machine with their page directories, from its telemetry. */
export class Roots {
  constructor() {
    this.processes = new Map(); // pid -> {comm, cr3}
    this.rest = "";
  }

  /** Takes the next piece of the stream, a text. */
  feed(text) {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop();
    for (const line of lines) {
      if (!line.includes('"ev":"mm"') && !line.includes('"ev":"exit"')) continue;
      const { ev, pid, comm, cr3 } = JSON.parse(line);
      if (ev === "mm") this.processes.set(pid, { comm, cr3 });
      else this.processes.delete(pid);
    }
  }
}

/** The states of one process's pages in order of address; calls `holds(frame)` for each that is in memory. */
function pages(words, cr3, holds) {
  const states = [];
  for (let i = 0; i < USER_TABLES; i++) {
    const table = words[cr3 / 4 + i];
    if (!(table & PRESENT)) continue;
    const first = (table >>> 12) * ENTRIES;
    for (let j = first; j < first + ENTRIES; j++) {
      const entry = words[j];
      if (!entry) continue;
      states.push(state(entry));
      if (entry & PRESENT) holds(entry >>> 12);
    }
  }
  return Uint8Array.from(states);
}

/**
 * The map of a machine: `owners`, for each frame the pid of a process that has it, 0 for none; `processes`, a list of
 * {pid, comm, states}. `words`: the physical memory as a Uint32Array.
 */
export function mapOf(words, roots, frames) {
  const owners = new Uint16Array(frames);
  const processes = [...roots.processes].map(([pid, { comm, cr3 }]) => {
    const states = pages(words, cr3, (frame) => frame < frames && (owners[frame] = pid));
    return { pid, comm, states };
  });
  return { owners, processes };
}
