"""The maps of the arena as a picture: colours that grow darker, with a number where a contestant is framed: the best of
its column, or level with it.

One hue from light to dark, which every reader sees in the same order. The page and the CSV have every number.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from tidemark.report.arena import PERCENT_STEPS, RATIO_STEPS, Group, Map
from tidemark.report.figure import BLACK, GREY, ORANGE, WIDTH_IN, Figure, Table, of_rows
from tidemark.report.plots.sweeps import ARENA
from tidemark.report.text import short

# As .step-0 to .step-6 in assets/page.css.
STEPS = ("#e5f1f7", "#bfdcec", "#8cc0de", "#59a3cc", "#0072b2", "#004f7c", "#002b45")
NOTHING = "#ffffff"
FIRST_DARK = 4
ROW_IN, HEADING_IN, LEAST_IN = 0.15, 2.1, 3.4
NAME_CHARACTERS, COMMAND_CHARACTERS = 22, 34


def table(group: Group) -> Table:
    """A row for each spot: contestant, command, number of runs, and each quantity's median, least and greatest, and its
    claim against the best."""
    return of_rows([spot(group, row, column) for column in group.columns for row in group.rows])


def spot(group: Group, row: str, column: str) -> dict[str, object]:
    """One row of the table."""
    spots = [m.spots[row, column] for m in group.maps]
    said: dict[str, object] = {group.of: row, "command": column, "runs": max(len(one.values) for one in spots)}
    for shown, one in zip(group.maps, spots):
        name, claim = shown.line.column, shown.claim(row, column)
        said[name] = one.middle
        said[f"{name}_least"], said[f"{name}_greatest"] = (
            (one.values[0], one.values[-1]) if one.values else (None, None)
        )
        said |= {f"{name}_against_best": claim.told if claim else ""} if shown.compares else {}
    return said | {"again": spots[0].again}


def squares(axes: Axes, shown: Map, rows: Sequence[str], columns: Sequence[str]) -> None:
    """Draw one map."""
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            step = shown.step(row, column)
            colour = NOTHING if step is None else STEPS[step]
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white", linewidth=0.6))
            if shown.level(row, column):
                axes.add_patch(Rectangle((x - 0.44, y - 0.4), 0.88, 0.8, fill=False, edgecolor=ORANGE, linewidth=0.9))
            ink = "white" if step is not None and step >= FIRST_DARK else BLACK
            number = shown.spots[row, column].shown if shown.level(row, column) or step is None else ""
            text = number + shown.doubt(row, column)
            axes.text(x, y, text, ha="center", va="center_baseline", fontsize=5.5, color=ink)
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    axes.set_xticks(range(len(columns)), [in_lines(one) for one in columns], rotation=90, fontsize=5.5)
    axes.xaxis.tick_top()
    axes.set_yticks(range(len(rows)), [short(one, NAME_CHARACTERS) for one in rows], fontsize=6.5)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(shown.line.axis, fontweight="bold")


def in_lines(command: str) -> str:
    """A command in at most three lines, each of at most COMMAND_CHARACTERS."""
    return "\n".join(wrap(short(command, 3 * COMMAND_CHARACTERS - 12), COMMAND_CHARACTERS)[:3])


def key(picture: Canvas, maps: Sequence[Map]) -> None:
    """Draw what the colours mean, under the maps."""
    if any(shown.compares for shown in maps):
        names = ["the best, or up to 1.1 times it", *(f"from {limit:g} times on" for limit in RATIO_STEPS)]
    else:
        names = [f"under {PERCENT_STEPS[0]} %", *(f"from {limit} %" for limit in PERCENT_STEPS)]
    handles = [Patch(facecolor=colour, edgecolor=GREY, linewidth=0.4, label=name) for colour, name in zip(STEPS, names)]
    framed = Patch(fill=False, edgecolor=ORANGE, linewidth=0.9, label="framed: the best, or level with it")
    doubt = Line2D([], [], linestyle="", label="?: perhaps as good as the best")
    more = [framed, doubt] if any(shown.compares for shown in maps) else [framed]
    picture.legend(handles=[*handles, *more], loc="outside lower center", ncols=4, fontsize=6.5)


def drawn(group: Group, maps: Sequence[Map]) -> Canvas:
    """Draw maps side by side, with the same rows."""
    size = WIDTH_IN * len(maps) / 2, max(HEADING_IN + ROW_IN * len(group.rows), LEAST_IN)
    picture = Canvas(figsize=size, layout="constrained")
    axes = picture.subplots(1, len(maps), squeeze=False, sharey=True)
    for one, shown in zip(axes[0], maps):
        squares(one, shown, group.rows, group.columns)
    key(picture, maps)
    return picture


def figures(group: Group) -> list[Figure]:
    """Faults and time as one picture, cost as another; both have the same table."""
    title = ARENA.title.format(of=group.title)
    both, cost = group.maps[:2], group.maps[2:]
    return [
        Figure(group.name, title, ARENA.caption, table(group), lambda: drawn(group, both)),
        Figure(f"{group.name}-cost", f"{title}, cost", ARENA.caption, table(group), lambda: drawn(group, cost)),
    ]
