"""The figures of a trace, each with the table from which it is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, NullLocator

from tidemark.curves.analyse import Analysis
from tidemark.curves.lifetime import FITS, Curve, power_law
from tidemark.curves.map_figures import address_maps, kinds, reference_map
from tidemark.curves.timeline import WorkingSetSizes
from tidemark.report.figure import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    OF_POLICY,
    ORANGE,
    VERMILION,
    Figure,
    Table,
    canvas,
    stacked,
    whole_numbers,
)

COLOURS = {**OF_POLICY, "lru": BLUE, "min": BLACK, "vmin": GREY, "pff": ORANGE}
BY_WINDOW = ("ws", "vmin", "pff")  # their parameter is a time, not a number of frames
SIMULATED = ("fifo", "clock", "pff")
LABELS = {"ws": "WS", "vmin": "VMIN", "pff": "PFF", "lru": "LRU", "min": "MIN", "fifo": "FIFO", "clock": "CLOCK"}
WINDOW_COLOURS = (BLUE, VERMILION, GREEN, ORANGE, BLACK, GREY)
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
DISTRIBUTION_BARS = 120


def all_figures(found: Analysis, space_names: Mapping[int, str]) -> list[Figure]:
    """Reference maps, working-set sizes, their distribution, lifetime functions, miss ratios, space-time."""
    unit = found.plan.unit
    return [
        reference_map(found.map, space_names, unit),
        address_maps(found.addresses, unit),
        kinds(found.map, unit),
        sizes_over_time(found.sizes, unit),
        distribution(found.sizes, unit),
        lifetimes(found.curves, unit),
        miss_ratios(found.curves, found.totals.references),
        spacetimes(found.curves, unit),
    ]


def curve_table(curve: Curve, unit: str) -> Table:
    """One curve's points; with its window or threshold if the parameter is not a number of frames."""
    first = {f"theta_{unit}": curve.parameters} if curve.policy in BY_WINDOW else {}
    columns = first | {
        "mean_resident_pages": curve.sizes,
        "faults": curve.faults,
        f"lifetime_{unit}": curve.lifetimes,
        f"spacetime_page_{unit}": curve.spacetimes,
    }
    return {name: column.tolist() for name, column in columns.items()}


def window_label(theta: int, unit: str) -> str:
    """The name of a window in legends."""
    return f"θ = {EngFormatter(sep=' ')(theta)} {unit}"


def sizes_over_time(found: WorkingSetSizes, unit: str) -> Figure:
    """The working set's size, one line for each window."""

    def draw() -> Canvas:
        picture, ((axes,),) = canvas(row_in=2.4)
        starts = np.concatenate([[0], found.times])
        for theta, means, colour in zip(found.thetas.tolist(), found.means, WINDOW_COLOURS, strict=False):
            axes.stairs(means, starts, label=window_label(theta, unit), color=colour, baseline=None, linewidth=0.8)
        axes.set_xlim(0, int(found.times[-1]))
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_formatter(EngFormatter())
        axes.set_xlabel(f"virtual time ({unit})")
        axes.set_ylabel("working set (pages)")
        picture.legend(loc="outside upper left", ncols=3)
        return picture

    table = {f"until_{unit}": found.times.tolist()} | {
        f"pages_theta_{theta}": means.tolist() for theta, means in zip(found.thetas.tolist(), found.means, strict=True)
    }
    return Figure("working-set", "Working-set size", "Mean over each slice of virtual time.", table, draw)


