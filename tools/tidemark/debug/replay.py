"""Places of an exact run, and how to get there: the run is repeated, and stopped.

A place is a number of ns since the kernel began. An exact run is reproducible to the bit, and an instruction takes a
nanosecond. So a place names an instruction, or a wait, and the machine is there as it was. The kernel's clock, which
telemetry uses, stops while the kernel is sampled, and falls behind. QEMU's plugin stops the machine
(tools/plugin/place.c), or reports events before a place (tools/plugin/past.c). A debugger attaches to a machine
that has stopped already, so it cannot have changed anything before.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import struct
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tidemark.errors import BAD_INPUT, FAILED, USAGE, LabError
from tidemark.machine import plugin, qemu
from tidemark.runs import experiment, results
from tidemark.telemetry import stream

UNITS = {"": 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
# Faults that come in the middle of an instruction: division, segments, protection, pages, alignment.
FAULTS = tuple(f"trap_{vector}" for vector in (0, 10, 11, 12, 13, 14, 17))
SLOWER = 4  # times the run's own time limit, because of the plugin
KERNEL_BASE = 0xC0000000  # the kernel's memory is mapped from here on
STATUS = struct.Struct("<Qq")  # (has the machine arrived, time of its last stop)

# Events for --event besides telemetry records: the functions that are called then.
FUNCTIONS = {
    "fault": ("do_page_fault",),
    "panic": ("panic", "die"),
    "hang": ("report_hang", "hang"),
    "violation": ("world_violation", "world_stop"),
    "evict": ("policy_call_evicted",),
    "end": ("machine_exit",),
}


@dataclass(frozen=True)
class Place:
    """A place to stop: at a number of ns (`at`), or at a `time` of the kernel's clock in ns, or before the `nth`
    execution of an instruction `pc`, or of one of several (`1:2`). `words` name it."""

    words: str
    at: int = -1
    time: int = -1
    pc: str = ""
    nth: int = 1

    def options(self) -> dict[str, str]:
        """The plugin's options for this place."""
        if self.pc:
            return {"pc": self.pc, "nth": str(self.nth)}
        return {"at": str(self.at)} if self.at >= 0 else {"time": str(self.time)}


@dataclass(frozen=True)
class Arrived:
    """A machine that has stopped at `ns`; gdb connects to the socket `gdb`."""

    ns: int
    gdb: Path


def seconds(ns: int) -> str:
    """A place as text: 0.007378059 s."""
    return f"{ns / 1e9:.9f} s"


