#!/usr/bin/env python3
"""Draw the pictures of the documents, docs/figures/*.svg, from runs made now.

Everything is done with the command `tidemark`, as a reader would; each command line is printed.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from common import ROOT
from tidemark.report.plots import PLOTS, SWEEP

PLACE = ROOT / "docs/figures"
PHASES = "phase 16384 5120 8 60000 & phase 12288 4096 8 60000; wait"
OF_RUNS = [picture for plot in PLOTS if plot.scope != SWEEP for picture in plot.pictures]
OF_TRACES = ("reference-map", "working-set", "distribution", "lifetime", "miss-ratio", "spacetime")


def tidemark(*words: str) -> None:
    """One command; what it says on stdout is not wanted."""
    print("tidemark", shlex.join(words), flush=True)
    command = [sys.executable, "-m", "tidemark.cli", *words]
    subprocess.run(command, cwd=ROOT, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def take(folder: Path, *names: str) -> None:
    """Copy figures into the documents."""
    for name in names:
        shutil.copy(folder / f"{name}.svg", PLACE / f"{name}.svg")


def runs(folder: Path) -> None:
    """Two programs whose localities move, in too little memory."""
    for policy in ("2q", "ws"):
        sampled = ("--cmdline", "sample_ms=20 sample_percent=100")
        tidemark(
            "run",
            PHASES,
            "--vm",
            policy,
            "--mem",
            "16M",
            "--swap",
            "sim:ssd",
            *sampled,
            "--owners",
            "-o",
            f"{folder}/{policy}",
        )
    tidemark("report", f"{folder}/2q", f"{folder}/ws", "-o", f"{folder}/report")
    take(folder / "report/figures", *OF_RUNS)


def sweeps(folder: Path) -> None:
    """The thrashing experiment of the README, and turnaround against memory."""
    for name, figures in (
        ("thrashing", ["thrashing-processes"]),
        ("memory", ["thrashing-memory", "turnaround-memory"]),
    ):
        tidemark("sweep", f"tools/tidemark/plans/{name}.toml", "-o", f"{folder}/{name}")
        tidemark("report", f"{folder}/{name}", "-o", f"{folder}/{name}-report")
        take(folder / f"{name}-report/figures", *figures)


def traces(folder: Path) -> None:
    """Every reference of a program that goes through six phases."""
    tidemark("trace", "record", "phase 4096 512 6 40000", "-o", f"{folder}/trace")
    tidemark("curves", f"{folder}/trace/trace.tmt", "-o", f"{folder}/curves")
    take(folder / "curves", *OF_TRACES)


def profiles(folder: Path) -> None:
    """The kernel's functions with too little memory and with enough."""
    for mem in ("16M", "64M"):
        tidemark("run", "thrash 6 4096 4 300", "--mem", mem, "--cmdline", "profile_hz=10000", "-o", f"{folder}/{mem}")
    tidemark("profile", f"{folder}/16M", f"{folder}/64M", "--figure", f"{folder}/profile")
    take(folder / "profile", "functions")


def main() -> None:
    PLACE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as scratch:
        for draw in (runs, traces, profiles, sweeps):
            draw(Path(scratch))


if __name__ == "__main__":
    main()
