"""The first picture of a run: what the processor did, how processes shared the memory, and how many faults occurred.

Three axes with the same time: utilisation, always from 0 to 100 %; the resident sets of the processes, stacked, with
one line for the available frames and one for the demand; major faults. Events are marked, and a bar along the top
is drawn while the machine thrashed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch

from tidemark.report import quantities
from tidemark.report.figure import (
    BLACK,
    GREY,
    STACK,
    VERMILION,
    WIDTH_IN,
    Figure,
    Look,
    mark,
    robust_from_zero,
    stacked,
)
from tidemark.report.plots.runs import OVERVIEW
from tidemark.report.quantities import Columns
from tidemark.report.sources import Run
from tidemark.telemetry import story

OTHERS, UNMAPPED = "others", "unowned"
POINTS = 700
HEADROOM, ROOM = 1.4, 0.02
SIGNS = {"exit": ("v", BLACK), "suspended": ("<", "#d55e00"), "admitted": (">", "#009e73")}


def owners(run: Run) -> Columns:
    """Resident sets in MiB by process, such as `thrash 5`. Processes without a colour are added up as OTHERS. The last
    row, UNMAPPED, is memory in use that no process maps: read ahead, of files, being written back, or the kernel's."""
    found = quantities.processes(run.data, ["rss"])
    times = quantities.times(run.data)
    at = {round(float(t), 6): nr for nr, t in enumerate(times)}
    rows = {}
    for (pid, comm), columns in found.items():
        row = np.zeros(len(times))
        row[[at[round(float(t), 6)] for t in columns["time_s"]]] = columns["rss"] / story.PAGES_A_MIB
        rows[f"{comm} {pid}"] = row
    largest = sorted(rows, key=lambda name: -rows[name].sum())[: len(STACK)]
    rest = [rows[name] for name in rows if name not in largest]
    found_rows = {name: rows[name] for name in rows if name in largest} | (
        {OTHERS: np.sum(rest, axis=0)} if rest else {}
    )
    free = np.array([sum(sample.get("free", ())) for sample in run.data.samples], float)
    if not rows or not story.frames(run.data) or not free.any():
        return found_rows
    used = (int(run.data.start["free"]) - free) / story.PAGES_A_MIB
    return found_rows | {UNMAPPED: np.maximum(used - np.sum(list(rows.values()), axis=0), 0)}


def columns(run: Run) -> Columns:
    """The table of the picture. `held` is the number of processes that the policy holds back."""
    data = run.data
    wanted = [sum(process["mad"] for process in sample.get("procs", ())) for sample in data.samples]
    return {
        "time_s": quantities.times(data),
        "utilisation_percent": quantities.utilisation(data),
        "major_faults_per_s": quantities.member(data, "vm.pgmajfault"),
        "wanted_mib": np.array(wanted, float) / story.PAGES_A_MIB,
        "held": quantities.member(data, "held"),
    } | owners(run)


def stack(table: Columns) -> list[str]:
    """The columns that are resident sets."""
    first = list(table).index("held") + 1
    return list(table)[first:]


def looks(names: Sequence[str]) -> dict[str, Look]:
    """A colour for each resident set."""
    of_rest = {OTHERS: GREY, UNMAPPED: "#d9d9d9"}
    return {name: Look(of_rest.get(name) or STACK[at]) for at, name in enumerate(names)}


def thin(table: Columns, limit: int) -> Columns:
    """The table in at most `limit` rows: means over groups of samples, so that stacked areas still add up."""
    time = table["time_s"]
    of = {name: quantities.averaged(time, values, limit) for name, values in table.items() if name != "time_s"}
    return {"time_s": next(iter(of.values()))["time_s"]} | {name: one["mean"] for name, one in of.items()}


