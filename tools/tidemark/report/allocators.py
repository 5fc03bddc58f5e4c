"""Allocators side by side: memory over time, waste by size, steps by the length of a list, splits and merges.

The first figure is of a log. The others are of made traffic (tools/allocsim/traffic.c), so they are the same for every
log, except the right half of the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MultipleLocator

from tidemark.debug import allocators
from tidemark.debug.allocators import Series
from tidemark.report import figure
from tidemark.report.figure import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, YELLOW, Figure, Look

LOOKS = {
    "buddy": Look(BLUE),
    "lazy buddy": Look(SKY, "--"),
    "Fibonacci buddy": Look(PURPLE),
    "resource map": Look(GREEN),
    "power of two": Look(VERMILION),
    "McKusick-Karels": Look(ORANGE, "--"),
    "Mach zones": Look(YELLOW),
    "slab": Look(GREY),
}
ASKED = Look(BLACK, ":")
BUDDIES = ("buddy", "lazy buddy", "Fibonacci buddy")
SIZES, EVERY = 4096, 64
KIB = 1024


def of_log(replayed: Mapping[str, Series]) -> list[Figure]:
    """The four figures. `replayed`: the rows of the modes `objects` and `frames`."""
    waste, random, alternating = (allocators.simulated(mode) for mode in ("waste", "random", "alternating"))
    return [held(replayed), wasted(waste), searched(random), merged(alternating, replayed["frames"])]


def known(series: Series) -> dict[str, Look]:
    """A look for every allocator: one that has been added is black."""
    return {**{name: look for name, look in LOOKS.items() if name in series},
            **{name: Look(BLACK) for name in series if name not in LOOKS}}  # fmt: skip


def columns(series: Series) -> figure.Table:
    """All rows as one table."""
    return figure.of_rows([{"allocator": name, **row} for name, rows in series.items() for row in rows])


def held(replayed: Mapping[str, Series]) -> Figure:
    """Memory held against asked, over the operations of the log."""
    caption = (
        "Memory that the allocators hold, in pages that nothing else can use, and what is asked for (dotted). Left: "
        "the objects of the kernel's slab caches. Right: the frames of its buddy. Time is counted in operations."
    )
    rows = [
        {"kind": kind, "allocator": name, **row}
        for kind, series in replayed.items() for name, rows in series.items() for row in rows
    ]  # fmt: skip
    return Figure("alloc-held", "Memory held", caption, figure.of_rows(rows), partial(draw_held, replayed))


def draw_held(replayed: Mapping[str, Series]) -> Canvas:
    """Two axes, objects and frames."""
    picture, axes = figure.canvas(1, 2, row_in=2.6)
    for axis, (kind, series) in zip(axes[0], replayed.items()):
        for name, look in known(series).items():
            rows = series[name]
            xs, ys = [row["operations"] / 1000 for row in rows], [row["held"] / KIB for row in rows]
            axis.plot(xs, ys, color=look.colour, linestyle=look.dash)
        axis.plot(xs, [row["asked"] / KIB for row in rows], color=ASKED.colour, linestyle=ASKED.dash, linewidth=1.4)
        figure.heading(axis, kind, wide=False)
        axis.set_xlabel("operations, thousands")
        axis.set_ylabel("memory held, KiB")
        figure.from_zero(axis)
    figure.legend(picture, {"asked for": ASKED, **known(replayed["frames"])})
    return picture


def wasted(series: Series) -> Figure:
    """The share of the held pages that is wasted, by size of the request."""
    caption = (
        "Share of the held pages that is lost if blocks of one size fill 128 KiB: rounding, headers, descriptors, the "
        "rest of pages; for the Fibonacci buddy also the smaller buddies that this size cannot use. Drawn at "
        f"each multiple of {EVERY} bytes and the next size, and at all sizes up to {EVERY}."
    )
    return Figure("alloc-waste", "Waste by size", caption, columns(series), partial(draw_wasted, series))


def some_sizes(rows: Sequence[allocators.Row]) -> list[allocators.Row]:
    """Every EVERYth size, and the next one, where powers of two jump."""
    return [row for row in rows if row["size"] % EVERY in (0, 1) or row["size"] <= EVERY]


def draw_wasted(series: Series) -> Canvas:
    """A small pair of axes for each allocator."""
    looks = known(series)
    picture, axes = figure.canvas(-(-len(looks) // 4), 4, sharex=True, sharey=True)
    for axis, (name, look) in zip(axes.flat, looks.items()):
        rows = some_sizes(series[name])
        axis.plot([row["size"] for row in rows], [100 * (1 - row["asked"] / row["held"]) for row in rows],
                  color=look.colour, linewidth=0.7)  # fmt: skip
        figure.heading(axis, name, wide=False)
        axis.xaxis.set_major_locator(MultipleLocator(SIZES // 2))
        axis.yaxis.set_major_locator(MultipleLocator(25))
        axis.set_ylim(0, 75)
    for axis in axes[-1]:
        axis.set_xlabel("size, bytes")
    for axis in axes[:, 0]:
        axis.set_ylabel("wasted, %")
    return picture


def searched(series: Series) -> Figure:
    """Steps of an operation, by the free blocks in the lists."""
    caption = (
        "List entries that an allocation or a free looks at, against the free blocks in the lists. Each point is made "
        "traffic with 16 to 2,048 blocks of 16 to 2,048 bytes in use. Only the resource map searches."
    )
    return Figure(
        "alloc-steps", "Steps by length of the list", caption, columns(series), partial(draw_searched, series)
    )


def draw_searched(series: Series) -> Canvas:
    """One pair of axes, both logarithmic."""
    picture, axes = figure.canvas(row_in=2.6)
    looks = {name: look for name, look in known(series).items() if name != "slab"}
    for name, look in looks.items():
        rows = series[name]
        axes[0, 0].plot([row["free"] for row in rows], [row["steps"] for row in rows],
                        color=look.colour, linestyle=look.dash)  # fmt: skip
    axes[0, 0].set(xscale="log", yscale="log", xlabel="free blocks in the lists", ylabel="steps of an operation")
    figure.whole_numbers(axes[0, 0].xaxis)
    figure.whole_numbers(axes[0, 0].yaxis)
    figure.legend(picture, looks)
    return picture


def merged(series: Series, frames: Series) -> Figure:
    """Splits and merges: a pair of alternating operations, and the frames of the log."""
    caption = (
        "Splits and merges of the three buddies. Left: one block is allocated and freed, again and again, while others "
        "of its size are in use. Right: all of them so far, for the frames of the log."
    )
    return Figure("alloc-merges", "Splits and merges", caption, columns(series), partial(draw_merged, series, frames))


def draw_merged(series: Series, frames: Series) -> Canvas:
    """Two axes, made traffic and the log."""
    picture, axes = figure.canvas(1, 2, row_in=2.4)
    left, right = axes[0]
    for name in BUDDIES:
        look, rows = LOOKS[name], series[name]
        left.plot([row["held"] for row in rows], [row["splits"] + row["merges"] for row in rows],
                  color=look.colour, linestyle=look.dash)  # fmt: skip
        right.plot([row["operations"] / 1000 for row in frames[name]],
                   [(row["splits"] + row["merges"]) / 1000 for row in frames[name]],
                   color=look.colour, linestyle=look.dash)  # fmt: skip
    left.set(xlabel="other blocks in use", ylabel="splits and merges of a pair")
    right.set(xlabel="operations, thousands", ylabel="splits and merges, thousands")
    left.xaxis.set_major_locator(MultipleLocator(4))
    figure.heading(left, "alternating traffic", wide=False)
    figure.heading(right, "frames of the log", wide=False)
    figure.from_zero(right)
    figure.legend(picture, {name: LOOKS[name] for name in BUDDIES})
    return picture
