#!/usr/bin/env python3
"""The only module that starts QEMU.

`make qemu` and similar targets call it; it reads its settings from the environment, where make puts its variables (VM,
MEM, RUN, ...; variables.txt beside this lists them). The lab and the tests import its functions. It needs no other
package.

An exact run must not depend on the host, and a serial port with a slow reader makes the guest wait. So the console
of a `RUN=` goes to a file, which accepts every byte at once, and is copied to the terminal from there.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import mkinitramfs

from tidemark import errors
from tidemark.errors import LabError
from tidemark.machine import coverage, disk, host
from tidemark.machine.disk import BadSetting as BadSetting
from tidemark.machine.host import die_with_parent as die_with_parent
from tidemark.machine.settings import DEFAULTS as DEFAULTS
from tidemark.machine.settings import ROOT as ROOT
from tidemark.machine.settings import Settings as Settings
from tidemark.machine.settings import settings_from as settings_from
from tidemark.machine.settings import size_bytes as size_bytes

# QEMU starts in the image's folder, so that these names, which the kernel is told, are the same in every copy.
PROGRAM = "qemu-system-i386"
KERNEL = "build/tidemark.elf"
INITRD = "build/initramfs.cpio"
ISO = "build/tidemark.iso"

# A session without a terminal: the guest's file of its commands, the shell that runs them, and their largest size.
# A root on a disk hides the archive's root, not /dev.
TYPED, TYPED_DEV = "stdin", "dev/typed"
MAX_TYPED = 1 << 20

MIB = 1 << 20
PAGE = 4096
DEFAULT_STORE = 128 * MIB
DISKS = ("hda", "hdb")
MAX_COMMAND_LINE = 1023  # bytes that the kernel accepts
MARGIN = 4 * MIB
BIOS = 32 * MIB  # at the end of memory, of which the BIOS uses some before the kernel runs
MOST_MEMORY = 3072  # MiB; devices are above
IMAGES = ROOT / "build/disk"

# QEMU ends with (value << 1) | 1 for a value written to isa-debug-exit: kernel/include/arch/machine.h has the values.
OK, FAILED, PANICKED, HUNG, TIMED_OUT, NO_QEMU, REFUSED, CUT = range(8)
QEMU_STATUS = {33: OK, 35: FAILED, 37: PANICKED, 39: HUNG, 41: REFUSED, 43: CUT}
RESET = "the machine was reset: by a triple fault, unless the command asked for it"
REASON = {
    FAILED: "the command failed: its status is not 0, its output is above",
    PANICKED: "the kernel panicked: the backtrace above says where; `make qemu-gdb` stops there; `tidemark gdb`, too",
    HUNG: "the kernel hung: its watchdog found no progress; `make qemu-gdb` shows where it is",
    REFUSED: "the kernel refused its command line: the line above says what would be valid",
    CUT: "the power was cut, as cut= said: the disk's image is what was on the medium at that moment",
    TIMED_OUT: "no end after {timeout} s of host time; TIMEOUT=N changes it",
    NO_QEMU: "QEMU ended by itself (status {status}), not by the guest: see its message above, and `make doctor`",
}


def prepared(s: Settings) -> Settings:
    """The settings with an image if the disk is a folder or a size. Raises BadSetting if it cannot be used."""
    disk.check(s.disk, s.disk_kind)
    disk.check(s.disk2, s.disk_kind, "DISK2")
    s = replace(s, disk=disk.image_of(s.disk, IMAGES)) if s.disk else s
    return replace(s, disk2=disk.image_of(s.disk2, IMAGES / "2")) if s.disk2 else s


def command_line(s: Settings) -> str:
    """The kernel's command line."""
    if '"' in s.run:
        raise BadSetting("RUN may not contain a double quote, the kernel's command line cannot; use single quotes")
    for name, value in (("VM", s.vm), ("SWAP", s.swap)):
        if re.search(r"\s", value):
            raise BadSetting(f"{name}={value} may not contain blanks; other parameters go into CMDLINE")
    unit, _ = real_disk(s)
    words = [f"vm={s.vm}", f"mem={s.mem}", f"swap={unit or s.swap}"]
    words += [f"frames={s.frames}"] if s.frames else []
    words += [f'run="{s.run}"'] if s.run else []
    words += [f"seed={s.seed}"] if s.seed else []
    words += ["exact"] if s.exact else []
    words += disk.parameters(s.disk, s.disk_kind, image_at(s)) if s.disk else []
    if s.disk2 and s.disk_kind not in disk.REAL:
        words += disk.parameters(s.disk2, disk.without_cache(s.disk_kind), image2_at(s))
    words += disk.mounted(s.disk_kind, disk_index(s), s.cmdline) if s.disk else []
    words += [s.cmdline] if s.cmdline else []
    line = " ".join(words)
    if len(line.encode()) > MAX_COMMAND_LINE:
        raise BadSetting(
            f"RUN and CMDLINE are too long: the kernel's command line has {MAX_COMMAND_LINE} bytes at most, not "
            f"{len(line.encode())}; commands may also come from standard input: echo COMMANDS | make qemu"
        )
    return line


