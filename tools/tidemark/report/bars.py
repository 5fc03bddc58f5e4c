"""Space-time bars: where each process's resident pages spent their time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch

from tidemark.report import quantities
from tidemark.report.figure import BLACK, GREY, WIDTH_IN, Figure, heading, of_rows
from tidemark.report.plots.runs import SPACE_TIME
from tidemark.report.sources import Run
from tidemark.report.text import short

MAX_BARS = 24


def of_runs(runs: Sequence[Run]) -> Figure | None:
    """The bars of all processes that ended, a block for each run; None if no process ended."""
    blocks = [(run, quantities.space_time(run.data)) for run in runs if run.data.exits]
    if not blocks:
        return None
    table = of_rows([{"run": run.label, **row} for run, rows in blocks for row in rows])
    left_out = sum(max(len(rows) - MAX_BARS, 0) for _, rows in blocks)
    more = f" The {left_out} smallest are only in the CSV." if left_out else ""
    return Figure(SPACE_TIME.name, SPACE_TIME.title, SPACE_TIME.caption + more, table, lambda: draw(blocks))


def draw(blocks: Sequence[tuple[Run, list[dict[str, Any]]]]) -> Canvas:
    """Draw bars on the left, γ on the right, a row of axes for each run."""
    shown = [(run, sorted(rows, key=lambda row: -row["c_b_page_s"])[:MAX_BARS]) for run, rows in blocks]
    heights = [0.35 + 0.22 * len(rows) for _, rows in shown]
    picture = Canvas(figsize=(WIDTH_IN, 0.9 + sum(heights)), layout="constrained")
    axes = picture.subplots(len(shown), 2, squeeze=False, sharex="col", width_ratios=(5, 1), height_ratios=heights)
    for (left, right), (run, rows) in zip(axes, shown):
        block(left, rows)
        heading(left, run.label)
        for at, row in enumerate(rows):
            if row["gamma_us"] is not None:
                right.plot(row["gamma_us"], at, "D", color=BLACK, clip_on=False)
                continue
            beside = right.get_yaxis_transform()
            words = right.text(0, at, " too few faults", transform=beside, size="x-small", va="center", color=GREY)
            words.set_in_layout(False)
        right.set_ylim(left.get_ylim())
        right.set_yticks(range(len(rows)), [])
    axes[-1, 1].set_xlim(left=0)
    axes[-1, 0].set_xlabel("space-time, page-seconds")
    axes[-1, 1].set_xlabel("γ, µs")
    handles = [Patch(color=line.look.colour, label=line.part) for line in SPACE_TIME.lines]
    picture.legend(handles=[*handles, Patch(color=BLACK, label="C_D")], loc="outside upper left", ncols=4)
    return picture


def block(axes: Axes, rows: Sequence[dict[str, Any]]) -> None:
    """Draw the bars of one run, the first at the top."""
    places = range(len(rows))
    before = [0.0] * len(rows)
    for line in SPACE_TIME.lines:
        widths = [row[line.column] for row in rows]
        axes.barh(places, widths, 0.5, left=before, color=line.look.colour)
        before = [start + width for start, width in zip(before, widths)]
    axes.barh([at + 0.34 for at in places], [row["c_d_page_s"] for row in rows], 0.12, color=BLACK)
    axes.set_yticks(places, [f"{short(row['command'], 16)} {row['pid']}" for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_color(GREY)
