"""What the runs of a sweep are measured by: its ideal cells, and MIN.

Ideal: the same command in so much memory that nothing has to go. On one processor that is the time of the command's
processes alone, one after the other, each with all the memory it wants. Time over ideal is 1
where memory costs nothing.

MIN: the least faults that any policy can have that knows the future, with as many frames as are free after boot: a
bound, for the kernel keeps some of them free and takes some for itself. Faults are the pages that come in: first
touches, and pages read from swap, each page of a read-ahead for itself. So reading ahead cannot be better than MIN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tidemark import sweep
from tidemark.plan import IDEAL
from tidemark.report.cells import Cell


def measured(folder: Path, cells: Sequence[Cell]) -> list[Cell]:
    """The cells of the sweep in `folder`; those whose command has an ideal cell with more numbers:

    ideal_s, time_over_ideal     turnaround of the command in the ideal cell, and how many times that it took
    faults_over_ideal            faults of the ideal cell and pages read, over the former: 1 if no page comes in twice
    min_faults, faults_over_min  only of commands of one process
    """
    ideals = {cell.factors.get("run", ""): cell for cell in cells if IDEAL in cell.factors and cell.numbers}
    faults = {run: sweep.least_faults(folder, cell.name) for run, cell in ideals.items()}
    return [
        replace(cell, numbers=cell.numbers | over(cell, ideals[run], faults[run]))
        if (run := cell.factors.get("run", "")) in ideals and cell.numbers and IDEAL not in cell.factors
        else cell
        for cell in cells
    ]


def over(cell: Cell, ideal: Cell, min_faults: Sequence[int]) -> dict[str, float]:
    """The numbers of one cell over those of its ideal."""
    found: dict[str, float] = {}
    if ideal.numbers.get("turnaround_s") and "turnaround_s" in cell.numbers:
        found["ideal_s"] = ideal.numbers["turnaround_s"]
        found["time_over_ideal"] = cell.numbers["turnaround_s"] / ideal.numbers["turnaround_s"]
    if ideal.numbers.get("faults") and "pages_in" in cell.numbers:
        found["faults_over_ideal"] = 1 + cell.numbers["pages_in"] / ideal.numbers["faults"]
    frames = int(min(cell.numbers.get("free_pages", 0), float(cell.factors.get("frames") or "inf")))
    if min_faults and frames and "pages_in" in cell.numbers:
        pages = len(min_faults)
        found["min_faults"] = min_faults[min(frames, pages) - 1]
        found["faults_over_min"] = (pages + cell.numbers["pages_in"]) / found["min_faults"]
    return found
