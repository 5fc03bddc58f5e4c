"""The pages that were resident when a page was chosen to be evicted, and when each was used next in that run.

The run is repeated with the plugin, which from that moment on also records the first use of each frame
(tools/plugin/uses.c). A page is followed through frames and swap slots: it keeps its identity when it is evicted and
read again. It is used next when a program refers to it, or begins to fault on it.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from tidemark.debug.evictions import chosen_to_evict
from tidemark.errors import FAILED, LabError
from tidemark.runs import experiment, recording, repeat, results
from tidemark.telemetry import events
from tidemark.telemetry.events import SWAP, Events, In, Kind, Out, Row

SLOWER = 8  # times the run's own time limit, because of the plugin


@dataclass(frozen=True)
class Page:
    """A page: of a process's own memory (`pid` and its number there), or of a file (`store`, and its number in it)."""

    pid: int
    page: int
    store: int = 0


@dataclass(frozen=True)
class Use:
    """A resident page and when it was used next, in ns of the kernel's clock; None: not before the end of the run."""

    page: Page
    ns: int | None


@dataclass
class Memory:
    """The contents of the frames that the policy knows, event by event. A page is a number; `names` say which it is."""

    frames: dict[int, int] = field(default_factory=dict)
    slots: dict[int, int] = field(default_factory=dict)  # in the swap area
    files: dict[tuple[int, int], int] = field(default_factory=dict)
    owned: set[int] = field(default_factory=set)  # frames of pages that the policy has
    names: list[Page] = field(default_factory=list)

    def page_of(self, row: Row) -> int:
        """The page of an INSERT, which may be new."""
        if row.how in (In.CLAIM, In.ADOPT) and row.frame in self.frames:
            return self.frames[row.frame]
        if row.store == SWAP and row.number in self.slots:
            return self.slots[row.number]
        fresh = len(self.names)
        page = self.files.setdefault((row.store, row.number), fresh) if row.store > SWAP else fresh
        if page == fresh:
            self.names.append(Page(0, row.number, row.store) if row.store > SWAP else Page(row.pid, row.page))
        return page

    def insert(self, row: Row) -> int:
        """The policy gets a page; returns it."""
        page = self.frames[row.frame] = self.page_of(row)
        if row.pid and row.page and not self.names[page].store:
            self.names[page] = Page(row.pid, row.page)
        self.owned.add(row.frame)
        return page

    def note(self, row: Row) -> int | None:
        """Follow an event; returns the page of an INSERT."""
        if row.kind == Kind.INSERT:
            return self.insert(row)
        if row.kind == Kind.PUTBACK:
            self.owned.add(row.frame)
        elif row.kind == Kind.SELECT:
            self.owned.discard(row.frame)
        elif row.kind == Kind.REMOVE:
            self.owned.discard(row.frame)
            if row.how == Out.FREED:
                self.frames.pop(row.frame, None)
        elif row.kind in (Kind.EVICT, Kind.DROP):
            page = self.frames.pop(row.frame, None)
            if row.kind == Kind.EVICT and row.store == SWAP and page is not None:
                self.slots[row.number] = page
        return None


MOVES = (Kind.INSERT, Kind.PUTBACK, Kind.SELECT, Kind.REMOVE, Kind.EVICT, Kind.DROP)


def after(found: Events, place: int) -> tuple[Use, list[Use]]:
    """The page that the SELECT at `place` chose, and the other resident pages, each with its next use. `found` has USE
    events after that place."""
    memory, chosen = Memory(), found.row(place)
    moves = found.of(*MOVES)
    for row in found.each(moves[moves < place]):
        memory.note(row)
    if not chosen_to_evict(chosen) or chosen.frame not in memory.frames:
        raise LabError(f"event {place} chooses no page to evict", FAILED)
    mine, resident = memory.frames[chosen.frame], {memory.frames[frame] for frame in memory.owned}
    names = list(memory.names)
    uses = first_uses(memory, found, place, resident)
    others = [Use(names[page], uses.get(page)) for page in sorted(resident - {mine})]
    return Use(names[mine], uses.get(mine)), others


def first_uses(memory: Memory, found: Events, place: int, wanted: set[int]) -> dict[int, int]:
    """By page, of those `wanted`, the ns of the first use after a place."""
    uses: dict[int, int] = {}
    faults: dict[tuple[int, int], int] = {}  # by pid and page: the begin of the last fault
    later = found.of(*MOVES, Kind.USE, Kind.FAULT)
    for row in found.each(later[later >= place]):
        if row.kind == Kind.FAULT:
            faults[row.pid, row.page] = row.ns
        elif row.kind == Kind.USE:
            page = memory.frames.get(row.frame)
            if page in wanted:
                uses.setdefault(page, row.ns)
        else:
            page = memory.note(row)
            if page in wanted and row.how in (In.FAULT, In.CLAIM) and (row.pid, row.page) in faults:
                uses.setdefault(page, faults[row.pid, row.page])
    return uses


def repeated(
    result: results.Result, image: Path, scratch: Path, place: int | None, progress: experiment.Progress
) -> Events:
    """The events of a repetition of an exact run, into a folder in `scratch`. `place`: with USE events after it; None:
    without. Raises LabError if the run cannot be repeated, or differs."""
    settings = replace(result.settings(), image=image, timeout=SLOWER * result.meta["settings"]["timeout"])
    folder = Path(tempfile.mkdtemp(dir=scratch), "again")
    again = recording.run(settings, folder, progress, None if place is None else place + 1)
    difference = repeat.first_difference(result, again)
    found = events.read(folder)
    if difference or found is None:
        raise LabError(f"this run differs from {result.folder}: {difference}", FAILED)
    return found


def check_same(found: Events, again: Events) -> None:
    """Raises LabError if a repetition has other events, apart from USE."""
    rows = again.rows[again.rows["kind"] != Kind.USE]
    if len(rows) != len(found) or not np.array_equal(rows, found.rows):
        raise LabError(
            "the repeated run has other events than the result: `tidemark rerun` says where it differs", FAILED
        )
