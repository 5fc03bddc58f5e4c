"""The baselines of a sweep: its ideal cells, and MIN.

Ideal: the same command with enough memory that nothing is evicted. On one processor that is the time of the command's
processes alone, one after the other, each with all the memory it wants. Time over ideal is 1
if memory costs nothing.

MIN: the fewest faults of any policy, even one that knows the future, with as many frames as are free after boot. It is
a lower bound, for the kernel keeps some of them free and takes some for itself. Faults are pages that come in: each
page at its first use, and again whenever it is read back from the swap area or a file. Each page of a read-ahead
counts, so read-ahead cannot beat MIN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tidemark.report.cells import Cell
from tidemark.runs import sweep
from tidemark.runs.plan import IDEAL
from tidemark.runs.replicates import REPLICATE
from tidemark.telemetry import story

PAGE_KIB = 4


def measured(folder: Path, cells: Sequence[Cell]) -> list[Cell]:
    """The cells of the sweep in `folder`. Cells whose command has an ideal cell get more numbers:

    ideal_s, time_over_ideal     turnaround of the command in the ideal cell, and turnaround as a multiple of it
    faults_over_ideal            pages that came in, over those of the ideal cell, which are its faults and the pages of
                                 files that it left in memory: 1 if no page comes in twice
    min_faults, faults_over_min  only for commands of one process

    Their verdicts say how much longer they took.
    """
    ideals = {drawn(cell): cell for cell in cells if IDEAL in cell.factors and cell.numbers}
    least = {key: sweep.least_known(folder, cell.name) for key, cell in ideals.items()}
    return [
        with_more(cell, over(cell, ideals[key], *least[key]))
        if (key := drawn(cell)) in ideals and cell.numbers and IDEAL not in cell.factors
        else cell
        for cell in cells
    ]


def drawn(cell: Cell) -> tuple[str, str]:
    """What a cell has in common with its ideal cell: the command, and the replicate if it is one."""
    return cell.factors.get("run", ""), cell.factors.get(REPLICATE, "")


def with_more(cell: Cell, numbers: dict[str, float]) -> Cell:
    """The cell with these numbers added, and its verdict extended by the slowdown."""
    slower = story.slower(numbers.get("time_over_ideal", 0))
    return replace(cell, numbers=cell.numbers | numbers, verdict=cell.verdict + slower)


def over(cell: Cell, ideal: Cell, min_faults: Sequence[int], read_first: int) -> dict[str, float]:
    """The numbers of one cell over those of its ideal. `read_first`: pages whose first use reads them from a file."""
    found: dict[str, float] = {}
    if ideal.numbers.get("turnaround_s") and "turnaround_s" in cell.numbers:
        found["ideal_s"] = ideal.numbers["turnaround_s"]
        found["time_over_ideal"] = cell.numbers["turnaround_s"] / ideal.numbers["turnaround_s"]
    if ideal.numbers.get("faults") and "pages_in" in cell.numbers:
        found["faults_over_ideal"] = 1 + read(cell.numbers, ideal.numbers.get("read_kib", 0) / PAGE_KIB) / (
            ideal.numbers["faults"] + ideal.numbers.get("held_pages", 0)
        )
    frames = int(min(cell.numbers.get("free_pages", 0), float(cell.factors.get("frames") or "inf")))
    if min_faults and frames and "pages_in" in cell.numbers:
        pages = len(min_faults)
        found["min_faults"] = min_faults[min(frames, pages) - 1]
        found["faults_over_min"] = (pages + read(cell.numbers, read_first)) / found["min_faults"]
    return found


def read(numbers: Mapping[str, float], known: float) -> float:
    """Pages read from the swap area, and pages of files and metadata beyond the `known` ones."""
    return numbers.get("pages_in", 0) + max(0, numbers.get("read_kib", 0) / PAGE_KIB - known)
