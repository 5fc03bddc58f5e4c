"""The maps of the arena on the page: tables with colours, side by side; each number links to its explanation.

They need no script: screen readers read tables, tables fit a phone, and links work by touch and keyboard.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tidemark.report.arena import PERCENT_STEPS, RATIO_STEPS, Group, Map, band
from tidemark.report.figure import of_rows
from tidemark.report.plots.sweeps import ARENA
from tidemark.report.text import escape, short

HEADING = 36


def places(group: Group) -> Iterator[tuple[str, str]]:
    """Every row and column, in the order of the table of details."""
    return ((row, column) for column in group.columns for row in group.rows)


def anchor(group: Group, row: str, column: str) -> str:
    """The HTML id of a line of the details."""
    return f"{group.name}-{group.rows.index(row)}-{group.columns.index(column)}"


def ids(group: Group) -> list[str]:
    """The HTML ids of all lines of the details."""
    return [anchor(group, row, column) for row, column in places(group)]


def told(shown: Map, row: str, column: str) -> str:
    """A spot in words: median, band, and the claim against the best."""
    claim = shown.claim(row, column)
    best = ", the best" if claim is None and shown.level(row, column) else ""
    return band(shown.spots[row, column]) + (f"; {claim.told}" if claim else best)


def details(group: Group) -> dict[str, list[Any]]:
    """A line for each place: every quantity with its band, and a command that repeats one of its runs."""
    return of_rows(
        [
            {"command": column, group.of: row}
            | {"runs": max(len(one.spots[row, column].values) for one in group.maps)}
            | {one.line.axis: told(one, row, column) for one in group.maps}
            | {"made by": group.maps[0].spots[row, column].again}
            for row, column in places(group)
        ]
    )


def spot_html(group: Group, shown: Map, row: str, column: str) -> str:
    """One number in its colour, as HTML."""
    spot, step = shown.spots[row, column], shown.step(row, column)
    level = " level" if shown.level(row, column) else ""
    kind = f' class="step-{step}{level}"' if step is not None else ""
    title, text = escape(f"{told(shown, row, column)}; {spot.again}"), spot.shown + shown.doubt(row, column)
    return f'<td{kind}><a href="#{anchor(group, row, column)}" title="{title}">{text}</a></td>'


def map_html(group: Group, shown: Map) -> str:
    """One map as HTML."""
    head = "".join(f"<th scope=col><span>{escape(short(column, HEADING))}</span></th>" for column in group.columns)
    rows = "".join(
        f"<tr><th scope=row>{escape(row)}</th>"
        + "".join(spot_html(group, shown, row, column) for column in group.columns)
        + "</tr>\n"
        for row in group.rows
    )
    caption = f"<caption>{escape(shown.line.axis)}</caption>"
    head = f"<thead><tr><th scope=col>{group.of}</th>{head}</tr></thead>"
    return f'<div class="wide map"><table>{caption}{head}\n<tbody>\n{rows}</tbody></table></div>'


def steps_html() -> str:
    """The legend of the colours as HTML."""
    ratios = ["×1", *(f"×{limit:g}" for limit in RATIO_STEPS)]
    percents = ["0 %", *(f"{limit:g} %" for limit in PERCENT_STEPS)]
    lines = [("Multiple of the column's best, from: ", ratios), ("Cost, from: ", percents)]
    shown = (
        text + "".join(f"<span class=step-{at}>{one}</span>" for at, one in enumerate(limits)) for text, limits in lines
    )
    return "".join(f"<p class=steps>{one}</p>" for one in shown)


def html(group: Group, files: str) -> str:
    """The maps of a group with their caption. `files`: links to the pictures, as HTML."""
    tables = "".join(map_html(group, shown) for shown in group.maps)
    return f"<div class=maps>{tables}</div>{steps_html()}<p>{escape(ARENA.caption)} {files}</p>"
