"""The least faults of a sweep's commands: MIN (see tidemark.curves.belady) on each command's recorded references.

Only for commands of one process. With several, the order of their references depends on the policy itself, and MIN
for one such order is not a bound for another. Pages of files count like others.

A command is recorded once, with loads and stores, in the memory of its ideal cell; its references depend neither on
policy nor on memory. Only sweep.least_path of the trace stays in the sweep's folder.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from tidemark.errors import LabError
from tidemark.files import write_atomically
from tidemark.machine import image as image_of
from tidemark.runs import results
from tidemark.runs.plan import IDEAL, Cell
from tidemark.runs.sweep import DONE, Sweep, least_path
from tidemark.telemetry.stream import TelemetryError
from tidemark.trace import ALL_KINDS, FILE_PAGE

SLOWER = 20
NO_PAGE = 1 << 63

Say = Callable[[str], None]


def wanted(sweep: Sweep) -> list[Cell]:
    """The ideal cells of one process whose least faults with this image are unknown."""
    return [cell for cell in sweep.plan.cells if IDEAL in cell.variables and lacking(sweep, cell)]


def lacking(sweep: Sweep, cell: Cell) -> bool:
    """Has the cell ended well, as one process, and are MIN's faults unknown for it?"""
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
    """Record the `wanted` cells, with the image in that folder. Cells that cannot be recorded are reported. Raises
    LabError if the image is not the sweep's any more."""
    for cell in wanted(sweep):
        if image_of.describe(image)["sha256"] != sweep.image["sha256"]:
            raise LabError(f"the image in {image} changed during the sweep: run the sweep again with one image")
        say(f"recording {cell.settings.run} for its least faults")
        try:
            faults, read_first = recorded(cell, image)
        except LabError as error:
            say(f"no MIN for {cell.settings.run}: {error}")
            continue
        place = least_path(sweep.folder, cell.id)
        place.parent.mkdir(exist_ok=True)
        write_atomically(
            place, json.dumps({"image": sweep.image["sha256"], "read_first": read_first, "faults": faults})
        )


def recorded(cell: Cell, image: Path) -> tuple[list[int], int]:
    """(faults of MIN with 1, 2, ... frames, number of file pages whose first use was not a write), from a run with
    QEMU's plugin. Raises LabError if it cannot be recorded.
    """
    from tidemark.curves.belady import MinDistances
    from tidemark.curves.runs import Choice, Selection
    from tidemark.strings.compare import misses_by_size
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
