"""A run's event stream as tracks of Perfetto, beside those of tracks.py: exact times instead of samples.

The machine gets a track with the task that runs, one with evictions, one with the ends of requests, and one for each
request that is in flight at the same time. Each process gets a track of its states and one of its faults. Arrows lead
from the task that submits a request through the request to its end, and from an eviction to the fault that brings the
page back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tidemark.telemetry.events import FAILED, Account, Events, Kind, Row, Why

MACHINE = 0  # a process of the trace, as in tracks.py
CPU, EVICTED, ENDED, DISK = 3, 4, 5, 16  # its tracks; requests in flight have DISK and those after it
STATE, FAULTS = 2, 3  # tracks of a process of the guest
STATES = {
    Account.USER: "running",
    Account.KERNEL: "running",
    Account.READY: "ready",
    Account.PAGEWAIT: "waiting for a page",
    Account.ADMIT: "held back",
    Account.SLEEP: "asleep",
}
REASONS = {
    Why.KSWAPD: "a kernel thread frees frames",
    Why.DIRECT: "a task found no free frame",
    Why.CAP: "the cap on frames",
    Why.TRIM: "surplus of its process",
}
FAULT_NAMES = ("failed fault", "minor fault", "major fault")
MARK_NS = 1000  # the longest slice that stands for an instant
Event = dict[str, Any]


def us(ns: int) -> float:
    """Nanoseconds in the format's unit."""
    return ns / 1000


def piece(process: int, track: int, name: str, begin: int, end: int, args: Mapping[str, Any]) -> Event:
    """A slice from `begin` to `end`, in ns."""
    at = {"ph": "X", "pid": process, "tid": track, "name": name, "ts": us(begin), "dur": us(end - begin)}
    return at | ({"args": dict(args)} if args else {})


def arrow(phase: str, what: str, number: int, process: int, track: int, ns: int) -> Event:
    """A point of an arrow: `phase` s is its start, t a step, f its end. It belongs to the slice of its track there."""
    at = {"ph": phase, "cat": what, "name": what, "id": number, "pid": process, "tid": track, "ts": us(ns)}
    return at | ({"bp": "e"} if phase == "f" else {})


def marks(events: Events, kind: Kind) -> Iterator[int]:
    """For each event of a kind the length in ns of the slice that stands for it: it ends before the next one begins."""
    times = events.rows["ns"][events.of(kind)].astype("i8")
    return iter(np.minimum(np.diff(times, append=times[-1:] + MARK_NS), MARK_NS).tolist())


