"""Figures over time, of one run or of several on the same axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter

from tidemark.report import quantities
from tidemark.report.figure import (
    BLACK,
    DASHES,
    GREY,
    INTERVALS,
    OF_POLICY,
    OTHERS,
    POINTS,
    VERMILION,
    Figure,
    Look,
    canvas,
    from_zero,
    heading,
    label_ends,
    legend,
    looks,
    mark,
    robust_from_zero,
    stacked,
    whole_numbers,
)
from tidemark.report.plots.plot import Plot
from tidemark.report.plots.runs import FAULT_RATES, LISTS, MEMORY, RESIDENT_SETS, ZONES
from tidemark.report.quantities import Columns
from tidemark.report.sources import Run

MAX_PANELS, SMALL = 12, 20
FLAT = 50  # a line this many times below another would be flat on a linear scale
LOGARITHMIC = f" Time is logarithmic, because one run took more than {quantities.FAR_APART} times as long as another."


def thin(columns: Columns) -> Columns:
    """`columns` thinned to the number of points that a picture can show."""
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
    """Draw a line over time. Draw too many values as their means, in a band from the least to the largest.

    `stepped` is for a share or rate of intervals: each value extends back to the time before.
    """
    columns = quantities.averaged(time, values, INTERVALS)
    axes.plot(
        columns["time_s"], columns["mean"], drawstyle="steps-pre" if stepped else "default",
        color=look.colour, linestyle=look.dash, linewidth=0.9,
    )  # fmt: skip
    if len(time) > INTERVALS:
        band = columns["least"], columns["largest"]
        axes.fill_between(
            columns["time_s"], *band, step="pre" if stepped else None, color=look.colour, alpha=0.25, linewidth=0
        )


def shared_time(axes: Axes, runs: Sequence[Run]) -> None:
    """Let the time of all axes begin at 0, or make it logarithmic."""
    begin = quantities.log_from([run.data for run in runs])
    if begin:
        axes.set_xscale("log")
        whole_numbers(axes.xaxis)
    axes.set_xlim(left=begin or 0)


def about_time(runs: Sequence[Run]) -> str:
    """A caption's sentence on logarithmic time; empty if time is linear."""
    return LOGARITHMIC if quantities.log_from([run.data for run in runs]) else ""


def over_time(plot: Plot, runs: Sequence[Run]) -> Figure | None:
    """A row of axes for each line of the plot with a label, all runs in each; None if no run has any of them."""
    found = [(run, columns) for run in runs if (columns := plot.columns(run.data))]
    shown = [line for line in plot.lines if line.axis]

    def draw() -> Canvas:
        picture, axes = canvas(len(shown), sharex=True)
        styles = looks([run.policy for run, _ in found])
        for row, line in zip(axes[:, 0], shown):
            for (run, columns), look in zip(found, styles):
                banded(row, columns["time_s"], columns[line.column], look, stepped=True)
                mark(row, quantities.marks(run.data))
            row.set_ylabel(line.axis)
            if line.shown_unit == "%":
                row.set_ylim(0, 100)
            else:
                tops = [quantities.robust_top(columns["time_s"], columns[line.column]) for _, columns in found]
                robust_from_zero(row, (max(end for end, _ in tops), max(most for _, most in tops)))
        axes[-1, 0].set_xlabel("time since boot, s")
        shared_time(axes[-1, 0], [run for run, _ in found])
        legend(picture, {run.label: look for (run, _), look in zip(found, styles)}, 2)
        return picture

    if not found or not shown:
        return None
    table = stacked(({"run": run.label}, columns) for run, columns in found)
    drawn = [run for run, _ in found]
    caption = captioned(plot.caption, drawn, averaged=True) + about_time(drawn)
    return Figure(plot.name, plot.title, caption, table, draw)


def processes(run: Run) -> dict[tuple[int, str], Columns]:
    """The columns of MEMORY for each process."""
    return quantities.processes(run.data, [line.column for line in MEMORY.lines])


