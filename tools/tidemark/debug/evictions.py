"""Why a page was evicted, from a run's event stream (tidemark.telemetry.events): who took its frame, when it came back,
and how long that fault waited.

Pages are those of a process's own memory, by its pid and the number of the page in its address space. Times are
nanoseconds of the kernel's clock. Places are indexes of events.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidemark.errors import USAGE, LabError
from tidemark.telemetry.events import EVICTS, FAILED, MAJOR, SWAP, Account, Events, Kind, Row


@dataclass(frozen=True)
class Eviction:
    """One eviction of a page: the `number`th of `of`. `chosen`: the place at which the policy gave the page; `gone`: at
    which its frame was free."""

    number: int
    of: int
    chosen: int
    gone: int


@dataclass(frozen=True)
class Fault:
    """A page fault: from `begin_ns` to `end_ns`, of which it waited `wait_ns` for pages and frames."""

    pid: int
    page: int
    begin_ns: int
    end_ns: int
    wait_ns: int
    major: bool


def time(ns: int) -> str:
    """A time as text: 0.007378059 s."""
    return f"{ns / 1e9:.9f} s"


def task(events: Events, pid: int) -> str:
    """A task as text: `thrash 5`."""
    return f"{events.names().get(pid, 'task')} {pid}"


def about(events: Events, kind: Kind, pid: int, page: int) -> np.ndarray:
    """int[n]: the places of the events of a kind about a page of a process's own memory."""
    rows = events.rows
    return np.flatnonzero(
        (rows["kind"] == kind) & (rows["pid"] == pid) & (rows["page"] == page) & (rows["store"] <= SWAP)
    )


def check(events: Events, pid: int, page: int, at_ns: int | None) -> None:
    """Raises LabError if the process or the page never existed, or the time is outside of the run."""
    names, end = events.names(), int(events.rows["ns"][-1]) if len(events) else 0
    if pid not in names or not pid:
        known = ", ".join(f"{pid} {name}" for pid, name in sorted(names.items()) if pid)
        raise LabError(f"no process with pid {pid} ran; the run has {known}", USAGE)
    if at_ns is not None and at_ns > end:
        raise LabError(f"--at: the run ended at {time(end)}", USAGE)
    if page >> 20:
        raise LabError(
            f"{page:#x} is not the number of a page: that of an address is address / 4096 (0xfffff at most)", USAGE
        )
    if not any(len(about(events, kind, pid, page)) for kind in (Kind.FAULT, Kind.INSERT, Kind.SELECT)):
        raise LabError(f"{task(events, pid)} never had a page {page:#x}", USAGE)


def eviction(events: Events, pid: int, page: int, at_ns: int | None) -> Eviction:
    """The last eviction of a page that began up to `at_ns`; None: the last of the run. Raises LabError if there is
    none, and as `check` does."""
    check(events, pid, page, at_ns)
    gone = about(events, Kind.EVICT, pid, page)
    if not len(gone):
        raise LabError(f"page {page:#x} of {task(events, pid)} was never evicted", USAGE)
    rows = events.rows
    selected = events.of(Kind.SELECT)
    chosen = []
    for place in gone:
        same = selected[: np.searchsorted(selected, place)]
        chosen.append(int(same[rows["frame"][same] == rows["frame"][place]][-1]))
    number = len(gone) if at_ns is None else int(np.searchsorted(rows["ns"][chosen], at_ns, "right"))
    if not number:
        first = time(int(rows["ns"][chosen[0]]))
        raise LabError(f"page {page:#x} of {task(events, pid)} was first evicted at {first}, after --at", USAGE)
    return Eviction(number, len(gone), chosen[number - 1], int(gone[number - 1]))


def taker(events: Events, found: Eviction) -> Row | None:
    """The next page that the policy got in the frame of an evicted one: an INSERT; None if there was none. A page that
    is read ahead has no owner yet: its pid and number are those with which it was evicted to its slot."""
    rows, gone = events.rows[found.gone :], events.row(found.gone)
    same = (rows["kind"] == Kind.INSERT) & (rows["frame"] == gone.frame)
    if not same.any():
        return None
    place = found.gone + int(same.argmax())
    took, rows = events.row(place), events.rows[:place]
    slot = (rows["kind"] == Kind.EVICT) & (rows["store"] == SWAP) & (rows["number"] == took.number) & (rows["pid"] != 0)
    if took.pid or took.store != SWAP or not slot.any():
        return took
    before = events.row(int(np.flatnonzero(slot)[-1]))
    return took._replace(pid=before.pid, page=before.page)


