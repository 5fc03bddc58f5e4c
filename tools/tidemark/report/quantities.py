"""Telemetry as columns over time.

docs/reference/telemetry.md defines the members, docs/reference/measuring.md the quantities.

A rate or a share describes the interval that ends at its time; the first interval begins at the `start` record, when
all counters were 0. A level (free pages, RSS) is the value at its time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tidemark.report.text import printable
from tidemark.runs.summary import ACCOUNTS, process
from tidemark.telemetry.records import MEMBERS, Mm, Oom, Policy, Profile, Violation
from tidemark.telemetry.stream import Telemetry, column

Columns = dict[str, np.ndarray]
WINDOW_S = 1.0
FAR_APART = 10


def times(data: Telemetry) -> np.ndarray:
    """Seconds since boot of each sample, float64[n]."""
    return column(data.samples, "t_us") / 1e6


def grown(data: Telemetry, values: np.ndarray, first: float) -> np.ndarray:
    """The growth of `values`, which are `first` at the start, in the interval that ends at each sample, float64[n].

    The last sample comes at power-off. If its interval is less than half the usual one, it gets the growth of that
    interval and the one before together: few faults in a few microseconds do not make a rate.
    """
    before = np.concatenate([[first], values[:-1]])
    lengths = np.diff(column(data.samples, "t_us"), prepend=data.start["t_us"])
    if len(values) > 1 and lengths[-1] < np.median(lengths) / 2:
        before[-1] = before[-2]
    grown: np.ndarray = values - before
    return grown


def intervals(data: Telemetry) -> np.ndarray:
    """Length in seconds of the interval that each sample describes, float64[n]; nan where it is not positive."""
    lengths = grown(data, times(data), data.start["t_us"] / 1e6)
    return np.where(lengths > 0, lengths, np.nan)


def growth(data: Telemetry, name: str) -> np.ndarray:
    """The growth of a counter, which begins at 0, in each interval, float64[n]; nan where it is absent."""
    return grown(data, column(data.samples, name), 0.0)


def share(data: Telemetry, name: str) -> np.ndarray:
    """The growth of a counter of microseconds in percent of each interval, float64[n]."""
    percent: np.ndarray = growth(data, name) / 1e4 / intervals(data)
    return percent


def per_second(data: Telemetry, name: str) -> np.ndarray:
    """The growth of a counter per second, in each interval, float64[n]."""
    rate: np.ndarray = growth(data, name) / intervals(data)
    return rate


def member(data: Telemetry, name: str) -> np.ndarray:
    """A member of the samples as it is drawn, float64[n]: a level as it is; a counter's growth per second, or, for
    a counter of µs, in percent of each interval.
    """
    described = MEMBERS[f"sample.{name}"]
    if described.kind != "COUNTER":
        return column(data.samples, name)
    return share(data, name) if described.unit == "µs" else per_second(data, name)


def unit_of(name: str) -> str:
    """The unit of the values of `member`."""
    described = MEMBERS[f"sample.{name}"]
    if described.kind == "COUNTER":
        return "%" if described.unit == "µs" else "per s"
    return described.unit


def utilisation(data: Telemetry) -> np.ndarray:
    """CPU utilisation, 1 - (idle in the interval) / interval: percent, float64[n]."""
    return 100 - share(data, "idle_us")


def stalled(data: Telemetry) -> np.ndarray:
    """Seconds in which all tasks that were not idle stalled on memory, since boot, float64[n]."""
    seconds: np.ndarray = column(data.samples, "psi.full_us") / 1e6
    return seconds


def minor_faults(data: Telemetry) -> np.ndarray:
    """Faults that are not major, per second, float64[n]."""
    rate: np.ndarray = (growth(data, "vm.pgfault") - growth(data, "vm.pgmajfault")) / intervals(data)
    return rate


def disk_response(data: Telemetry) -> np.ndarray:
    """Mean time of the requests from submission to end, in each interval, ms; nan without requests."""
    requests = growth(data, "disk.reads") + growth(data, "disk.writes")
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(requests > 0, growth(data, "disk.wait_us") / requests / 1e3, np.nan)


def zones(data: Telemetry) -> list[tuple[Mapping[str, Any], Columns]]:
    """For each zone that manages pages: its entry in `start` (name, min, low, high), and its free and owned pages."""
    found: list[tuple[Mapping[str, Any], Columns]] = []
    for at, zone in enumerate(data.start.get("zones", [])):
        if zone["managed"]:
            free, owned = (
                np.array(part, float) for part in zip(*((s["free"][at], s["owned"][at]) for s in data.samples))
            )
            named = {**zone, "name": printable(zone["name"])}
            found.append((named, {"time_s": times(data), "free_pages": free, "owned_pages": owned}))
    return found


def lists(data: Telemetry) -> Columns:
    """The values that the policy shows of its lists; nan while another policy is in charge."""
    shown = [sample.get("lists", {}) for sample in data.samples]
    names = dict.fromkeys(name for one in shown for name in one)
    values = {printable(name): np.array([one.get(name, np.nan) for one in shown], float) for name in names}
    return {"time_s": times(data)} | values


def list_kinds(columns: Columns) -> tuple[list[str], list[str]]:
    """(names of levels, names of counters) among the values that the policy shows; those that are always 0 are in
    neither. The policy does not say which is which; counters are those that never shrink."""
    peaks = {name: np.nanmax(values, initial=0) for name, values in columns.items() if name != "time_s"}

    def counts(name: str) -> bool:
        values = columns[name][~np.isnan(columns[name])]
        return bool(len(values) > 2 and (np.diff(values) >= 0).all() and values[len(values) // 2] < values[-1])

    shown = [name for name, peak in peaks.items() if peak > 0]
    return [name for name in shown if not counts(name)], [name for name in shown if counts(name)]


def processes(data: Telemetry, members: Sequence[str]) -> dict[tuple[int, str], Columns]:
    """Time and these members of each process except init, by (pid, last comm), in order of pid.

    A process that was created and ended between two samples is missing.
    """
    rows: dict[int, list[tuple[float, ...]]] = {}
    names: dict[int, str] = {}
    for sample in data.samples:
        entries: list[Any] = list(sample.get("procs", []))
        for entry in entries:
            rows.setdefault(entry["pid"], []).append(
                (sample["t_us"] / 1e6, *(entry.get(name, np.nan) for name in members))
            )
            names[entry["pid"]] = entry["comm"]
    return {
        (pid, printable(names[pid])): dict(zip(("time_s", *members), np.array(rows[pid], float).T))
        for pid in sorted(rows)
        if pid != 1
    }


def fault_rates(data: Telemetry) -> dict[tuple[int, str], Columns]:
    """`major_faults_per_s` of each process except init, at the end of each WINDOW_S or hundredth of a shorter run, from
    the sample before its first to its last. Between samples the faults are taken to grow evenly."""
    at = np.concatenate([[data.start["t_us"] / 1e6], times(data)])
    length = min(WINDOW_S, (at[-1] - at[0]) / 100)
    edges = at[0] + length * np.arange(int((at[-1] - at[0]) / length + 1e-9) + 1)
    found: dict[tuple[int, str], Columns] = {}
    for key, columns in processes(data, ["majflt"]).items():
        before = at[np.searchsorted(at, columns["time_s"][0]) - 1]
        known = np.concatenate([[before], columns["time_s"]])
        inside = edges[(edges >= before) & (edges <= known[-1])]
        counts = np.interp(inside, known, np.concatenate([[0.0], columns["majflt"]]))
        found[key] = {"time_s": inside[1:], "major_faults_per_s": np.maximum(np.diff(counts), 0) / length}
    return found


def space_time(data: Telemetry) -> list[dict[str, Any]]:
    """The ended processes: the columns of the summary, then space-time by account in page-seconds.

    C_B is the sum over the accounts: running (user), housekeeping (kernel), ready, waiting for a page, waiting for
    admission, other sleep. Waits of minor faults are separate from the other waits for a page.
    """
    rows = []
    for record in data.exits:
        parts = {f"{name}_page_s": ms / 1e3 for name, ms in zip(ACCOUNTS, record["page_ms"])}
        parts["minor_wait_page_s"] = record["delta_terms"]["minor_wait"] / 1e3
        parts["pagewait_page_s"] -= parts["minor_wait_page_s"]
        rows.append(process(record) | parts | {"command": printable(record["comm"])})
    return rows


def happened(event: Mm | Policy | Violation | Oom | Profile) -> str:
    """The text of a mark for an event of the telemetry; empty if the event is not marked."""
    if event["ev"] == "policy":
        return f"policy {event['name']}"
    if event["ev"] == "oom":
        return f"out of memory: {event['comm']} {event['pid']}"
    if event["ev"] == "violation":
        return f"{event.get('policy') or event.get('guard')} broke a rule: {event['rule']}"
    return ""


def marks(data: Telemetry) -> Iterator[tuple[float, str]]:
    """The events for vertical lines: (seconds, text)."""
    for event in data.events:
        if text := happened(event):
            yield event["t_us"] / 1e6, printable(text)


def turns(data: Telemetry) -> list[tuple[float, str, str]]:
    """Exits and changes of `held`: (seconds, exit or suspended or admitted, text). `held` is known only at samples."""
    found = [(record["t_us"] / 1e6, "exit", printable(f"{record['comm']} {record['pid']}")) for record in data.exits]
    before = 0
    for sample in data.samples:
        held = sample.get("held", 0)
        if held != before:
            found.append((sample["t_us"] / 1e6, "suspended" if held > before else "admitted", f"{held} held back"))
        before = held
    return sorted(found)


def log_from(every: Sequence[Telemetry]) -> float | None:
    """The start of logarithmic time in seconds, a power of ten; None for linear time. Time is logarithmic if one run
    takes more than FAR_APART times as long as another, so that the short one would vanish on a linear axis."""
    ends = [data.samples[-1]["t_us"] for data in every]
    first = min(data.samples[0]["t_us"] for data in every)
    return 10.0 ** math.floor(math.log10(first / 1e6)) if max(ends) > FAR_APART * min(ends) and first > 0 else None


def robust_top(time: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """(end of an axis, greatest value). The axis ends at 1.5 times the value that 95 % of the time stays below if the
    greatest is more than three times that value, so that a short peak does not flatten the rest.
    """
    known = ~np.isnan(values)
    if not known.any() or np.nanmax(values) <= 0:
        return 1.0, 0.0
    order = np.argsort(values[known])
    lengths = np.diff(time, prepend=0.0)[known][order].cumsum()
    usual = float(values[known][order][np.searchsorted(lengths, 0.95 * lengths[-1])])
    greatest = float(np.nanmax(values))
    return (1.5 * usual if 0 < 3 * usual < greatest else 1.05 * greatest), greatest


def buckets(values: np.ndarray, k: int) -> np.ndarray:
    """`values` in rows of k, the last row filled up with nan: float64[ceil(n / k), k]."""
    return np.append(values, np.full(-len(values) % k, np.nan)).reshape(-1, k)


def thinned(columns: Columns, limit: int) -> Columns:
    """`columns` with at most about `limit` rows, for drawing: the first column is time and ascends.

    For each k samples there are two rows, at the times of the first and the last of them, with the least and largest
    value of each column in the order in which they came: no peak is lost, and none moves by more than k samples.
    """
    time, *rest = columns
    nr = len(columns[time])
    if nr <= limit:
        return columns
    k = -(-2 * nr // limit)
    starts = np.arange(0, nr, k)
    ends = np.append(starts[1:], nr) - 1
    at = np.column_stack([columns[time][starts], columns[time][ends]]).ravel()
    return {time: at} | {name: extremes(buckets(columns[name], k)) for name in rest}


def extremes(rows: np.ndarray) -> np.ndarray:
    """The least and the largest value of each row, in their order, float64[2 * rows]; nan for a row without values."""
    gap = np.isnan(rows)
    at = np.column_stack([np.where(gap, np.inf, rows).argmin(axis=1), np.where(gap, -np.inf, rows).argmax(axis=1)])
    return np.take_along_axis(rows, np.sort(at, axis=1), axis=1).ravel()


def averaged(time: np.ndarray, values: np.ndarray, limit: int) -> Columns:
    """A quantity of intervals in at most `limit` rows: time of the last of each k samples, mean, least, largest.

    The mean is weighted by the length of the intervals. Without values, all three are nan.
    """
    k = max(-(-len(time) // limit), 1)
    ends = np.minimum(np.arange(k, len(time) + k, k), len(time)) - 1
    rows = buckets(values, k)
    weights = np.where(np.isnan(rows), 0, buckets(np.diff(time, prepend=0.0), k))
    low, high = np.fmin.reduce(rows, axis=1), np.fmax.reduce(rows, axis=1)
    with np.errstate(invalid="ignore"):
        mean = np.nansum(rows * weights, axis=1) / weights.sum(axis=1)
    return {"time_s": time[ends], "mean": mean, "least": low, "largest": high}
