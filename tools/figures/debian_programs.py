"""Debian's programs on an image of `make image`: do they work, what do they cost, and how little memory is enough?

Enough to work is the smallest size in MIB with which the command ends with status 0 and prints what it should. Enough
to work well is the smallest with which it also takes at most TWICE the virtual time that it takes with the largest.
Both are found by bisection, so it is assumed that more memory does not hurt. Swap is on a modelled SSD, as the disk is.
A run of more than TIMEOUT_S of host time counts as too slow.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

from tidemark.errors import LabError
from tidemark.machine import qemu

from figures import common
from figures.entries import Figure

IMAGE = qemu.ROOT / "build/image.ext2"
MIB = (4.5, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)  # in less, the machine itself hardly boots
TWICE = 2
TIMEOUT_S = 300


def machine(mib: float) -> dict[str, object]:
    """The settings of a machine with so much memory."""
    return {
        "mem": f"{int(mib * 1024)}K",
        "swap": "sim:ssd",
        "disk": str(IMAGE),
        "disk_kind": "sim:ssd",
        "cmdline": "root=sda",
        "timeout": TIMEOUT_S,
    }


def works(command: str, expected: str, mib: float) -> common.Outcome | None:
    """The run, if it printed what it should."""
    try:
        run = common.measure(command, **machine(mib))
    except LabError:
        return None
    return run if re.search(expected, run.console, re.M) else None


def least_mib(command: str, expected: str, limit_s: float) -> float:
    """The least memory, in MiB, in which the command works in so much virtual time."""
    low, high = -1, len(MIB) - 1
    while high - low > 1:
        middle = (low + high) // 2
        run = works(command, expected, MIB[middle])
        low, high = (low, middle) if run and run.named("total_s") <= limit_s else (middle, high)
    return MIB[high]


def row(package: str, command: str, expected: str) -> str:
    """One package's row of the table."""
    shown = command.replace("|", "\\|")
    run = works(command, expected, MIB[-1])
    if not run:
        return f"| {package} | `{shown}` | fails | | | | |"
    total, major = run.named("total_s"), run.named("major_faults")
    well = least_mib(command, expected, TWICE * total)
    least = least_mib(command, expected, math.inf)
    return f"| {package} | `{shown}` | works | {total:.2f} | {major:,} | {well:g}M | {least:g}M |"


def make(figure: Figure, work: Path) -> str:
    """The table of the figure's `programs`: package, command, a pattern in what it prints."""
    lines = [
        "| package | command | result | virtual s in 64M | major faults | MEM for twice the time | least MEM |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *(row(*program) for program in figure.settings["programs"])])
