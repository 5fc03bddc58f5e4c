"""The least faults of a sweep's commands: MIN (see tidemark.curves.belady) on the recorded references of each.

Only of a command that is one process. Of several, the order of their references depends on the policy itself, and MIN
of one such order is no bound for another. Pages of files count as others do.

A command is recorded once, loads and stores, in the memory of its ideal cell; what it refers to depends neither on
policy nor on memory. Of the trace only sweep.least_path stays in the sweep's folder.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from tidemark import results
from tidemark.errors import LabError
from tidemark.files import write_atomically
from tidemark.plan import IDEAL, Cell
from tidemark.sweep import DONE, Sweep, least_path
from tidemark.telemetry import TelemetryError
from tidemark.trace import ALL_KINDS, FILE_PAGE

SLOWER = 20
NO_PAGE = 1 << 63

Say = Callable[[str], None]


def wanted(sweep: Sweep) -> list[Cell]:
    """The ideal cells of one process whose least faults are not known of this image."""
    return [cell for cell in sweep.plan.cells if IDEAL in cell.variables and lacking(sweep, cell)]


def lacking(sweep: Sweep, cell: Cell) -> bool:
    """Has the cell run well, as one process, and is there nothing of MIN for it?"""
    if sweep.cells[cell.id].state != DONE:
        return False
    try:
        image = json.loads(least_path(sweep.folder, cell.id).read_text())["image"]
    except (OSError, ValueError, KeyError, TypeError):
        image = ""
    if image == sweep.image["sha256"]:
        return False
    try:
        return len(results.load(sweep.place(cell.id)).telemetry().exits) == 1
    except (LabError, TelemetryError):
        return False


def find(sweep: Sweep, image: Path, say: Say) -> None:
    """Record what is `wanted`, with the image in that folder. What cannot be recorded is told."""
    for cell in wanted(sweep):
        say(f"the least faults of {cell.settings.run}: it is recorded")
        try:
            faults, read_first = recorded(cell, image)
        except LabError as error:
            say(f"nothing of MIN for {cell.settings.run}: {error}")
            continue
        place = least_path(sweep.folder, cell.id)
        place.parent.mkdir(exist_ok=True)
        write_atomically(
            place, json.dumps({"image": sweep.image["sha256"], "read_first": read_first, "faults": faults})
        )


def recorded(cell: Cell, image: Path) -> tuple[list[int], int]:
    """Faults of MIN with 1, 2, ... frames, and the pages of files whose first use was no write, of a run with QEMU's
    plugin. LabError when it cannot be recorded.
    """
    from tidemark.compare import misses_by_size
    from tidemark.curves.belady import MinDistances
    from tidemark.curves.runs import Choice, Selection
    from tidemark.trace.format import Reader
    from tidemark.trace.record import record

    settings = replace(cell.settings, image=image, timeout=SLOWER * cell.settings.timeout)
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        made = record(settings, Path(folder, "run"), kinds="data")
        reader, optimal, first_uses = Reader(made.trace), MinDistances(), [np.empty(0, np.uint8)]
        selection = Selection(Choice(), files=bool(reader.files))
        for batch in selection.batches(iter(reader)):
            optimal.feed(batch)
            numbers, at = np.unique(batch.pages, return_index=True)
            first_uses.append(batch.kinds[at[numbers >= sum(map(len, first_uses))]])
    capacities = optimal.capacities()
    of_file = selection.pages()[1] >= (FILE_PAGE if reader.files else NO_PAGE)
    read_first = of_file & (np.concatenate(first_uses) != ALL_KINDS.index("write"))
    return misses_by_size(capacities, range(1, len(capacities))), int(read_first.sum())
