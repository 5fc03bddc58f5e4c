"""What an entry of the table of figures says: a figure, and its lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tidemark.report import quantities
from tidemark.report.figure import GREY, Look
from tidemark.report.quantities import Columns
from tidemark.telemetry.stream import Telemetry

Source = Callable[[Telemetry], np.ndarray]
PLAIN = Look(GREY)
RUNS, RUN, SWEEP = "runs", "run", "sweep"


@dataclass(frozen=True)
class Line:
    """One quantity.

    column   its name in the CSV
    source   a member of a sample, such as `vm.pgmajfault`, drawn as quantities.member says; or a function
    unit     of the function's result; the unit of a member follows from the schema
    formula  how a function, or the kernel, computes it, for the document
    axis     the label of its axes in the picture; empty: only in the CSV
    chart    the title of its chart on the page, which lines with the same title share; empty: no chart
    part     its name in that chart, or in a legend
    look     its look if colours do not belong to policies
    """

    column: str
    source: str | Source = ""
    unit: str = ""
    formula: str = ""
    axis: str = ""
    chart: str = ""
    part: str = ""
    look: Look = PLAIN

    @property
    def shown_unit(self) -> str:
        """The unit that it is drawn in."""
        return self.unit or (quantities.unit_of(self.source) if isinstance(self.source, str) and self.source else "")

    @property
    def of_interval(self) -> bool:
        """Does a value describe the interval before it, so that it is drawn as a step?"""
        return self.shown_unit in ("%", "per s")

    @property
    def shown_formula(self) -> str:
        """How the quantity is computed from the telemetry."""
        if self.formula or not isinstance(self.source, str) or not self.source:
            return self.formula
        return f"Δ`{self.source}` / Δ`t_us`" if self.of_interval else f"`{self.source}`"

    def values(self, data: Telemetry) -> np.ndarray:
        """One value for each sample, float64[n]; nan where the telemetry has none."""
        return quantities.member(data, self.source) if isinstance(self.source, str) else self.source(data)


@dataclass(frozen=True)
class Plot:
    """One figure.

    name      begins the names of its files; those of one run end in the run's name
    scope     RUNS: one for all runs; RUN: one for each; SWEEP: of cells
    question  what the figure answers; its heading on the page
    caption   the text under the picture: what is drawn
    reading   the text in the document: how to read the figure
    chart     the title of its chart on the page, if its lines have none
    pictures  its pictures in the document
    """

    name: str
    scope: str
    title: str
    caption: str
    reading: str
    lines: tuple[Line, ...] = ()
    chart: str = ""
    pictures: tuple[str, ...] = ()
    question: str = ""

    @property
    def over_time(self) -> bool:
        """Is the figure drawn from its lines alone?"""
        return self.scope == RUNS and any(line.source for line in self.lines)

    def columns(self, data: Telemetry) -> Columns | None:
        """Time and all lines, for the CSV and the picture; None if the run's telemetry has none of them."""
        found = {line.column: line.values(data) for line in self.lines}
        if all(np.isnan(values).all() for values in found.values()):
            return None
        return {"time_s": quantities.times(data)} | found