def time_of(text: str) -> int:
    """The ns in `1.5` (seconds), `350ms`, `45us` or `7378059ns`. Raises LabError if it is malformed."""
    match = re.fullmatch(r"(\d+)(?:\.(\d+))? ?(s|ms|us|ns|)", text.strip())
    if not match:
        raise LabError(f"{text} is not a time; write it as 1.5 (seconds), 350ms, 45us or 7378059ns", USAGE)
    whole, fraction, unit = match[1], match[2] or "", UNITS[match[3]]
    return int(whole) * unit + int(int(fraction or "0") * unit // 10 ** len(fraction))


def address_of(text: str) -> int:
    """The number of an address as gdb prints it. Raises LabError if it is malformed."""
    if not re.fullmatch("0x[0-9a-f]{1,8}", text):
        raise LabError(f"{text} is not an address; write it as 0xc0138fb0", USAGE)
    return int(text, 16)


def event(result: results.Result, image: Path, text: str) -> Place:
    """The place of `KIND:N`, the Nth event of its kind. N is 1 if it is left out."""
    kind, _, number = text.partition(":")
    if number and not re.fullmatch("[1-9][0-9]*", number):
        raise LabError(f"{text}: write it as KIND:N, N from 1 on, such as exit:2", USAGE)
    nth = int(number or "1")
    if kind in FUNCTIONS:
        return Place(f"{kind} {nth}", pc=instructions(image, *FUNCTIONS[kind]), nth=nth)
    lines = [record["ev"] for record in records(result)]
    found = [at for at, ev in enumerate(lines, 1) if ev == kind]
    if not found:
        raise LabError(
            f"{result.folder} has no event {kind!r}; it has {', '.join(dict.fromkeys([*FUNCTIONS, *lines]))}", USAGE
        )
    if nth > len(found):
        raise LabError(f"{result.folder} has {len(found)} events {kind!r}, no {nth}th", USAGE)
    return Place(f"{kind} {nth}", pc=instructions(image, "telemetry_begin"), nth=found[nth - 1])


def instructions(image: Path, *functions: str) -> str:
    """The addresses of functions of the kernel, in the plugin's notation."""
    return ":".join(map(str, plugin.addresses(image, *functions)))


def records(result: results.Result) -> list[dict[str, Any]]:
    """The telemetry's records in the order in which they were written."""
    follower = stream.Follower(result.telemetry_path)
    try:
        return list(follower.poll())
    finally:
        follower.close()


class Machine:
    """A running machine: QEMU with the plugin in one of its modes, and a folder for its files."""

    def __init__(self, settings: qemu.Settings, folder: Path, mode: str, more: str, **options: str | Path) -> None:
        folder.mkdir()
        self.folder, self.console, self.log = folder, folder / results.CONSOLE, folder / "qemu.log"
        self.limit = SLOWER * settings.timeout
        flags = plugin.flags(mode, **options) + more
        settings = replace(settings, qemu_flags=flags, telemetry=str(folder / results.TELEMETRY))
        with contextlib.ExitStack() as held:
            s = held.enter_context(qemu.disk_in_memory(settings))
            log = held.enter_context(self.log.open("wb"))
            command = qemu.qemu_command(s, str(self.console))
            # In a separate session: Ctrl-C in the debugger must not reach the machine.
            self.process = qemu.start(command, s.image, stdin=subprocess.DEVNULL, stderr=log, start_new_session=True)
            self.held = held.pop_all()

    def close(self) -> None:
        """End the machine and remove its files."""
        self.process.kill()
        self.process.wait()
        self.held.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def status(self) -> tuple[int, int]:
        """The plugin's report: (has the machine arrived, time of its last stop)."""
        path = self.folder / "status"
        data = path.read_bytes() if path.exists() else b""
        return STATUS.unpack(data) if len(data) == STATUS.size else (0, 0)

    def arrive(self, place: Place) -> bool:
        """Wait until it stops at a place. Returns False if it ends before. Raises LabError if that takes too long."""
        deadline = time.monotonic() + self.limit
        while self.process.poll() is None:
            arrived, ns = self.status()
            if arrived and ns:
                return True
            if time.monotonic() > deadline:
                raise LabError(f"{place.words} was not reached in {self.limit:g} s of host time", FAILED)
            time.sleep(0.005)
        return False


class Places:
    """One run, repeated as needed. At most one stopped machine exists at a time. `scratch`: a folder for its files."""

    def __init__(self, result: results.Result, image: Path, scratch: Path) -> None:
        self.result, self.scratch = result, scratch
        self.machine: Machine | None = None
        try:
            self.settings = qemu.prepared(replace(result.settings(), image=image, disk_kept=False))
        except qemu.BadSetting as error:
            raise LabError(str(error), BAD_INPUT) from None
        main, clock, self.zero = plugin.addresses(image, "kernel_main", "clock_start", "clock_zero")
        self.symbols = {"main": str(main), "clock": str(clock)}
        self.faults = instructions(image, *FAULTS)
        self.started = 0

    def start(self, mode: str, outputs: dict[str, str], more: str = "", **options: str) -> Machine:
        """Start another machine. `outputs` are options that name files in its folder."""
        self.started += 1
        folder = self.scratch / str(self.started)
        files = {name: str(folder / file) for name, file in outputs.items()}
        return Machine(self.settings, folder, mode, more.format(folder), **self.symbols, **files, **options)

    def close(self) -> None:
        """End the stopped machine, if there is one."""
        if self.machine:
            self.machine.close()
            self.machine = None

    def go(self, place: Place) -> Arrived:
        """Run up to a place; the previous stopped machine is ended. Raises LabError if the run ends before, or
        differs."""
        more, options = " -gdb unix:{}/gdb,server=on,wait=off", {"zero": str(self.zero), **place.options()}
        machine = self.start("place", {"status": "status"}, more, **options)
        try:
            if not machine.arrive(place):
                raise LabError(self.why_not(place, machine))
            self.check_same(machine)
        except BaseException:
            machine.close()
            raise
        self.close()
        self.machine = machine
        return Arrived(machine.status()[1], machine.folder / "gdb")

    def now(self) -> int:
        """The place of the stopped machine, by its clock."""
        return self.machine.status()[1] if self.machine else 0

    def why_not(self, place: Place, machine: Machine) -> str:
        """Why a machine ended before it reached a place."""
        status, said = machine.process.returncode, experiment.last_line(machine.log)
        if qemu.QEMU_STATUS.get(status) is None:
            return f"QEMU ended (status {status}) before {place.words}: {said or 'silently'}"
        last = records(self.result)
        end = f", at {last[-1]['t_us'] / 1e6:.6f} s" if last else ""
        return f"{place.words} is beyond the end of the run{end}"

    def check_same(self, machine: Machine) -> None:
        """Raises LabError if the console so far differs from that of the run: then it is another run."""
        if not self.result.console_path.read_bytes().startswith(machine.console.read_bytes()):
            raise LabError(
                f"this run differs from {self.result.folder}: the console is not the same; `tidemark rerun` says where",
                FAILED,
            )

    def instruction(self, pc: int, writes: int | None) -> Place:
        """The place of the first execution of an instruction, or of its first execution that writes to an address of
        the kernel."""
        words = f"the instruction at {pc:#x}"
        if writes is None:
            return Place(words, pc=str(pc))
        word = (writes & ~3) - KERNEL_BASE
        found = [event for event in self.past(write=f"{word}-{word + 4}") if event[2] == pc]
        if not found:
            raise LabError(f"{words} does not write to {writes:#x} in {self.result.folder}", USAGE)
        return Place(f"{words}, which writes to {writes:#x}", at=found[0][1])

    def past(self, **options: str) -> list[list[int]]:
        """The events before a place (options: tools/plugin/past.c): kind, place, pc, words; kind is ord(letter)."""
        machine = self.start("past", {"out": "past"}, faults=self.faults, **options)
        try:
            machine.process.wait(machine.limit)
            out = machine.folder / "past"
            lines = out.read_text().splitlines() if out.exists() else []
        except subprocess.TimeoutExpired:
            raise LabError(f"the run did not end in {machine.limit:g} s of host time", FAILED) from None
        finally:
            machine.close()
        return [[ord(line[0]), *map(int, line[2:].split())] for line in lines]
