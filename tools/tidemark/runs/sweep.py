"""A sweep: the cells of a plan, each run once, in a folder in which it can be resumed.

    sweep.json   the schema, and the image of the cells
    plan.toml    the latest plan
    cells.csv    a row for each cell of the plan, in its order
    cells/ID/    a result's folder for each cell that has ended, well or not
    min/ID.json  for an ideal cell of one process: its image, and the faults of MIN with 1, 2, ... frames;
                 the last number is the number of pages, each of which comes in once; `read_first`: how many of these
                 pages are read then, from existing files (tidemark.strings.min_faults writes it)
    old/         cells that are no longer wanted, as ID-IMAGE: of another image or plan, or repeated

A folder in cells/ appears in one step, when its run has ended, so it is complete. However a sweep ends, the next one
continues with the missing cells. A cell is valid if its files are unchanged, and its image and kernel command line are
those of this sweep; any other cell is set aside, not deleted. A cell that was set
aside comes back if plan and image match it again.

A cell fails if its command fails, its kernel panics, or it takes too long. That is a result, with a row that says
why, and stays until a retry is requested. All numbers come from cells/, never from cells.csv: the same results give
the same bytes of cells.csv, in any order and on any machines.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import socket
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidemark.errors import USAGE, LabError
from tidemark.files import check_folder, move, write_atomically, write_csv, write_json
from tidemark.machine import qemu
from tidemark.runs import estimate, results, summary
from tidemark.runs.plan import IDEAL, VARIABLES, Cell, Plan
from tidemark.telemetry import stream

SCHEMA = 1
ABOUT, PLAN, TABLE, CELLS, OLD, PARTIAL, LOCK = (
    "sweep.json", "plan.toml", "cells.csv", "cells", "old", "partial", "lock",
)  # fmt: skip
LEAST = "min"
COLUMNS = ("id", *VARIABLES, "state", "exit", "reason")
DONE, FAILED, MISSING = "done", "failed", "missing"


@dataclass
class Standing:
    """The state of one cell. `again` says why an existing result is not used."""

    state: str = MISSING
    row: dict[str, object] = field(default_factory=dict)
    wall_s: float = 0.0
    again: str = ""


def least_path(folder: Path, cell_id: str) -> Path:
    """The file with MIN's faults for a cell of the sweep in `folder`."""
    return folder / LEAST / f"{cell_id}.json"


def least_faults(folder: Path, cell_id: str) -> list[int]:
    """Faults of MIN with 1, 2, ... frames; empty if unknown."""
    return least_known(folder, cell_id)[0]


def least_known(folder: Path, cell_id: str) -> tuple[list[int], int]:
    """(least_faults, number of pages whose first fault reads them from an existing file)."""
    try:
        known = json.loads(least_path(folder, cell_id).read_text())
        return [int(one) for one in known["faults"]], int(known["read_first"])
    except (OSError, ValueError, KeyError, TypeError):
        return [], 0


