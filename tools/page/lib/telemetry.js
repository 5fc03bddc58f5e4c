/* The stream of the second serial port, as docs/reference/telemetry.md defines it. */

const POLYNOMIAL = 0xedb88320;
const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? POLYNOMIAL ^ (n >>> 1) : n >>> 1;
  return n;
});

/** The CRC-32 of consecutive pieces of bytes; `before` is the result for the previous pieces, 0 at first. */
export function crc32(bytes, before = 0) {
  let crc = ~before;
  for (const byte of bytes) crc = TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

const INIT = 1; // its pid; it has no record `exit`
const USER = 0; // the first of a process's accounts in its record `exit`
const ZOMBIE = 3; // its record `exit` is already there

export class Telemetry {
  constructor() {
    this.pieces = [];
    this.length = 0;
    this.crc = 0;
    this.start = null; // the record `start`
    this.end = null; // the record `end`
    this.samples = []; // the records `sample`
    this.ended_us = 0; // user time of the processes that have ended
    this.work = []; // [t_us, user time of all processes until then in µs], for each sample
    this.decoder = new TextDecoder();
    this.rest = "";
  }

  /** Takes the next bytes; returns the samples that they complete. */
  feed(bytes) {
    if (!bytes.length) return [];
    this.pieces.push(bytes);
    this.length += bytes.length;
    this.crc = crc32(bytes, this.crc);
    const lines = (this.rest + this.decoder.decode(bytes, { stream: true })).split("\n");
    this.rest = lines.pop();
    const records = lines.map((line) => JSON.parse(line));
    this.start ??= records.find((record) => record.ev === "start") ?? null;
    this.end ??= records.find((record) => record.ev === "end") ?? null;
    for (const record of records) this.count(record);
    const samples = records.filter((record) => record.ev === "sample");
    this.samples.push(...samples);
    return samples;
  }

  /** Adds up the user time of the processes: of those that run, by the sample, and of those that have ended. */
  count(record) {
    if (record.ev === "exit") this.ended_us += record.us[USER];
    if (record.ev !== "sample") return;
    const alive = record.procs.filter(({ pid, state }) => pid !== INIT && state !== ZOMBIE);
    this.work.push([record.t_us, this.ended_us + alive.reduce((sum, { user_us }) => sum + user_us, 0)]);
  }

  /**
   * The work done until `t_us`, at the last sample before: µs in which programs ran their own code. Machines with the
   * same programs do the same work, however long they take, except that each fault adds some instructions: a difference
   * of less than 1 % if the programs compute. In an exact run a µs is a thousand instructions.
   */
  workUntil(t_us) {
    return this.work.findLast(([t]) => t <= t_us)?.[1] ?? 0;
  }

  /** The number of bytes, and their CRC-32: both are equal if two runs are byte for byte the same. */
  get fingerprint() {
    return `${this.length} bytes, CRC-32 ${this.crc.toString(16).padStart(8, "0")}`;
  }

  /** Points {t (s), utilisation (0 to 1), majors (major faults a second)} of the intervals between samples from the index'th on. */
  points(index = 0) {
    const points = [];
    for (let i = Math.max(1, index); i < this.samples.length; i++) {
      const [a, b] = [this.samples[i - 1], this.samples[i]];
      const us = b.t_us - a.t_us;
      if (us <= 0) continue;
      const utilisation = 1 - (b.idle_us - a.idle_us) / us;
      points.push({ t: b.t_us / 1e6, utilisation, majors: ((b.vm.pgmajfault - a.vm.pgmajfault) * 1e6) / us });
    }
    return points;
  }
}
