"""The sections on figures in docs/reference/measuring.md, from the table of figures (tidemark.report.plots)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from tidemark.report.plots import PLOTS
from tidemark.report.plots.plot import RUN, SWEEP, Line, Plot

from figures.common import table
from figures.entries import Figure

WIDTH = 140


def row(line: Line) -> Sequence[str]:
    """A line's row in the table of columns."""
    return f"`{line.column}`", line.shown_unit, line.shown_formula


def parts(plot: Plot) -> Iterator[str]:
    """The name with its explanation, the columns that have a formula, the pictures."""
    name = f"{plot.name}-RUN" if plot.scope == RUN else plot.name
    text = f"**`{name}`**. {' '.join(plot.reading.split())}"
    yield textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
    if rows := [row(line) for line in plot.lines if line.shown_formula]:
        yield table(("column", "unit", "from"), rows, text_columns=3)
    yield from (f"![{picture}](../figures/{picture}.svg)" for picture in plot.pictures)


def sections() -> dict[str, str]:
    """The sections of the document, by the name of their place."""
    of_sweeps = [plot for plot in PLOTS if plot.scope == SWEEP]
    of_runs = [plot for plot in PLOTS if plot.scope != SWEEP]
    return {
        name: "\n\n".join(part for plot in some for part in parts(plot))
        for name, some in (("plots-of-runs", of_runs), ("plots-of-sweeps", of_sweeps))
    }


def make(figure: Figure, work: Path) -> dict[str, str]:
    return sections()
