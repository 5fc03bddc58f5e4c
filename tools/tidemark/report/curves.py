"""Figures of a sweep: the thrashing curve against each axis, and turnaround against memory with its fits."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from tidemark.report import cells, cliff, fit
from tidemark.report.cells import Cell, Panel
from tidemark.report.figure import (
    BLACK,
    DASHES,
    GREY,
    Figure,
    Look,
    Table,
    canvas,
    contestants,
    from_zero,
    heading,
    label_ends,
    legend,
    of_rows,
    whole_numbers,
)
from tidemark.report.plots.sweeps import THRASHING, TURNAROUND
from tidemark.runs.replicates import REPETITION

PER_FIGURE = 3
STEEP = 30
BAND = 0.18
AXIS = {cells.PROCESSES: "number of processes", cells.MEMORY: "memory, MiB"}
NAME = {cells.MEMORY: "memory"}


def chunks(panels: Sequence[Panel]) -> Iterator[tuple[str, Sequence[Panel]]]:
    """Groups of panels that fit side by side, each with a suffix for the figure's name."""
    for at in range(0, len(panels), PER_FIGURE):
        yield ("" if at == 0 else f"-{at // PER_FIGURE + 1}"), panels[at : at + PER_FIGURE]


def points(axes: Axes, line: Sequence[tuple[float, Cell]], name: str, look: Look) -> None:
    """Draw the runs of one line as points, the medians of repetitions joined, their range as a band."""
    found = [(at, cell.numbers[name]) for at, cell in line if name in cell.numbers]
    runs = cells.repetitions(line, name)
    repeated = any(len(values) > 1 for values in runs.values())
    size: dict[str, Any] = {"markersize": 2.5, "alpha": 0.5} if repeated else {"alpha": 0.7}
    axes.plot(*zip(*found), "o", color=look.colour, clip_on=False, markeredgewidth=0, **size)
    axes.plot(*cells.medians(line, name), color=look.colour, linestyle=look.dash)
    if repeated:
        least, greatest = [min(values) for values in runs.values()], [max(values) for values in runs.values()]
        axes.fill_between(list(runs), least, greatest, color=look.colour, alpha=BAND, linewidth=0)


def whiskers(axes: Axes, line: Sequence[tuple[float, Cell]], name: str, look: Look, size: float) -> None:
    """Draw the runs of one line as points, the range of repetitions as bars."""
    found = [(at, cell.numbers[name]) for at, cell in line]
    axes.plot(*zip(*found), "o", color=look.colour, alpha=0.7, clip_on=False, markersize=size, markeredgewidth=0)
    runs = cells.repetitions(line, name)
    least, greatest = [min(values) for values in runs.values()], [max(values) for values in runs.values()]
    axes.vlines(list(runs), least, greatest, color=look.colour, linewidth=0.8)


def policy_looks(panels: Sequence[Panel], chosen: Sequence[str] = ()) -> dict[str, Look]:
    """A look for each policy in any panel; if there are many, the best, the worst and the chosen are coloured."""
    names = sorted({policy for panel in panels for policy in panel.lines})
    order = cliff.in_order(panels)
    return contestants(names, [order[0], order[-1], *chosen])


def table_of(panels: Sequence[Panel], x: str) -> dict[str, list[Any]]:
    """A row for each run in the panels, with its position and all its numbers."""
    return of_rows(
        [
            {"panel": panel.title, "policy": policy, NAME.get(x, x): at}
            | {name: cell.factors.get(name) for name in REPETITION}
            | cell.numbers
            for panel in panels
            for policy, line in panel.lines.items()
            for at, cell in line
        ]
    )


def spread_rows(panels: Sequence[Panel], x: str) -> list[dict[str, Any]]:
    """A row for each point with several runs: median (least..greatest) of the quantities that the curves show."""
    rows = []
    for panel in panels:
        for policy, line in panel.lines.items():
            runs = {
                name: cells.repetitions(line, name)
                for name in (*(shown.column for shown in THRASHING.lines), "turnaround_s")
            }
            for at in dict.fromkeys(at for at, _ in line):
                values = {name: of[at] for name, of in runs.items() if len(of.get(at, ())) > 1}
                first = {"panel": panel.title, "policy": policy, NAME.get(x, x): at}
                count = max(map(len, values.values()), default=0)
                if values:
                    rows.append(first | {"runs": count} | {name: spread(values[name]) for name in values})
    return rows


def spread(values: Sequence[float]) -> str:
    """`median (least..greatest)`, each to at least three digits."""
    middle, least, greatest = (
        f"{value:,.0f}" if value >= 1000 else f"{value:.3g}" for value in (median(values), min(values), max(values))
    )
    return f"{middle} ({least}..{greatest})"


