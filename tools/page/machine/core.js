/*
 * One machine: v86 with our clock, without its compiler (compiled code counts instructions differently, and for runs of
 * seconds it is slower), the kernel as a multiboot image, the console on the first serial port, telemetry on the
 * second. There is no BIOS: v86 itself loads the kernel into memory, like a boot loader.
 */
import { countWith, hostNow, now, skip } from "./clock.js";
import { V86 } from "v86";

const MIB = 1 << 20;
const EXIT_PORT = 0xf4; // QEMU's isa-debug-exit; v86 uses the same port to pass the kernel
const INTERRUPTS = 1 << 9;
const EBX = 3;
const MMAP_ADDR = 48; // offset in the multiboot information
const [BASE, LENGTH, ENTRY_BYTES] = [4, 12, 24]; // offsets in an entry of the memory map, and its length
const LOW_END = 0x9fc00; // end of conventional memory, start of the BIOS's
const HIGH_START = MIB;
const STILL_MS = 0.001; // the cost of a halt without a wait
const NO_TIMER_MS = 100; // the wait that v86 proposes if no timer runs

/** Returns v86's machine, ready to run. `files`: kernel, initramfs (Uint8Array), wasm (a compiled module). */
function made({ memory, cmdline, files }) {
  const buffer = (bytes) => ({ buffer: bytes.slice().buffer });
  return new V86({
    wasm_fn: async (imports) => (await WebAssembly.instantiate(files.wasm, imports)).exports,
    memory_size: memory,
    vga_memory_size: MIB,
    multiboot: buffer(files.kernel),
    initrd: buffer(files.initramfs),
    cmdline,
    uart1: true,
    autostart: false,
    disable_speaker: true,
    disable_jit: true,
  });
}

/**
 * Makes the exit port behave like QEMU's: it can be read, and a write ends the machine. v86 has already used the port:
 * the read that loaded the kernel would load it again.
 */
function wireExit(io, ended) {
  io.register_read(EXIT_PORT, io, undefined, undefined, () => 0);
  io.register_write(EXIT_PORT, io, undefined, undefined, ended);
}

/**
 * Makes the memory map that the kernel receives the same as a PC's: v86 marks the BIOS's memory as free. The multiboot
 * information (its specification, version 0.6.96, section 3.3) is where EBX points; its second entry is the memory above the screen's.
 */
function correctMap(memory, info) {
  const view = new DataView(memory.buffer, memory.byteOffset, memory.byteLength);
  const low = view.getUint32(info + MMAP_ADDR, true);
  const high = low + ENTRY_BYTES;
  view.setUint32(low + LENGTH, LOW_END, true);
  const cut = HIGH_START - view.getUint32(high + BASE, true);
  view.setUint32(high + BASE, HIGH_START, true);
  view.setUint32(high + LENGTH, view.getUint32(high + LENGTH, true) - cut, true);
}

export class Core {
  /**
   * `options`: memory in bytes, cmdline, files, and the callbacks console(byte), telemetry(byte). Core.made() returns a
   * promise of a Core.
   */
  constructor(options) {
    this.status = null; // what the kernel wrote to the exit port
    this.emulator = made(options);
    this.emulator.add_listener("serial0-output-byte", options.console);
    this.emulator.add_listener("serial1-output-byte", options.telemetry);
  }

  /** Returns a promise of a machine that can run. */
  static made(options) {
    return new Promise((resolve) => {
      const core = new Core(options);
      core.emulator.add_listener("emulator-ready", () => resolve(core.ready()));
    });
  }

  ready() {
    this.v86 = this.emulator.v86;
    const { cpu } = this.v86;
    countWith(() => cpu.instruction_counter[0] >>> 0);
    correctMap(this.words, cpu.reg32[EBX]);
    wireExit(cpu.io, (status) => (this.status = status));
    this.wait = 0;
    this.idle = false;
    this.v86.next_tick = (ms) => (this.wait = ms);
    this.v86.running = true;
    return this;
  }

  /** Has the machine ended, by the exit port or by a halt that no interrupt can end? */
  get ended() {
    const { cpu } = this.v86;
    return this.status !== null || (cpu.in_hlt[0] && !(cpu.flags[0] & INTERRUPTS));
  }

  /**
   * Runs until `until` (ms of the machine's time), for at most `budget` ms of the host's time, or until the machine is
   * idle: then it waits for a key, and no time passes.
   */
  run(until, budget) {
    const end = hostNow() + budget;
    while (!this.ended && !this.idle && now() < until && hostNow() < end) {
      this.v86.do_tick();
      if (!this.v86.cpu.in_hlt[0]) continue;
      if (this.wait >= NO_TIMER_MS) this.idle = true;
      else skip(this.wait > 0 ? this.wait : STILL_MS);
    }
  }

  /** The time since the machine was switched on, in ms. */
  get time() {
    return now();
  }

  /** The physical memory. */
  get words() {
    const { cpu } = this.v86;
    return new Uint32Array(cpu.wasm_memory.buffer, cpu.mem8.byteOffset, cpu.memory_size[0] / 4);
  }

  /** Sends bytes as if they were typed at the console. */
  type(bytes) {
    this.idle = false;
    this.emulator.serial_send_bytes(0, bytes);
  }
}
