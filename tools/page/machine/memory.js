/*
 * The machine's memory, seen from outside: the machine executes nothing for it. Telemetry names each process's page
 * directory (the record `mm`). From there the page tables tell which frame holds which page, which pages were used
 * recently, and which are not resident: an entry that is neither empty nor present names a slot in the swap area.
 */

const ENTRIES = 1024;
const USER_TABLES = 768; // the kernel's part begins at 3 GiB
const PRESENT = 1;
const ACCESSED = 1 << 5;

/** The state of a process's page: resident, resident and used recently, in the swap area. */
export const RESIDENT = 1;
export const USED = 2;
export const SWAPPED = 3;

const state = (entry) => (entry & PRESENT ? (entry & ACCESSED ? USED : RESIDENT) : SWAPPED);

/** The processes of a machine with their page directories, found in its telemetry. */
export class Roots {
  constructor() {
    this.processes = new Map(); // pid -> {comm, cr3}
    this.rest = "";
  }

  /** Feeds the next piece of the stream, a text. */
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

/** Returns the states of one process's pages in order of address; calls `holds(frame)` for each resident page. */
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
 * The map of a machine: `owners`, for each frame the pid of its process, 0 for none; `processes`, a list of
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
