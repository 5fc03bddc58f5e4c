"""A run's telemetry as tracks of Perfetto (https://ui.perfetto.dev), in the trace-event format of Chrome.

Time is machine time, in µs. The machine is one process of the trace, with counters (utilisation, faults, disk, reclaim,
free frames), a track of the active policies, and marks for events. Each process of the guest is another process of the
trace, with counters and a track of its states.

Samples tell how much of an interval a process spent running, ready or waiting, not when. So a slice of its track shows
what it did *most* of an interval, and has all the amounts as its arguments; neighbours with one name are merged, and a
counter has the shares. The amounts of a process are counted from its start: together they are its lifetime.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, cast

from tidemark.telemetry.stream import Telemetry

ACCOUNTS = ("user_us", "kernel_us", "ready_us", "pagewait_us", "admit_us", "sleep_us")
STATES = {
    "running": ("user_us", "kernel_us"),
    "ready": ("ready_us",),
    "waiting for a page": ("pagewait_us",),
    "held back": ("admit_us",),
    "asleep": ("sleep_us",),
}
MACHINE = 0
POLICY, EVENTS, STATE = 1, 2, 1  # tracks
LATER_LIFE = 1 << 20  # added to the number of a process that has the pid of an earlier one
RATES = {  # counters of `vm` shown per second, by the name of their track
    "faults": ("pgfault", "pgmajfault", "workingset_refault"),
    "swap": ("pswpin", "pswpout"),
    "reclaim": ("pgscan_kswapd", "pgscan_direct", "pgsteal_kswapd", "pgsteal_direct", "allocstall"),
}
Event = dict[str, Any]
Sample = Mapping[str, Any]


def counter(process: int, name: str, t_us: int, values: Mapping[str, float]) -> Event:
    """The values of one track from `t_us` on."""
    return {"ph": "C", "pid": process, "name": name, "ts": t_us, "args": dict(values)}


def named(process: int, name: str, tracks: Mapping[int, str], order: int) -> Iterator[Event]:
    """Events with the names of a process and its tracks."""
    yield {"ph": "M", "pid": process, "name": "process_name", "args": {"name": name}}
    yield {"ph": "M", "pid": process, "name": "process_sort_index", "args": {"sort_index": order}}
    for track, text in tracks.items():
        yield {"ph": "M", "pid": process, "tid": track, "name": "thread_name", "args": {"name": text}}


def part(sample: Sample | None, name: str) -> Mapping[str, Any]:
    """A member that is an object; empty before the first sample, or if it is missing."""
    found: Mapping[str, Any] = (sample or {}).get(name) or {}
    return found


def of_machine(before: Sample | None, now: Sample) -> Iterator[Event]:
    """The machine's counters over the interval that ends with `now`; they are placed at its beginning."""
    start = before["t_us"] if before else 0
    interval = max(now["t_us"] - start, 1)

    def share(name: str, sub: str = "") -> float:
        old, new = (part(before, sub), part(now, sub)) if sub else (before or {}, now)
        return float(min(max(new.get(name, 0) - old.get(name, 0), 0) / interval, 1))

    yield counter(MACHINE, "utilisation %", start, {"busy": 100 * (1 - share("idle_us"))})
    for track, names in RATES.items():
        grown = {name: now["vm"].get(name, 0) - part(before, "vm").get(name, 0) for name in names}
        yield counter(MACHINE, f"{track} a second", start, {name: 1e6 * by / interval for name, by in grown.items()})
    if "disk" in now:
        yield counter(MACHINE, "disk busy %", start, {"busy": 100 * share("busy_us", "disk")})
        yield counter(MACHINE, "disk queue", now["t_us"], {"requests": now["disk"]["queue"]})
    if "psi" in now:
        stalled = {name: 100 * share(f"{name}_us", "psi") for name in ("some", "full")}
        yield counter(MACHINE, "stalled for memory %", start, stalled)
    yield counter(MACHINE, "free frames", now["t_us"], {"frames": sum(now["free"])})
    yield counter(MACHINE, "tasks", now["t_us"], {"running": now["running"], "held back": now["held"]})
    if now["lists"]:
        yield counter(MACHINE, "policy's lists", now["t_us"], now["lists"])


