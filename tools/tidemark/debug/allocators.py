"""Allocators compared: a run's allocations are recorded by QEMU's plugin, and replayed by tools/allocsim.

The log is alloc.log in the run's folder; the top of tools/plugin/alloc.c has its format. The simulator prints CSV.
"""

from __future__ import annotations

import csv
import functools
import subprocess
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from tidemark.errors import BAD_INPUT, NO_TOOL, USAGE, LabError
from tidemark.machine import made, plugin, qemu
from tidemark.runs import experiment, results

PROGRAM = "build/allocsim/allocsim"
LOG = "alloc.log"
KINDS = ("objects", "frames")
PAGE_BYTES = 4096

Row = dict[str, float]
Series = dict[str, list[Row]]  # by allocator


@dataclass(frozen=True)
class Caller:
    """A function of the kernel that allocates: number of allocations, and their bytes."""

    name: str
    number: int
    size: int


@functools.cache
def build() -> Path:
    """The simulator, built if necessary; checked only once per process. Raises LabError if it cannot be built."""
    if said := made.trouble(PROGRAM):
        raise LabError(
            "the simulator of allocators, a 32-bit program under the sanitizers, does not compile; `make doctor` says "
            f"whether a tool is missing:\n{said}",
            NO_TOOL,
        )
    return qemu.ROOT / PROGRAM


def output(*words: str | Path) -> str:
    """What the simulator prints. Raises LabError if it cannot be built, or with its complaint."""
    done = subprocess.run([build(), *words], capture_output=True, text=True)
    if done.returncode:
        raise LabError(done.stderr.strip().removeprefix("allocsim: "), BAD_INPUT)
    return done.stdout


def simulated(*words: str | Path) -> Series:
    """The rows of a mode that prints CSV (tools/allocsim/main.c), by allocator, with numbers as floats."""
    found: Series = {}
    for row in csv.DictReader(output(*words).splitlines()):
        name = row.pop("allocator")
        found.setdefault(name, []).append({key: float(value) for key, value in row.items()})
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def log_of(folder: Path) -> Path:
    """The log in a result's folder. Raises LabError if there is none."""
    path = folder / LOG
    if not path.is_file():
        raise LabError(f"{folder} has no {LOG}: `tidemark alloc --record` makes such results")
    return path


def record(settings: qemu.Settings, folder: Path, progress: experiment.Progress) -> results.Result:
    """Run `settings` into `folder`, with the kernel's allocations in its alloc.log.

    Raises LabError if the run is not exact, or the plugin cannot be used.
    """
    if not settings.exact:
        raise LabError("only the allocations of an exact run can be recorded", USAGE)
    (pages,) = plugin.addresses(settings.image, "mem_map")
    symbols = plugin.symbols(settings.image)
    flags = plugin.flags("alloc", out=folder.resolve() / LOG, symbols=symbols, pages=hex(pages))
    return experiment.run(replace(settings, qemu_flags=settings.qemu_flags + flags), folder, progress)


def callers(log: Path, kind: str) -> list[Caller]:
    """Who allocates objects or frames, by bytes, the most first. The simulator has checked the log."""
    number: Counter[str] = Counter()
    size: Counter[str] = Counter()
    for line in log.read_text("ascii").splitlines():
        letter, *words = line.split()
        if letter == ("a" if kind == "objects" else "p"):
            number[words[-1]] += 1
            size[words[-1]] += int(words[1]) if kind == "objects" else PAGE_BYTES << int(words[1])
    return [Caller(name, number[name], bytes_) for name, bytes_ in size.most_common()]
