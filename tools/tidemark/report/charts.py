"""The page's interactive timelines: the columns of the figures as JSON for assets/page.js, which gives them to uPlot.

A chart is {"group", "title", "unit", "series": [{"label", "colour", "dash", "shown"}], "blocks": [columns of one run:
time, then one for each of its series]}; "marks" are the events. Charts of one group share cursor and zoom. A chart
with "choices" has one set of blocks for each, and a menu.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tidemark.report import quantities
from tidemark.report.figure import Dash, Look, looks
from tidemark.report.plots import LISTS, MEMORY, PLOTS, RESIDENT_SETS, ZONES, Plot
from tidemark.report.quantities import Columns
from tidemark.report.sources import Run
from tidemark.report.timelines import list_colours, processes

Chart = dict[str, Any]

POINTS = 3000
DASH: dict[Dash, list[int]] = {"-": [], "--": [6, 4], ":": [2, 3], "-.": [6, 3, 2, 3]}


def number(value: float) -> float | int | None:
    """A number as short JSON, to five digits; None for nan."""
    if math.isnan(value):
        return None
    short = float(f"{value:.5g}")
    return int(short) if short.is_integer() else short


def plain(columns: Columns, names: Iterable[str]) -> list[list[Any]]:
    """Time and the named columns, thinned, as lists. Time keeps its microseconds."""
    thinned = quantities.thinned({name: columns[name] for name in ("time_s", *names)}, POINTS)
    values = [[number(value) for value in thinned[name]] for name in thinned if name != "time_s"]
    return [[round(float(t), 6) for t in thinned["time_s"]], *values]


def series(label: str, look: Look, shown: bool = True, stepped: bool = False) -> Chart:
    """One line of a chart."""
    return {"label": label, "colour": look.colour, "dash": DASH[look.dash], "shown": shown, "stepped": stepped}


def chart(group: str, title: str, unit: str, lines: list[Chart], runs: Sequence[Run], **rest: object) -> Chart:
    """One chart, with the events of its runs as marks. `rest` has its blocks or its choices."""
    marks = [[at, text] for run in runs for at, text in quantities.marks(run.data)]
    return {"group": group, "title": title, "unit": unit, "series": lines, "marks": marks, **rest}


def titles(plot: Plot) -> list[str]:
    """The charts that the lines of a plot make."""
    return list(dict.fromkeys(line.chart for line in plot.lines if line.chart)) if plot.over_time else []


def shared(plot: Plot, title: str, runs: Sequence[Run]) -> Chart | None:
    """The chart of the lines with that title, all runs in it; None when no run has them."""
    shown = [line for line in plot.lines if line.chart == title]
    lines, blocks = [], []
    for run, look in zip(runs, looks([run.policy for run in runs])):
        columns = plot.columns(run.data)
        if columns is None:
            continue
        blocks.append(plain(columns, [line.column for line in shown]))
        for at, line in enumerate(shown):
            dash: Dash = look.dash if at == 0 else ":"
            label = ", ".join(filter(None, (run.label if len(runs) > 1 or not line.part else "", line.part)))
            lines.append(series(label, Look(look.colour, dash), stepped=line.of_interval))
    return chart("all", title, shown[0].shown_unit, lines, runs, blocks=blocks) if blocks else None


def cycled(nr: int) -> list[Look]:
    """`nr` looks that have nothing to do with policies."""
    cycle = [Look(colour, dash) for dash in DASH for colour in list_colours()]
    return [cycle[at % len(cycle)] for at in range(nr)]


def resident(run: Run, group: str) -> Chart | None:
    """The resident sets of all processes of a run; None when it has none."""
    found = processes(run)
    lines = [series(f"{comm} {pid}", look) for (pid, comm), look in zip(found, cycled(len(found)))]
    blocks = [plain(columns, ["rss"]) for columns in found.values()]
    return chart(group, RESIDENT_SETS.chart, "pages", lines, [run], blocks=blocks) if blocks else None


def one_process(run: Run, group: str) -> Chart | None:
    """The lines of MEMORY of one process, chosen from a menu; hidden at first are those that its picture lacks."""
    found = processes(run)
    if not found:
        return None
    lines = [series(line.part, line.look, bool(line.axis)) for line in MEMORY.lines]
    names = [line.column for line in MEMORY.lines]
    choices = [{"name": f"{comm} {pid}", "blocks": [plain(columns, names)]} for (pid, comm), columns in found.items()]
    demands = [columns["mad"].max() for columns in found.values()]
    chosen = demands.index(max(demands))
    return chart(group, MEMORY.chart, "pages", lines, [run], choices=choices, chosen=chosen)


def zones(run: Run, group: str) -> list[Chart]:
    """Free pages and watermarks of each zone."""
    charts = []
    for zone, columns in quantities.zones(run.data):
        levels = {"time_s": columns["time_s"][[0, -1]]}
        free, *marks = ZONES.lines
        levels |= {line.part: np.full(2, float(zone[line.part])) for line in marks}
        blocks = [plain(columns, [free.column]), plain(levels, [line.part for line in marks])]
        lines = [series(line.part, line.look) for line in ZONES.lines]
        title = ZONES.chart.format(zone=zone["name"])
        charts.append(chart(group, title, "pages", lines, [run], blocks=blocks, log=True))
    return charts


def lists(run: Run, group: str) -> Chart | None:
    """What the policy shows of its lists; None when it shows nothing."""
    columns = quantities.lists(run.data)
    names = [name for name in columns if name != "time_s"]
    lines = [series(name, look) for name, look in zip(names, cycled(len(names)))]
    return chart(group, LISTS.chart, "", lines, [run], blocks=[plain(columns, names)]) if names else None


def of_all(runs: Sequence[Run]) -> list[Chart]:
    """The charts in which all runs with samples share the axes."""
    sampled = [run for run in runs if run.sampled]
    every = [(plot, title) for plot in PLOTS for title in titles(plot) if sampled]
    return [chart for plot, title in every if (chart := shared(plot, title, sampled))]


def of_one(run: Run, group: str) -> list[Chart]:
    """The charts of one run."""
    if not run.sampled:
        return []
    found = [one_process(run, group), resident(run, group), *zones(run, group), lists(run, group)]
    return [chart for chart in found if chart]


def thinned_runs(runs: Iterable[Run]) -> Mapping[str, int]:
    """The runs with more samples than a chart draws, and how many they have."""
    return {run.label: len(run.data.samples) for run in runs if len(run.data.samples) > POINTS}
