"""Checks that exact runs are byte for byte the same on a loaded host, and measures waits for the disk.

Ten runs of one command under each policy, while endless loops keep the host busy; their telemetry and consoles are
compared. Then one run that mostly waits for the disk, on a quiet host: its virtual time and its wall time.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from figures.common import busy_loops, host, in_parallel, measure, table
from figures.entries import Figure

RUNS = 10
LOOPS = 3
COMMAND = "thrash 8 4096 10 3000"
WAITING = "thrash 6 8192 1 3000"
MEM = "24M"


def distinct(policy: str) -> tuple[int, int, int]:
    """(different telemetries, different consoles, bytes of one telemetry) of RUNS runs."""
    runs = in_parallel(lambda _: measure(COMMAND, telemetry=True, keep=False, vm=policy, mem=MEM), range(RUNS))
    telemetries = {hashlib.sha256(one.telemetry.encode()).digest() for one in runs}
    return len(telemetries), len({one.console for one in runs}), len(runs[0].telemetry)


def make(figure: Figure, work: Path) -> str:
    rows = []
    with busy_loops(LOOPS):
        for policy in ("2q", "ws"):
            telemetries, consoles, size = distinct(policy)
            rows.append([f"`{COMMAND}`, `{policy}`", RUNS, f"{size:,}", telemetries, consoles])
    same = table(["run", "runs", "bytes of telemetry", "different telemetries", "different consoles"], rows)

    wait = measure(WAITING, telemetry=True, keep=False, vm="2q", mem=MEM)
    titles = ["run", "virtual s", "utilisation %", "wall s", "wall s for 60 virtual"]
    per_minute = 60 * wait.wall_s / wait.named("total_s")
    row = [
        f"`{WAITING}`, `2q`",
        f"{wait.named('total_s'):.1f}",
        wait.named("utilisation"),
        f"{wait.wall_s:.1f}",
        f"{per_minute:.1f}",
    ]
    waiting = table(titles, [row])
    return (
        f'`make qemu RUN="..." VM=... MEM={MEM} SWAP=sim:hdd TELEMETRY=FILE`; {host()}; the first table with '
        f"{LOOPS} busy loops beside it, the second without.\n\n{same}\n\n{waiting}"
    )
