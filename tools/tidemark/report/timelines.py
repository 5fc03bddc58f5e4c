"""Figures over time, of one run or of several on the same axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from tidemark.report import quantities
from tidemark.report.figure import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    INTERVALS,
    OF_POLICY,
    ORANGE,
    OTHERS,
    POINTS,
    VERMILION,
    Figure,
    Look,
    canvas,
    from_zero,
    heading,
    legend,
    looks,
    mark,
    stacked,
    whole_numbers,
)
from tidemark.report.quantities import Columns
from tidemark.report.sources import Run

MAX_PANELS, SMALL = 12, 20
MEMORY_LOOKS = {"MAD": Look(GREY), "RSS": Look(BLUE), "NAP": Look(ORANGE)}
ZONE_LOOKS = {"free": Look(BLUE), "high": Look(GREEN, "--"), "low": Look(ORANGE, "--"), "min": Look(VERMILION, "--")}

UTILISATION = (
    "CPU utilisation: 1 − idle time / time, of each interval between two samples. Low while tasks wait: thrashing."
)
FAULTS = (
    "Page faults per second of machine time: major ones started a read from swap, minor ones did not; refaults are "
    "major faults on pages evicted so recently that memory could have kept them."
)
PRESSURE = (
    "Pressure: the share of time in which some task, and in which all tasks that were not idle, stalled on memory "
    "(Linux's PSI). Full near 100 % is thrashing."
)
TASKS = "Tasks that can run, processes held back by the policy, requests waiting for the disk and their mean response."
MEMORY = (
    "Memory allocation demand (MAD), resident set (RSS) and pages accessed since the last sample (NAP) of each process "
    "(Figures 1 to 6 and 9 to 11 of Jiang and Zhang's TPF paper, 2002). RSS far under MAD: it has lost pages, or not "
    "used them yet; NAP far under RSS: it holds pages that it does not use."
)
OVERLAID = "Resident sets of the same process in each run, and its demand (MAD, grey)."
ZONES = (
    "Free pages of each zone and its watermarks: under low kswapd frees pages until high, under min tasks must free "
    "pages themselves. Logarithmic scale."
)
LISTS = (
    "What the policy shows of itself (/proc/vm/policy); large and small values have axes of their own, and what is "
    "always 0 is left out."
)


def thin(columns: Columns) -> Columns:
    """`columns` with no more points than a picture can show."""
    return quantities.thinned(columns, POINTS)


def captioned(text: str, runs: Iterable[Run], averaged: bool = False) -> str:
    """A caption that says which runs were thinned for drawing, and which did not end well."""
    samples = {run.label: len(run.data.samples) for run in runs}
    limit = INTERVALS if averaged else POINTS
    many = [f"{label} ({nr:,} samples)" for label, nr in samples.items() if nr > limit]
    notes = [f"{run.label} was {run.note.split(':')[0]}." for run in runs if run.note.startswith(("interr", "failed"))]
    if many:
        how = "mean, least and largest" if averaged else "least and largest value"
        notes.append(f"Drawn as {how} of each group of samples, {limit:,} points: {', '.join(many)}. The CSV has all.")
    return " ".join([text, *notes])


def banded(axes: Axes, time: np.ndarray, values: np.ndarray, look: Look, stepped: bool = False) -> None:
    """A line over time; with more values than the picture can show, their mean in a band from the least to the largest.

    `stepped` is for a share or rate of intervals: each value holds back to the time before.
    """
    columns = quantities.averaged(time, values, INTERVALS)
    axes.plot(
        columns["time_s"], columns["mean"], drawstyle="steps-pre" if stepped else "default",
        color=look.colour, linestyle=look.dash, linewidth=0.9,
    )  # fmt: skip
    if len(time) > INTERVALS:
        band = columns["least"], columns["largest"]
        step = "pre" if stepped else None
        axes.fill_between(columns["time_s"], *band, step=step, color=look.colour, alpha=0.25, linewidth=0)


def over_time(
    name: str, title: str, caption: str, runs: Sequence[Run], columns: Sequence[Columns], shown: Mapping[str, str]
) -> Figure:
    """A figure with one row of axes for each entry of `shown` (column: label of the axis), all runs in each."""

    def draw() -> Canvas:
        picture, axes = canvas(len(shown), sharex=True)
        styles = looks([run.policy for run in runs])
        for row, (column, label) in zip(axes[:, 0], shown.items()):
            for run, table, look in zip(runs, columns, styles):
                banded(row, table["time_s"], table[column], look, stepped=True)
                mark(row, quantities.marks(run.data))
            row.set_ylabel(label)
            from_zero(row)
        axes[-1, 0].set_xlabel("time since boot, s")
        axes[-1, 0].set_xlim(left=0)
        legend(picture, {run.label: look for run, look in zip(runs, styles)}, 2)
        return picture

    table = stacked(({"run": run.label}, table) for run, table in zip(runs, columns))
    return Figure(name, title, captioned(caption, runs, averaged=True), table, draw)


def of_all(runs: Sequence[Run]) -> list[Figure]:
    """The figures in which all runs share the axes."""
    runs = [run for run in runs if run.sampled]
    if not runs:
        return []
    utilisation = {"utilisation_percent": "utilisation, %"}
    rates = {"major_faults_per_s": "major faults / s", "minor_faults_per_s": "minor faults / s"}
    rates |= {"refaults_per_s": "refaults / s"}
    waiting = {
        "running": "can run",
        "held": "held back",
        "disk_queue": "disk queue",
        "disk_response_ms": "response, ms",
    }
    figures = [
        over_time("utilisation", "CPU utilisation", UTILISATION, runs, each(runs, quantities.utilisation), utilisation),
        over_time("faults", "Fault rate", FAULTS, runs, each(runs, quantities.faults), rates),
        over_time("tasks", "Tasks and the disk", TASKS, runs, each(runs, quantities.tasks), waiting),
    ]
    stalled = [(run, columns) for run in runs if (columns := quantities.pressure(run.data))]
    if stalled:
        shown = {"some_percent": "some, %", "full_percent": "full, %"}
        figures.append(over_time("pressure", "Pressure", PRESSURE, *map(list, zip(*stalled)), shown))
    return figures + ([overlaid(runs)] if len(runs) > 1 else [])


def each(runs: Sequence[Run], quantity: Callable[..., Columns]) -> list[Columns]:
    """One quantity of every run."""
    return [quantity(run.data) for run in runs]


def grid(nr: int, sharey: bool = True) -> tuple[Canvas, list[Axes]]:
    """A picture with `nr` axes of equal scale in two columns, three from seven on; the unused places are empty."""
    columns = min(nr, 2 if nr <= 6 else 3)
    rows = -(-nr // columns)
    picture, axes = canvas(rows, columns, 1.35, sharex=True, sharey=sharey)
    for unused in axes.flat[nr:]:
        unused.set_visible(False)
    for row in axes:
        row[0].set_ylabel("pages")
    for last in list(axes.flat)[max(nr - columns, 0) : nr]:
        last.set_xlabel("time since boot, s")
        last.tick_params(labelbottom=True)
    return picture, list(axes.flat[:nr])


def large(processes: Mapping[tuple[int, str], Columns]) -> list[tuple[int, str]]:
    """The processes that get a panel, in order of pid: of those whose demand counts, the first MAX_PANELS."""
    peaks = {key: columns["mad"].max() for key, columns in processes.items()}
    counting = [key for key in peaks if peaks[key] * SMALL >= max(peaks.values())]
    return sorted(sorted(counting, key=lambda key: -peaks[key])[:MAX_PANELS])


def left_out(processes: Mapping[tuple[int, str], Columns]) -> str:
    """A sentence on processes without a panel, if there are any."""
    nr = len(large(processes))
    what = f" {nr} of {len(processes)} processes, those with the largest demand; the CSV has all."
    return what if nr < len(processes) else ""


def memory(run: Run, stem: str) -> Figure | None:
    """MAD, RSS and NAP of each process, a panel each; None when there was none."""
    processes = quantities.processes(run.data)
    if not processes:
        return None

    def draw() -> Canvas:
        shown = large(processes)
        picture, axes = grid(len(shown))
        for panel, key in zip(axes, shown):
            columns = thin(processes[key])
            for name, look in MEMORY_LOOKS.items():
                panel.plot(columns["time_s"], columns[name.lower()], color=look.colour, linewidth=0.9)
            heading(panel, f"{key[1]} {key[0]}", wide=False)
        axes[0].set_xlim(left=0)
        from_zero(*axes)
        legend(picture, MEMORY_LOOKS)
        return picture

    table = stacked(({"run": run.label, "pid": pid, "command": comm}, c) for (pid, comm), c in processes.items())
    caption = captioned(MEMORY, [run]) + left_out(processes)
    return Figure(f"memory-{stem}", f"Memory of the processes: {run.label}", caption, table, draw)


def overlaid(runs: Sequence[Run]) -> Figure:
    """The resident sets of each process in all runs."""
    of_runs = [quantities.processes(run.data) for run in runs]
    every = {key: columns for processes in reversed(of_runs) for key, columns in processes.items()}

    def draw() -> Canvas:
        shown, styles = large(every), looks([run.policy for run in runs])
        picture, axes = grid(len(shown))
        for panel, key in zip(axes, shown):
            for processes, look in zip(of_runs, styles):
                columns = thin(processes[key]) if key in processes else {"time_s": [], "mad": [], "rss": []}
                panel.plot(columns["time_s"], columns["mad"], color=GREY, linewidth=0.6)
                panel.plot(columns["time_s"], columns["rss"], color=look.colour, linestyle=look.dash, linewidth=0.9)
            heading(panel, f"{key[1]} {key[0]}", wide=False)
        axes[0].set_xlim(left=0)
        from_zero(*axes)
        legend(picture, {run.label: look for run, look in zip(runs, styles)} | {"MAD": Look(GREY)})
        return picture

    table = stacked(
        ({"run": run.label, "pid": pid, "command": comm}, {name: c[name] for name in ("time_s", "mad", "rss")})
        for run, processes in zip(runs, of_runs)
        for (pid, comm), c in processes.items()
    )
    caption = captioned(OVERLAID, runs) + left_out(every)
    return Figure("resident-sets", "Resident sets, runs overlaid", caption, table, draw)


def zones(run: Run, stem: str) -> Figure | None:
    """Free pages against the watermarks of each zone; None without zones."""
    found = quantities.zones(run.data)
    if not found:
        return None

    def draw() -> Canvas:
        picture, axes = canvas(len(found), sharex=True)
        for panel, (zone, columns) in zip(axes[:, 0], found):
            banded(panel, columns["time_s"], columns["free_pages"], ZONE_LOOKS["free"])
            for name in ("min", "low", "high"):
                panel.axhline(zone[name], color=ZONE_LOOKS[name].colour, linestyle="--", linewidth=0.8)
            panel.set_yscale("log", nonpositive="clip")
            whole_numbers(panel.yaxis)
            panel.set_ylabel("pages")
            heading(panel, zone["name"])
        axes[-1, 0].set_xlabel("time since boot, s")
        axes[-1, 0].set_xlim(left=0)
        legend(picture, ZONE_LOOKS)
        return picture

    table = stacked(({"run": run.label} | watermarks(zone), columns) for zone, columns in found)
    return Figure(
        f"zones-{stem}",
        f"Free pages against the watermarks: {run.label}",
        captioned(ZONES, [run], averaged=True),
        table,
        draw,
    )


def watermarks(zone: Mapping[str, object]) -> dict[str, object]:
    """A zone's name and watermarks as columns."""
    return {"zone": zone["name"]} | {f"{name}_pages": zone[name] for name in ("min", "low", "high")}