class Scene:
    """What is going on at an event: open slices, by their keys."""

    def __init__(self, events: Events) -> None:
        self.names: dict[int, str] = {0: "idle"}
        self.tracks: dict[tuple[int, int], str] = {}
        self.states: dict[int, tuple[str, int]] = {}  # by pid: state, since
        self.runs: tuple[int, int] = (0, 0)  # pid, since
        self.faults: dict[int, tuple[int, bool]] = {}  # by pid: begin, writes
        self.requests: dict[int, tuple[int, int, int, Row]] = {}  # by number: lane, arrow, begin, event
        self.lanes: list[int] = []  # of each: the request in it, 0 if none
        self.evicted: dict[tuple[int, int], tuple[int, int]] = {}  # by pid and page: arrow, when
        self.arrows = 0
        self.marks = {kind: marks(events, kind) for kind in (Kind.EVICT, Kind.DONE)}

    def name(self, pid: int) -> str:
        """A task as text: `thrash 5`."""
        return f"{self.names.get(pid, 'task')} {pid}"

    def track(self, process: int, track: int, text: str) -> int:
        """A track, which gets the name when it is first used."""
        self.tracks.setdefault((process, track), text)
        return track

    def state(self, pid: int, state: str, ns: int) -> Iterator[Event]:
        """The task changes its state; yields the slice of the state before."""
        before, since = self.states.get(pid, ("", ns))
        self.states[pid] = (state, ns)
        if before and pid:
            yield piece(pid, self.track(pid, STATE, "state"), before, since, ns, {})

    def on_task(self, e: Row) -> Iterator[Event]:
        self.names[e.pid] = e.name
        yield from ()

    def on_switch(self, e: Row) -> Iterator[Event]:
        ns, pid, other = e.ns, e.pid, e.other
        runs, since = self.runs
        if runs:
            yield piece(MACHINE, self.track(MACHINE, CPU, "the task that runs"), self.name(runs), since, ns, {})
        self.runs = (pid, ns)
        yield from self.state(other, STATES[Account(e.how)], ns)
        yield from self.state(pid, "running", ns)

    def on_wake(self, e: Row) -> Iterator[Event]:
        yield from self.state(e.pid, "ready", e.ns)

    def on_fault(self, e: Row) -> Iterator[Event]:
        self.faults[e.pid] = (e.ns, bool(e.how))
        yield from ()

    def on_fault_end(self, e: Row) -> Iterator[Event]:
        pid, page, ns = e.pid, e.page, e.ns
        begin, writes = self.faults.pop(pid, (ns, False))
        track = self.track(pid, FAULTS, "faults")
        yield piece(pid, track, FAULT_NAMES[e.how], begin, ns, {"page": hex(page), "writes": writes})
        if e.how == FAILED or (pid, page) not in self.evicted:
            return
        number, when = self.evicted.pop((pid, page))
        yield arrow("s", "refault", number, MACHINE, EVICTED, when)
        yield arrow("f", "refault", number, pid, track, begin)

    def on_request(self, e: Row) -> Iterator[Event]:
        pid, ns, number = e.pid, e.ns, e.number
        lane = self.lanes.index(0) if 0 in self.lanes else len(self.lanes)
        self.lanes[lane : lane + 1] = [number]
        self.arrows += 1
        self.requests[number] = (lane, self.arrows, ns, e)
        if pid:
            yield arrow("s", "request", self.arrows, pid, self.track(pid, STATE, "state"), ns)

    def on_done(self, e: Row) -> Iterator[Event]:
        mark = next(self.marks[Kind.DONE])
        if e.number not in self.requests:
            return
        lane, number, begin, request = self.requests.pop(e.number)
        ns, pid = e.ns, request.pid
        self.lanes[lane] = 0
        track = self.track(MACHINE, DISK + lane, f"request {lane + 1}")
        text = f"{'write' if request.how & 1 else 'read'} {request.frame} pages"
        args = {"sector": request.page, "sectors": request.other, "by": self.name(pid)}
        yield piece(MACHINE, track, text, begin, ns, args | ({"error": e.how} if e.how else {}))
        yield arrow("t" if pid else "s", "request", number, MACHINE, track, begin)
        end = self.track(MACHINE, ENDED, "ends of requests")
        yield piece(MACHINE, end, f"end of {text}", ns, ns + mark, {})
        yield arrow("f", "request", number, MACHINE, end, ns)

    def on_evict(self, e: Row) -> Iterator[Event]:
        pid, page, ns = e.pid, e.page, e.ns
        whose = f"of {self.name(pid)}" if pid else f"of file {e.store}" if e.store > 1 else "of no process"
        args = {"reason": REASONS[e.why], "by": self.name(e.other), "priority": e.priority}
        args |= {"frame": e.frame}
        track = self.track(MACHINE, EVICTED, "evictions")
        yield piece(MACHINE, track, f"evict {page:#x} {whose}", ns, ns + next(self.marks[Kind.EVICT]), args)
        self.arrows += 1
        self.evicted[pid, page] = (self.arrows, ns)

    def rest(self, end: int) -> Iterator[Event]:
        """The slices that are open at the end, and the names of tracks and of processes."""
        for pid in [pid for pid, (state, _) in self.states.items() if pid and state != "asleep"]:  # or it has ended
            yield from self.state(pid, "", end)
        if self.runs[0]:
            yield piece(MACHINE, CPU, self.name(self.runs[0]), self.runs[1], end, {})
        for (process, track), text in self.tracks.items():
            yield {"ph": "M", "pid": process, "tid": track, "name": "thread_name", "args": {"name": text}}


def trace(events: Events) -> Iterator[Event]:
    """The trace events of a run's event stream."""
    scene = Scene(events)
    handlers = {
        Kind.TASK: scene.on_task,
        Kind.SWITCH: scene.on_switch,
        Kind.WAKE: scene.on_wake,
        Kind.FAULT: scene.on_fault,
        Kind.FAULT_END: scene.on_fault_end,
        Kind.REQUEST: scene.on_request,
        Kind.DONE: scene.on_done,
        Kind.EVICT: scene.on_evict,
    }
    for row in events.each(events.of(*handlers)):
        yield from handlers[Kind(row.kind)](row)
    yield from scene.rest(int(events.rows["ns"][-1]) if len(events) else 0)
    for pid, name in scene.names.items():
        if pid:
            yield {"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}}
