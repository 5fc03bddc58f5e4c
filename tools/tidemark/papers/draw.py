"""Our panel of a figure: medians with their intervals beside the published numbers, a curve, or memory over time."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter

from tidemark.errors import LabError
from tidemark.papers import across, predicate
from tidemark.papers.declared import Figure, Paper
from tidemark.papers.predicate import Look
from tidemark.papers.stored import Stored
from tidemark.papers.verdict import Estimate, expression, look_in
from tidemark.report import figure as style
from tidemark.report import fit, svg
from tidemark.report.curves import interval
from tidemark.report.figure import BLUE, DASHES, GREY, STYLE, VERMILION, looks, whole_numbers

WIDTH_IN, ROW_IN, LABEL = 4.6, 0.34, 34
LOG_FROM, WIDE = 20, 500  # times the least value
UNITS = {"mem": ", MiB", "frames": ", pages", "window": ", references"}  # of the variable along which a curve is drawn


def rows_of(figure: Figure, look: Look) -> list[tuple[str, Estimate, float | None]]:
    """Label, our estimate and the published number, of everything that is not drawn along a variable."""
    found = [(one.what, expression(one.ours, look), one.value) for one in figure.published if one.ours]
    shown: list[tuple[str, Estimate, float | None]] = list(found)
    if not figure.along:
        shown += [(label, expression(text, look), None) for label, text in figure.shows.items()]
    return shown


def dots(figure: Figure, look: Look) -> Canvas | None:
    """A row for each number: ours with its interval, and the published one. None if there is no number."""
    rows = rows_of(figure, look)
    if not rows:
        return None
    picture = Canvas(figsize=(WIDTH_IN, 0.75 + ROW_IN * len(rows)), layout="constrained")
    axes = picture.subplots()
    for at, (_, ours, published) in enumerate(rows):
        low, high = (ours.middle if end is None else end for end in (ours.low, ours.high))
        axes.plot([low, high], [at, at], color=BLUE, linewidth=2)
        axes.plot(ours.middle, at, "o", color=BLUE, clip_on=False)
        if published is not None:
            axes.plot(published, at, "D", color=VERMILION, clip_on=False)
    axes.set_yticks(range(len(rows)), ["\n".join(textwrap.wrap(label, LABEL)[:3]) for label, *_ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    scale(axes, [value for _, ours, published in rows for value in (ours.middle, ours.low, ours.high, published)])
    axes.set_xlabel(figure.unit or "ours (dot) and published (diamond)")
    return picture


def scale(axes: Axes, values: Sequence[float | None]) -> None:
    """From 0, or by powers if the values differ by much."""
    there = [value for value in values if value is not None]
    if min(there) > 0 and max(there) > LOG_FROM * min(there):
        axes.set_xscale("log")
        if max(there) < WIDE * min(there):
            whole_numbers(axes.xaxis)
        else:
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    else:
        axes.set_xlim(min(0, *there), max(0, *there) * 1.06 or 1)


def curve(figure: Figure, found: Stored, look_at: Callable[[Mapping[str, str]], Look]) -> Canvas:
    """Each of the shown expressions along a variable of the plan, with its interval."""
    picture = Canvas(figsize=(WIDTH_IN, 2.5), layout="constrained")
    axes = picture.subplots()
    lines = zip(figure.shows.items(), looks(list(figure.shows)), itertools.cycle(DASHES))
    for (label, text), line, dash in lines:
        points = curve_of(text, figure.along, found, look_at)
        middles = [one.middle for _, one in points]
        axes.plot([x for x, _ in points], middles, "o", ls=dash, color=line.colour, label=label)
        for x, one in points:
            if one.low is not None and one.high is not None:
                axes.plot([x, x], [one.low, one.high], color=line.colour, linewidth=2)
    axes.set_xlabel(figure.along + UNITS.get(figure.along, ""))
    axes.set_ylabel(figure.unit)
    axes.set_ylim(bottom=0)
    axes.legend(loc="best")
    return picture


def boxed(figure: Figure, found: Stored, look_at: Callable[[Mapping[str, str]], Look]) -> Canvas:
    """A box of the replicates for each value of a variable, and T = k / M^p + c through the medians: p = 4, and p free
    with its interval."""
    picture = Canvas(figsize=(WIDTH_IN, 3.2), layout="constrained")
    axes = picture.subplots()
    ((label, text),) = figure.shows.items()
    values = {}
    for one in dict.fromkeys(run.variables[figure.along] for run in found.runs):
        some = predicate.value(predicate.tree(text), look_at({figure.along: one}))
        values[across.place(one)] = list(some.values()) if isinstance(some, dict) else [some]
    at = sorted(values)
    box = {"color": BLUE}
    axes.boxplot([values[x] for x in at], positions=at, widths=0.6, showfliers=False, whis=(0, 100), manage_ticks=False,
                 boxprops=box, whiskerprops=box, capprops=box, medianprops=box | {"linewidth": 2})  # fmt: skip
    middle = np.array([np.median(values[x]) for x in at])
    line = np.linspace(at[0], at[-1], 200)
    for fitted, dash in ((fit.fixed(np.array(at), middle), "--"), (fit.free(np.array(at), middle), "-")):
        said = interval(fitted) if dash == "-" else f"p = {fitted.exponent:g}"
        axes.plot(line, fitted.at(line), color=GREY, ls=dash, lw=1, label=f"k / Mᵖ + c, {said}, R² {fitted.r2:.2f}")
    axes.set_xlabel(figure.along + (", MiB" if figure.along == "mem" else ""))
    axes.set_ylabel(f"{label}, {figure.unit}")
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper right")
    return picture


def curve_of(
    text: str, along: str, found: Stored, look_at: Callable[[Mapping[str, str]], Look]
) -> list[tuple[float, Estimate]]:
    """The points of one expression: those values of the variable for which it has runs."""
    points = []
    for value in dict.fromkeys(run.variables[along] for run in found.runs if along in run.variables):
        try:
            points.append((across.place(value), expression(text, look_at({along: value}))))
        except LabError:
            continue
    return sorted(points, key=lambda point: point[0])


def memory(kept: Sequence[tuple[str, Mapping[str, Any]]]) -> Canvas:
    """Demand, resident set and accessed pages over time, a row for each process."""
    picture = Canvas(figsize=(WIDTH_IN, 0.6 + 1.25 * len(kept)), layout="constrained")
    every = picture.subplots(len(kept), 1, squeeze=False)[:, 0]
    styles = {"mad": style.Look(GREY), "rss": style.Look(BLUE), "nap": style.Look(VERMILION, ":")}
    for axes, (title, lines) in zip(every, kept):
        for name, line in styles.items():
            axes.plot(lines["s"], lines[name], color=line.colour, ls=line.dash, label=name.upper())
        axes.set_title(title)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("pages")
    every[-1].set_xlabel("virtual time, s")
    every[0].legend(loc="best", ncols=3, fontsize=7)
    return picture


def panels(paper: Paper, figure: Figure, found: Stored) -> list[bytes]:
    """Our pictures of a figure, as SVG."""

    def look_at(more: Mapping[str, str]) -> Look:
        return look_in(found, paper, figure.plan, more)

    with matplotlib.rc_context(STYLE):
        drawn = [dots(figure, look_at({}))]
        if figure.along:
            drawn.append((boxed if figure.boxes else curve)(figure, found, look_at))
        if figure.memory:
            titles = [one.title for one in paper.plans[figure.plan].memory]
            drawn.append(memory([(name, found.memory[titles.index(name)]) for name in figure.memory]))
        return [svg.drawn(one) for one in drawn if one]
