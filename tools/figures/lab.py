"""The time that `tidemark run` adds to QEMU's own: start-up, hashes, checks, tables and the summary."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tidemark.errors import FAILED, LabError
from tidemark.machine import qemu

from figures.common import host, table
from figures.entries import Figure

RUNS = (("true", "2q", "64M"), ("thrash 8 4096 10", "ws", "16M"), ("thrash 8 8192 10 12000", "ws", "24M"))
REPEATS = 7


def seconds(command: list[str]) -> float:
    """Wall seconds of a command that must succeed, or end with the status of a successful guest."""
    start = time.monotonic()
    done = subprocess.run(command, cwd=qemu.ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    took = time.monotonic() - start
    if done.returncode not in (0, 33):
        raise LabError(f"{command} ended with {done.returncode}", FAILED)
    return took


def row(run: str, policy: str, mem: str) -> list[object]:
    """A run's row: medians of QEMU alone and of `tidemark run`, measured alternately."""
    alone, lab = [], []
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as folder:
        s = qemu.Settings(run=run, vm=policy, mem=mem, telemetry=str(Path(folder, "telemetry")))
        for nr in range(REPEATS):
            alone.append(seconds(qemu.qemu_command(s, str(Path(folder, "console")))))
            words = ["run", run, "--vm", policy, "--mem", mem, "-o", str(Path(folder, str(nr)))]
            lab.append(seconds([sys.executable, "-m", "tidemark.cli", *words]))
    before, after = statistics.median(alone), statistics.median(lab)
    return [f"`{run}`", policy, mem, f"{before:.2f}", f"{after:.2f}", f"{after - before:.2f}"]


def make(figure: Figure, work: Path) -> str:
    titles = ["run", "policy", "memory", "QEMU alone s", "`tidemark run` s", "added s"]
    rows = [row(*case) for case in RUNS]
    return f"Medians of {REPEATS}; {host()}\n\n{table(titles, rows, text_columns=3)}"