def until(events: Events, found: Eviction) -> int:
    """The place at which a page is evicted to the same slot again: this page if it was read ahead and not used, or
    another one after this one came back. The number of events if there is none."""
    gone, rows = events.row(found.gone), events.rows
    same = (rows["kind"] == Kind.EVICT) & (rows["store"] == gone.store) & (rows["number"] == gone.number)
    later = np.flatnonzero(same[found.gone + 1 :])
    return found.gone + 1 + int(later[0]) if len(later) else len(events)


def return_of(events: Events, found: Eviction) -> Row | None:
    """The INSERT with which the page came back into memory; None if it did not."""
    gone, rows = events.row(found.gone), events.rows[found.gone : until(events, found)]
    same = (rows["kind"] == Kind.INSERT) & (rows["store"] == gone.store) & (rows["number"] == gone.number)
    return events.row(found.gone + int(same.argmax())) if same.any() else None


def fault_after(events: Events, found: Eviction) -> Fault | None:
    """The fault of its process that brought an evicted page back, or found it read ahead; None if there was none."""
    gone = events.row(found.gone)
    ends = about(events, Kind.FAULT_END, gone.pid, gone.page)
    good = ends[(ends > found.chosen) & (ends < until(events, found)) & (events.rows["how"][ends] != FAILED)]
    return fault(events, int(good[0])) if len(good) else None


def fault(events: Events, end: int) -> Fault:
    """The fault that ends with the FAULT_END at a place."""
    row = events.row(end)
    begins = about(events, Kind.FAULT, row.pid, row.page)
    begin = int(begins[np.searchsorted(begins, end) - 1])
    begin_ns = int(events.rows["ns"][begin])
    return Fault(row.pid, row.page, begin_ns, row.ns, waited(events, begin, end, row.pid), row.how == MAJOR)


def waited(events: Events, begin: int, end: int, pid: int) -> int:
    """The ns that a task waited for pages and frames between two places."""
    total, since = 0, None
    rows = events.rows[begin:end]
    switched, woken = rows["kind"] == Kind.SWITCH, rows["kind"] == Kind.WAKE
    own = (switched & (rows["other"] == pid) & (rows["how"] == Account.PAGEWAIT)) | (woken & (rows["pid"] == pid))
    for row in events.each(begin + np.flatnonzero(own)):
        if row.kind == Kind.SWITCH:
            since = row.ns
        elif since is not None:
            total, since = total + row.ns - since, None
    return total


def longest(events: Events, count: int) -> list[Fault]:
    """The `count` major faults on evicted pages that waited longest, the longest first."""
    open_, ended = {}, []
    evicted = {(row.pid, row.page) for row in events.each(events.of(Kind.EVICT)) if row.store == SWAP}
    since: dict[int, int] = {}
    for row in events.each(events.of(Kind.FAULT, Kind.FAULT_END, Kind.SWITCH, Kind.WAKE)):
        if row.kind == Kind.FAULT:
            open_[row.pid] = [row.ns, 0]
        elif row.kind == Kind.SWITCH:
            if row.how == Account.PAGEWAIT:
                since[row.other] = row.ns
        elif row.kind == Kind.WAKE:
            if row.pid in since and row.pid in open_:
                open_[row.pid][1] += row.ns - since[row.pid]
            since.pop(row.pid, None)
        elif row.pid in open_:
            begin, wait = open_.pop(row.pid)
            if row.how == MAJOR and (row.pid, row.page) in evicted:
                ended.append(Fault(row.pid, row.page, begin, row.ns, wait, True))
    return sorted(ended, key=lambda one: -one.wait_ns)[:count]


def chosen_to_evict(row: Row) -> bool:
    """Does a SELECT give a page to be evicted, not only to be unmapped or written?"""
    return row.how & 15 == EVICTS