def thrashing(panels: Sequence[Panel], x: str, suffix: str, chosen: Sequence[str] = ()) -> Figure:
    """Utilisation with the part of it in user mode, and throughput, against the number of processes, memory, or any
    parameter."""
    works, user, throughput = THRASHING.lines

    def draw() -> Canvas:
        styles = policy_looks(panels, chosen)
        picture, axes = canvas(2, len(panels), max(2.1, 0.085 * len(styles)), sharex="col", sharey="row")
        for column, panel in zip(axes.T, panels):
            for policy, line in panel.lines.items():
                points(column[0], line, works.column, styles[policy])
                column[0].plot(*cells.medians(line, user.column), color=styles[policy].colour, linestyle=":")
                points(column[1], line, throughput.column, styles[policy])
            ideal(column[1], panel)
            for row in column:
                crossing(row, panel)
            heading(column[0], panel.title, wide=len(panels) == 1)
            column[-1].set_xlabel(AXIS.get(x, x))
            scale_x(column[-1], panel, x)
        axes[0, 0].set(ylim=(0, 100), ylabel=works.axis)
        axes[1, 0].set_ylabel(throughput.axis)
        if any(
            cell.numbers.get(throughput.column) for panel in panels for line in panel.lines.values() for _, cell in line
        ):
            axes[1, 0].set_yscale("log", nonpositive="mask")
            whole_numbers(axes[1, 0].yaxis)
        for column, panel in zip(axes.T, panels):
            for row, shown in zip(column, (works, throughput)):
                found = {policy: cells.medians(line, shown.column) for policy, line in panel.lines.items()}
                label_ends(row, {policy: (at[-1], of[-1]) for policy, (at, of) in found.items() if of}, styles)
        legend(picture, extra(panels))
        return picture

    against = f"the {AXIS[x].split(',')[0]}" if x in AXIS else x
    stem = re.sub(r"\W+", "-", NAME.get(x, x))
    title, caption = (text.format(axis=against) for text in (THRASHING.title, THRASHING.caption))
    return Figure(f"{THRASHING.name}-{stem}{suffix}", title, caption, table_of(panels, x), draw)


def extra(panels: Sequence[Panel]) -> dict[str, Look]:
    """The legend's entries besides the policies."""
    bounded = any(full(panel) is not None for panel in panels)
    ideals = any("time_over_ideal" in cell.numbers for p in panels for line in p.lines.values() for _, cell in line)
    entries = {"user mode": Look(GREY, ":")} | ({"ideal": Look(BLACK, "-.")} if ideals else {})
    return entries | ({"demand = memory": Look(GREY, "--")} if bounded else {})


def full(panel: Panel) -> float | None:
    """The position on the axis at which demand equals memory: where a line through demand less frames crosses 0.

    None if the crossing is not between two positions, or demand is known at fewer than two. A policy may let processes
    end before others begin, so the run with the largest demand counts at each position.
    """
    over: dict[float, float] = {}
    cells = [(at, cell.numbers) for line in panel.lines.values() for at, cell in line]
    for at, numbers in cells:
        if "demand_mib" in numbers:
            over[at] = max(numbers["demand_mib"] - numbers["frames_mib"], over.get(at, -math.inf))
    if len(over) < 2:
        return None
    slope, height = np.polyfit(list(over), list(over.values()), 1)
    every = [at for at, _ in cells]
    found = -height / slope if abs(slope) > 1e-9 else math.nan
    return float(found) if min(every) < found < max(every) else None


def crossing(axes: Axes, panel: Panel) -> None:
    """Draw a line where demand equals memory, and ticks at the measured positions."""
    at = full(panel)
    if at is not None:
        axes.axvline(at, color=GREY, linestyle="--", linewidth=0.9)
    measured = sorted({position for line in panel.lines.values() for position, _ in line})
    axes.plot(measured, [0] * len(measured), "|", color=BLACK, markersize=5, transform=axes.get_xaxis_transform(),
              clip_on=False)  # fmt: skip


def ideal(axes: Axes, panel: Panel) -> None:
    """Draw the throughput with memory for everything, so that nothing is evicted, if the sweep has such runs."""
    runs = {
        at: cell.numbers["throughput_per_s"] * cell.numbers["time_over_ideal"]
        for line in panel.lines.values()
        for at, cell in line
        if {"throughput_per_s", "time_over_ideal"} <= cell.numbers.keys()
    }
    axes.plot(sorted(runs), [runs[at] for at in sorted(runs)], color=BLACK, linestyle="-.", linewidth=0.9)


def scale_x(axes: Axes, panel: Panel, x: str) -> None:
    """Set whole numbers on the axis; a parameter that spans more than a decade gets a logarithmic axis."""
    at = [position for line in panel.lines.values() for position, _ in line]
    if x not in AXIS and max(at) > 10 * min(at) > 0:
        axes.set_xscale("log")
        whole_numbers(axes.xaxis)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=all(float(one).is_integer() for one in at)))


def fits(line: Sequence[tuple[float, Cell]]) -> tuple[list[fit.Fit], str]:
    """The fit with exponent 4 and that with a free exponent, if the points allow them, and why one is missing."""
    sizes, turnaround = fit.medians(*zip(*[(at, cell.numbers["turnaround_s"]) for at, cell in line]))
    found: list[fit.Fit] = []
    try:
        found.append(fit.fixed(sizes, turnaround))
        found.append(fit.free(sizes, turnaround))
    except ValueError as error:
        return found, str(error)
    return found, ""


