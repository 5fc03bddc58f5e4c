"""Running a plan of a paper: a sweep, a recording of each cell, or a computation on strings; then its numbers.

A sweep is `tidemark sweep`'s, in a folder in which it continues after Ctrl-C. A trace is recorded and analysed cell by
cell, since it is large: only its numbers stay, in a file for each cell.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidemark.errors import FAILED, LabError
from tidemark.files import write_json
from tidemark.machine import qemu
from tidemark.papers import numbers, on_strings, traces
from tidemark.papers.declared import Paper, Sweep
from tidemark.papers.stored import Run, Stored, declared_as, matches
from tidemark.runs import cluster, results
from tidemark.runs import plan as plans
from tidemark.runs import sweep as sweeps

TRACED = "traced"
Say = Callable[[str], None]
# Runs the missing cells of a sweep.
RunMissing = Callable[[sweeps.Sweep, cluster.Parcel], None]


def variables_of(cell: plans.Cell) -> dict[str, str]:
    """A cell's variables as text, without the disk, whose path differs from tree to tree."""
    return {name: str(value) for name, value in cell.variables.items() if name != "disk"}


def of_sweep(sweep: Sweep, folder: Path, parcel: cluster.Parcel, run_missing: RunMissing) -> Stored:
    """The results of a plan, after its missing cells have run in `folder`. A cell that failed is named, not counted."""
    with sweeps.locked(folder):
        found = sweeps.Sweep(sweep.plan, folder, parcel.described)
        run_missing(found, parcel)
    runs, failed, first = [], [], ""
    for cell in sweep.plan.cells:
        if found.cells[cell.id].state != sweeps.DONE:
            failed.append(f"{cell.id}: {found.cells[cell.id].row.get('reason', 'missing')}")
            continue
        result = results.load(found.place(cell.id))
        first = first or result.meta["kernel_command_line"]
        measured = numbers.of_result(result, sweep.numbers)
        runs.append(Run(variables_of(cell), result.meta["wall_s"], measured))
    described = parcel.described
    kept = [memory(sweep, found, at) for at in range(len(sweep.memory))]
    return Stored(described["sha256"], described["commit"], declared_as(sweep), runs, kept, first, failed)


def memory(sweep: Sweep, found: sweeps.Sweep, at: int) -> dict[str, Any]:
    """The kept curves of a process, of the first run of its side."""
    wanted = sweep.memory[at]
    for cell in sweep.plan.cells:
        run = Run(variables_of(cell), 0, {})
        if matches(run, sweep.sides[wanted.side]) and found.cells[cell.id].state == sweeps.DONE:
            return numbers.memory_of(results.load(found.place(cell.id)), wanted.process, wanted.nth)
    raise LabError(f"plan {sweep.name}: no run of {wanted.side}, of which memory is to be drawn", FAILED)


def of_traces(sweep: Sweep, folder: Path, parcel: cluster.Parcel, image: Path, slots: int, say: Say) -> Stored:
    """The results of a plan whose cells are recorded, which needs the symbols in the folder `image`."""
    place = folder / TRACED / parcel.described["sha256"][:16] / declared_as(sweep)
    place.mkdir(parents=True, exist_ok=True)
    missing = [cell for cell in sweep.plan.cells if not (place / f"{cell.id}.json").exists()]
    stopped = threading.Event()
    with ThreadPoolExecutor(slots, "trace") as pool:
        waiting = {pool.submit(recorded, cell, image, sweep, place, stopped): cell for cell in missing}
        try:
            for done, future in enumerate(as_completed(waiting), 1):
                future.result()
                say(f"{done} of {len(missing)} traces recorded and analysed")
        except BaseException:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise
    runs = []
    for cell in sweep.plan.cells:
        known = json.loads((place / f"{cell.id}.json").read_text())
        runs.append(Run(variables_of(cell), known["wall_s"], known["numbers"]))
    first = qemu.command_line(sweep.plan.cells[0].settings)
    described = parcel.described
    return Stored(described["sha256"], described["commit"], declared_as(sweep), runs, (), first)


def of_strings(sweep: Sweep) -> Stored:
    """The results of a plan of strings, which no image has made."""
    runs = []
    for cell in on_strings.cells(sweep.text):
        wall_s, found = on_strings.measured(cell)
        runs.append(Run(cell, wall_s, {name: found[how] for name, how in sweep.numbers.items() if how in found}))
    return Stored("", "", declared_as(sweep), runs)


def recorded(cell: plans.Cell, image: Path, sweep: Sweep, place: Path, stopped: threading.Event) -> None:
    """Record one cell, analyse its trace, and keep the numbers alone. The run ends soon after `stopped` is set."""

    def look(records: list[dict[str, Any]], words: int) -> None:
        if stopped.is_set():
            raise LabError("stopped")

    work = place / f"{cell.id}.partial"
    shutil.rmtree(work, ignore_errors=True)
    try:
        found = traces.measured(replace(cell.settings, image=image), work, sweep, look)
        write_json(place / f"{cell.id}.json", found)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def carry_out(
    paper: Paper,
    sweep: Sweep,
    parent: Path,
    parcel: cluster.Parcel,
    image: Path,
    run_missing: RunMissing,
    slots: int,
    say: Say,
) -> Stored:
    """Run what is missing of a plan below `parent`, and return its results. Raises LabError if it cannot run here."""
    if sweep.not_run:
        raise LabError(f"{paper.name}, plan {sweep.name}: {sweep.not_run}")
    folder = parent / paper.name / sweep.name
    if sweep.trace:
        folder.mkdir(parents=True, exist_ok=True)
        return of_traces(sweep, folder, parcel, image, slots, say)
    return of_sweep(sweep, folder, parcel, run_missing)
