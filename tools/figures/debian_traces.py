"""Reference traces of Debian's programs on an image of `make image`: for each a reference map, the lifetime functions
of LRU, WS and MIN, and a row of the table.

The plugin records the whole command; the curves are of one address space. A run may write to the disk, so each uses a
copy of the image.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib
from tidemark.commands.curves import HDD_DELAY, KINDS
from tidemark.curves import analyse, figures, map_figures
from tidemark.curves.lifetime import Curve
from tidemark.curves.refmap import MapBuilder, ReferenceMap
from tidemark.curves.runs import Choice, Selection
from tidemark.machine import qemu
from tidemark.report import svg
from tidemark.report.figure import STYLE
from tidemark.trace.format import Reader
from tidemark.trace.spaces import choose_space

from figures.common import table, tidemark
from figures.entries import Figure

IMAGE = qemu.ROOT / "build/image.ext2"
OPTIONS = ("--mem", "64M", "--swap", "sim:ssd", "--disk-kind", "sim:ssd", "--cmdline", "root=sda")
SHOWN = ("ws", "lru", "min")
ROWS, SLICES = 300, 400  # of a map: about a cell for each pixel
SIMPLIFIED = {"path.simplify_threshold": 0.25}  # pixels by which a drawn curve may be off


def record(command: str, work: Path) -> Path:
    """The trace of a command. It is complete if the run's copy of the image is gone; then it is not recorded again."""
    trace, disk = work / "run/trace.tmt", work / "disk.ext2"
    if not trace.exists() or disk.exists():
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        shutil.copyfile(IMAGE, disk)
        tidemark("trace", "record", command, *OPTIONS, "--disk", str(disk), "-q", "-o", str(work / "run"))
        disk.unlink()
    return trace


def map_of(reader: Reader, choice: Choice, first: Selection, end: int) -> ReferenceMap:
    """The reference map, by a second pass over the trace."""
    pages = MapBuilder(*first.pages(), end, bool(reader.files), (ROWS, SLICES))
    for batch in Selection(choice, False, bool(reader.files)).batches(iter(reader)):
        pages.feed(batch)
    return pages.result()


def save(figure: figures.Figure, path: Path) -> None:
    with matplotlib.rc_context(STYLE | SIMPLIFIED):
        path.write_bytes(svg.drawn(figure.draw()))


def knee(curve: Curve) -> str:
    """The knees of a curve in pages: the primary one in bold, then the others."""
    primary = curve.knee()
    if primary is None:
        return "none"
    others = (f"{curve.sizes[at]:,.0f}" for at in curve.other_knees())
    return " ".join([f"**{curve.sizes[primary]:,.0f}**", *others])


def row(name: str, program: Mapping[str, Any], work: Path) -> list[str]:
    """Records, draws NAME-map.svg and NAME-lifetime.svg beside the traces, and counts."""
    reader = Reader(record(program["command"], work / name))
    choice = Choice(choose_space(reader, program["space"]), KINDS["all"])
    plan = analyse.Plan(choice, False, HDD_DELAY)
    first, curves = analyse.first_pass(reader, plan, lambda done, total: None)
    shown = {policy: curves[policy] for policy in SHOWN}
    found = map_of(reader, choice, first, curves["lru"].end)
    save(map_figures.reference_map(found, {}, plan.unit), work / f"trace-{name}-map.svg")
    save(figures.lifetimes(shown, plan.unit), work / f"trace-{name}-lifetime.svg")
    totals = first.totals
    counts = (totals.references, totals.instructions, found.own, len(found.pages) - found.own)
    return [f"`{program['space']}`", *(f"{count:,}" for count in counts), *(knee(shown[one]) for one in SHOWN)]


def make(figure: Figure, work: Path) -> str:
    """The table of the figure's `programs`: `command`, and `space`, the name of the process whose curves are drawn."""
    rows = [row(name, program, work) for name, program in figure.settings["programs"].items()]
    titles = ["process", "references", "instructions", "own pages", "pages of files", "knees of WS", "of LRU", "of MIN"]
    return table(titles, rows)
