"""The page's interactive timelines: the columns of the figures as JSON for assets/page.js, which gives them to uPlot.

A chart is {"group", "title", "unit", "series": [{"label", "colour", "dash", "shown"}], "blocks": [columns of one run:
time, then one for each of its series]}; "marks" are the events. Charts of one group share cursor and zoom. A chart
with "choices" has one set of blocks for each, and a menu.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tidemark.report import quantities
from tidemark.report.figure import BLUE, GREEN, GREY, ORANGE, YELLOW, Look, looks
from tidemark.report.quantities import Columns
from tidemark.report.sources import Run
from tidemark.report.timelines import ZONE_LOOKS, list_colours

POINTS = 3000
DASH = {"-": [], "--": [6, 4], ":": [2, 3], "-.": [6, 3, 2, 3]}
SHARED = {
    "CPU utilisation": (quantities.utilisation, {"utilisation_percent": ""}, "%"),
    "Major faults": (quantities.faults, {"major_faults_per_s": ""}, "per s"),
    "Minor faults": (quantities.faults, {"minor_faults_per_s": ""}, "per s"),
    "Pages read from and written to swap": (
        quantities.faults,
        {"pages_in_per_s": "in", "pages_out_per_s": "out"},
        "per s",
    ),
    "Pressure on memory": (quantities.pressure, {"some_percent": "some", "full_percent": "full"}, "%"),
    "Tasks that can run, processes held back": (quantities.tasks, {"running": "can run", "held": "held"}, ""),
    "Requests at the disk": (quantities.tasks, {"disk_queue": ""}, ""),
}
OF_PROCESS = {
    "mad": ("MAD", GREY),
    "rss": ("RSS", BLUE),
    "nap": ("NAP", ORANGE),
    "wss": ("WSS", GREEN),
    "swap": ("in swap", YELLOW),
}


def number(value: float) -> float | int | None:
    """A number as short JSON, to five digits; None for nan."""
    if math.isnan(value):
        return None
    short = float(f"{value:.5g}")
    return int(short) if short.is_integer() else short


def plain(columns: Columns, names: Iterable[str]) -> list[list]:
    """Time and the named columns, thinned, as lists. Time keeps its microseconds."""
    thinned = quantities.thinned({name: columns[name] for name in ("time_s", *names)}, POINTS)
    values = [[number(value) for value in thinned[name]] for name in thinned if name != "time_s"]
    return [[round(float(t), 6) for t in thinned["time_s"]], *values]


def series(label: str, look: Look, shown: bool = True, stepped: bool = False) -> dict:
    """One line of a chart."""
    return {"label": label, "colour": look.colour, "dash": DASH[look.dash], "shown": shown, "stepped": stepped}


def of_interval(unit: str) -> bool:
    """Is a quantity with this unit one of an interval, and drawn as a step?"""
    return unit in ("%", "per s")


def chart(group: str, title: str, unit: str, lines: list[dict], runs: Sequence[Run], **rest: object) -> dict:
    """One chart, with the events of its runs as marks. `rest` has its blocks or its choices."""
    marks = [[at, text] for run in runs for at, text in quantities.marks(run.data)]
    return {"group": group, "title": title, "unit": unit, "series": lines, "marks": marks, **rest}


def shared(title: str, runs: Sequence[Run]) -> dict | None:
    """One of SHARED, all runs in it; None when no run has it."""
    quantity, names, unit = SHARED[title]
    lines, blocks = [], []
    for run, look in zip(runs, looks([run.policy for run in runs])):
        columns = quantity(run.data)
        if columns is None:
            continue
        blocks.append(plain(columns, names))
        for at, part in enumerate(names.values()):
            dash = look.dash if at == 0 else ":"
            label = ", ".join(filter(None, (run.label if len(runs) > 1 or not part else "", part)))
            lines.append(series(label, Look(look.colour, dash), stepped=of_interval(unit)))
    return chart("all", title, unit, lines, runs, blocks=blocks) if blocks else None


def cycled(nr: int) -> list[Look]:
    """`nr` looks that have nothing to do with policies."""
    cycle = [Look(colour, dash) for dash in DASH for colour in list_colours()]
    return [cycle[at % len(cycle)] for at in range(nr)]


def resident(run: Run, group: str) -> dict | None:
    """The resident sets of all processes of a run; None when it has none."""
    processes = quantities.processes(run.data)
    lines = [series(f"{comm} {pid}", look) for (pid, comm), look in zip(processes, cycled(len(processes)))]
    blocks = [plain(columns, ["rss"]) for columns in processes.values()]
    return chart(group, "Resident sets", "pages", lines, [run], blocks=blocks) if blocks else None


def one_process(run: Run, group: str) -> dict | None:
    """MAD, RSS, NAP, WSS and pages in swap of one process, chosen from a menu; None when there is none."""
    processes = quantities.processes(run.data)
    if not processes:
        return None
    lines = [series(label, Look(colour), name in ("mad", "rss", "nap")) for name, (label, colour) in OF_PROCESS.items()]
    choices = [
        {"name": f"{comm} {pid}", "blocks": [plain(columns, OF_PROCESS)]} for (pid, comm), columns in processes.items()
    ]
    demands = [columns["mad"].max() for columns in processes.values()]
    chosen = demands.index(max(demands))
    return chart(group, "Memory of one process", "pages", lines, [run], choices=choices, chosen=chosen)


def zones(run: Run, group: str) -> list[dict]:
    """Free pages and watermarks of each zone."""
    charts = []
    for zone, columns in quantities.zones(run.data):
        levels = {"time_s": columns["time_s"][[0, -1]]}
        levels |= {name: np.full(2, float(zone[name])) for name in ("high", "low", "min")}
        blocks = [plain(columns, ["free_pages"]), plain(levels, ["high", "low", "min"])]
        lines = [series(name, look) for name, look in ZONE_LOOKS.items()]
        title = f"Free pages of zone {zone['name']}, logarithmic"
        charts.append(chart(group, title, "pages", lines, [run], blocks=blocks, log=True))
    return charts


def lists(run: Run, group: str) -> dict | None:
    """What the policy shows of its lists; None when it shows nothing."""
    columns = quantities.lists(run.data)
    names = [name for name in columns if name != "time_s"]
    lines = [series(name, look) for name, look in zip(names, cycled(len(names)))]
    return chart(group, "The policy's lists", "", lines, [run], blocks=[plain(columns, names)]) if names else None


def of_all(runs: Sequence[Run]) -> list[dict]:
    """The charts in which all runs with samples share the axes."""
    sampled = [run for run in runs if run.sampled]
    return [chart for title in SHARED if sampled and (chart := shared(title, sampled))]


def of_one(run: Run, group: str) -> list[dict]:
    """The charts of one run."""
    if not run.sampled:
        return []
    found = [one_process(run, group), resident(run, group), *zones(run, group), lists(run, group)]
    return [chart for chart in found if chart]


def thinned_runs(runs: Iterable[Run]) -> Mapping[str, int]:
    """The runs with more samples than a chart draws, and how many they have."""
    return {run.label: len(run.data.samples) for run in runs if len(run.data.samples) > POINTS}