class Lives:
    """The guest's processes: the number of each in the trace, and its open slice."""

    def __init__(self) -> None:
        self._lives: dict[int, int] = {}  # by pid, the number of processes that have had it and ended
        self._known: set[int] = set()
        self._accounts: dict[int, Mapping[str, int]] = {}
        self._open: dict[int, Event] = {}

    def number(self, pid: int, comm: str) -> tuple[int, Iterator[Event]]:
        """A process's number in the trace, and its name events if it is new."""
        process = pid + self._lives.get(pid, 0) * LATER_LIFE
        if process in self._known:
            return process, iter(())
        self._known.add(process)
        return process, named(process, comm, {STATE: "mostly"}, process)

    def spent(self, process: int, t_us: int, accounts: Mapping[str, int]) -> Iterator[Event]:
        """Take note of a process's new amounts; yields its previous slice if its main state has changed."""
        old = self._accounts.get(process, dict.fromkeys(ACCOUNTS, 0))
        grown = {name: max(accounts[name] - old[name], 0) for name in ACCOUNTS}
        self._accounts[process] = accounts
        lasted = sum(grown.values())
        if not lasted:
            return
        spent = {state: sum(grown[name] for name in names) for state, names in STATES.items()}
        shares = {state: 100 * us / lasted for state, us in spent.items() if state != "asleep"}
        yield counter(process, "time %", max(t_us - lasted, 0), shares)
        most, before = max(spent, key=lambda state: spent[state]), self._open.get(process)
        if before and before["name"] == most:
            before["dur"] = t_us - before["ts"]
            before["args"] = {name: before["args"][name] + grown[name] for name in ACCOUNTS}
            return
        start = before["ts"] + before["dur"] if before else max(t_us - lasted, 0)
        self._open[process] = {"ph": "X", "pid": process, "tid": STATE, "name": most, "ts": start}
        self._open[process] |= {"dur": max(t_us - start, 0), "args": grown}
        if before:
            yield before

    def ended(self, pid: int, process: int) -> Iterator[Event]:
        """The last slice of an ended process; its pid can be used again."""
        self._lives[pid] = self._lives.get(pid, 0) + 1
        if process in self._open:
            yield self._open.pop(process)

    def rest(self) -> Iterable[Event]:
        """The last slices of processes that have not ended."""
        return self._open.values()


def of_processes(lives: Lives, before: Sample | None, now: Sample) -> Iterator[Event]:
    """States and counters of the processes in a sample."""
    start, t_us = before["t_us"] if before else 0, now["t_us"]
    old = {row["pid"]: row for row in (before or {}).get("procs", ())}
    for row in now["procs"]:
        process, names = lives.number(row["pid"], row["comm"])
        yield from names
        yield from lives.spent(process, t_us, {name: row[name] for name in ACCOUNTS})
        yield counter(process, "pages", t_us, {name: row[name] for name in ("rss", "wss", "swap")})
        faults = max(row["majflt"] - old.get(row["pid"], row)["majflt"], 0)
        yield counter(process, "major faults a second", start, {"faults": 1e6 * faults / max(t_us - start, 1)})


def of_event(lives: Lives, record: Mapping[str, Any]) -> Iterator[Event]:
    """A mark for an event; for an exit also the process's last slices."""
    t_us, kind = record["t_us"], record["ev"]
    said = {name: value for name, value in record.items() if name not in ("seq", "t_us", "ev", "functions")}
    mark = {"ph": "i", "s": "p", "pid": MACHINE, "tid": EVENTS, "ts": t_us, "args": said}
    if kind == "exit":
        process, names = lives.number(record["pid"], record["comm"])
        yield from names
        yield from lives.spent(process, t_us, dict(zip(ACCOUNTS, record["us"])))
        yield from lives.ended(record["pid"], process)
        yield {**mark, "name": f"exit {record['comm']} {record['pid']}"}
    elif kind in ("oom", "violation"):
        yield {**mark, "name": " ".join(str(record[name]) for name in ("ev", "comm", "rule") if name in record)}


def policies(records: Sequence[Mapping[str, Any]], end_us: int) -> Iterator[Event]:
    """A slice for each policy, from the time at which it took over."""
    took = [(record["t_us"], record["policy"]) for record in records if record["ev"] == "start"]
    took += [(record["t_us"], record["name"]) for record in records if record["ev"] == "policy"]
    for (start, name), (until, _) in zip(took, [*took[1:], (end_us, "")]):
        yield {"ph": "X", "pid": MACHINE, "tid": POLICY, "name": name, "ts": start, "dur": max(until - start, 0)}


def of_telemetry(data: Telemetry, name: str) -> Iterator[Event]:
    """The trace events of a run's telemetry."""
    rows = [data.start, *data.samples, *data.exits, *data.events, *([data.end] if data.end else [])]
    records = sorted(cast("list[dict[str, Any]]", rows), key=lambda record: record["seq"])
    lives, before = Lives(), None
    yield from named(MACHINE, f"machine: {name}", {POLICY: "policy", EVENTS: "events"}, -1)
    yield from policies(records, max(record["t_us"] for record in records))
    for record in records:
        if record["ev"] == "sample":
            yield from of_machine(before, record)
            yield from of_processes(lives, before, record)
            before = record
        else:
            yield from of_event(lives, record)
    yield from lives.rest()


def pieces(data: Telemetry, name: str, events: Iterable[Event] = ()) -> Iterator[str]:
    """The document's text in pieces, so that it need not fit into memory. `events`: more trace events, as of a run's
    event stream."""
    said = json.dumps(data.start["cmdline"])
    yield f'{{"displayTimeUnit":"ms","otherData":{{"cmdline":{said}}},"traceEvents":[\n'
    encoded, between = json.JSONEncoder(separators=(",", ":")).encode, ""
    for event in chain(of_telemetry(data, name), events):
        yield between + encoded(event)
        between = ",\n"
    yield "]}\n"
