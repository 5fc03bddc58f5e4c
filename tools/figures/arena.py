"""The arena in numbers and pictures: `tidemark sweep arena`, its report, and one line for each row of the report. For
the workloads on files, and for real programs, also each number.

An interrupted sweep continues, and finished runs are not repeated for the same image.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from math import exp, log
from pathlib import Path
from statistics import fmean, median

from tidemark.report import arena, heatmap, sources
from tidemark.report import figure as figures
from tidemark.report.arena import Group, Map
from tidemark.report.cells import Cell, command, repetition

from figures.common import host, table, tidemark
from figures.entries import Figure

LEVEL = ("level with the best: in faults", "in time")


def means(cells: list[Cell], name: str, geometric: bool = True) -> list[float]:
    """The mean over the commands that have the number, for each replicate."""
    by_replicate: dict[tuple[str, ...], list[float]] = {}
    for cell in cells:
        if name in cell.numbers:
            by_replicate.setdefault(repetition(cell), []).append(cell.numbers[name])
    most = max(map(len, by_replicate.values()), default=0)
    whole = [values for values in by_replicate.values() if len(values) == most]
    return sorted(exp(fmean(map(log, values))) if geometric else fmean(values) for values in whole)


def spread(values: list[float]) -> str:
    """Median, and the range if there is one."""
    if not values:
        return ""
    middle, least, greatest = map(arena.number, (median(values), values[0], values[-1]))
    return middle if least == greatest else f"{middle} ({least} to {greatest})"


def row(group: Group, name: str, cells: list[Cell]) -> list[object]:
    """The row of one contestant."""
    level = [sum(one.level(name, column) for column in group.columns) for one in group.maps[:2]]
    numbers = [means(cells, one.line.column, one.line.unit != "%") for one in group.maps]
    return [name, *map(spread, numbers), *level]


def numbers(group: Group) -> str:
    """The table of a group of contestants."""
    titles = (group.of, *(one.line.axis for one in group.maps), *LEVEL)
    runs = {
        name: [cell for (row, _), some in group.runs.items() if row == name for cell in some] for name in group.rows
    }
    return table(titles, [row(group, name, runs[name]) for name in group.rows])


def of_spot(one: Map, row: str, column: str) -> str:
    """A number with its range, in bold if it is the best of the column or level with it; see Map.doubt."""
    text = spread(list(one.spots[row, column].values))
    return (f"**{text}**" if one.level(row, column) else text) + one.doubt(row, column)


def by_command(group: Group, names: Sequence[str] = ()) -> str:
    """The table of a group with a column for each command, for faults and for time, under these names of the commands;
    without names, under their first words."""
    columns = [(one, column) for one in group.maps[:2] for column in group.columns]
    names = names or [column.split()[0] for column in group.columns]
    titles = [f"{name}: {one.line.axis}" for one in group.maps[:2] for name in names]
    rows = [[row, *(of_spot(one, row, column) for one, column in columns)] for row in group.rows]
    commands = ", ".join(f"`{column}`" for column in group.columns)
    return f"{commands}\n\n{table([group.of, *titles], rows)}"


def runs_of(groups: list[Group]) -> str:
    """The number of runs in all groups."""
    return f"{sum(len(some) for group in groups for some in group.runs.values()):,}"


def with_files(cells: list[Cell]) -> list[Group]:
    """The groups of the workloads with files on the disk."""
    return arena.groups([cell for cell in cells if "/mnt/" in command(cell)])


def programs(figure: Figure, work: Path) -> str:
    """Debian's programs under every policy: `tidemark sweep programs`."""
    tidemark("sweep", "programs", "-o", str(work / "programs"))
    groups = arena.groups(sources.gather([work / "programs"]).cells)
    rows = by_command(groups[0], figure.settings["names"])
    return f"`tidemark sweep programs`: {runs_of(groups)} runs; {host()}.\n\n{rows}"


def make(figure: Figure, work: Path) -> dict[str, str]:
    tidemark("sweep", "arena", "-o", str(work / "arena"))
    cells = sources.gather([work / "arena"]).cells
    shutil.rmtree(work / "report", ignore_errors=True)
    tidemark("report", str(work / "arena"), "-o", str(work / "report"))
    groups, files = arena.groups(cells), with_files(cells)
    for group in groups:
        shutil.copy(work / f"report/figures/{group.name}.svg", work / f"{group.name}.svg")
    drawn = work / "files"
    drawn.mkdir(exist_ok=True)
    figures.save(heatmap.figures(files[0])[0], drawn)
    shutil.copy(drawn / f"{files[0].name}.svg", work / "arena-files.svg")
    return {
        name: f"`tidemark sweep arena`: {runs_of(some)} runs; {host()}.\n\n" + "\n\n".join(map(tables, some))
        for name, some, tables in (("arena", groups, numbers), ("arena-files", files, by_command))
    }