def distribution(found: WorkingSetSizes, unit: str) -> Figure:
    """The share of time for each size of the working set, with one axes per window."""
    shown = found.shares[: len(WINDOW_COLOURS)]
    used = np.flatnonzero(found.shares.any(axis=0))
    width = max(1, -(-(used[-1] - used[0] + 1) // DISTRIBUTION_BARS))
    edges = np.arange(used[0], used[-1] + width + 1, width)

    def draw() -> Canvas:
        picture, axes = canvas(rows=len(shown), row_in=1.1, sharex=True)
        for (one,), theta, shares, colour in zip(axes, found.thetas.tolist(), shown, WINDOW_COLOURS, strict=False):
            padded = np.concatenate([shares, np.zeros(width)])
            one.stairs(100 * np.add.reduceat(padded, edges[:-1]), edges - 0.5, fill=True, color=colour)
            one.set_title(window_label(theta, unit))
        picture.supylabel(f"share of time (%), bars of {width} pages" if width > 1 else "share of time (%)", fontsize=8)
        axes[-1, 0].set_xlabel("working set (pages)")
        return picture

    rows, sizes = np.nonzero(found.shares)
    table = {
        f"theta_{unit}": found.thetas[rows].tolist(),
        "pages": sizes.tolist(),
        "share_of_time": found.shares[rows, sizes].tolist(),
    }
    return Figure("distribution", "Distribution of working-set sizes", "", table, draw)


def _plain_ticks(axis: Axis) -> None:
    """Ticks of a logarithmic axis as numbers, at 1, 2 and 5 of each decade."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(EngFormatter())
    axis.set_minor_locator(NullLocator())


def _draw_curve(axes: Axes, curve: Curve, values: np.ndarray) -> None:
    """A line; if only some sizes were simulated, with a point for each; PFF has points only, because a slightly larger
    threshold can double its size.
    """
    marker: dict[str, Any] = {"marker": ".", "markersize": 2.5, "linewidth": 0.6} if curve.policy in SIMULATED else {}
    if curve.policy == "pff":
        marker |= {"linestyle": "none", "markersize": 5}
    axes.plot(curve.sizes, values, color=COLOURS[curve.policy], label=LABELS[curve.policy], **marker)


def _draw_lifetimes(axes: Axes, curves: Mapping[str, Curve]) -> None:
    """Draw the curves, and to each the ray of its primary knee."""
    for policy, curve in curves.items():
        colour = COLOURS[policy]
        _draw_curve(axes, curve, curve.lifetimes)
        knee = curve.knee()
        if knee is not None:
            x, g = curve.sizes[knee], curve.lifetimes[knee]
            axes.plot([0, x], [0, g], color=colour, linewidth=0.6, linestyle=":", label="_ray")
            axes.plot([x], [g], "o", color=colour, markeredgecolor="white", label="_knee")
        others = curve.other_knees()
        axes.plot(curve.sizes[others], curve.lifetimes[others], "o", color=colour, fillstyle="none", label="_others")
        balance = curve.balance()
        if balance is not None:
            axes.plot(
                curve.sizes[balance], curve.lifetimes[balance], "s", color=colour, markeredgecolor="black", label="_L=S"
            )


def _name_knees(axes: Axes, curves: Mapping[str, Curve]) -> None:
    """Write the size of each primary knee into the lower right corner, in the colour of its ray."""
    knees = [(policy, curve.sizes[at]) for policy, curve in curves.items() if (at := curve.knee()) is not None]
    for nr, (policy, size) in enumerate(reversed(knees)):
        axes.annotate(f"{LABELS[policy]} {size:.3g}", (0.98, 0.03), xycoords="axes fraction", ha="right", fontsize=6.5,
                      xytext=(0, 8 * nr), textcoords="offset points", color=COLOURS[policy])  # fmt: skip
    if knees:
        axes.annotate("knees at x =", (0.98, 0.03), xycoords="axes fraction", ha="right", fontsize=6.5,
                      xytext=(0, 8 * len(knees)), textcoords="offset points")  # fmt: skip


def _draw_theory(axes: Axes, curve: Curve) -> None:
    """Draw L = S, where g = D, if the curves reach it, and a·x^k if it fits. The limits of the axes stay the same."""
    law, limits = power_law(curve), axes.get_ylim()
    if curve.delay <= limits[1]:
        axes.axhline(curve.delay, color=BLACK, linewidth=0.7, linestyle="--", label="_delay")
        axes.annotate(
            "L = S", (0.01, curve.delay), xycoords=("axes fraction", "data"), ha="left", va="bottom", fontsize=7
        )
    if law and law.r2 >= FITS:
        sizes = np.array([law.first, law.last])
        axes.plot(sizes, law.at(sizes), color=BLACK, linewidth=1.2, linestyle=":", label="_law")
        axes.annotate(f"x^{law.exponent:.2g}", (law.last, law.at(sizes)[1]), fontsize=7, ha="left", va="top")
    axes.set_ylim(limits)


def _theory(curve: Curve, unit: str) -> str:
    """The sentences of the caption on g = D and a·x^k."""
    law, delay = power_law(curve), f"{curve.delay:,} {unit}"
    if curve.delay > curve.lifetimes.max():
        said = f"No size of LRU reaches L = S, g = D = {delay}: it always waits longer for the disk than it computes."
    else:
        said = f"Dashed: L = S, g = D = {delay}; below it the program waits longer for the disk than it computes."
    if law is None:
        return said
    if law.r2 < FITS:
        return f"{said} No a·x^k fits LRU up to its last knee (R² {law.r2:.2f})."
    return f"{said} Dotted: a·x^k, fitted to LRU up to its last knee: k = {law.exponent:.2f} (R² {law.r2:.2f})."


def lifetimes(curves: Mapping[str, Curve], unit: str) -> Figure:
    """g(x) of each policy, with the primary knees and the rays that touch the curve there."""

    def draw() -> Canvas:
        picture, ((linear, logarithmic),) = canvas(columns=2, row_in=3.0)
        for axes in (linear, logarithmic):
            _draw_lifetimes(axes, curves)
            axes.set_xlabel("mean resident set x (pages)")
        linear.yaxis.set_major_formatter(EngFormatter())
        linear.set_xlim(left=0)
        linear.set_ylim(bottom=0)
        linear.set_ylabel(f"lifetime g(x) ({unit} between faults)")
        logarithmic.set(xscale="log", yscale="log", xlim=(1, None))
        _plain_ticks(logarithmic.xaxis)
        _plain_ticks(logarithmic.yaxis)
        _draw_theory(logarithmic, curves["lru"])
        _name_knees(logarithmic, curves)
        handles, labels = linear.get_legend_handles_labels()
        picture.legend(handles, labels, loc="outside upper left", ncols=len(labels))
        return picture

    without = [LABELS[policy] for policy, curve in curves.items() if curve.knee() is None]
    caption = (
        "Dots: primary knees, where the steepest ray from 0 (dotted) touches the curve; circles: other knees. Right: "
        "logarithmic."
    )
    balances = [f"{LABELS[policy]} {curve.sizes[at]:,.4g}" for policy, curve in curves.items()
                if (at := curve.balance()) is not None]  # fmt: skip
    caption += f" Squares: the least size computed with L = S: {', '.join(balances)} pages." if balances else ""
    caption += f" Without a knee: {', '.join(without)}." if without else ""
    caption += f" {_theory(curves['lru'], unit)}"
    return Figure("lifetime", "Lifetime functions", caption, knee_table(curves, unit), draw)


def miss_ratios(curves: Mapping[str, Curve], references: int) -> Figure:
    """Faults per reference, by mean resident set."""

    def draw() -> Canvas:
        picture, ((axes,),) = canvas(row_in=2.8)
        for curve in curves.values():
            _draw_curve(axes, curve, curve.faults / references)
        axes.set(xscale="log", yscale="log", xlim=(1, None))
        _plain_ticks(axes.xaxis)
        whole_numbers(axes.yaxis)
        axes.set_xlabel("mean resident set x (pages)")
        axes.set_ylabel("faults per reference")
        picture.legend(loc="outside upper left", ncols=len(curves))
        return picture

    table = stacked(
        ({"policy": name}, {"mean_resident_pages": curve.sizes, "miss_ratio": curve.faults / references})
        for name, curve in curves.items()
    )
    return Figure("miss-ratio", "Miss ratios", f"Faults of {references:,} references.", table, draw)


def knee_table(curves: Mapping[str, Curve], unit: str) -> Table:
    """A row for each policy: its primary knee, L = S, and its least space-time; None where a policy has none."""
    rows = [knee_row(curve, unit) for curve in curves.values()]
    return {name: [row[name] for row in rows] for name in rows[0]}


def knee_row(curve: Curve, unit: str) -> dict[str, object]:
    """The primary knee, L = S and the least space-time of one curve, None where there is none."""
    row: dict[str, object] = {"policy": curve.policy}
    for what, index in (("knee", curve.knee()), ("balance", curve.balance()), ("cheapest", curve.cheapest())):
        is_there = index is not None
        row |= {
            f"{what}_theta_{unit}": int(curve.parameters[index]) if is_there and curve.policy in BY_WINDOW else None,
            f"{what}_pages": float(curve.sizes[index]) if is_there else None,
            f"{what}_faults": int(curve.faults[index]) if is_there else None,
            f"{what}_lifetime_{unit}": float(curve.lifetimes[index]) if is_there else None,
            f"{what}_spacetime_page_{unit}": float(curve.spacetimes[index]) if is_there else None,
        }
    return row


def spacetimes(curves: Mapping[str, Curve], unit: str) -> Figure:
    """C(x) of each policy, with its least value marked."""

    def draw() -> Canvas:
        picture, ((axes,),) = canvas(row_in=2.6)
        for policy, curve in curves.items():
            _draw_curve(axes, curve, curve.spacetimes)
            least = curve.cheapest()
            if least is not None:
                x, cost = curve.sizes[least], curve.spacetimes[least]
                axes.plot(
                    [x], [cost], "v", color=COLOURS[policy], markersize=6, markeredgecolor="white", label="_least"
                )
        axes.set(xscale="log", yscale="log", xlim=(1, None))
        _plain_ticks(axes.xaxis)
        _plain_ticks(axes.yaxis)
        power = int(np.log10(min(curve.spacetimes.min() for curve in curves.values())))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda cost, _: f"{cost / 10**power:g}"))
        axes.set_xlabel("mean resident set x (pages)")
        axes.set_ylabel(f"space-time (10{str(power).translate(RAISED)} pages × {unit})")
        picture.legend(loc="outside upper left", ncols=len(curves))
        return picture

    delay = next(iter(curves.values())).delay
    caption = f"C = x (T + D K) with D = {delay:,} {unit} per fault. Triangles mark the least values."
    return Figure("spacetime", "Space-time product", caption, knee_table(curves, unit), draw)