def grid(nr: int, label: str = "pages") -> tuple[Canvas, list[Axes]]:
    """A picture with `nr` axes of equal scale in two columns, or three for seven or more; unused places are empty."""
    columns = min(nr, 2 if nr <= 6 else 3)
    rows = -(-nr // columns)
    picture, axes = canvas(rows, columns, 1.35, sharex=True, sharey=True)
    for unused in axes.flat[nr:]:
        unused.set_visible(False)
    for row in axes:
        row[0].set_ylabel(label)
    for last in list(axes.flat)[max(nr - columns, 0) : nr]:
        last.set_xlabel("time since boot, s")
        last.tick_params(labelbottom=True)
    return picture, list(axes.flat[:nr])


def large(processes: Mapping[tuple[int, str], Columns]) -> list[tuple[int, str]]:
    """The processes that get a panel, in order of pid: of those whose demand counts, the largest MAX_PANELS."""
    peaks = {key: columns["mad"].max() for key, columns in processes.items()}
    counting = [key for key in peaks if peaks[key] * SMALL >= max(peaks.values())]
    return sorted(sorted(counting, key=lambda key: -peaks[key])[:MAX_PANELS])


def left_out(processes: Mapping[tuple[int, str], Columns]) -> str:
    """A sentence on processes without a panel; empty if there are none."""
    nr = len(large(processes))
    what = f" {nr} of {len(processes)} processes, those with the largest demand; the CSV has all."
    return what if nr < len(processes) else ""


def memory(run: Run, stem: str) -> Figure | None:
    """MAD, RSS and NAP of each process, a panel each; None if there was no process."""
    found = processes(run)
    if not found:
        return None

    def draw() -> Canvas:
        shown, lines = large(found), [line for line in MEMORY.lines if line.axis]
        picture, axes = grid(len(shown))
        for panel, key in zip(axes, shown):
            columns = thin(found[key])
            for line in lines:
                panel.plot(columns["time_s"], columns[line.column], color=line.look.colour, linewidth=0.9)
            heading(panel, f"{key[1]} {key[0]}", wide=False)
        axes[0].set_xlim(left=0)
        from_zero(*axes)
        legend(picture, {line.part: line.look for line in lines})
        return picture

    table = stacked(({"run": run.label, "pid": pid, "command": comm}, c) for (pid, comm), c in found.items())
    caption = captioned(MEMORY.caption, [run]) + left_out(found)
    return Figure(f"{MEMORY.name}-{stem}", f"{MEMORY.title}: {run.label}", caption, table, draw)


def fault_rates(run: Run, stem: str) -> Figure | None:
    """Major faults per second of each process, a panel each, for the same processes as `memory`; None if there were no
    major faults."""
    rates, line = quantities.fault_rates(run.data), FAULT_RATES.lines[0]
    if not any(np.nansum(columns[line.column]) for columns in rates.values()):
        return None
    found = processes(run)

    def draw() -> Canvas:
        shown = large(found)
        picture, axes = grid(len(shown), line.axis)
        for panel, key in zip(axes, shown):
            if len(rates[key]["time_s"]):
                banded(panel, rates[key]["time_s"], rates[key][line.column], Look(VERMILION), stepped=True)
            heading(panel, f"{key[1]} {key[0]}", wide=False)
        axes[0].set_xlim(left=0)
        tops = [quantities.robust_top(rates[key]["time_s"], rates[key][line.column]) for key in shown]
        robust_from_zero(axes[0], (max(end for end, _ in tops), max(most for _, most in tops)))
        return picture

    table = stacked(({"run": run.label, "pid": pid, "command": comm}, c) for (pid, comm), c in rates.items())
    caption = captioned(FAULT_RATES.caption, [run], averaged=True) + left_out(found)
    return Figure(f"{FAULT_RATES.name}-{stem}", f"{FAULT_RATES.title}: {run.label}", caption, table, draw)


def overlaid(runs: Sequence[Run]) -> Figure:
    """The resident sets of each process in all runs."""
    of_runs = [processes(run) for run in runs]
    every = {key: columns for one in reversed(of_runs) for key, columns in one.items()}

    def draw() -> Canvas:
        shown, styles = large(every), looks([run.policy for run in runs])
        picture, axes = grid(len(shown))
        for panel, key in zip(axes, shown):
            for one, look in zip(of_runs, styles):
                columns: dict[str, Any] = thin(one[key]) if key in one else {"time_s": [], "mad": [], "rss": []}
                panel.plot(columns["time_s"], columns["mad"], color=GREY, linewidth=0.6)
                panel.plot(columns["time_s"], columns["rss"], color=look.colour, linestyle=look.dash, linewidth=0.9)
            heading(panel, f"{key[1]} {key[0]}", wide=False)
        shared_time(axes[0], runs)
        from_zero(*axes)
        legend(picture, {run.label: look for run, look in zip(runs, styles)} | {"MAD": Look(GREY)})
        return picture

    table = stacked(
        ({"run": run.label, "pid": pid, "command": comm}, {name: c[name] for name in ("time_s", "mad", "rss")})
        for run, one in zip(runs, of_runs)
        for (pid, comm), c in one.items()
    )
    caption = captioned(RESIDENT_SETS.caption, runs) + left_out(every) + about_time(runs)
    return Figure(RESIDENT_SETS.name, RESIDENT_SETS.title, caption, table, draw)


def zones(run: Run, stem: str) -> Figure | None:
    """Free pages against the watermarks of each zone; None without zones."""
    found = quantities.zones(run.data)
    if not found:
        return None

    def draw() -> Canvas:
        picture, axes = canvas(len(found), sharex=True)
        for panel, (zone, columns) in zip(axes[:, 0], found):
            free, *marks = ZONES.lines
            banded(panel, columns["time_s"], columns[free.column], free.look)
            for line in marks:
                panel.axhline(zone[line.part], color=line.look.colour, linestyle=line.look.dash, linewidth=0.8)
            panel.set_yscale("log", nonpositive="clip")
            whole_numbers(panel.yaxis)
            panel.set_ylabel("pages")
            heading(panel, zone["name"])
        axes[-1, 0].set_xlabel("time since boot, s")
        axes[-1, 0].set_xlim(left=0)
        legend(picture, {line.part: line.look for line in ZONES.lines})
        return picture

    table = stacked(({"run": run.label} | watermarks(zone), columns) for zone, columns in found)
    caption = captioned(ZONES.caption, [run], averaged=True)
    return Figure(f"{ZONES.name}-{stem}", f"{ZONES.title}: {run.label}", caption, table, draw)


def watermarks(zone: Mapping[str, object]) -> dict[str, object]:
    """A zone's name and watermarks as columns."""
    return {"zone": zone["name"]} | {f"{name}_pages": zone[name] for name in ("min", "low", "high")}


def lists(run: Run, stem: str) -> Figure | None:
    """The policy's lists; None if it shows none, or only empty ones."""
    columns = quantities.lists(run.data)
    levels, counted = quantities.list_kinds(columns)
    if not levels and not counted:
        return None

    def draw() -> Canvas:
        groups = [(names, label) for names, label in ((levels, "now"), (counted, "since boot")) if names]
        picture, axes = canvas(len(groups), sharex=True)
        looks_in_turn = (Look(c, d) for d in DASHES for c in list_colours())
        thinned, cycle = thin(columns), dict(zip([*levels, *counted], looks_in_turn))
        for panel, (names, label) in zip(axes[:, 0], groups):
            peaks = [float(np.nanmax(thinned[name])) for name in names]
            for name in names:
                look = cycle.get(name, Look(BLACK))
                panel.plot(thinned["time_s"], thinned[name], color=look.colour, linestyle=look.dash, linewidth=0.9)
            mark(panel, quantities.marks(run.data))
            panel.set_ylabel(label)
            if max(peaks) > FLAT * min(peaks):
                panel.set_yscale("symlog", linthresh=1)
                panel.set_ylim(0, 2 * max(peaks))
                panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            else:
                from_zero(panel)
            label_ends(panel, {name: (0, last(thinned[name])) for name in names}, cycle)
        axes[-1, 0].set_xlabel("time since boot, s")
        axes[-1, 0].set_xlim(0, thinned["time_s"][-1])
        return picture

    table = stacked([({"run": run.label}, columns)])
    caption = captioned(LISTS.caption, [run])
    return Figure(f"{LISTS.name}-{stem}", f"{LISTS.title}: {run.label}", caption, table, draw)


def last(values: np.ndarray) -> float:
    """The last known value."""
    return float(values[~np.isnan(values)][-1])


def list_colours() -> Sequence[str]:
    """Colours of lists, which do not stand for policies."""
    return (*OF_POLICY.values(), *OTHERS)
