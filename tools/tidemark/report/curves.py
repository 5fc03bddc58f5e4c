"""Figures of a sweep: the thrashing curve, and turnaround against memory with its fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from tidemark.report import cells, fit
from tidemark.report.cells import Cell, Panel
from tidemark.report.figure import DASHES, Figure, Look, canvas, colours, heading, legend, of_rows, whole_numbers
from tidemark.report.plots import THRASHING, TURNAROUND

PER_FIGURE = 3
STEEP = 30
AXIS = {cells.PROCESSES: "number of processes", cells.MEMORY: "memory, MiB"}
NAME = {cells.PROCESSES: "processes", cells.MEMORY: "memory"}


def chunks(panels: Sequence[Panel]) -> Iterator[tuple[str, Sequence[Panel]]]:
    """As many panels as stand side by side, and what to add to the figure's name."""
    for at in range(0, len(panels), PER_FIGURE):
        yield ("" if at == 0 else f"-{at // PER_FIGURE + 1}"), panels[at : at + PER_FIGURE]


def points(axes: Axes, line: Sequence[tuple[float, Cell]], name: str, look: Look, joined: bool) -> None:
    """The runs of one line as points, and their means joined."""
    found = [(at, cell.numbers[name]) for at, cell in line if name in cell.numbers]
    axes.plot(*zip(*found), "o", color=look.colour, alpha=0.7, clip_on=False)
    if joined:
        axes.plot(*cells.means(line, name), color=look.colour, linestyle=look.dash)


def policy_looks(panels: Sequence[Panel]) -> dict[str, Look]:
    """A look for each policy in any panel."""
    chosen = colours(sorted({policy for panel in panels for policy in panel.lines}))
    return {policy: Look(colour) for policy, colour in chosen.items()}


def table_of(panels: Sequence[Panel], x: str) -> dict[str, list]:
    """A row for each run in the panels, with where it stands and all its numbers."""
    return of_rows(
        [
            {"panel": panel.title, "policy": policy, NAME[x]: at, "seed": cell.factors.get("seed"), **cell.numbers}
            for panel in panels
            for policy, line in panel.lines.items()
            for at, cell in line
        ]
    )


def thrashing(panels: Sequence[Panel], x: str, suffix: str) -> Figure:
    """Utilisation, user time and throughput against the number of processes or memory."""

    def draw() -> Canvas:
        picture, axes = canvas(len(THRASHING.lines), len(panels), sharex="col", sharey="row")
        styles = policy_looks(panels)
        for column, panel in zip(axes.T, panels):
            for row, shown in zip(column, THRASHING.lines):
                for policy, line in panel.lines.items():
                    points(row, line, shown.column, styles[policy], joined=True)
            heading(column[0], panel.title, wide=len(panels) == 1)
            column[-1].set_xlabel(AXIS[x])
            column[-1].xaxis.set_major_locator(MaxNLocator(6, integer=True))
        for row, shown in zip(axes[:, 0], THRASHING.lines):
            row.set_ylabel(shown.axis)
            if shown.unit == "%":
                row.set_ylim(0, 100)
        axes[-1, 0].set_yscale("log", nonpositive="mask")
        whole_numbers(axes[-1, 0].yaxis)
        legend(picture, styles)
        return picture

    title, caption = (text.format(axis=AXIS[x].split(",")[0]) for text in (THRASHING.title, THRASHING.caption))
    return Figure(f"{THRASHING.name}-{NAME[x]}{suffix}", title, caption, table_of(panels, x), draw)


def fits(line: Sequence[tuple[float, Cell]]) -> tuple[list[fit.Fit], str]:
    """The fit with exponent 4 and the one with a free exponent, as far as the points allow, and why not further."""
    sizes, turnaround = fit.means(*zip(*[(at, cell.numbers["turnaround_s"]) for at, cell in line]))
    found: list[fit.Fit] = []
    try:
        found.append(fit.fixed(sizes, turnaround))
        found.append(fit.free(sizes, turnaround))
    except ValueError as error:
        return found, str(error)
    return found, ""


def interval(f: fit.Fit) -> str:
    """The exponent with its interval, or the end of it that the data bound."""
    exponent = f"p = {f.exponent:.1f}"
    if f.low is None and f.high is None:
        return f"{exponent}, not bounded"
    if f.low is None:
        return f"{exponent}, at most {f.high:.1f}"
    if f.high is None:
        return f"{exponent}, at least {f.low:.1f}"
    return f"{exponent} [{f.low:.1f}, {f.high:.1f}]"


def fit_rows(panels: Sequence[Panel]) -> list[dict]:
    """A row for each fit: k in s·MiB^p, c in s; `remark` says why a fit is missing."""
    rows = []
    for panel in panels:
        for policy, line in panel.lines.items():
            found, remark = fits(line)
            for f, kind in zip(found, ("p = 4", "p free")):
                rows.append({"panel": panel.title, "policy": policy, "model": kind, "k": f.k, "c_s": f.c})
                rows[-1] |= {"exponent": f.exponent, "low": f.low, "high": f.high, "sizes": f.nr, "r2": f.r2}
            if remark:
                rows.append({"panel": panel.title, "policy": policy, "model": "p free", "remark": remark})
    return rows


def draw_fits(axes: Axes, line: Sequence[tuple[float, Cell]], policy: str, look: Look) -> dict[str, Look]:
    """The fitted curves of one policy, and their entries for the legend."""
    found, _ = fits(line)
    memory = np.linspace(line[0][0], line[-1][0], 200)
    entries = {}
    for f, dash, text in zip(found, (DASHES[1], DASHES[0]), ("{policy}: k/M⁴ + c", "{policy}: k/Mᵖ + c, {p}")):
        axes.plot(memory, f.at(memory), color=look.colour, linestyle=dash)
        entries[text.format(policy=policy, p=interval(f))] = Look(look.colour, dash)
    return entries


def scale(axes: Axes, panel: Panel) -> None:
    """A logarithmic axis where turnarounds differ so much that the small ones would lie on a linear one.

    It ends by the points: a fit that nears 0 would take all of it.
    """
    values = [cell.numbers["turnaround_s"] for line in panel.lines.values() for _, cell in line]
    if max(values) > STEEP * min(values) > 0:
        axes.set_yscale("log", nonpositive="mask")
        axes.set_ylim(min(values) / 1.5, max(values) * 1.5)
        whole_numbers(axes.yaxis)


def turnaround(panel: Panel, suffix: str) -> Figure:
    """Turnaround against memory with both fits."""

    def draw() -> Canvas:
        picture, axes = canvas(1, 1, 3.0)
        entries: dict[str, Look] = {}
        for policy, look in policy_looks([panel]).items():
            points(axes[0, 0], panel.lines[policy], "turnaround_s", look, joined=False)
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


def of_cells(every: Sequence[Cell]) -> tuple[list[Figure], Mapping[str, list]]:
    """All figures that the cells allow, and the table of the fits."""
    figures, with_turnaround = [], []
    for x in (cells.PROCESSES, cells.MEMORY):
        figures += [thrashing(some, x, suffix) for suffix, some in chunks(cells.panels(every, x))]
    with_turnaround = cells.panels([cell for cell in every if "turnaround_s" in cell.numbers], cells.MEMORY)
    figures += [turnaround(p, "" if at == 0 else f"-{at + 1}") for at, p in enumerate(with_turnaround)]
    return figures, of_rows(fit_rows(with_turnaround))
