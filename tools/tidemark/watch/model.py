"""What a view knows about a machine: the records so far, and the numbers that it shows for one moment.

Counters grow from boot, so every rate is a difference between two samples divided by the time between them. The graphs
take differences over equal stretches of virtual time, but samples are not evenly spaced (an idle machine is not woken
for a sample): between two samples a counter is taken to grow evenly.

The lamp. PSI (pressure stall information, J. Weiner, Linux 4.20, 2018) counts the time in which `some` process was
stalled for memory, and the part of it in which none was productive (`full`): the machine did nothing but paging. The
lamp's number is the share of `full` in the last second of virtual time, or in the last interval if that is longer:

    full = Δfull_us / Δt_us   over the fewest latest intervals that together last LAMP_US.

The lamp is red if the last second thrashes, as telemetry.thrashing finds from the `pressure` records; otherwise it is
amber if the number is PRESSED or more.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tidemark.telemetry import thrashing
from tidemark.telemetry.stream import TelemetryError

LAMP_US = thrashing.WINDOW_US
PRESSED = 0.1
KEPT = 6000  # samples to keep of a machine that runs without end: ten minutes
ACCOUNTS = ("user_us", "kernel_us", "ready_us", "pagewait_us", "admit_us", "sleep_us")
EVENTS = ("exit", "policy", "violation", "oom")
NEEDED = ("t_us", "idle_us", "running", "held", "free", "owned", "vm", "lists", "procs")
NEEDED_OF_PROCESS = ("pid", "comm", "state", "mad", "rss", "wss", "swap", "majflt", *ACCOUNTS)


@dataclass(frozen=True)
class Pressure:
    """Shares of the time, 0 to 1, in which some task, and in which all tasks, waited for memory; and the verdict."""

    some: float
    full: float
    thrashes: bool = False


@dataclass(frozen=True)
class Moment:
    """One sample and what belongs to it. `before` is the previous sample, None for the first; `event` is the last event
    until this sample, or for the latest sample the last known event; `series` has the counters of all samples until
    this one, float64[n] each, for `rate`."""

    start: dict[str, Any]
    before: dict[str, Any] | None
    now: dict[str, Any]
    policy: str
    event: dict[str, Any] | None
    pressure: Pressure | None
    series: dict[str, np.ndarray]


def check(record: dict[str, Any]) -> None:
    """Raises TelemetryError if a sample lacks a member that the view needs."""
    missing = [name for name in NEEDED if name not in record]
    missing += [
        f"procs.{name}" for process in record.get("procs", ()) for name in NEEDED_OF_PROCESS if name not in process
    ]
    if missing:
        raise TelemetryError(f"the sample of seq {record['seq']} has no {missing[0]}: use the tidemark of its tree")


class Recording:
    """The records of one machine, in order. `keep`: how many samples to remember, None for all."""

    def __init__(self, keep: int | None = None) -> None:
        self.keep = keep
        self.start: dict[str, Any] | None = None
        self.end: dict[str, Any] | None = None
        self.samples: list[dict[str, Any]] = []
        self.pressures: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self._times: list[int] = []
        self._counters: dict[str, list[float]] = {"idle": [], "majflt": [], "full": []}

    def add(self, records: Iterable[dict[str, Any]]) -> None:
        """Add new records. Raises TelemetryError if a sample lacks a member."""
        for record in records:
            if record["ev"] == "start":
                self.start = record
            elif record["ev"] == "sample":
                self._add_sample(record)
            elif record["ev"] == "pressure":
                self.pressures.append(record)
            elif record["ev"] == "end":
                self.end = record
            elif record["ev"] in EVENTS:
                self.events.append(record)
        self._forget()

    def _add_sample(self, record: dict[str, Any]) -> None:
        check(record)
        self.samples.append(record)
        self._times.append(record["t_us"])
        self._counters["idle"].append(record["idle_us"])
        self._counters["majflt"].append(record["vm"]["pgmajfault"])
        self._counters["full"].append(record["psi"]["full_us"] if "psi" in record else float("nan"))

    def _forget(self) -> None:
        if self.keep is None or len(self.samples) <= self.keep:
            return
        surplus = len(self.samples) - self.keep * 9 // 10
        columns: list[list[Any]] = [self.samples, self._times, *self._counters.values()]
        for column in columns:
            del column[:surplus]
        self.pressures = [one for one in self.pressures if one["t_us"] >= self._times[0] - 2 * LAMP_US]
        self.events = [event for event in self.events if event["t_us"] >= self._times[0] or event["ev"] == "policy"]

    def index_at(self, t_us: float) -> int:
        """The index of the last sample at or before `t_us`, 0 if all are later. There must be a sample."""
        return max(0, bisect.bisect_right(self._times, t_us) - 1)

    def pressure(self, at: int) -> Pressure | None:
        """The lamp's numbers at sample `at`; None if the telemetry has no PSI."""
        now = self.samples[at]
        if "psi" not in now:
            return None
        back = bisect.bisect_right(self._times, now["t_us"] - LAMP_US, 0, at) - 1
        none: dict[str, Any] = {"t_us": 0, "psi": {"some_us": 0, "full_us": 0}}
        before = self.samples[back] if back >= 0 else none
        interval = max(now["t_us"] - before["t_us"], 1)
        some, full = (max(0, now["psi"][name] - before["psi"][name]) / interval for name in ("some_us", "full_us"))
        return Pressure(min(some, 1.0), min(full, 1.0), self._thrashes(now["t_us"], at == len(self.samples) - 1))

    def _thrashes(self, t_us: int, latest: bool) -> bool:
        """Returns whether the second until `t_us` thrashes. Before the first second it returns False, except at the end
        of a run that was shorter."""
        points = [self.start or {"t_us": 0}, *(one for one in self.pressures if one["t_us"] <= t_us)]
        window = thrashing.window_at(points, len(points) - 1, latest and self.end is not None) if points[1:] else None
        return window is not None and window.thrashes

    def moment(self, at: int) -> Moment:
        """The Moment of sample `at`."""
        start: dict[str, Any] = self.start or {}
        now = self.samples[at]
        latest = at == len(self.samples) - 1
        past = [event for event in self.events if latest or event["t_us"] <= now["t_us"]]
        policies = [event["name"] for event in past if event["ev"] == "policy"]
        series: dict[str, list[Any]] = {"t": self._times, **self._counters}
        return Moment(
            start=start,
            before=self.samples[at - 1] if at else None,
            now=now,
            policy=policies[-1] if policies else start["policy"],
            event=past[-1] if past else None,
            pressure=self.pressure(at),
            series={name: np.array(values[: at + 1], dtype=float) for name, values in series.items()},
        )