def of_intervals(run: Run, shown: Columns, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Times and values of a quantity of the interval before each sample; the first interval begins at start."""
    values = shown[name]
    return np.append(run.data.start["t_us"] / 1e6, shown["time_s"]), np.append(values[:1], values)


def figure(run: Run, stem: str) -> Figure | None:
    """The overview of one run; None for a run without samples."""
    if not run.sampled:
        return None
    table = columns(run)
    told = stacked([({"run": run.label}, table)])
    return Figure(
        f"{OVERVIEW.name}-{stem}", f"{run.label}: {run.story}", OVERVIEW.caption, told, lambda: draw(run, table)
    )


def draw(run: Run, table: Columns) -> Canvas:
    """Draw the picture."""
    picture = Canvas(figsize=(WIDTH_IN, 5.2), layout="constrained")
    axes = picture.subplots(3, 1, sharex=True, height_ratios=(1, 2, 1))
    shown = thin(table, POINTS)
    for panel, name in ((axes[0], "utilisation_percent"), (axes[2], "major_faults_per_s")):
        panel.plot(*of_intervals(run, shown, name), color=BLACK, linewidth=0.9, drawstyle="steps-pre")
    axes[0].set(ylim=(0, 100), ylabel="processor works, %")
    memory(axes[1], run, shown)
    axes[2].set(ylabel="major faults / s", xlabel="time since boot, s")
    robust_from_zero(axes[2], quantities.robust_top(table["time_s"], table["major_faults_per_s"]))
    axes[2].set_xlim(0, table["time_s"][-1])
    for panel in axes:
        for begin, end in run.spells:
            panel.plot([begin, end], [1, 1], color=VERMILION, linewidth=4, solid_capstyle="butt", clip_on=False,
                       transform=panel.get_xaxis_transform())  # fmt: skip
    mark(axes[0], quantities.marks(run.data))
    signs(axes[1], run)
    names = looks(stack(table))
    handles = [Patch(color=look.colour, label=name) for name, look in names.items()]
    handles += [Patch(color=VERMILION, label="thrashing, at the top")] if run.spells else []
    picture.legend(handles=handles, loc="outside upper left", ncols=6, handlelength=1.2)
    return picture


def memory(axes: Axes, run: Run, shown: Columns) -> None:
    """Draw the stacked resident sets, the available frames, and the demand."""
    names = stack(shown)
    if names:
        colours = [look.colour for look in looks(names).values()]
        axes.stackplot(shown["time_s"], *(shown[name] for name in names), colors=colours, linewidth=0, step="post")
    axes.plot(shown["time_s"], shown["wanted_mib"], color=BLACK, linestyle="--", linewidth=0.9, drawstyle="steps-post")
    top = max(np.max(shown["wanted_mib"]), frames_mib(run), 0.1)
    lines = {"wanted": shown["wanted_mib"].max(), "available frames": frames_mib(run)}
    if frames_mib(run):
        axes.axhline(frames_mib(run), color=BLACK, linewidth=1.2)
    for text, height in lines.items():
        if height:
            written(axes, (0.004, height / top / HEADROOM), text, ha="left", va="bottom", xytext=(0, 1), fontsize=7)
    axes.set(ylim=(0, HEADROOM * top), ylabel="memory, MiB")


def written(axes: Axes, at: tuple[float, float], text: str, x: str = "axes fraction", **more: Any) -> None:
    """Write a text into the picture that does not change its layout."""
    note = axes.annotate(text, at, xycoords=(x, "axes fraction"), textcoords="offset points", **more)
    note.set_in_layout(False)


def frames_mib(run: Run) -> float:
    """The memory that processes can have, in MiB; 0 if the telemetry does not say."""
    return story.frames(run.data) / story.PAGES_A_MIB


def signs(axes: Axes, run: Run) -> None:
    """Draw a sign at the top edge for each exit, suspension and admission, with its text if there is room, and with the
    number of other exits there."""
    end = run.data.samples[-1]["t_us"] / 1e6
    texts: list[list[Any]] = []
    for at, kind, text in quantities.turns(run.data):
        sign, colour = SIGNS[kind]
        axes.plot([at], [0.97], sign, color=colour, markersize=4, transform=axes.get_xaxis_transform(),
                  clip_on=False, markeredgewidth=0)  # fmt: skip
        if not texts or at - texts[-1][0] > ROOM * end:
            texts.append([at, kind, text, 0])
        elif kind == texts[-1][1] == "exit":
            texts[-1][3] += 1
    for at, kind, text, more in texts:
        text += f" +{more}" if more else ""
        written(axes, (at, 0.94), text, "data", xytext=(0, 0), rotation=90, ha="center", va="top", fontsize=6,
                color=SIGNS[kind][1])  # fmt: skip
