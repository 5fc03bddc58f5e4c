#!/usr/bin/env python3
"""The arena in numbers and pictures: `tidemark sweep arena`, its report, and one line for each row of the report. For
the workloads on files also each number.

The sweep stays in build/arena: an interrupted sweep continues, and finished runs are not repeated for the same image.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from math import exp, log
from pathlib import Path
from statistics import fmean, median

from common import ROOT, host, publish, table
from pictures import tidemark
from tidemark.report import arena, figure, heatmap, sources
from tidemark.report.arena import Group, Map
from tidemark.report.cells import Cell

PLACE = ROOT / "docs/figures"
LEVEL = ("level with the best: in faults", "in time")


def means(cells: list[Cell], name: str, geometric: bool = True) -> list[float]:
    """The mean over the commands that have the number, for each jitter."""
    by_jitter: dict[str, list[float]] = {}
    for cell in cells:
        if name in cell.numbers:
            by_jitter.setdefault(cell.factors.get("jitter", ""), []).append(cell.numbers[name])
    most = max(map(len, by_jitter.values()), default=0)
    whole = [values for values in by_jitter.values() if len(values) == most]
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
    """A number with its range, in bold if it cannot be distinguished from the best of the column."""
    text = spread(list(one.spots[row, column].values))
    return f"**{text}**" if one.level(row, column) else text


def by_command(group: Group) -> str:
    """The table of a group with a column for each command, for faults and for time."""
    columns = [(one, column) for one in group.maps[:2] for column in group.columns]
    titles = [f"{column.split()[0]}: {one.line.axis}" for one, column in columns]
    rows = [[row, *(of_spot(one, row, column) for one, column in columns)] for row in group.rows]
    commands = ", ".join(f"`{column}`" for column in group.columns)
    return f"{commands}\n\n{table([group.of, *titles], rows)}"


def publish_files(cells: list[Cell]) -> None:
    """Publishes the table of the workloads with files on the disk."""
    groups = arena.groups([cell for cell in cells if "/mnt/" in arena.run_of(cell)])
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as scratch:
        figure.save(heatmap.figures(groups[0])[0], Path(scratch))
        shutil.copy(f"{scratch}/{groups[0].name}.svg", PLACE / "arena-files.svg")
    publish(
        "arena-files",
        f"`tidemark sweep arena`: {runs_of(groups)} runs; {host()}.\n\n" + "\n\n".join(map(by_command, groups)),
    )


def runs_of(groups: list[Group]) -> str:
    """The number of runs in all groups."""
    return f"{sum(len(some) for group in groups for some in group.runs.values()):,}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--done", type=Path, nargs="+", help="existing sweeps; for equal runs the last sweep counts")
    parser.add_argument("--files", action="store_true", help="only the table of the workloads on files")
    folders = parser.parse_args().done or [ROOT / "build/arena"]
    if not parser.parse_args().done:
        tidemark("sweep", "arena", "-o", str(folders[0]))
    cells = sources.gather(folders).cells
    publish_files(cells)
    if parser.parse_args().files:
        return
    tidemark("report", *map(str, folders), "-o", str(ROOT / "build/arena-report"))
    groups = arena.groups(cells)
    for group in groups:
        shutil.copy(ROOT / f"build/arena-report/figures/{group.name}.svg", PLACE / f"{group.name}.svg")
    publish(
        "arena",
        f"`tidemark sweep arena`: {runs_of(groups)} runs; {host()}.\n\n" + "\n\n".join(map(numbers, groups)),
    )


if __name__ == "__main__":
    main()
