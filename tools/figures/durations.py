"""How long things take on this host, in wall seconds: a boot, a clean build, `tidemark run`, a sweep."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median
from threading import Timer
from time import monotonic

from tidemark.machine import qemu

from figures.common import busy_loops, host, least_median_most, table, tidemark, timed
from figures.entries import ROOT, Figure

# --- from the start of QEMU to the shell's prompt, with `make qemu`, on a quiet host and on a loaded one ---

QUIET_BOOTS, LOADED_BOOTS, LOOPS = 20, 200, 3
PROMPT = b"tidemark$ "
TIMEOUT_S = 60


def boot() -> float | None:
    """Seconds until the prompt; None if it did not appear within TIMEOUT_S."""
    begun, console = monotonic(), b""
    command = qemu.qemu_command(qemu.Settings())
    with qemu.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as machine:
        limit = Timer(TIMEOUT_S, machine.kill)
        limit.start()
        try:
            while PROMPT not in console and (more := os.read(machine.stdout.fileno(), 65536)):
                console += more
            return monotonic() - begun if PROMPT in console else None
        finally:
            limit.cancel()
            machine.kill()


def boots_row(name: str, boots: list[float | None]) -> list[object]:
    """One line of the table."""
    reached = [t for t in boots if t is not None]
    spread = least_median_most(reached, 2) if reached else ["-"] * 3
    return [name, f"{len(reached)} of {len(boots)}", *spread]


def boots(figure: Figure, work: Path) -> str:
    quiet = [boot() for _ in range(QUIET_BOOTS)]
    with busy_loops(LOOPS):
        loaded = [boot() for _ in range(LOADED_BOOTS)]
    titles = ["host", "reached the prompt", "min s", "median s", "max s"]
    rows = [boots_row("quiet", quiet), boots_row(f"{LOOPS} busy loops", loaded)]
    return f"`make qemu`, wall seconds from the start of QEMU to the prompt; {host()}\n\n{table(titles, rows)}"


# --- a clean build, in a copy of the tree in which only the C library is already built ---

BUILDS, CORES = 3, 2
FETCHED = ("musl", "venv")


def copy_sources(to: Path) -> None:
    """Copies the tree as after a clone, with everything that was fetched."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(ROOT, to, ignore=shutil.ignore_patterns("build", ".git"), symlinks=True)
    (to / "build").mkdir()
    for name in FETCHED:
        if (ROOT / "build" / name).exists():
            (to / "build" / name).symlink_to(ROOT / "build" / name)


def build(figure: Figure, work: Path) -> str:
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cores)[:CORES])
    times = []
    for nr in range(BUILDS):
        copy_sources(work / str(nr))
        times.append(timed(["make", f"-j{CORES}", "all"], work / str(nr)))
    os.sched_setaffinity(0, cores)
    how = f"`make -j{CORES}` after a clone, the C library already fetched; {host()}, {CORES} of them used"
    rows = [[BUILDS, *least_median_most(times)]]
    return f"{how}\n\n{table(['builds', 'min s', 'median s', 'max s'], rows, text_columns=0)}"


# --- what `tidemark run` adds to QEMU's own time: start-up, hashes, checks, tables and the summary ---

RUNS = (("true", "2q", "64M"), ("thrash 8 4096 10", "ws", "16M"), ("thrash 8 8192 10 12000", "ws", "24M"))
REPEATS = 7


def lab_row(run: str, policy: str, mem: str) -> list[object]:
    """A run's row: medians of QEMU alone and of `tidemark run`, measured alternately."""
    alone, lab = [], []
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as folder:
        s = qemu.Settings(run=run, vm=policy, mem=mem, telemetry=str(Path(folder, "telemetry")))
        for nr in range(REPEATS):
            alone.append(timed(qemu.qemu_command(s, str(Path(folder, "console"))), status=33))
            words = ["run", run, "--vm", policy, "--mem", mem, "-o", str(Path(folder, str(nr)))]
            lab.append(timed([sys.executable, "-m", "tidemark.cli", *words]))
    before, after = map(median, (alone, lab))
    return [f"`{run}`", policy, mem, f"{before:.2f}", f"{after:.2f}", f"{after - before:.2f}"]


def lab(figure: Figure, work: Path) -> str:
    titles = ["run", "policy", "memory", "QEMU alone s", "`tidemark run` s", "added s"]
    rows = [lab_row(*case) for case in RUNS]
    return f"Medians of {REPEATS}; {host()}\n\n{table(titles, rows, text_columns=3)}"


# --- the sweep of the README's experiment: 2 policies × 10 numbers of processes × 10 replicates, in a new folder ---

PLAN = "tools/tidemark/plans/thrashing.toml"


def walls(folder: Path) -> dict[str, dict[str, list[float]]]:
    """Host seconds of the cells, by number of processes and by policy."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with (folder / "cells.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            meta = json.loads((folder / "cells" / row["id"] / "meta.json").read_text())
            found[row["processes"]][row["vm"]].append(meta["wall_s"])
    return found


def sweep(figure: Figure, work: Path) -> str:
    shutil.rmtree(work / "sweep", ignore_errors=True)
    begun = monotonic()
    tidemark("sweep", PLAN, "--out", str(work / "sweep"), "--quiet")
    took, cells = monotonic() - begun, walls(work / "sweep")
    policies = sorted({policy for by_policy in cells.values() for policy in by_policy})
    titles = ["processes", *(f"{policy}: wall s, each replicate" for policy in policies)]
    rows = [
        [nr, *(", ".join(f"{wall:.1f}" for wall in by_policy[policy]) for policy in policies)]
        for nr, by_policy in cells.items()
    ]
    every = [wall for by_policy in cells.values() for each in by_policy.values() for wall in each]
    how = f"`tidemark sweep {PLAN}`: {len(every)} cells in **{took:.0f} s**; their QEMUs ran {sum(every):.0f} s in all."
    return f"{how} {host()}.\n\n{table(titles, rows, text_columns=0)}"
