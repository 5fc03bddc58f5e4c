"""The time of a clean build, in a copy of the tree in which only the C library is already built."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import time
from pathlib import Path

from figures.common import host, table
from figures.entries import ROOT, Figure

BUILDS = 3
CORES = 2
FETCHED = ("musl", "venv")


def copy_sources(to: Path) -> None:
    """Copies the tree as after a clone, with everything that was fetched."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(ROOT, to, ignore=shutil.ignore_patterns("build", ".git"), symlinks=True)
    (to / "build").mkdir()
    for name in FETCHED:
        if (ROOT / "build" / name).exists():
            (to / "build" / name).symlink_to(ROOT / "build" / name)


def build_s(tree: Path) -> float:
    """Wall seconds of `make`, on CORES cores."""
    start = time.monotonic()
    subprocess.run(["make", f"-j{CORES}", "all"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def make(figure: Figure, work: Path) -> str:
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cores)[:CORES])
    times = []
    for nr in range(BUILDS):
        copy_sources(work / str(nr))
        times.append(build_s(work / str(nr)))
    os.sched_setaffinity(0, cores)
    rows = [[BUILDS, *(f"{f(times):.1f}" for f in (min, statistics.median, max))]]
    return f"`make -j{CORES}` after a clone, the C library already fetched; {host()}, {CORES} of them used\n\n" + table(
        ["builds", "min s", "median s", "max s"], rows, text_columns=0
    )
