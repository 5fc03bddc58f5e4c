"""Shared by the makers of figures: a run with its numbers, load on the host, tables.

A finished run is kept in the figure's folder until the figure is finished: after an interruption `measure` returns it.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import TypeVar

from tidemark.errors import FAILED, LabError
from tidemark.machine import qemu

from figures import documents
from figures.entries import ROOT

T = TypeVar("T")
R = TypeVar("R")
RUNS = "runs"
folder_of_runs: Path | None = None


def keep_runs_in(work: Path) -> None:
    """From now on, `measure` keeps runs in this figure's folder."""
    global folder_of_runs
    folder_of_runs = work / RUNS


# Names for numbers of the summary at the end of a console, which are integers or have a point.
NUMBERS = {
    "total_s": r"^system: ([\d.]+) s",  # virtual seconds from power-on to the summary
    "utilisation": r"utilisation ([\d.]+)%",  # percent of total_s in which the processor was not idle
    "useful": r"\(user ([\d.]+)%",  # percent of total_s in user mode
    "major_faults": r"(\d+) of them major",
    "killed": r"(\d+) killed for memory",
    "waits": r"(\d+) waits for admission",
}


@dataclass(frozen=True)
class Outcome:
    """A run that ended with status 0; `wall_s`: host seconds from QEMU's start to its end."""

    wall_s: float
    console: str
    telemetry: str

    def number(self, pattern: str) -> float:
        """The number that the first group of `pattern` finds in the console."""
        found = re.search(pattern, self.console, re.MULTILINE)
        if not found:
            raise LabError(f"no line matches {pattern!r} in:\n{self.console}", FAILED)
        return float(found[1])

    def program(self, name: str, key: str) -> float:
        """A number of a program's line of results, which must say that no data were corrupt."""
        self.number(rf"^R {name} .*corrupt=(0)\b")
        return self.number(rf"^R {name} .*\b{key}=([\d.]+)")

    def named(self, name: str) -> float:
        """One of NUMBERS."""
        found = self.number(NUMBERS[name])
        return found if "." in NUMBERS[name] else int(found)

    @cached_property
    def every_record(self) -> list[dict]:
        records = [json.loads(line) for line in self.telemetry.splitlines()]
        if not records or records[-1]["ev"] != "end":
            raise LabError("the telemetry is not complete", FAILED)
        return records

    def records(self, event: str) -> list[dict]:
        """The telemetry's records of one kind."""
        return [record for record in self.every_record if record["ev"] == event]

    @property
    def last(self) -> dict:
        """The last sample."""
        return self.records("sample")[-1]


def measure(command: str, telemetry: bool = False, keep: bool = True, **settings: object) -> Outcome:
    """Runs one command line in a fresh guest, or returns the kept run. `settings`: those of qemu.Settings. Raises
    LabError if the run fails."""
    words = json.dumps([command, telemetry, settings], sort_keys=True)
    kept = (
        folder_of_runs / f"{hashlib.sha256(words.encode()).hexdigest()[:24]}.json" if folder_of_runs and keep else None
    )
    if kept and kept.exists():
        return Outcome(**json.loads(kept.read_text()))
    found = run(command, telemetry, **settings)
    if kept:
        kept.parent.mkdir(exist_ok=True)
        documents.write(kept, json.dumps(asdict(found)))
    return found


def run(command: str, telemetry: bool, **settings: object) -> Outcome:
    """Runs one command line."""
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as folder:
        file = Path(folder, "telemetry")
        file.touch()
        s = qemu.Settings(run=command, telemetry=str(file) if telemetry else "", disk_kept=False, **settings)
        s = qemu.prepared(s)
        console = io.BytesIO()
        start = time.monotonic()
        code, _ = qemu.run_command(s, console)
        wall_s = time.monotonic() - start
        text = console.getvalue().decode("ascii", "replace").replace("\r", "")
        if code != qemu.OK:
            raise LabError(f"{qemu.command_line(s)}\nended with {code}:\n{text[-2000:]}", FAILED)
        return Outcome(wall_s, text, file.read_text("ascii"))


def tidemark(*words: str) -> tuple[float, float]:
    """Runs a command of the lab, as a reader would, prints its line, and discards its output. Returns seconds of
    processor time and the peak memory in MB."""
    print("   ", "tidemark", shlex.join(words), file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "tidemark.cli", *words]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            _, status, used = os.wait4(process.pid, 0)
        except BaseException:
            process.terminate()  # SIGTERM ended this process alone; after Ctrl-C the command is ending already
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise LabError(f"tidemark {shlex.join(words)} ended with status {process.returncode}", FAILED)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


def timed(command: Sequence[str | Path], folder: Path = ROOT, status: int = 0) -> float:
    """Wall seconds of a command. Raises LabError if it ends with another status than `status`."""
    begun = time.monotonic()
    done = subprocess.run(list(map(str, command)), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    took = time.monotonic() - begun
    if done.returncode != status:
        raise LabError(f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}", FAILED)
    return took


def in_parallel(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """function(item) of every item, in parallel on all cores. Virtual time is not affected."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


@contextlib.contextmanager
def busy_loops(nr: int) -> Iterator[None]:
    """Keeps the host busy with `nr` endless loops."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=qemu.die_with_parent) for _ in range(nr)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def table(titles: Sequence[str], rows: Iterable[Sequence[object]], text_columns: int = 1) -> str:
    """A Markdown table; the first `text_columns` columns are left-aligned, the others right-aligned."""
    rule = ["---"] * text_columns + ["---:"] * (len(titles) - text_columns)
    lines = [titles, rule, *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def digits(value: float) -> str:
    """At least three significant digits, without an exponent."""
    return f"{float(f'{value:.3g}') if value < 100 else round(value):,}"


def spread(values: Sequence[float]) -> str:
    """Median and range; the number alone if there is no range."""
    least, middle, most = (digits(f(values)) for f in (min, median, max))
    return middle if least == most else f"{middle} ({least} to {most})"


def least_median_most(values: Sequence[float], decimals: int = 1) -> list[str]:
    """Three cells of a table."""
    return [f"{f(values):.{decimals}f}" for f in (min, median, max)]


def host() -> str:
    """Describes the host in half a sentence."""
    names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    version = subprocess.run(["qemu-system-i386", "--version"], capture_output=True, text=True).stdout
    number = re.search(r"version (\S+)", version)
    return f"QEMU {number[1] if number else '?'}, {os.cpu_count()} cores, {names[0] if names else 'unknown processor'}"
