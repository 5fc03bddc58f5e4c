"""Pictures of tables of runs. `draw` of an entry lists them: `file`, `axis` (the unit), and either

    series = { NAME = COLUMN, ... }   a row of marks for each row of the table: medians, with lines from least to most;
                                      `log`: a logarithmic axis; `order = "sum"`: by the sum of medians
    by = "MODULE.FUNCTION"            a function of this folder, with the same arguments as `marks`

Columns are numbers of columns of the table; rows are named by their labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from figures.entries import function

COLOURS = ("#1f5f99", "#c8552b", "#3b7d3b")
Line = tuple[dict[str, Any], list[list[float]]]


def canvas(width: float, height: float) -> tuple[Any, Any]:
    """A figure with one set of axes, in the look of these pictures."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "tidemark", "font.size": 8, "svg.fonttype": "none"})
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height))


def save(figure: Any, path: Path) -> None:
    from tidemark.report import svg

    figure.tight_layout()
    path.write_bytes(svg.drawn(figure))


def picture(entry: Mapping[str, Any], columns: Sequence[Any], lines: Sequence[Line], work: Path) -> None:
    """Draws one picture into the folder."""
    labels = [column for column in columns if column.label]
    names = [" ".join(column.cell(row, []).strip("`") for column in labels).strip() for row, _ in lines]
    drawn = function(entry["by"]) if "by" in entry else marks
    drawn(entry, names, lines, work / entry["file"])


def marks(entry: Mapping[str, Any], names: Sequence[str], lines: Sequence[Line], path: Path) -> None:
    """A row for each row of the table, in its order from the top."""
    by_name = {name: values for name, (_, values) in zip(names, lines)}
    series = entry["series"]
    rows = list(reversed(names))
    if entry.get("order") == "sum":
        rows = sorted(names, key=lambda name: sum(median(by_name[name][at]) for at in series.values()))
    figure, axes = canvas(7, 0.9 + 0.17 * len(rows))
    for nr, ((key, column), mark, colour) in enumerate(zip(series.items(), "osD", COLOURS)):
        places = [at + (1 - nr) * 0.22 for at in range(len(rows))]
        values = [by_name[row][column] for row in rows]
        axes.hlines(places, [min(one) for one in values], [max(one) for one in values], color=colour, lw=1)
        axes.plot([median(one) for one in values], places, mark, color=colour, ms=3.5, label=key)
    if entry.get("log"):
        logarithmic(axes)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.set_xlabel(entry["axis"])
    axes.grid(color="#eeeeee")
    axes.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=3, frameon=False, fontsize=7)
    save(figure, path)


def logarithmic(axes: Any) -> None:
    from matplotlib import ticker

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")


def curve(axes: Any, x: Sequence[float], values: Sequence[Sequence[float]], look: str, colour: str, label: str) -> None:
    """Draws the medians of the values at each x, with bars from least to most."""
    middle = [median(some) for some in values]
    ends = [
        [m - min(some) for m, some in zip(middle, values)],
        [max(some) - m for m, some in zip(middle, values)],
    ]
    axes.errorbar(x, middle, yerr=ends, fmt=look, ms=3.5, capsize=2, color=colour, label=label)
