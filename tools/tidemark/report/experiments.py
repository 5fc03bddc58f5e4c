"""Figures of a sweep beside its curves: box plots, heat maps over two axes, and efficiency after Denning.

boxes       the spread of repetitions, a box for each place
heat        two axes with numbers: a square for each pair, the median as a colour and a number
efficiency  useful time against the probability that a page is missing, with Denning's curves
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, NullFormatter

from tidemark.report import cells
from tidemark.report.arena import number
from tidemark.report.cells import MEMORY, NO_AXIS, POLICY, Cell
from tidemark.report.figure import (
    BLACK,
    GREY,
    VERMILION,
    WIDTH_IN,
    Figure,
    Look,
    canvas,
    colours,
    heading,
    legend,
    of_rows,
    whole_numbers,
)
from tidemark.report.plots.sweeps import BOXES, EFFICIENCY, HEAT
from tidemark.report.text import short
from tidemark.runs.plan import IDEAL
from tidemark.runs.replicates import REPETITION

WIDE = 1e4  # an axis that spans more has ticks only at powers of ten
MOST_BOXES, LEAST_RUNS, MOST_SQUARES = 48, 3, 12
HEIGHTS = (85, 60, 30)  # heights of the names of the efficiency curves, chosen not to collide
FOLLOWS = {"run", "timeout", "exact", "cmdline", IDEAL}


def usable(every: Sequence[Cell]) -> list[Cell]:
    """The cells with numbers, without the ideal cells."""
    return [cell for cell in every if cell.numbers and IDEAL not in cell.factors]


def names(some: Sequence[Cell]) -> list[str]:
    """The settings in which the cells differ, except those of repetitions; the policy last."""
    every = dict.fromkeys(name for cell in some for name in cell.factors)
    differ = [name for name in every if len({cell.factors.get(name, "") for cell in some}) > 1]
    out = FOLLOWS | set(REPETITION) if any("workload" in c.factors for c in some) else set(REPETITION)
    return sorted((name for name in differ if name not in out), key=lambda name: name == POLICY)


def quantity(some: Sequence[Cell]) -> tuple[str, str]:
    """The compared quantity and its label: time over ideal if it is known for all cells, else turnaround."""
    if some and all("time_over_ideal" in cell.numbers for cell in some):
        return "time_over_ideal", "slowdown: time over ideal"
    return "turnaround_s", "turnaround, s"


def places(some: Sequence[Cell], of: str, settings: Sequence[str]) -> dict[tuple[str, ...], list[float]]:
    """The values of the number `of`, by the values of these settings."""
    found: dict[tuple[str, ...], list[float]] = {}
    for cell in some:
        if of in cell.numbers:
            found.setdefault(tuple(cell.factors.get(name, "") for name in settings), []).append(cell.numbers[of])
    return found


def repeated(some: Sequence[Cell]) -> dict[tuple[str, ...], list[float]]:
    """The values of the places that were run at least LEAST_RUNS times."""
    found = places(some, quantity(some)[0], names(some))
    return {key: values for key, values in found.items() if len(values) >= LEAST_RUNS}


def left_out(every: Sequence[Cell]) -> str:
    """A sentence on boxes that are not drawn because there are too many; empty if all are drawn."""
    many = len(repeated(usable(every)))
    if many <= MOST_BOXES:
        return ""
    return (
        f"No boxes of replicates are drawn, since {many} places do not fit into one picture (at most {MOST_BOXES}); a "
        "report of fewer policies or workloads has them, and cells.csv has every run."
    )


def boxes(every: Sequence[Cell]) -> Figure | None:
    """A box for each place; None if runs were not repeated often enough, or there are too many boxes to read."""
    some = usable(every)
    settings, (of, label) = names(some), quantity(some)
    found = repeated(some)
    if not found or len(found) > MOST_BOXES:
        return None
    rows = [
        dict(zip(settings, key)) | {"run": at, of: value}
        for key, values in found.items()
        for at, value in enumerate(values)
    ]
    caption = BOXES.caption.format(what=label[0].upper() + label[1:])
    return Figure(BOXES.name, BOXES.title, caption, of_rows(rows), lambda: draw_boxes(found, settings, label))


def rows_of_boxes(found: Iterable[tuple[str, ...]]) -> tuple[dict[tuple[str, ...], float], dict[str, float]]:
    """The position of each box, from 0 down, and the headings: with several settings, each value of the first has a
    heading."""
    groups: dict[str, list[tuple[str, ...]]] = {}
    for key in found:
        groups.setdefault(key[0] if len(key) > 1 else "", []).append(key)
    places, headings, at = {}, {}, 0.0
    for group, keys in groups.items():
        if len(groups) > 1:
            headings[group] = at + 0.2
            at += 1
        for key in keys:
            places[key] = at
            at += 1
    return places, headings


def draw_boxes(found: dict[tuple[str, ...], list[float]], settings: Sequence[str], label: str) -> Canvas:
    """Draw the boxes, from top to bottom; those of one policy have its colour."""
    rows, headings = rows_of_boxes(found)
    picture = Canvas(figsize=(WIDTH_IN, 0.8 + 0.21 * (len(rows) + len(headings))), layout="constrained")
    axes = picture.subplots()
    at_policy = settings.index(POLICY) if POLICY in settings else None
    chosen = colours(sorted({key[at_policy] for key in found})) if at_policy is not None else {}
    for key, values in found.items():
        draw_box(axes, rows[key], values, chosen[key[at_policy]] if at_policy is not None else GREY)
    said = {key: key[1:] if headings else key for key in rows}
    axes.set_yticks(
        list(rows.values()), [", ".join(short(one, 24) for one in said[key] if one) or "all" for key in rows]
    )
    axes.grid(axis="y", visible=False)
    for text, at in headings.items():
        place = axes.get_yaxis_transform()
        title = text if settings[0] == "workload" else f"{settings[0]} {text}"
        axes.text(0.005, at, short(title, 90), transform=place, fontsize=7, fontweight="bold", va="center")
    axes.set_ylim(max(rows.values()) + 0.6, -0.6)
    least, most = min(map(min, found.values())), max(map(max, found.values()))
    if most > 20 * least > 0:
        axes.set_xscale("log")
        whole_numbers(axes.xaxis)
    axes.set_xlabel(label)
    return picture


def draw_box(axes: Axes, at: float, values: Sequence[float], colour: str) -> None:
    """Draw one box, its runs as points."""
    axes.boxplot(
        [values], positions=[at], widths=0.6, orientation="horizontal", showfliers=False, whis=(0, 100),
        boxprops={"color": colour}, medianprops={"color": colour, "linewidth": 2},
        whiskerprops={"color": colour}, capprops={"color": colour},
    )  # fmt: skip
    axes.plot(values, [at] * len(values), "o", color=colour, markersize=2.5, alpha=0.6, markeredgewidth=0)


def heat(every: Sequence[Cell]) -> list[Figure]:
    """A map for each pair of axes with several numbers, and each workload; a square for each policy side by side."""
    some = usable(every)
    found = [name for name in cells.axes(some) if name not in NO_AXIS]
    pairs = [(x, y) for at, x in enumerate(found) for y in found[at + 1 :]]
    figures = []
    for x, y in pairs:
        table = square(some, x, y)
        if table and all(len(dict.fromkeys(row[name] for row in table)) <= MOST_SQUARES for name in (x, y)):
            of, label = quantity(some)
            what = "turnaround, ms" if in_ms(table, of) else label
            title = HEAT.title.format(what=what[0].upper() + what[1:], x=x, y=y)
            name = f"{HEAT.name}-{x}-{y}".replace(".", "-")
            beyond = wanting(some, x, y)
            drawing = partial(draw_heat, table, x, y, what[0].lower() + what[1:], beyond)
            figures.append(Figure(name, title, HEAT.caption, of_rows(table), drawing))
    return figures


def square(some: Sequence[Cell], x: str, y: str) -> list[dict[str, Any]]:
    """A row for each policy and pair of positions: median, least and greatest. Empty if other settings differ, too."""
    of, _ = quantity(some)
    others = [name for name in names(some) if name not in (x, y, POLICY)]
    if others:
        return []
    rows = []
    for key, values in sorted(places(some, of, (POLICY, x, y)).items()):
        at = [cells.position(Cell("", {name: text}, {}), name) for name, text in zip((x, y), key[1:])]
        rows.append({"policy": key[0], x: at[0], y: at[1], of: median(values)})
        rows[-1] |= {"least": min(values), "greatest": max(values), "runs": len(values)}
    return rows


def wanting(some: Sequence[Cell], x: str, y: str) -> set[tuple[float, float]]:
    """The pairs of positions at which the processes of some run want more memory than there are frames."""
    at = [(cells.position(cell, x), cells.position(cell, y), cell.numbers) for cell in some]
    return {(a, b) for a, b, of in at if a is not None and b is not None
            if of.get("demand_mib", 0) > of.get("frames_mib", math.inf)}  # fmt: skip


def draw_heat(rows: Sequence[dict[str, Any]], x: str, y: str, label: str, beyond: set[tuple[float, float]]) -> Canvas:
    """Draw the maps of all policies on one logarithmic scale; a pair that was not run has a cross."""
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    xs, ys = (sorted({row[name] for row in rows}) for name in (x, y))
    of = list(rows[0])[3]
    times = 1000 if in_ms(rows, of) else 1
    picture = Canvas(figsize=(WIDTH_IN, 0.9 + 0.35 * len(ys)), layout="constrained")
    panels = picture.subplots(1, len(policies), squeeze=False, sharey=True)[0]
    logs = np.log([max(row[of], 1e-9) for row in rows])
    for axes, policy in zip(panels, policies):
        values = np.full((len(ys), len(xs)), np.nan)
        for row in rows:
            if row["policy"] == policy:
                values[ys.index(row[y]), xs.index(row[x])] = row[of]
        squares = np.where(np.isnan(values), np.nan, times * values)
        low, high = (math.exp(end) * times for end in (logs.min(), logs.max()))
        shown = axes.imshow(
            squares, cmap="cividis_r", norm=LogNorm(low, max(high, 1.01 * low)), aspect="auto", origin="lower"
        )
        edges(axes, [[(a, b) in beyond for a in xs] for b in ys])
        numbers_on(axes, values, (logs.min() + logs.max()) / 2, times)
        axes.set_xticks(range(len(xs)), [f"{value:g}" for value in xs])
        axes.set_yticks(range(len(ys)), [f"{value:g}" for value in ys])
        axes.grid(visible=False)
        axes.set_xlabel(x + (", MiB" if x == MEMORY else ""))
        heading(axes, policy, wide=False)
    panels[0].set_ylabel(y + (", MiB" if y == MEMORY else ""))
    key = picture.colorbar(shown, ax=panels, label=label, pad=0.01, fraction=0.04)
    key.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    key.ax.yaxis.set_minor_formatter(NullFormatter())
    return picture


def edges(axes: Axes, inside: Sequence[Sequence[bool]]) -> None:
    """Draw the line around the squares that are inside, given as [row][column], where it parts them from others."""
    for row, line in enumerate(inside):
        for column, here in enumerate(line):
            if column and here != line[column - 1]:
                axes.plot([column - 0.5] * 2, [row - 0.5, row + 0.5], color=VERMILION, linewidth=2)
            if row and here != inside[row - 1][column]:
                axes.plot([column - 0.5, column + 0.5], [row - 0.5] * 2, color=VERMILION, linewidth=2)
    axes.set(xlim=(-0.5, len(inside[0]) - 0.5), ylim=(-0.5, len(inside) - 0.5))


def in_ms(rows: Sequence[dict[str, Any]], of: str) -> bool:
    """Are some turnarounds too short to be shown in seconds with two decimals?"""
    return of == "turnaround_s" and min(row[of] for row in rows) < 0.1


def numbers_on(axes: Axes, values: np.ndarray, middle: float, times: float) -> None:
    """Write into each square its number multiplied by `times`, or a cross if it has no number."""
    for (row, column), value in np.ndenumerate(values):
        known = not np.isnan(value)
        ink = "white" if known and np.log(value) > middle else BLACK
        axes.text(
            column, row, number(times * value) if known else "×", ha="center", va="center", fontsize=6.5, color=ink
        )


def efficiency(every: Sequence[Cell]) -> Figure | None:
    """Efficiency against the probability of a missing page; None if no cell has a major fault."""
    rows = []
    for cell in usable(every):
        faults, user, waits = (cell.numbers.get(name, 0) for name in ("major_faults", "user_s", "pagewait_s"))
        if faults and user:
            rows.append({"policy": cell.factors.get(POLICY, "?"), "missing_per_million": faults / user / 1e3})
            rows[-1] |= {"efficiency_percent": 100 * user / (user + waits), "wait_ms": waits / faults * 1e3}
            rows[-1] |= {name: cell.factors.get(name, "") for name in names(every)}
    if len(rows) < 2:
        return None
    return Figure(EFFICIENCY.name, EFFICIENCY.title, EFFICIENCY.caption, of_rows(rows), lambda: draw_efficiency(rows))


def apart(ascending: Sequence[float]) -> list[float]:
    """The first value, and each value that is at least twice the one before it in the list."""
    kept = [ascending[0]]
    kept += [value for before, value in pairwise(ascending) if value >= 2 * before]
    return kept


def draw_efficiency(rows: Sequence[dict[str, Any]]) -> Canvas:
    """Draw the runs as points, and Denning's curves for the least, the median and the greatest of their waits."""
    picture, axes = canvas(1, 1, 3.0)
    panel = axes[0, 0]
    missing, waits = (
        [row["missing_per_million"] for row in rows],
        sorted(filter(None, (row["wait_ms"] for row in rows))),
    )
    chosen_waits = apart([waits[0], waits[len(waits) // 2], waits[-1]]) if waits else []
    x = np.geomspace(min(missing + [0.05 / wait for wait in chosen_waits]) / 2, max(missing) * 2, 400)
    for wait, height in zip(chosen_waits, HEIGHTS):
        panel.plot(x, 100 / (1 + x * wait), color=GREY, linewidth=0.8, linestyle="--")
        panel.annotate(f"T = {wait:.3g} ms", ((100 / height - 1) / wait, height), fontsize=7, color="#555555",
                       xytext=(3, 3), textcoords="offset points")  # fmt: skip
    chosen = colours(sorted({row["policy"] for row in rows}))
    for policy, colour in chosen.items():
        some = [row for row in rows if row["policy"] == policy]
        at = [row["missing_per_million"] for row in some], [row["efficiency_percent"] for row in some]
        panel.plot(*at, "o", color=colour, alpha=0.7, markeredgewidth=0, clip_on=False)
    panel.set(xscale="log", ylim=(0, 100), ylabel="useful time, %")
    panel.set_xlabel("major faults in a million instructions of the programs")
    if x[-1] < WIDE * x[0]:
        whole_numbers(panel.xaxis)
    else:
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    legend(picture, {policy: Look(colour) for policy, colour in chosen.items()} | {"1 / (1 + m·T)": Look(GREY, "--")})
    return picture


def of_cells(every: Sequence[Cell], curves: bool) -> list[Figure]:
    """The other figures that the cells allow; without `curves`, as for an arena, only the boxes."""
    shown = [boxes(every), efficiency(every)] if curves else [boxes(every)]
    return [one for one in shown if one]