def real_disk(s: Settings) -> tuple[str, int]:
    """(`hda` or `hdb`, bytes) of `hda,size=64M`; ("", 0) if the swap area is not on an emulated disk."""
    unit, _, option = s.swap.partition(",")
    if unit not in DISKS:
        return "", 0
    name, _, size = (option or f"size={DEFAULT_STORE}").partition("=")
    if name != "size":
        raise BadSetting(f"SWAP={s.swap}: a real disk is {unit} or {unit},size=64M; its speed is the host's")
    return unit, size_bytes(size, "SWAP size")


def disk_index(s: Settings) -> int:
    """The index of DISK's disk among its kind: 0, or 1 if swap is on hda."""
    return int(s.disk_kind == "ide" and real_disk(s)[0] == DISKS[0])


def disk_arguments(s: Settings) -> list[str]:
    """QEMU's arguments for the real disk of SWAP, if it has one.

    The disk is empty, and writes go into a sparse file of QEMU's (in $TMPDIR, or /var/tmp), which vanishes
    with QEMU in any case. Nothing is flushed to the host's disk, since nothing needs to last. The guest
    gets the host's errors: otherwise QEMU would stop the guest when the host's disk is full. The disk of DISK, if it is
    IDE, is the other unit.
    """
    unit, size = real_disk(s)
    if unit and s.disk2 and s.disk_kind == "ide":
        raise BadSetting(f"DISK2={s.disk2}: there are two IDE disks at most, and SWAP={s.swap} is one")
    words = []
    if unit:
        store = f"driver=null-co,read-zeroes=on,size={size},snapshot=on"
        words += ["-drive", f"if=ide,index={DISKS.index(unit)},{store},werror=report,rerror=report"]
    if s.disk and s.disk_kind in disk.REAL:
        words += disk.drive(s.disk, s.disk_kind, disk_index(s))
        words += disk.drive(s.disk2, s.disk_kind, 1) if s.disk2 else []
    elif s.disk:
        words += disk.memory_arguments(s.memory or "MEMORY", machine_mib(s))
    return words


def exact_arguments(s: Settings) -> list[str]:
    """QEMU's arguments for virtual time. Idle time is skipped, unless the host may complete a disk request in it:
    such a run is not reproducible, but its disk does not become infinitely slow."""
    sleep = "on" if real_disk(s)[0] or (s.disk and s.disk_kind in disk.REAL) else "off"
    return ["-icount", f"shift=0,sleep={sleep}", "-rtc", "clock=vm,base=2024-01-01T00:00:00", "-seed", "1"]


