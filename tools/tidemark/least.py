"""The least faults of a sweep's commands: MIN (see tidemark.curves.belady) on the recorded references of each.

Only of a command that is one process. Of several, the order of their references depends on the policy itself, and MIN
of one such order is no bound for another.

A command is recorded once, loads and stores, in the memory of its ideal cell; what it refers to depends neither on
policy nor on memory. Of the trace only sweep.least_path stays in the sweep's folder.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tidemark import results, strings
from tidemark.errors import LabError
from tidemark.files import write_atomically
from tidemark.plan import IDEAL, Cell
from tidemark.sweep import DONE, Sweep, least_path
from tidemark.telemetry import TelemetryError

SLOWER = 20

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
            faults = recorded(cell, image)
        except LabError as error:
            say(f"nothing of MIN for {cell.settings.run}: {error}")
            continue
        place = least_path(sweep.folder, cell.id)
        place.parent.mkdir(exist_ok=True)
        write_atomically(place, json.dumps({"image": sweep.image["sha256"], "faults": faults}))


def recorded(cell: Cell, image: Path) -> list[int]:
    """Faults of MIN with 1, 2, ... frames, of a run with QEMU's plugin. LabError when it cannot be recorded."""
    from tidemark.compare import batches, misses_by_size
    from tidemark.curves.belady import MinDistances
    from tidemark.trace.record import record

    settings = replace(cell.settings, image=image, timeout=SLOWER * cell.settings.timeout)
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        made = record(settings, Path(folder, "run"), kinds="data")
        string, optimal = strings.find(str(made.trace)), MinDistances()
        for batch in batches(string):
            optimal.feed(batch)
    capacities = optimal.capacities()
    return misses_by_size(capacities, range(1, len(capacities)))
