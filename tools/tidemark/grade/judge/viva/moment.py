"""The fault that a viva is about, and what the run's events say of it.

The student stands at a major fault, and says which page the policy will evict next. This can be said exactly only if
no other task runs in between, so that lists and accessed bits are what gdb shows. So a fault is taken in which the
faulting process itself asks the policy for the next page to evict, before any switch of tasks, and in which this page
is also the next one whose frame becomes free: no write of an earlier one is under way. Runs with a cap on frames
(frames=) have many: there each fault evicts. The evicted page is a process's own, and its whole story is known: when it
came, and whether it came back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tidemark.debug import evictions
from tidemark.errors import BAD_INPUT, LabError
from tidemark.telemetry.events import MAJOR, SWAP, Events, In, Kind, Row

EARLIEST, LATEST = 0.2, 0.8  # parts of the run in which the fault lies
CAME = {
    In.FAULT: "a fault",
    In.PREFETCH: "read-ahead",
    In.CLAIM: "a fault that found it read ahead",
}


@dataclass(frozen=True)
class Moment:
    """A fault: `fault` is its FAULT event; `needed`: the INSERT that ended it; `chosen`: the SELECT of the page that is
    evicted next; `came`: the INSERT with which that page came; `back`: the fault that brought it back, if there was
    one."""

    fault: Row
    needed: Row
    chosen: Row
    came: Row
    back: evictions.Fault | None


def next_of(places: np.ndarray, place: int) -> int | None:
    """The first of the sorted places after a place."""
    at = int(np.searchsorted(places, place, "right"))
    return int(places[at]) if at < len(places) else None


class Run:
    """A run's events, with the places of each kind that is looked for often."""

    def __init__(self, events: Events) -> None:
        self.events = events
        selected = events.of(Kind.SELECT)
        evicts = [evictions.chosen_to_evict(row) for row in events.each(selected)]
        self.selected = selected[np.array(evicts, bool)]
        self.switched, self.inserted = events.of(Kind.SWITCH), events.of(Kind.INSERT)
        self.ends, self.freed = events.of(Kind.FAULT_END), events.of(Kind.EVICT, Kind.DROP)

    def end_of(self, place: int) -> int | None:
        """The place of the end of the fault at a place, if it was a major one."""
        fault, rows = self.events.row(place), self.events.rows
        later = self.ends[self.ends > place]
        own = later[(rows["pid"][later] == fault.pid)]
        return int(own[0]) if len(own) and rows["how"][own[0]] == MAJOR else None

    def insert_before(self, place: int, row: Row) -> Row | None:
        """The last INSERT of the page of a row, into its frame, before a place."""
        before, rows = self.inserted[self.inserted < place], self.events.rows
        same = before[rows["frame"][before] == row.frame]
        found = self.events.row(int(same[-1])) if len(same) else None
        return found if found and (found.pid, found.page) == (row.pid, row.page) else None

    def moment(self, place: int) -> Moment | None:
        """The moment of the FAULT at a place; None if it cannot be asked about exactly."""
        fault, chosen_at, end = self.events.row(place), next_of(self.selected, place), self.end_of(place)
        switch, freed = next_of(self.switched, place), next_of(self.freed, place)
        if chosen_at is None or end is None or freed is None or chosen_at > end:
            return None
        if switch is not None and switch < chosen_at:
            return None
        chosen = self.events.row(chosen_at)
        if self.events.row(freed).frame != chosen.frame:
            return None
        came, needed = self.insert_before(chosen_at, chosen), self.needed(place, end, fault)
        if chosen.other != fault.pid or not chosen.pid or chosen.store > SWAP or not came or not needed:
            return None
        return Moment(fault, needed, chosen, came, self.back(chosen))

    def needed(self, place: int, end: int, fault: Row) -> Row | None:
        """The INSERT between two places of the page that a fault needs, read from the swap area."""
        between = self.inserted[(self.inserted > place) & (self.inserted < end)]
        for row in self.events.each(between):
            if (row.pid, row.page, row.store) == (fault.pid, fault.page, SWAP):
                return row
        return None

    def back(self, chosen: Row) -> evictions.Fault | None:
        """The fault that brought a chosen page back; None if there was none."""
        found = evictions.eviction(self.events, chosen.pid, chosen.page, chosen.ns)
        return evictions.fault_after(self.events, found)


def drawn(events: Events, below: Callable[[int], int], least: int = 1) -> Moment:
    """A moment of the run, drawn by `below(n)`, a number below n. Raises LabError if the run has fewer than `least`:
    a student could prepare for each of a few."""
    run, rows = Run(events), events.rows
    last = int(rows["ns"][-1]) if len(rows) else 0
    places = events.of(Kind.FAULT)
    times = rows["ns"][places]
    left = places[(times > EARLIEST * last) & (times < LATEST * last)].tolist()
    moments: list[Moment] = []
    while left and len(moments) < least:
        moments += filter(None, [run.moment(left.pop(below(len(left))))])
    if len(moments) >= least:
        return moments[0]
    said = f"it has {f'only {len(moments)}' if moments else 'no'} major fault in which the process itself evicts a page"
    raise LabError(
        f"{said} of a process: run with a cap on frames, such as --frames 60, and more memory in use than that",
        BAD_INPUT,
    )
