#!/usr/bin/env python3
"""The time of a clean build, in a copy of the tree in which only the C library is already built."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from common import ROOT, host, publish, table

BUILDS = 3
CORES = 2
FETCHED = ("musl", "venv")


def copy_sources(to: Path) -> None:
    """Copies the tree as after a clone, with everything that was fetched."""
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


def main() -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    times = []
    for _ in range(BUILDS):
        with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as folder:
            tree = Path(folder, "tree")
            copy_sources(tree)
            times.append(build_s(tree))
    rows = [[BUILDS, *(f"{f(times):.1f}" for f in (min, statistics.median, max))]]
    publish(
        "build",
        f"`make -j{CORES}` after a clone, the C library already fetched; {host()}, {CORES} of them used\n\n"
        + table(["builds", "min s", "median s", "max s"], rows, text_columns=0),
    )


if __name__ == "__main__":
    main()
