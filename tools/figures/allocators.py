"""Allocators: a run whose allocations are recorded, replayed and drawn; and the claims about allocators.

A run gives a table of the allocators, and the pictures that its entry names. A run on an image of `make image` may
write to the disk, so it uses a copy.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tidemark.debug import allocator_claims, allocators
from tidemark.machine import qemu

from figures.common import table, tidemark
from figures.entries import Figure

IMAGE = qemu.ROOT / "build/image.ext2"
MIB = 1 << 20
MOST_CALLERS = 3


def megabytes(rows: list[allocators.Row], name: str, at: int | None = None) -> str:
    """The maximum of a column, or its value in one row, in MiB."""
    values = [row[name] / MIB for row in rows]
    return f"{max(values) if at is None else values[at]:.2f}"


def rows(replayed: dict[str, allocators.Series]) -> list[list[str]]:
    """A row for each allocator."""
    found = []
    for name in replayed["objects"]:
        objects, frames = (replayed[kind][name] for kind in allocators.KINDS)
        moves = frames[-1]["splits"] + frames[-1]["merges"]
        held = [megabytes(objects, "held"), megabytes(objects, "held", -1), megabytes(frames, "held")]
        failed = objects[-1]["failed"] + frames[-1]["failed"]
        found.append([name, *held, f"{moves:,.0f}", f"{failed:,.0f}"])
    return found


def sentence(log: Path, replayed: dict[str, allocators.Series]) -> str:
    """How much was asked for, and by which callers most."""
    said = []
    for kind in allocators.KINDS:
        some = next(iter(replayed[kind].values()))
        callers = ", ".join(f"`{one.name}`" for one in allocators.callers(log, kind)[:MOST_CALLERS])
        said.append(
            f"{some[-1]['operations']:,.0f} operations on {kind}, at most {megabytes(some, 'asked')} MiB asked for at "
            f"a time, {megabytes(some, 'asked', -1)} MiB at the end; most by {callers}"
        )
    return ". ".join(said) + "."


def make(figure: Figure, work: Path) -> str:
    """Record `command` with `options`, on a copy of the image if it `needs` one."""
    run, disk = work / "run", work / "disk.ext2"
    words = list(figure.settings["options"])
    shutil.rmtree(run, ignore_errors=True)
    if figure.needs:
        shutil.copyfile(IMAGE, disk)
        words += ["--disk", str(disk)]
    tidemark("alloc", "--record", *words, "-q", "-o", str(run), "--", figure.settings["command"])
    disk.unlink(missing_ok=True)
    for picture in figure.files:
        shutil.copy(run / "alloc" / Path(picture).name, work / Path(picture).name)
    log = allocators.log_of(run)
    replayed = {kind: allocators.simulated(kind, log) for kind in allocators.KINDS}
    titles = [
        "allocator",
        "objects: held at most, MiB",
        "at the end",
        "frames: held at most, MiB",
        "splits and merges",
        "failed",
    ]
    return sentence(log, replayed) + "\n\n" + table(titles, rows(replayed))


def claims(figure: Figure, work: Path) -> str:
    """A row for each claim, with its verdict."""
    found = [[one.claim, one.numbers, f"**{one.verdict}**"] for one in allocator_claims.claims()]
    return table(["claim", "measured", "verdict"], found, text_columns=3)