def interval(f: fit.Fit) -> str:
    """The exponent with its interval, or with the one end that the data bound."""
    exponent = f"p = {f.exponent:.1f}"
    if f.low is None and f.high is None:
        return f"{exponent}, not bounded"
    if f.low is None:
        return f"{exponent}, at most {f.high:.1f}"
    if f.high is None:
        return f"{exponent}, at least {f.low:.1f}"
    return f"{exponent} [{f.low:.1f}, {f.high:.1f}]"


def fit_rows(panels: Sequence[Panel]) -> list[dict[str, Any]]:
    """A row for each fit: k in s·MiB^p, c in s; `remark` says why a fit is missing, or not drawn."""
    rows = []
    for panel in panels:
        for policy, line in panel.lines.items():
            found, remark = fits(line)
            for f, kind in zip(found, ("p = 4", "p free")):
                rows.append({"panel": panel.title, "policy": policy, "model": kind, "k": f.k, "c_s": f.c})
                rows[-1] |= {"exponent": f.exponent, "low": f.low, "high": f.high, "sizes": f.nr, "r2": f.r2}
                rows[-1] |= {"remark": f"not drawn: {f.empty}" if f.empty else ""}
            if remark:
                rows.append({"panel": panel.title, "policy": policy, "model": "p free", "remark": remark})
    return rows


def draw_fits(axes: Axes, line: Sequence[tuple[float, Cell]], policy: str, look: Look) -> dict[str, Look]:
    """Draw the fitted curves of one policy that are not empty; returns their entries for the legend."""
    found, _ = fits(line)
    memory = np.linspace(line[0][0], line[-1][0], 200)
    entries = {policy: look}
    for f, dash, text in zip(found, (DASHES[1], DASHES[0]), ("k/M⁴ + c", "k/Mᵖ + c, {p}")):
        if f.empty:
            continue
        axes.plot(memory, f.at(memory), color=look.colour, linestyle=dash)
        entries[f"{policy}: {text.format(p=interval(f))}, R² {f.r2:.2f}"] = Look(look.colour, dash)
    return entries


def scale(axes: Axes, panel: Panel) -> None:
    """Set a logarithmic axis if turnarounds differ so much that the small ones would vanish on a linear one.

    It ends near the points: a fit that nears 0 would take up all of it.
    """
    values = [cell.numbers["turnaround_s"] for line in panel.lines.values() for _, cell in line]
    if max(values) > STEEP * min(values) > 0:
        axes.set_yscale("log", nonpositive="mask")
        axes.set_ylim(min(values) / 1.5, max(values) * 1.5)
        whole_numbers(axes.yaxis)
    else:
        from_zero(axes)


def sizes(panel: Panel) -> int:
    """The number of positions at which something was measured."""
    return len({at for line in panel.lines.values() for at, _ in line})


def turnaround(panel: Panel, suffix: str, chosen: Sequence[str] = ()) -> Figure:
    """Turnaround against memory with both fits."""

    def draw() -> Canvas:
        picture, axes = canvas(1, 1, 3.0)
        entries: dict[str, Look] = {}
        for at, (policy, look) in enumerate(policy_looks([panel], chosen).items()):
            # Points of equal runs coincide, so each policy's points are smaller than those of the one before.
            whiskers(axes[0, 0], panel.lines[policy], "turnaround_s", look, max(6.5 - 2 * at, 2.5))
            entries |= draw_fits(axes[0, 0], panel.lines[policy], policy, look)
        heading(axes[0, 0], panel.title)
        scale(axes[0, 0], panel)
        axes[0, 0].set_xlabel(AXIS[cells.MEMORY])
        axes[0, 0].xaxis.set_major_locator(MaxNLocator(10, integer=True))
        axes[0, 0].set_ylabel("turnaround, s")
        legend(picture, entries, 2)
        return picture

    table = table_of([panel], cells.MEMORY)
    return Figure(f"{TURNAROUND.name}{suffix}", TURNAROUND.title, TURNAROUND.caption, table, draw)


def of_cells(every: Sequence[Cell], chosen: Sequence[str] = ()) -> tuple[list[Figure], Table, dict[str, Table]]:
    """All figures that the cells allow, the table of the fits, and the tables of the spread by axis. `chosen`: policies
    that are coloured in any case."""
    figures: list[Figure] = []
    spreads: dict[str, Table] = {}
    for x in cells.axes(every):
        panels = cells.panels(every, x)
        figures += [thrashing(some, x, suffix, chosen) for suffix, some in chunks(panels)]
        spreads[x] = of_rows(spread_rows(panels, x))
    with_turnaround = cells.panels([cell for cell in every if "turnaround_s" in cell.numbers], cells.MEMORY)
    enough = [panel for panel in with_turnaround if sizes(panel) > 2]
    figures += [turnaround(p, "" if at == 0 else f"-{at + 1}", chosen) for at, p in enumerate(enough)]
    return figures, of_rows(fit_rows(with_turnaround)), spreads