def check_place(folder: Path) -> None:
    """Raises LabError if the folder holds something other than a sweep of this schema."""
    if not folder.exists():
        return
    check_folder(folder)
    if not (folder / ABOUT).exists() and any(path.name != LOCK for path in folder.iterdir()):
        raise LabError(f"{folder} holds something other than a sweep; give another --out", USAGE)
    if not (folder / ABOUT).exists():
        return
    try:
        about = json.loads((folder / ABOUT).read_text())
        found = (about["kind"], about["schema"], about["results"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError(f"{folder / ABOUT} cannot be read ({error!r}): give another --out") from None
    if found != ("sweep", SCHEMA, results.SCHEMA):
        raise LabError(
            f"{folder / ABOUT} says kind {found[0]}, schema {found[1]}, results of schema {found[2]}; this program "
            f"writes sweep, {SCHEMA} and {results.SCHEMA}: give another --out"
        )


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make `folder` if necessary, and lock other sweeps out. Raises LabError if it cannot be used."""
    check_place(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise LabError(
                f"another sweep ({file.read().strip()}) writes {folder}; wait for it, or give another --out"
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        yield


def row(
    cell: Cell, state: str, code: int | None = None, reason: str = "", numbers: dict[str, Any] | None = None
) -> dict[str, Any]:
    """One row of cells.csv. A failed command has its numbers, too."""
    variables = {name: cell.variables.get(name, "") for name in dict.fromkeys([*VARIABLES, *cell.variables])}
    return {"id": cell.id, **variables, "state": state, "exit": code, "reason": reason, **(numbers or {})}


def numbers_of(result: results.Result) -> dict[str, float]:
    """The run in numbers; empty if its telemetry is incomplete."""
    try:
        return summary.measured_result(result, result.telemetry())
    except stream.TelemetryError:
        return {}


def standing(folder: Path, cell: Cell, image_sha256: str, retry: bool) -> Standing:
    """The state of a cell, from checking its folder."""
    if not folder.exists():
        return Standing(row=row(cell, MISSING))
    try:
        result = results.load(folder)
        results.check_files(result)
        again = why_again(result.meta, cell, image_sha256, retry)
    except LabError as error:
        again = f"it is damaged: {error}"
    except (KeyError, TypeError, AttributeError) as error:
        again = f"it is damaged: its {results.META} lacks what every result has ({error!r})"
    if again:
        return Standing(row=row(cell, MISSING), again=again)
    meta = result.meta
    state = DONE if meta["exit"] == qemu.OK else FAILED
    reason = "" if state == DONE else meta["reason"]
    return Standing(state, row(cell, state, meta["exit"], reason, numbers_of(result)), meta["wall_s"])


def why_again(meta: dict[str, Any], cell: Cell, image_sha256: str, retry: bool) -> str:
    """Why a complete result is not valid for the cell; empty if it is valid."""
    if meta["state"] != "done":
        return f"it was not finished ({meta['state']})"
    if meta["image"]["sha256"] != image_sha256:
        return f"it has another image ({meta['image']['sha256'][:12]}, {meta['image']['commit'] or 'no commit'})"
    if meta["kernel_command_line"] != qemu.command_line(cell.settings):
        return "it has another kernel command line"
    if meta["exit"] != qemu.OK and retry:
        return "it failed, and a retry was requested"
    if meta["exit"] == qemu.TIMED_OUT and meta["settings"]["timeout"] != cell.settings.timeout:
        return f"its timeout was {meta['settings']['timeout']:g} s"
    return ""


class Sweep:
    """A sweep's folder and its cells. `notes` are sentences on cells that are set aside or come back."""

    def __init__(self, plan: Plan, folder: Path, image: dict[str, str], retry: bool = False) -> None:
        self.plan, self.folder, self.image = plan, folder, image
        self.came_back = self.returning()
        self.cells = {cell.id: self.find(cell, retry) for cell in plan.cells}
        self.notes = list(self.remarks())

    def place(self, cell_id: str) -> Path:
        """The folder of a cell's result."""
        return self.folder / CELLS / cell_id

    def returning(self) -> dict[str, Path]:
        """Cells that were set aside, are wanted again, and have no result in cells/."""
        old = {cell.id: self.folder / OLD / f"{cell.id}-{self.image['sha256'][:12]}" for cell in self.plan.cells}
        return {name: path for name, path in old.items() if path.exists() and not self.place(name).exists()}

    def find(self, cell: Cell, retry: bool) -> Standing:
        """The state of a cell."""
        return standing(self.came_back.get(cell.id, self.place(cell.id)), cell, self.image["sha256"], retry)

    def strangers(self) -> list[Path]:
        """Folders of cells that are not in the plan."""
        return [path for path in sorted((self.folder / CELLS).glob("*")) if path.name not in self.cells]

    def remarks(self) -> Iterator[str]:
        """Sentences on what is set aside or comes back, and why."""
        for why, count in Counter(one.again for one in self.cells.values() if one.again).items():
            names = [name for name, one in self.cells.items() if one.again == why]
            which = names[0] + (", …" if count > 1 else "")
            yield f"{counted(count)} not valid: {why} ({which}); set aside in {self.folder / OLD}"
        if self.strangers():
            yield f"{counted(len(self.strangers()))} not in this plan; set aside in {self.folder / OLD}"
        back = sum(self.cells[name].state != MISSING for name in self.came_back)
        if back:
            yield f"{counted(back)} of this plan and image again, and taken from {self.folder / OLD}"

    def count(self, state: str) -> int:
        """Number of cells in a state."""
        return sum(one.state == state for one in self.cells.values())

    def missing(self) -> list[Cell]:
        """The missing cells: ideal ones, with which others are compared, then those that probably take longest."""
        cells = [cell for cell in self.plan.cells if self.cells[cell.id].state == MISSING]
        return sorted(cells, key=lambda cell: (IDEAL not in cell.variables, estimate.weight(cell.variables)))

    def known(self) -> list[tuple[dict[str, Any], float]]:
        """Variables and host seconds of the cells that ended by themselves."""
        standings = ((cell, self.cells[cell.id]) for cell in self.plan.cells)
        return [(cell.variables, one.wall_s) for cell, one in standings if one.wall_s]

    def rows(self) -> list[dict[str, object]]:
        """The rows of cells.csv, in the plan's order."""
        return [self.cells[cell.id].row for cell in self.plan.cells]

    def write_table(self) -> None:
        """Write cells.csv in its current state."""
        write_csv(self.folder / TABLE, self.rows(), COLUMNS)

    def settle(self) -> None:
        """Adapt the folder to the plan: set cells aside, take others back, copy the plan."""
        about = {"schema": SCHEMA, "kind": "sweep", "results": results.SCHEMA, "image": self.image}
        write_json(self.folder / ABOUT, about)
        write_atomically(self.folder / PLAN, self.plan.text)
        shutil.rmtree(self.folder / PARTIAL, ignore_errors=True)
        for name in (CELLS, PARTIAL):
            (self.folder / name).mkdir(exist_ok=True)
        for path in [*self.strangers(), *(self.place(name) for name, one in self.cells.items() if one.again)]:
            self.set_aside(path)
        for name, path in self.came_back.items():
            if not self.cells[name].again:
                move(path, self.place(name))
        self.write_table()

    def set_aside(self, path: Path) -> None:
        """Move a cell's folder to old/, where a cell has one name for each image."""
        if not path.exists():
            return
        try:
            made_with = results.load(path).meta["image"]["sha256"][:12]
        except (LabError, KeyError, TypeError):
            made_with = "damaged"
        target = self.folder / OLD / f"{path.name}-{made_with}"
        target.parent.mkdir(exist_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        move(path, target)

    def store(self, cell: Cell, files: dict[str, bytes]) -> None:
        """Store a cell's files in its folder, in one step."""
        partial = self.folder / PARTIAL / cell.id
        try:
            partial.mkdir(exist_ok=True)
            for name, data in files.items():
                (partial / name).write_bytes(data)
            move(partial, self.place(cell.id))
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        self.cells[cell.id] = self.find(cell, retry=False)

    def give_up(self, cell: Cell, reason: str) -> None:
        """Record a cell that was lost too often: it has no result."""
        self.cells[cell.id] = Standing(FAILED, row(cell, FAILED, reason=reason))


def counted(nr: int) -> str:
    """A number of cells as text: `1 cell is`, `2 cells are`."""
    return "1 cell is" if nr == 1 else f"{nr} cells are"
