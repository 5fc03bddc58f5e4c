"""A picture of a grade: a bar with the points of each test, and below it the plots of the first verdicts.

It shows of hidden tests what the report shows. Equal grades give equal bytes: the PNG has no date or version.
"""

from __future__ import annotations

import io
import textwrap
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from tidemark.files import write_atomically
from tidemark.grade.hand_back.result import plain
from tidemark.grade.hand_back.text import clean, score, share, shown
from tidemark.grade.model import Grade, Verdict
from tidemark.report.figure import BLUE, GREEN, ORANGE, OTHERS, STYLE, VERMILION, WIDTH_IN, from_zero
from tidemark.report.text import short

DPI = 110
ROW_IN, PANEL_IN, MARGIN_IN = 0.24, 1.7, 0.75
COLUMNS, MAX_PANELS = 2, 6
TITLE_CHARACTERS, PANEL_CHARACTERS, LABEL_CHARACTERS = 56, 42, 16
GREY = "#dddddd"
LINE_COLOURS = (BLUE, VERMILION, GREEN, *OTHERS)


def panels(grade: Grade, show_hidden: bool) -> list[tuple[str, Verdict]]:
    """Title and verdict of the first tests with a plot that may be shown."""
    found = [
        (shown(graded).title, graded.verdict)
        for graded in grade.tests
        if graded.verdict.plot and (show_hidden or not graded.test.hidden)
    ]
    return found[:MAX_PANELS]


def draw_bars(axes: Axes, grade: Grade, show_hidden: bool) -> None:
    """Draw a bar for each test, the first on top: all its points in grey, and over them those that were given."""
    tests = [shown(graded, show_hidden) for graded in grade.tests]
    places = range(len(tests))
    most = max((test.most for test in tests), default=0) or 1
    axes.barh(places, [test.most for test in tests], 0.62, color=GREY)
    colours = [GREEN if test.is_right else ORANGE for test in tests]
    axes.barh(places, [test.points for test in tests], 0.62, color=colours)
    for place, test in zip(places, tests):
        text = f"{share(test.points, test.most)}  {test.word}"
        axes.annotate(text, (test.most, place), (4, 0), textcoords="offset points", va="center")
    axes.set_yticks(places, [short(test.title, TITLE_CHARACTERS) for test in tests])
    axes.set_ylim(len(tests) - 0.4, -0.6)
    axes.set_xlim(0, 1.6 * most)
    axes.set_xticks([])
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def draw_panel(axes: Axes, title: str, verdict: Verdict) -> None:
    """Draw a verdict's plot: a line for each series; points without a value are left out."""
    plot = plain(verdict.plot)
    words = f"{title}: {clean(plot['title'])}" if plot["title"] not in ("", title) else title
    axes.set_title("\n".join(textwrap.wrap(short(words, 2 * PANEL_CHARACTERS - 10), PANEL_CHARACTERS)))
    for at, name in enumerate(sorted(plot["lines"])):
        points = [point for point in plot["lines"][name] if None not in point]
        marker = "." if len(points) <= 40 else ""
        colour = LINE_COLOURS[at % len(LINE_COLOURS)]
        xs, ys = [point[0] for point in points], [point[1] for point in points]
        axes.plot(xs, ys, marker=marker, color=colour, label=short(clean(name), LABEL_CHARACTERS))
    axes.set_xlabel(clean(plot["x"]))
    axes.set_ylabel(clean(plot["y"]))
    from_zero(axes)
    if plot["lines"]:
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=7, handlelength=1.2, borderpad=0.2)


def picture(grade: Grade, show_hidden: bool = False) -> Canvas:
    """The grade's picture."""
    plots = panels(grade, show_hidden)
    rows = -(-len(plots) // COLUMNS)
    bars_in = MARGIN_IN + ROW_IN * max(len(grade.tests), 1)
    canvas = Canvas(figsize=(WIDTH_IN, bars_in + PANEL_IN * rows), layout="constrained")
    heights = [bars_in, PANEL_IN * rows] if rows else [bars_in]
    parts = canvas.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    top = parts[0]
    axes = top.subplots()
    draw_bars(axes, grade, show_hidden)
    top.suptitle(f"{short(clean(grade.title), TITLE_CHARACTERS)}   {score(grade)}", x=0.01, ha="left", fontsize=10)
    if rows:
        below = list(parts[1].subplots(rows, COLUMNS, squeeze=False).flat)
        for place, (title, verdict) in zip(below, plots):
            draw_panel(place, title, verdict)
        for empty in below[len(plots) :]:
            empty.set_axis_off()
    return canvas


def png(grade: Grade, show_hidden: bool = False) -> bytes:
    """The picture as a PNG file."""
    data = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        picture(grade, show_hidden).savefig(data, format="png", dpi=DPI, metadata={"Software": None})
    return data.getvalue()


def draw(grade: Grade, path: Path, show_hidden: bool = False) -> None:
    """Write the picture as a PNG file, in one step."""
    write_atomically(path, png(grade, show_hidden))