def lists(run: Run, stem: str) -> Figure | None:
    """The policy's lists; None when it shows none but empty ones."""
    columns = quantities.lists(run.data)
    peaks = {name: np.nanmax(values) for name, values in columns.items() if name != "time_s" and np.nanmax(values) > 0}
    if not peaks:
        return None
    large = [name for name, peak in peaks.items() if peak * 20 >= max(peaks.values())]
    small = [name for name in peaks if name not in large]

    def draw() -> Canvas:
        groups = [names for names in (large, small) if names]
        picture, axes = canvas(len(groups), sharex=True)
        thinned, cycle = thin(columns), dict(zip(peaks, (Look(c, d) for d in ("-", "--") for c in list_colours())))
        for panel, names in zip(axes[:, 0], groups):
            for name in names:
                look = cycle.get(name, Look(BLACK))
                panel.plot(thinned["time_s"], thinned[name], color=look.colour, linestyle=look.dash, linewidth=0.9)
            mark(panel, quantities.marks(run.data))
            from_zero(panel)
        axes[-1, 0].set_xlabel("time since boot, s")
        axes[-1, 0].set_xlim(left=0)
        legend(picture, {name: cycle.get(name, Look(BLACK)) for name in large + small}, 5)
        return picture

    table = stacked([({"run": run.label}, columns)])
    return Figure(f"lists-{stem}", f"The policy's lists: {run.label}", captioned(LISTS, [run]), table, draw)


def list_colours() -> Sequence[str]:
    """Colours of lists, which have nothing to do with policies."""
    return (*OF_POLICY.values(), *OTHERS)


def of_one(run: Run, stem: str) -> list[Figure]:
    """The figures of one run; `stem` ends their files' names."""
    if not run.sampled:
        return []
    return [figure for make in (memory, zones, lists) if (figure := make(run, stem))]
