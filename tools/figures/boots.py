"""The time from the start of QEMU to the shell's prompt, with `make qemu`, on a quiet host and on a loaded one."""

from __future__ import annotations

import os
import select
import statistics
import subprocess
import time
from pathlib import Path

from tidemark.machine import qemu

from figures.common import busy_loops, host, table
from figures.entries import Figure

QUIET_BOOTS, LOADED_BOOTS = 20, 200
LOOPS = 3
PROMPT = b"tidemark$ "
TIMEOUT_S = 60


def boot() -> float | None:
    """Wall seconds until the prompt; None if it did not appear within TIMEOUT_S."""
    start = time.monotonic()
    machine = qemu.start(
        qemu.qemu_command(qemu.Settings()), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    console = b""
    try:
        while PROMPT not in console:
            left = start + TIMEOUT_S - time.monotonic()
            if left <= 0 or not select.select([machine.stdout], [], [], left)[0]:
                return None
            more = os.read(machine.stdout.fileno(), 65536)
            if not more:
                return None
            console += more
        return time.monotonic() - start
    finally:
        machine.kill()
        machine.wait()
        machine.stdin.close()
        machine.stdout.close()


def row(name: str, boots: list[float | None]) -> list[object]:
    """One line of the table."""
    reached = [t for t in boots if t is not None]
    spread = [f"{f(reached):.2f}" if reached else "-" for f in (min, statistics.median, max)]
    return [name, f"{len(reached)} of {len(boots)}", *spread]


def make(figure: Figure, work: Path) -> str:
    quiet = [boot() for _ in range(QUIET_BOOTS)]
    with busy_loops(LOOPS):
        loaded = [boot() for _ in range(LOADED_BOOTS)]
    titles = ["host", "reached the prompt", "min s", "median s", "max s"]
    rows = [row("quiet", quiet), row(f"{LOOPS} busy loops", loaded)]
    return f"`make qemu`, wall seconds from the start of QEMU to the prompt; {host()}\n\n{table(titles, rows)}"
