#!/usr/bin/env python3
"""Draw the pictures of the documents, docs/figures/*.svg, from new runs.

Uses only the command `tidemark`, as a reader would; prints each command line.
"""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from common import ROOT
from tidemark.report.plots import PLOTS
from tidemark.report.plots.plot import SWEEP
from tidemark.watch import sources
from tidemark.watch.app import Watch
from tidemark.watch.memory import Memory
from tidemark.watch.player import Player

PLACE = ROOT / "docs/figures"
PHASES = "phase 16384 5120 8 60000 & phase 12288 4096 8 60000; wait"
OF_RUNS = [picture for plot in PLOTS if plot.scope != SWEEP for picture in plot.pictures]
MOMENT_US = 1_200_000
OF_TRACES = ("reference-map", "working-set", "distribution", "lifetime", "miss-ratio", "spacetime")


def tidemark(*words: str) -> None:
    """Runs one command, and discards its stdout."""
    print("tidemark", shlex.join(words), flush=True)
    command = [sys.executable, "-m", "tidemark.cli", *words]
    subprocess.run(command, cwd=ROOT, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def take(folder: Path, *names: str) -> None:
    """Copies figures into the documents."""
    for name in names:
        shutil.copy(folder / f"{name}.svg", PLACE / f"{name}.svg")


def runs(folder: Path) -> None:
    """Two programs with moving localities, in too little memory."""
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


def screen(folder: Path) -> None:
    """The live map of memory: the view of `tidemark watch` in the middle of a run that `runs` recorded."""
    print(f"tidemark watch {folder}/2q, key m", flush=True)
    path, result = sources.find(folder / "2q")
    app = Watch(
        sources.File(path, result), Player(live=False, paused=True, t_us=MOMENT_US), memory=Memory(folder / "2q")
    )

    async def play() -> str:
        async with app.run_test(size=(108, 38)) as pilot:
            while app.moment is None:
                await pilot.pause(0.01)
            await pilot.press("m")
            await pilot.pause()
            return app.export_screenshot(title="tidemark watch --owners")

    shown = re.sub(r"@font-face \{.*?\}", "", asyncio.run(play()), flags=re.DOTALL)  # no fonts from a network
    (PLACE / "watch-map.svg").write_text("\n".join(line.rstrip() for line in shown.splitlines()) + "\n")


def sweeps(folder: Path) -> None:
    """The thrashing experiment of the README, turnaround against memory, and processes against memory."""
    for name, figures in (
        ("thrashing", ["thrashing-processes"]),
        ("memory", ["thrashing-memory", "turnaround-memory"]),
        ("grid", ["heat-processes-mem"]),
    ):
        tidemark("sweep", f"tools/tidemark/plans/{name}.toml", "-o", f"{folder}/{name}")
        tidemark("report", f"{folder}/{name}", "-o", f"{folder}/{name}-report")
        take(folder / f"{name}-report/figures", *figures)


def traces(folder: Path) -> None:
    """Every reference of a program with six phases."""
    tidemark("trace", "record", "phase 4096 512 6 40000", "-o", f"{folder}/trace")
    tidemark("curves", f"{folder}/trace/trace.tmt", "-o", f"{folder}/curves")
    take(folder / "curves", *OF_TRACES)


def profiles(folder: Path) -> None:
    """The kernel's functions with too little and with enough memory."""
    for mem in ("16M", "64M"):
        tidemark("run", "thrash 6 4096 4 300", "--mem", mem, "--cmdline", "profile_hz=10000", "-o", f"{folder}/{mem}")
    tidemark("profile", f"{folder}/16M", f"{folder}/64M", "--figure", f"{folder}/profile")
    take(folder / "profile", "functions")


def main() -> None:
    PLACE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as scratch:
        for draw in (runs, screen, traces, profiles, sweeps):
            draw(Path(scratch))


if __name__ == "__main__":
    main()