def image_at(s: Settings) -> int:
    """The address of a modelled disk's image: above the memory that the kernel manages and the swap disk's store."""
    store = 0
    if s.swap.startswith("sim"):
        sizes = [part[5:] for part in s.swap.split(",") if part.startswith("size=")]
        store = size_bytes(sizes[-1], "SWAP size") if sizes else DEFAULT_STORE
    return -(-(size_bytes(s.mem, "MEM") + store) // PAGE) * PAGE


def image2_at(s: Settings) -> int:
    """The address of a second modelled disk's image: above the first one, and the cache of that."""
    end = image_at(s) + disk.size_of(s.disk) + (BIOS if "cache=" in s.disk_kind else 0)
    return -(-end // PAGE) * PAGE


def future_at(s: Settings) -> int:
    """The address of the future: above the contents of modelled disks."""
    return machine_mib(replace(s, future="")) * MIB


def future_arguments(s: Settings) -> list[str]:
    """QEMU's arguments that load the future into memory."""
    return ["-device", f"loader,file={disk.quoted(s.future)},addr={future_at(s)},force-raw=on"] if s.future else []


def machine_mib(s: Settings) -> int:
    """The machine's memory, MiB: what the kernel manages and, above it, modelled disks' contents, and the future."""
    if s.future:
        return -(-(future_at(s) + os.path.getsize(s.future) + BIOS) // MIB)
    if not s.disk or s.disk_kind in disk.REAL:
        return -(-(image_at(s) + MARGIN) // MIB)
    end = image2_at(s) + disk.size_of(s.disk2) if s.disk2 else image_at(s) + disk.size_of(s.disk)
    total = -(-(end + BIOS) // MIB)
    if total > MOST_MEMORY:
        raise BadSetting(f"DISK={s.disk}: with it the machine would have {total} MiB of memory, {MOST_MEMORY} at most")
    return total


def qemu_command(
    s: Settings, console: str = "", gdb: bool = False, iso: bool = False, initrd: str = INITRD
) -> list[str]:
    """QEMU and its arguments. It must be started in the image's folder.

    `console` is a file for the first serial port; without it that port, and QEMU's monitor (Ctrl-A c), are on the
    terminal. The VGA screen of an unattended run is invisible: without the card, and its BIOS, it boots 20 ms sooner.
    `gdb` waits for a debugger; `iso` boots build/tidemark.iso by GRUB; `initrd` is another first file system.
    """
    words = [PROGRAM, "-accel", "tcg", "-cpu", "qemu32", "-machine", "pc", "-nodefaults", "-no-reboot"]
    words += ["-display", "none", "-vga", "none" if console else "std", "-m", f"{machine_mib(s)}M"]
    words += ["-device", "isa-debug-exit,iobase=0xf4,iosize=4"]
    words += ["-device", "ib700", "-action", "watchdog=inject-nmi"]
    words += exact_arguments(s) if s.exact else []
    words += disk_arguments(s)
    words += ["-serial", f"file:{os.path.abspath(console)}" if console else "mon:stdio"]
    words += ["-serial", f"file:{os.path.abspath(s.telemetry)}" if s.telemetry else "null"]
    if iso:
        words += ["-cdrom", ISO, "-boot", "d"]
    else:
        words += ["-kernel", KERNEL, "-initrd", initrd, "-append", command_line(s)]
    words += future_arguments(s)
    words += shlex.split(s.qemu_flags)
    words += [] if gdb or s.prefix else coverage.arguments(s.image / KERNEL, words)
    if gdb:
        words += ["-S", "-gdb", f"tcp:localhost:{s.gdb_port}"]
        # With interrupts off, a step advances QEMU's clock to its next timer, which may be the watchdog's.
        words += ["-action", "watchdog=none"]
    return words


def start(command: list[str], image: Path = ROOT, **kwargs: Any) -> subprocess.Popen[bytes]:
    """Start QEMU in the image's folder, where the relative names in its command line are valid."""
    qemu: subprocess.Popen[bytes] = subprocess.Popen(command, cwd=image, preexec_fn=die_with_parent, **kwargs)
    return qemu


def stop(qemu: subprocess.Popen[bytes]) -> None:
    """End QEMU if it runs, first with SIGTERM; its files are complete afterwards."""
    if qemu.poll() is not None:
        return
    qemu.terminate()
    try:
        qemu.wait(5)
    except subprocess.TimeoutExpired:
        qemu.kill()
        qemu.wait()


class Stall:
    """QEMU 8.2 sometimes waits for itself for ever in a run with a plugin (docs/reference/limits.md). An exact machine
    without input never rests, so a processor time that stands still shows it."""

    # A minute, with a call each 20 ms. Calls are counted, not seconds: they stand still while this process is stopped.
    BETWEEN, LOOKS = 50, 60

    def __init__(self, s: Settings, pid: int) -> None:
        self.pid, self.calls, self.looks, self.last = pid, 0, 0, ""
        self.possible = s.exact and "-plugin" in s.qemu_flags

    def check(self) -> None:
        """To be called regularly. Raises LabError if QEMU no longer executes."""
        self.calls += 1
        if not self.possible or self.calls % self.BETWEEN:
            return
        used = host.processor_time(self.pid)
        self.looks = self.looks + 1 if used and used == self.last else 0
        self.last = used
        if self.looks >= self.LOOKS:
            why = "which happens with a plugin in QEMU 8.2: take another version, first in PATH"
            raise LabError(f"{PROGRAM} has stopped executing, {why}", errors.FAILED)


@contextlib.contextmanager
def disk_in_memory(s: Settings) -> Iterator[Settings]:
    """The settings with a file for the guest's memory, if the disk's data are there."""
    if not s.disk or s.disk_kind in disk.REAL:
        yield s
        return
    images = {image_at(s): s.disk} | ({image2_at(s): s.disk2} if s.disk2 else {})
    with disk.memory(images, machine_mib(s), s.disk_kept, s.memory) as path:
        yield replace(s, memory=path)


def unattended(
    s: Settings,
    console: Path,
    progress: Callable[[], None],
    messages: BinaryIO | None = None,
    iso: bool = False,
    initrd: str = INITRD,
    keep: Sequence[int] = (),
) -> tuple[int, int]:
    """One run with the file `console` as its console; (code, QEMU's status). QEMU inherits the descriptors `keep`.

    `progress` is called every 20 ms of host time, and once more when QEMU has ended and its files are complete, also if
    an exception, such as KeyboardInterrupt, ends the run. `messages` receives QEMU's own messages.
    """
    console.write_bytes(b"")
    with disk_in_memory(s) as s:
        command = [*s.prefix, *qemu_command(s, str(console), iso=iso, initrd=initrd)]
        # In a separate session: Ctrl-C reaches only us, and we end QEMU; else it might seem to have ended by itself.
        options: dict[str, Any] = {"pass_fds": keep, "start_new_session": True}
        qemu = start(command, s.image, stdin=subprocess.DEVNULL, stderr=messages, **options)
        ended = os.pidfd_open(qemu.pid)  # Popen.wait with a time limit would wake up after 0.5, 1.5, 3.5 ... ms
        deadline, stall = time.monotonic() + s.timeout, Stall(s, qemu.pid)
        try:
            while qemu.poll() is None:
                stall.check()
                if time.monotonic() > deadline:
                    stop(qemu)
                    return TIMED_OUT, qemu.returncode
                progress()
                select.select([ended], [], [], 0.02)
        finally:
            os.close(ended)
            stop(qemu)
            progress()
    return QEMU_STATUS.get(qemu.returncode, NO_QEMU), qemu.returncode


def run_command(s: Settings, out: BinaryIO, **options: Any) -> tuple[int, int]:
    """One unattended run (see there for its `options`), with its console copied to `out` meanwhile; (code, QEMU's
    status)."""
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        console = Path(folder, "console")
        console.touch()
        with console.open("rb") as lines:

            def copy() -> None:
                out.write(lines.read())
                out.flush()

            return unattended(s, console, copy, **options)


def typed(source: BinaryIO) -> bytes:
    """All commands of a session without a terminal. Raises BadSetting if they cannot be commands."""
    text = source.read(MAX_TYPED + 1)
    if len(text) > MAX_TYPED:
        raise BadSetting(f"standard input: more than {MAX_TYPED >> 20} MiB cannot be commands for the guest")
    if b"\0" in text:
        raise BadSetting("standard input: it holds a zero byte, so these are not commands for the guest")
    lines = text.replace(b"\r\n", b"\n")
    return lines if not lines or lines.endswith(b"\n") else lines + b"\n"


def run_typed(s: Settings, text: bytes, out: BinaryIO) -> tuple[int, int]:
    """A session without a terminal: as if `text` were typed at the prompt, then power off. Returns as run_command.

    The text is a file in the guest from the start: input from the serial port would depend on when the host sends it:
    the run would not repeat. QEMU reads the archive from an unnamed file whose descriptor is always the same, on Linux.
    """
    name = TYPED_DEV if "root=" in s.cmdline else TYPED
    with_typed = mkinitramfs.with_file((s.image / INITRD).read_bytes(), name, text)
    with host.unnamed_file(TYPED) as (memory, path):
        with open(memory, "wb", closefd=False) as file:
            file.write(with_typed)
        fd = fcntl.fcntl(memory, fcntl.F_DUPFD, 100)
        initrd = f"/proc/self/fd/{fd}" if path.startswith("/proc/") else path
        try:
            return run_command(replace(s, run=f"sh -v /{name}"), out, initrd=initrd, keep=(fd,))
        finally:
            os.close(fd)


def messages(qemu: subprocess.Popen[bytes]) -> None:
    """Pass QEMU's messages on, except one: a guest that waits for a key in virtual time has no active timers."""
    for line in qemu.stderr or ():
        if b"no active timers" not in line:
            sys.stderr.buffer.write(line)
            sys.stderr.buffer.flush()


def interactive(s: Settings, gdb: bool, iso: bool) -> tuple[int, int]:
    """A session at the terminal, without a time limit. Leaving it with QEMU's monitor (status 0) is not a failure.

    GRUB waits in a busy loop, which takes far too long in virtual time: its menu needs the real clock.
    """
    with disk_in_memory(replace(s, exact=s.exact and not iso)) as s:
        qemu = start(qemu_command(s, gdb=gdb, iso=iso), s.image, stderr=subprocess.PIPE)
        try:
            messages(qemu)
            qemu.wait()
        finally:
            stop(qemu)
    if qemu.returncode == 0:
        return OK, 0
    return QEMU_STATUS.get(qemu.returncode, NO_QEMU), qemu.returncode


def greeting(s: Settings, gdb: bool) -> str:
    """The text to print before the console takes over the terminal."""
    if gdb:
        port = "" if s.gdb_port == 1234 else f" GDBPORT={s.gdb_port}"
        return f"QEMU waits for the debugger: run `make gdb{port}` in another terminal. Ctrl-A x ends QEMU."
    return "Ctrl-A x ends QEMU, Ctrl-A c is its monitor."


def chosen(s: Settings, gdb: bool, iso: bool) -> tuple[int, int]:
    """Run a command, commands from standard input, or a session at the terminal."""
    if s.run and not gdb:
        return run_command(s, sys.stdout.buffer, iso=iso)
    if gdb or (sys.stdin and sys.stdin.isatty()):
        print(greeting(s, gdb), file=sys.stderr)
        return interactive(s, gdb, iso)
    if iso:
        raise BadSetting("without a terminal the GRUB image runs only a RUN=")
    print("No terminal: commands are read from standard input to its end; then power off.", file=sys.stderr)
    text = typed(sys.stdin.buffer) if sys.stdin else b""
    return run_typed(s, text, sys.stdout.buffer)


def say_where(given: Settings, s: Settings) -> None:
    """Print the path of each image that was made from a folder, with the guest's changes."""
    for name, before, after in (("DISK", given.disk, s.disk), ("DISK2", given.disk2, s.disk2)):
        if before and after != os.path.abspath(before):
            image = os.path.relpath(after)
            text = f"{image} is the disk as the guest left it; {name}={image} continues with it"
            print(f"tidemark: {text}", file=sys.stderr)


def hang_up(signum: int, frame: object) -> None:
    """SIGTERM and SIGHUP end the run as Ctrl-C does."""
    raise KeyboardInterrupt


def main() -> int:
    """Run with the settings of the environment; the exit status is one of OK ... REFUSED."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--gdb", action="store_true", help="wait for a debugger before the first instruction")
    parser.add_argument("--iso", action="store_true", help="boot the GRUB image instead of the kernel file")
    parser.add_argument("--print", action="store_true", help="only print QEMU's command line")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, hang_up)
    signal.signal(signal.SIGHUP, hang_up)
    try:
        given = settings_from(os.environ)
        if args.iso and given.disk:
            raise BadSetting("DISK: the menu of the GRUB image sets the kernel's command line, which names no disk")
        s = prepared(given)
        if args.print:
            print(shlex.join(qemu_command(s, gdb=args.gdb, iso=args.iso)))
            return OK
        code, status = chosen(s, args.gdb, args.iso)
        say_where(given, s)
    except (BadSetting, LabError) as error:
        print(f"tidemark: {error}", file=sys.stderr)
        return NO_QEMU
    except FileNotFoundError as error:
        print(f"tidemark: {error.filename} is not installed; `make doctor` says how to get it", file=sys.stderr)
        return NO_QEMU
    except BrokenPipeError:  # the reader of the console is gone: end quietly, as QEMU does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        print("tidemark: stopped", file=sys.stderr)
        return 128 + signal.SIGINT
    if code == NO_QEMU and status == 0:
        print(f"tidemark: {RESET}", file=sys.stderr)
    elif code != OK:
        print(f"tidemark: {REASON[code].format(timeout=f'{s.timeout:g}', status=status)}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
