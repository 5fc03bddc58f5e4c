"""The length of serialize's turns: goals that exclude each other, as curves over `turn_ms`.

A long turn lets a job of 8 MiB end before the disk must read the next one, and a short turn lets equal jobs that all
fit in turn end together, and a small job beside them soon. Replicates as in family.py; medians, with bars from least to
most.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from figures.common import host, in_parallel, spread, table
from figures.draw import COLOURS, canvas, curve, logarithmic, save
from figures.entries import Figure
from figures.family import FAMILY, SIDES, Cell, cells, least_s, run_of, turnarounds

TURNS_MS = (50, 100, 200, 400, 800, 2000)
REPLICATES = range(1, 6)
BATCH, EQUAL, SMALL = "5 jobs of 8 MiB", "24 jobs of 4 MiB in 48 MiB", "a small job beside 8 jobs"
TITLES = {
    BATCH: "5 jobs of 8 MiB: time over the time by turns",
    EQUAL: "24 jobs of 4 MiB in 48 MiB: worst over mean turnaround",
    SMALL: "small job beside 8 jobs: turnaround over that alone",
}
FILE = "serialize-turns.svg"


def times(case: tuple[Cell, int, int]) -> float:
    """One run: how many times as long as the ideal of its title, in a cell with a length of turns and a replicate."""
    cell, turn_ms, replicate = case
    run = run_of(cell.run, cell.machine, ("2q", f"serialize serialize.turn_ms={turn_ms}"), replicate)
    ends = turnarounds(run)
    if cell.name == BATCH:
        return run.named("total_s") / least_s(cell.run)
    if cell.name == EQUAL:
        seconds = [s for _, s in ends]
        return max(seconds) / mean(seconds)
    ((_, alone_s),) = turnarounds(run_of(cell.small, {}, SIDES["none"], None))
    return dict(ends)[cell.small.split()[0]] / alone_s


def draw(found: Sequence[tuple[str, Sequence[Sequence[float]]]], path: Path) -> None:
    """A curve for each cell over the length of turns; `found`: title, values at each length."""
    figure, axes = canvas(6.5, 3.2)
    for (title, values), colour, mark in zip(found, COLOURS, "osD"):
        curve(axes, TURNS_MS, values, f"{mark}-", colour, title)
    logarithmic(axes)
    axes.set_yscale("log")
    axes.set_yticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    axes.minorticks_off()
    axes.set_xlabel("serialize.turn_ms")
    axes.set_ylabel("times")
    axes.grid(color="#eeeeee")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize=7)
    save(figure, path)


def make(figure: Figure, work: Path) -> dict[str, str]:
    by_name = {cell.name: cell for cell in cells(FAMILY)}
    cases = [(by_name[name], turn, replicate) for name in TITLES for turn in TURNS_MS for replicate in REPLICATES]
    measured = dict(zip(((cell.name, *rest) for cell, *rest in cases), in_parallel(times, cases)))
    found = [
        (title, [[measured[name, turn, replicate] for replicate in REPLICATES] for turn in TURNS_MS])
        for name, title in TITLES.items()
    ]
    draw(found, work / FILE)
    rows = [(str(turn), *(spread(values[at]) for _, values in found)) for at, turn in enumerate(TURNS_MS)]
    text = f"`guard=serialize serialize.turn_ms=...` over `2q`; {len(REPLICATES)} replicates; {host()}."
    return {"family-turns": f"{text}\n\n{table(('turn_ms', *TITLES.values()), rows, text_columns=0)}"}
