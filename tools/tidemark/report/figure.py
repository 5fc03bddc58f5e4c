"""A figure: its picture, its caption, and the table that it is drawn from. All figures share one look.

Colours belong to policies, and are the same in every figure (M. Okabe, K. Ito, "Color universal design", 2008: colours
that colour-blind readers can tell apart). Runs of one policy differ in line style. Legends are beside the axes, never
on data. Equal input gives equal files: the SVG has no date, and its ids are hashes.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from tidemark.files import write_atomically
from tidemark.report import svg
from tidemark.report.text import csv_text, short

Table = Mapping[str, Sequence[Any]]

WIDTH_IN = 7.0
ROW_IN = 1.7
DPI = 200
KINDS = ("svg", "png", "csv")
MOST_COLOURED = 8
POINTS = 2000
INTERVALS = 350
LINE_CHARACTERS, NAME_CHARACTERS = 96, 40
LEGEND_CHARACTERS, ENTRY_CHARACTERS = 112, 48

BLUE, VERMILION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
ORANGE, SKY, YELLOW, BLACK, GREY = "#e69f00", "#56b4e9", "#b9a800", "#222222", "#8a8a8a"
OF_POLICY = {"2q": BLUE, "ws": VERMILION, "clock": GREEN, "fifo": PURPLE}
OTHERS = (ORANGE, SKY, YELLOW, BLACK, GREY)
# Colours of stacked areas: neighbours differ in lightness, too.
STACK = (BLUE, ORANGE, GREEN, "#f0e442", VERMILION, SKY, "#7a3e00", PURPLE, "#00429d", "#b4e1c5")
Dash = Literal["-", "--", ":", "-."]
DASHES: tuple[Dash, ...] = ("-", "--", ":", "-.")

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.hashsalt": "tidemark",
    "svg.fonttype": "none",
    "path.simplify": True,
    "text.parse_math": False,
}


@dataclass(frozen=True)
class Figure:
    """`name` is the stem of its files; `draw` makes the picture from `table`."""

    name: str
    title: str
    caption: str
    table: Table
    draw: Callable[[], Canvas]


@dataclass(frozen=True)
class Look:
    """The look of the lines of one run or policy."""

    colour: str
    dash: Dash = "-"


def colours(policies: Iterable[str]) -> dict[str, str]:
    """A colour for each policy: a fixed one for those in OF_POLICY, the others in order."""
    names = list(dict.fromkeys(policies))
    others = (name for name in names if name not in OF_POLICY)
    given = {name: OTHERS[at % len(OTHERS)] for at, name in enumerate(others)}
    return {name: OF_POLICY.get(name) or given[name] for name in names}


def contestants(names: Sequence[str], marked: Sequence[str] = ()) -> dict[str, Look]:
    """A look for each contestant of a picture, no two alike: policies keep their colours, and others that share one
    differ in dash. Of more than MOST_COLOURED only the `marked` have a colour; the others are grey, with their labels.
    """
    shown = [name for name in names if name in marked] if len(names) > MOST_COLOURED else list(names)
    others = [name for name in shown if name not in OF_POLICY]
    found = {name: Look(OF_POLICY[name]) for name in shown if name in OF_POLICY}
    found |= {name: Look(OTHERS[at % len(OTHERS)], DASHES[at // len(OTHERS)]) for at, name in enumerate(others)}
    grey = [name for name in names if name not in found]
    return {name: found.get(name) or Look(GREY, DASHES[grey.index(name) % len(DASHES)]) for name in names}


def label_ends(axes: Axes, ends: Mapping[str, tuple[float, float]], looks: Mapping[str, Look]) -> None:
    """Write each name beside the end of its line, (x, y) in data, in the order of the ends and without overlap. The
    limits of the axes must be set before."""
    size = 6.5 if len(ends) <= MOST_COLOURED else 5
    box, figure = axes.get_position(), axes.get_figure(root=True)
    assert figure is not None
    least = 1.15 * size / 72 / (box.height * figure.get_size_inches()[1])
    to_axes = axes.transData + axes.transAxes.inverted()
    wanted = sorted((min(max(float(to_axes.transform(end)[1]), 0), 1), name) for name, end in ends.items())
    heights: list[float] = []
    for height, _ in wanted:
        heights.append(max(height, heights[-1] + least) if heights else height)
    for height, (_, name) in zip(heights, wanted):
        lift = max(heights[-1] - 1, 0) if heights else 0
        axes.annotate(short(name, 18), (1, height - lift), xycoords="axes fraction", xytext=(4, 0), fontsize=size,
                      textcoords="offset points", va="center", color=looks[name].colour)  # fmt: skip


def looks(policies: Sequence[str]) -> list[Look]:
    """A look for each run, given the runs' policies: the policy's colour, and another dash for each further run."""
    colour = colours(policies)
    return [
        Look(colour[policy], DASHES[policies[:at].count(policy) % len(DASHES)]) for at, policy in enumerate(policies)
    ]


def canvas(rows: int = 1, columns: int = 1, row_in: float = ROW_IN, **axes: Any) -> tuple[Canvas, np.ndarray]:
    """An empty picture as wide as a page, and its axes, Axes[rows, columns]."""
    picture = Canvas(figsize=(WIDTH_IN, 0.55 + row_in * rows), layout="constrained")
    return picture, picture.subplots(rows, columns, squeeze=False, **axes)


def legend(picture: Canvas, entries: Mapping[str, Look], columns: int = 4) -> None:
    """Draw one legend above all axes."""
    labels = [short(name, ENTRY_CHARACTERS) for name in entries]
    handles = [
        Line2D([], [], color=look.colour, linestyle=look.dash, label=label)
        for label, look in zip(labels, entries.values())
    ]
    columns = min(columns, LEGEND_CHARACTERS // max(len(label) + 8 for label in labels))
    picture.legend(handles=handles, loc="outside upper left", ncols=min(columns, len(handles)), handlelength=2.4)


def heading(axes: Axes, text: str, wide: bool = True) -> None:
    """Set a title of at most two lines over axes as wide as the page or, if not `wide`, a third of it."""
    width = LINE_CHARACTERS if wide else LINE_CHARACTERS * 3 // 10
    axes.set_title("\n".join(textwrap.wrap(short(text, 2 * width - 10), width)[:2]))


def from_zero(*axes: Axes) -> None:
    """Let the y axis, which all of `axes` share, begin at 0 and hold all values; its length is 1 if all are 0."""
    top = max(one.dataLim.y1 for one in axes)
    axes[0].set_ylim(0, 1.05 * top if top > 0 else 1)


def robust_from_zero(axes: Axes, top: tuple[float, float]) -> None:
    """Let the y axis go from 0 to top[0]; if that cuts off values, which reach top[1], write a note."""
    limit, greatest = top
    axes.set_ylim(0, limit)
    if greatest > limit:
        axes.annotate(f"▲ up to {greatest:,.0f}", (1, 1), xycoords="axes fraction", xytext=(0, 2),
                      textcoords="offset points", ha="right", fontsize=6.5, color="#555555")  # fmt: skip


def whole_numbers(axis: Axis) -> None:
    """Set plain numbers as ticks of a logarithmic axis: at 1, 2 and 5 of each decade, more on a short axis."""
    low, high = sorted(axis.get_view_interval())
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high > 8 * low else (1, 1.5, 2, 3, 4, 5, 6, 8)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def mark(axes: Axes, marks: Iterable[tuple[float, str]]) -> None:
    """Draw a vertical line for each (x, text), with the text along it."""
    for x, text in marks:
        axes.axvline(x, color=GREY, linewidth=0.7, linestyle=":")
        axes.annotate(
            short(text, NAME_CHARACTERS), (x, 1), xycoords=("data", "axes fraction"),
            xytext=(2, -2), textcoords="offset points", rotation=90, va="top", fontsize=6, color="#555555",
        )  # fmt: skip


def stacked(tables: Iterable[tuple[Mapping[str, object], Mapping[str, Any]]]) -> dict[str, list[Any]]:
    """One table from several, each with its constant columns first. A column that a table lacks is None there."""
    parts = [({name: value for name, value in first.items()}, rest) for first, rest in tables]
    names = list(dict.fromkeys(name for first, rest in parts for name in (*first, *rest)))
    joined: dict[str, list[Any]] = {name: [] for name in names}
    for first, rest in parts:
        nr = len(next(iter(rest.values()), ()))
        for name in names:
            joined[name] += list(rest[name]) if name in rest else [first.get(name)] * nr
    return joined


def of_rows(rows: Sequence[Mapping[str, object]]) -> dict[str, list[Any]]:
    """Rows as columns; None if a row lacks a member."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def picture(figure: Figure) -> Canvas:
    """The figure's picture, in the common look."""
    with matplotlib.rc_context(STYLE):
        return figure.draw()


def save(figure: Figure, folder: Path, kinds: Sequence[str] = KINDS) -> None:
    """Write the files of these kinds, NAME.csv, NAME.svg and NAME.png, into `folder`. Pictures take time: drawing one
    costs 0.3 s of the processor, and as much again for the PNG."""
    data: dict[str, str | bytes] = {"csv": csv_text(figure.table)}
    with matplotlib.rc_context(STYLE):
        drawn = picture(figure) if {"svg", "png"} & set(kinds) else None
        if drawn and "svg" in kinds:
            data["svg"] = svg.drawn(drawn)
        if drawn and "png" in kinds:
            png = io.BytesIO()
            drawn.set_layout_engine("none" if "svg" in kinds else "constrained")
            drawn.savefig(png, format="png", dpi=DPI)
            data["png"] = png.getvalue()
    for kind in kinds:
        write_atomically(folder / f"{figure.name}.{kind}", data[kind])