def interval_us(moment: Moment) -> int:
    """The time since the previous sample, or since boot."""
    before = moment.before["t_us"] if moment.before else 0
    return max(int(moment.now["t_us"] - before), 1)


def growth(moment: Moment, *path: str) -> float:
    """Growth of a counter, such as ("vm", "pgmajfault"), since the previous sample; a missing counter is 0."""

    def value(sample: dict[str, Any] | None) -> float:
        found: Any = sample
        for name in path:
            found = (found or {}).get(name)
        return float(found or 0)

    return value(moment.now) - value(moment.before)


def per_second(moment: Moment, *path: str) -> float:
    """Growth of a counter per second of virtual time since the previous sample."""
    return growth(moment, *path) * 1e6 / interval_us(moment)


def utilisation(moment: Moment) -> float:
    """The share of the last interval in which the processor was not idle, 0 to 1."""
    return min(max(1 - growth(moment, "idle_us") / interval_us(moment), 0.0), 1.0)


def disk_service(moment: Moment) -> tuple[float, float, float]:
    """(share of the last interval in which the disk was busy, mean service time, mean response time in ms). The mean
    response includes the wait in the queue, Δwait/Δrequests; both means are 0 if no request ended."""
    ended = growth(moment, "disk", "reads") + growth(moment, "disk", "writes")
    busy, waited = growth(moment, "disk", "busy_us"), growth(moment, "disk", "wait_us")
    share = min(busy / interval_us(moment), 1.0)
    return (share, busy / ended / 1e3, waited / ended / 1e3) if ended else (share, 0.0, 0.0)


def processes(moment: Moment) -> list[dict[str, Any]]:
    """The processes with `faults_s`, major faults per second, and `shares`, how they spent the last interval (six
    accounts, 0 to 1); the largest resident set first."""
    before = {process["pid"]: process for process in (moment.before or {}).get("procs", ())}
    interval = interval_us(moment)
    rows = []
    for process in moment.now["procs"]:
        old = before.get(process["pid"], {})
        grown = [max(0, process[name] - old.get(name, 0)) for name in ACCOUNTS]
        total = sum(grown) or 1
        faults_s = max(0, process["majflt"] - old.get("majflt", 0)) * 1e6 / interval
        rows.append({**process, "faults_s": faults_s, "shares": [part / total for part in grown]})
    return sorted(rows, key=lambda row: (-row["rss"], row["pid"]))


def rate(t: np.ndarray, counter: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Growth of `counter` (float64[n] at times t) per µs between consecutive edges, float64[len(edges) - 1]; nan
    outside the range of t, and where the counter is unknown."""
    if len(t) < 2:
        return np.full(len(edges) - 1, np.nan)
    at_edges = np.interp(edges, t, counter, left=np.nan, right=np.nan)
    growth: np.ndarray = np.diff(at_edges) / np.diff(edges)
    return growth


def edges(t: np.ndarray, window_s: float, bins: int) -> np.ndarray:
    """bins + 1 evenly spaced times of the last `window_s` seconds until t's last (0: from t's first), float64."""
    last = t[-1]
    first = max(last - window_s * 1e6, t[0]) if window_s else t[0]
    return np.linspace(first, max(last, first + 1), bins + 1)
