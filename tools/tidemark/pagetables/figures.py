"""The two figures of page tables: TLB misses by entries, and what each structure costs."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from tidemark.pagetables.analyse import ENTRIES, FULL, PAGE_SHIFTS, Analysis
from tidemark.report.figure import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    VERMILION,
    WIDTH_IN,
    Figure,
    Look,
    canvas,
    heading,
    legend,
    of_rows,
)

ROW_IN = 2.0
BAR_IN = 0.24
WAYS = {
    "direct mapped": (1, Look(VERMILION)),
    "2 ways": (2, Look(ORANGE, "--")),
    "4 ways": (4, Look(BLUE, "-.")),
    "fully associative": (FULL, Look(BLACK, ":")),
}


def per_thousand(found: Analysis, number: int) -> float:
    """A number per 1000 references."""
    return 1000 * number / found.references


def all_figures(found: Analysis) -> list[Figure]:
    """Both figures."""
    return [of_tlbs(found), of_tables(found)]


def of_tlbs(found: Analysis) -> Figure:
    """TLB misses against entries: axes for each page size, a line for each associativity."""
    rows = [
        {"page_bytes": 1 << shift, "entries": entries, "ways": ways or entries, "misses": nr}
        for (shift, entries, ways), nr in found.misses.items()
    ]
    caption = (
        "TLB misses per 1000 references, LRU in each set. Where a line is flat, only the first uses of pages are left."
    )
    return Figure("tlb-misses", "TLB misses", caption, of_rows(rows), lambda: draw_tlbs(found))


def draw_tlbs(found: Analysis) -> Canvas:
    """Draw the misses per 1000 references, both axes logarithmic."""
    picture, axes = canvas(1, len(PAGE_SHIFTS), ROW_IN, sharey=True)
    for one, (shift, name) in zip(axes.flat, PAGE_SHIFTS.items()):
        for ways, look in WAYS.values():
            misses = [per_thousand(found, found.misses[shift, entries, ways]) for entries in ENTRIES]
            one.plot(ENTRIES, misses, color=look.colour, linestyle=look.dash, marker=".", markersize=4)
        one.set_xscale("log", base=2)
        one.set_yscale("log")
        one.xaxis.set_major_locator(FixedLocator(ENTRIES))
        one.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        one.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        one.yaxis.set_minor_locator(NullLocator())
        one.set_xlabel("entries")
        heading(one, f"pages of {name}", wide=False)
    axes[0, 0].set_ylabel("misses per 1000 references")
    legend(picture, {name: look for name, (_, look) in WAYS.items()})
    return picture


def of_tables(found: Analysis) -> Figure:
    """Each structure's size, accesses of a walk, and cycles of refills."""
    plan = found.plan
    rows = [
        {
            "structure": row.name,
            "table_bytes": row.size,
            "held_bytes": row.hold,
            "tlb_misses": row.misses,
            "accesses": row.accesses,
            "hardware_cycles": row.hardware_cycles,
            "software_cycles": row.software_cycles,
        }
        for row in found.rows
    ]
    caption = (
        f"TLB of {plan.entries} entries, {plan.ways} ways. Cycles are a model: {plan.access_cycles} for a memory "
        f"access, and {plan.trap_cycles} for a trap, which only software refill needs."
    )
    return Figure("page-tables", "Page tables", caption, of_rows(rows), lambda: draw_tables(found))


def draw_tables(found: Analysis) -> Canvas:
    """Draw three axes with the same structures, the first at the top."""
    names = [row.name for row in found.rows]
    picture = Canvas(figsize=(WIDTH_IN, 0.9 + BAR_IN * len(names)), layout="constrained")
    left, middle, right = picture.subplots(1, 3, sharey=True)
    bars(left, [row.size / 1024 for row in found.rows], BLUE)
    left.set_xlabel("size of tables, KiB")
    bars(middle, [row.accesses / max(row.misses, 1) for row in found.rows], BLUE)
    middle.set_xlabel("memory accesses per miss")
    bars(right, [per_thousand(found, row.software_cycles) for row in found.rows], ORANGE, 0.4, 0.2)
    bars(right, [per_thousand(found, row.hardware_cycles) for row in found.rows], GREEN, 0.4, -0.2)
    right.set_xlabel("cycles per 1000 references")
    left.set_yticks(range(len(names)), names)
    left.set_ylim(len(names) - 0.5, -0.5)
    handles = [Patch(color=GREEN, label="hardware refill"), Patch(color=ORANGE, label="software refill")]
    picture.legend(handles=handles, loc="outside upper right", ncols=2)
    return picture


def bars(axes: Axes, values: Sequence[float], colour: str, thick: float = 0.7, offset: float = 0.0) -> None:
    """Draw a bar for each structure, with its value beside it."""
    places = [at + offset for at in range(len(values))]
    axes.barh(places, values, thick, color=colour)
    for place, value in zip(places, values):
        axes.annotate(f"{value:,.3g}" if value < 100 else f"{value:,.0f}", (value, place), xytext=(2, 0),
                      textcoords="offset points", va="center", fontsize=6, color="#444444")  # fmt: skip
    axes.margins(x=0.2)
    axes.set_xlim(left=0)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
