"""The page's interactive timelines: the columns of the figures as JSON for assets/page.js, which gives them to uPlot.

A chart is {"title", "unit", "series": [{"label", "colour", "dash", "shown"}], "blocks": [columns of one run:
time, then one for each of its series]}. "marks" are the events, "spells" the times of thrashing, "from" the start of
logarithmic time, "end" the end of time, "top" the end of the y axis if that is not at the greatest value, "said" the
chart in words for screen readers. All charts share cursor and zoom. A chart with "choices" has one set of
blocks for each, and a menu. In a chart with "stack": N, the first N series are stacked areas.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tidemark.report import overview, quantities
from tidemark.report.figure import BLACK, Dash, Look, looks
from tidemark.report.plots.plot import Plot
from tidemark.report.plots.runs import LISTS, MEMORY, UTILISATION, ZONES
from tidemark.report.quantities import Columns
from tidemark.report.sources import Run
from tidemark.report.timelines import list_colours, processes

Chart = dict[str, Any]

POINTS = 3000
ALL_POINTS, LEAST_POINTS = 18_000, 250  # of all runs together, so that a page of many stays small
OF_OVERVIEW = ("CPU utilisation", "Major faults")
DASH: dict[Dash, list[int]] = {"-": [], "--": [6, 4], ":": [2, 3], "-.": [6, 3, 2, 3]}


def number(value: float) -> float | int | None:
    """A number as short JSON, to five digits; None for nan."""
    if math.isnan(value):
        return None
    short = float(f"{value:.5g}")
    return int(short) if short.is_integer() else short


def limit(runs: int) -> int:
    """The number of points that a chart draws for each of `runs` runs."""
    return min(POINTS, max(ALL_POINTS // max(runs, 1), LEAST_POINTS))


def plain(columns: Columns, names: Iterable[str], points: int = POINTS) -> list[list[Any]]:
    """Time and the named columns, thinned, as lists. Time keeps its microseconds."""
    return listed(quantities.thinned({name: columns[name] for name in ("time_s", *names)}, points))


def listed(columns: Columns) -> list[list[Any]]:
    """Columns as lists; the first is time."""
    time, *values = columns.values()
    return [[round(float(t), 6) for t in time], *([number(value) for value in one] for one in values)]


def series(label: str, look: Look, shown: bool = True, stepped: bool = False) -> Chart:
    """One line of a chart."""
    return {"label": label, "colour": look.colour, "dash": DASH[look.dash], "shown": shown, "stepped": stepped}


def chart(title: str, unit: str, lines: list[Chart], runs: Sequence[Run], **rest: Any) -> Chart:
    """One chart, with the events of its runs as marks. `rest` are its blocks or its choices, and other members."""
    marks = [[at, text] for run in runs for at, text in quantities.marks(run.data)]
    spells = [list(spell) for run in runs for spell in run.spells] if len(runs) == 1 else []
    end = max((run.data.samples[-1]["t_us"] / 1e6 for run in runs), default=1.0)
    made = {"title": title, "unit": unit, "series": lines, "marks": marks, "spells": spells, "end": end}
    return made | {"said": said(lines, unit, rest.get("blocks", []))} | rest


def said(lines: Sequence[Chart], unit: str, blocks: Sequence[Sequence[Sequence[Any]]]) -> str:
    """Each line in words: its first, last, least and greatest value."""
    columns = [column for block in blocks for column in block[1:]]
    told = []
    for line, column in zip(lines, columns):
        values = [value for value in column if value is not None]
        if values:
            told.append(
                f"{line['label'] or 'value'}: first {values[0]:,}, last {values[-1]:,}, "
                f"least {min(values):,}, greatest {max(values):,} {unit}".rstrip()
            )
    return "; ".join(told)


def titles(plot: Plot) -> list[str]:
    """The titles of the charts that the lines of a plot make."""
    return list(dict.fromkeys(line.chart for line in plot.lines if line.chart)) if plot.over_time else []


def shared(plot: Plot, title: str, runs: Sequence[Run]) -> Chart | None:
    """The chart of the lines with that title, with all runs in it; None if no run has these lines."""
    shown = [line for line in plot.lines if line.chart == title]
    lines, blocks, tops = [], [], []
    for run, look in zip(runs, looks([run.policy for run in runs])):
        columns = plot.columns(run.data)
        if columns is None:
            continue
        blocks.append(plain(columns, [line.column for line in shown], limit(len(runs))))
        tops += [quantities.robust_top(columns["time_s"], columns[line.column]) for line in shown]
        for at, line in enumerate(shown):
            dash: Dash = look.dash if at == 0 else ":"
            label = ", ".join(filter(None, (run.label if len(runs) > 1 or not line.part else "", line.part)))
            lines.append(series(label, Look(look.colour, dash), stepped=line.of_interval))
    if not blocks:
        return None
    top = ending(shown[0].shown_unit, tops) | from_when(runs)
    return chart(title, shown[0].shown_unit, lines, runs, blocks=blocks, **top)


def from_when(runs: Sequence[Run]) -> Chart:
    """{"from": the start of logarithmic time in seconds}; empty if time is linear."""
    begin = quantities.log_from([run.data for run in runs])
    return {"from": begin} if begin else {}


def ending(unit: str, tops: Sequence[tuple[float, float]]) -> Chart:
    """The end of the y axis: 100 % for a share, else low enough that one short interval does not flatten the rest."""
    if unit == "%":
        return {"top": 100}
    limit, greatest = max(end for end, _ in tops), max(most for _, most in tops)
    return {"top": number(limit), "most": number(greatest)} if greatest > limit else {}


def cycled(nr: int) -> list[Look]:
    """`nr` looks that are not the looks of policies."""
    cycle = [Look(colour, dash) for dash in DASH for colour in list_colours()]
    return [cycle[at % len(cycle)] for at in range(nr)]


def one_process(run: Run) -> Chart | None:
    """The lines of MEMORY of one process, chosen from a menu; lines that its picture lacks are hidden at first."""
    found = processes(run)
    if not found:
        return None
    lines = [series(line.part, line.look, bool(line.axis)) for line in MEMORY.lines]
    names = [line.column for line in MEMORY.lines]
    choices = [{"name": f"{comm} {pid}", "blocks": [plain(columns, names)]} for (pid, comm), columns in found.items()]
    demands = [columns["mad"].max() for columns in found.values()]
    chosen = demands.index(max(demands))
    return chart(MEMORY.chart, "pages", lines, [run], choices=choices, chosen=chosen)


def zones(run: Run) -> list[Chart]:
    """Free pages and watermarks of each zone."""
    charts = []
    for zone, columns in quantities.zones(run.data):
        levels = {"time_s": columns["time_s"][[0, -1]]}
        free, *marks = ZONES.lines
        levels |= {line.part: np.full(2, float(zone[line.part])) for line in marks}
        blocks = [plain(columns, [free.column]), plain(levels, [line.part for line in marks])]
        lines = [series(line.part, line.look) for line in ZONES.lines]
        title = ZONES.chart.format(zone=zone["name"])
        charts.append(chart(title, "pages", lines, [run], blocks=blocks, log=True))
    return charts


def lists(run: Run) -> list[Chart]:
    """What the policy shows of its lists: their lengths, and its counters."""
    columns = quantities.lists(run.data)
    kinds = zip((LISTS.chart, f"{LISTS.chart}: counted since boot"), quantities.list_kinds(columns))
    return [
        chart(title, "", [series(name, look) for name, look in zip(names, cycled(len(names)))], [run],
              blocks=[plain(columns, names)])
        for title, names in kinds if names
    ]  # fmt: skip


def of_overview(run: Run, runs: int) -> list[Chart]:
    """The overview of a run as charts, one under the other."""
    table = overview.columns(run)
    shown, names = overview.thin(table, limit(runs)), overview.stack(table)
    time = {"time_s": shown["time_s"]}
    black = series("utilisation", Look(BLACK), stepped=True)
    works = [black | {"label": UTILISATION.title}]
    blocks = [listed(dict(zip("tu", overview.of_intervals(run, shown, "utilisation_percent"))))]
    first = chart("The processor works", "%", works, [run], blocks=blocks, top=100)
    areas = [series(name, look) for name, look in overview.looks(names).items()]
    areas += [series("wanted", Look(BLACK, "--")), series("available frames", Look(BLACK))]
    there = np.full(len(shown["time_s"]), overview.frames_mib(run) or np.nan)
    columns = time | {name: shown[name] for name in names} | {"wanted": shown["wanted_mib"], "frames": there}
    turns = [[at, kind, text] for at, kind, text in quantities.turns(run.data)]
    blocks = [listed(columns)]
    second = chart("Memory by process", "MiB", areas, [run], blocks=blocks, stack=len(names), turns=turns)
    top = ending("per s", [quantities.robust_top(table["time_s"], table["major_faults_per_s"])])
    blocks = [listed(dict(zip("tf", overview.of_intervals(run, shown, "major_faults_per_s"))))]
    third = chart("Major faults", "per s", [black | {"label": "major faults"}], [run], blocks=blocks, **top)
    return [first, second | {"tall": True}, third]


def of_plot(plot: Plot, runs: Sequence[Run]) -> list[Chart]:
    """The charts of one plot, in which all runs with samples share the axes. For a single run, the charts that its
    overview has are left out."""
    sampled = [run for run in runs if run.sampled]
    wanted = [title for title in titles(plot) if len(runs) > 1 or title not in OF_OVERVIEW]
    return [made for title in wanted if sampled and (made := shared(plot, title, sampled))]


def of_one(run: Run) -> dict[str, list[Chart]]:
    """The charts of one run by the name of their plot."""
    found: dict[str, Sequence[Chart | None]] = {
        MEMORY.name: [one_process(run)],
        ZONES.name: zones(run),
        LISTS.name: lists(run),
    }
    return {name: [made for made in some if made] for name, some in found.items()} if run.sampled else {}


def thinned_runs(runs: Iterable[Run]) -> Mapping[str, int]:
    """The runs with more samples than a chart draws, and their numbers of samples."""
    some = list(runs)
    return {run.label: len(run.data.samples) for run in some if len(run.data.samples) > limit(len(some))}
