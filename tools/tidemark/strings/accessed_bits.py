"""What the accessed bits showed, compared with the pages that were referenced.

A policy sees uses through one bit per page, which says "used since I last asked", never how often or when. The loss is
measured on a recorded run (`tidemark trace record`): its telemetry has, for each process and interval between
two samples, the pages whose accessed bits were set (nap); its trace has every reference, so the pages that were really
referenced in the same interval can be counted.

Both have one clock: in an exact run an instruction takes a nanosecond, so a process's time in user mode, which the
samples report, is the number of instructions that the trace counts. The difference, some 0.3 µs for entering the
kernel at each fault, is spread over the whole run.

They differ if a page was used and evicted before the sample, or if its only use was the access that faulted it in
(which does not count as a use), and in the other direction if the kernel used a page for the process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tidemark.errors import LabError
from tidemark.jit import compiled
from tidemark.runs import results
from tidemark.telemetry import stream
from tidemark.trace import MAX_SPACES
from tidemark.trace.format import Reader
from tidemark.trace.record import TRACE

Array = np.ndarray
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Interval:
    """One process between two samples: `t_us` machine time of the second, `user_us` process time between them, pages
    that it `referenced`, and pages whose `accessed` bits were found set.
    """

    pid: int
    name: str
    t_us: int
    user_us: int
    referenced: int
    accessed: int


@compiled
def _count(
    ids: Array, insns: Array, spaces: Array, known: tuple[Any, ...], ends: Array, last: Array, counts: Array
) -> None:
    """Count the pages of one block by window. `known`: for each space its instructions so far, its window, and the end
    of its windows in `ends` and `counts`; `last` is the window in which each page was counted last.
    """
    now, window, stop = known
    for i in range(len(ids)):
        space = spaces[ids[i]]
        if window[space] == stop[space]:
            continue
        now[space] += insns[i]
        while window[space] < stop[space] and ends[window[space]] < now[space]:
            window[space] += 1
        if window[space] < stop[space] and last[ids[i]] != window[space]:
            last[ids[i]] = window[space]
            counts[window[space]] += 1


def referenced_pages(
    reader: Reader, ends: dict[int, Array], progress: Progress = lambda done, total: None
) -> dict[int, Array]:
    """By space, i64[windows]: the distinct pages that it referenced in each window of its instructions. `ends` by
    space, i64[windows], ascending: window k is from ends[k - 1] (or the beginning), exclusive, to ends[k].
    """
    known = tuple(np.zeros(MAX_SPACES, np.int64) for _ in range(3))
    start = 0
    for space, own in ends.items():
        known[1][space], known[2][space] = start, start + len(own)
        start += len(own)
    all_ends = np.concatenate([np.empty(0, np.int64), *ends.values()])
    counts = np.zeros(len(all_ends), np.int64)
    spaces, last = np.empty(0, np.uint16), np.empty(0, np.int64)
    done = 0
    for block in reader:
        spaces = np.concatenate([spaces, block.new_spaces])
        last = np.concatenate([last, np.full(len(block.new_spaces), -1, np.int64)])
        _count(block.ids, block.insns, spaces, known, all_ends, last, counts)
        done += len(block.ids)
        progress(done, reader.totals["runs"])
    parts = np.split(counts, np.cumsum([len(own) for own in ends.values()])[:-1]) if ends else []
    return dict(zip(ends, parts))


def process_samples(told: stream.Telemetry, pid: int, since_us: int) -> list[tuple[int, int, int]]:
    """(machine time, time in user mode, accessed pages) of a process, in µs and pages, per sample with progress."""
    rows = [
        (sample["t_us"], process["user_us"], process["nap"])
        for sample in told.samples
        if sample["t_us"] > since_us
        for process in sample["procs"]
        if process["pid"] == pid
    ]
    return [row for before, row in zip([(0, -1, 0), *rows], rows) if row[1] > before[1]]


def instructions_per_us(told: stream.Telemetry, space: dict[str, Any]) -> float:
    """Instructions of the trace per microsecond that the kernel accounts to user mode: a little less than 1000."""
    ended = next((exit_ for exit_ in told.exits if exit_["pid"] == space["pid"]), None)
    if ended is None or not space.get("whole") or not ended["us"][0]:
        return 1000.0
    return min(1000.0, float(space["instructions"] / ended["us"][0]))


def last_spaces(reader: Reader) -> list[dict[str, Any]]:
    """The last space of each process, which most of its samples belong to; without spaces that were not referenced."""
    by_pid = {row["pid"]: row for row in reader.spaces if row.get("pid") and row["references"]}
    return list(by_pid.values())


def opened(folder: Path) -> tuple[stream.Telemetry, Reader]:
    """Telemetry and trace of a recorded run. Raises LabError if there are none that can be compared."""
    trace = folder / TRACE
    if not trace.exists():
        raise LabError(f"{folder} has no {TRACE}: make such a result with `tidemark trace record -o {folder} ...`")
    result, reader = results.load(folder), Reader(trace)
    if not result.meta["settings"]["exact"]:
        raise LabError(f"{folder} is a realistic run, whose time is not the trace's: record an exact run")
    if reader.meta.get("kinds") != "all":
        raise LabError(f"{trace} has no fetches, which set accessed bits too: record it with --kinds all")
    return result.telemetry(partial=True), reader


def intervals(folder: Path, progress: Progress = lambda done, total: None) -> list[Interval]:
    """All intervals of all processes of a recorded run, process by process. Raises LabError as `opened` does."""
    told, reader = opened(folder)
    by_space = {space["space"]: space for space in last_spaces(reader)}
    rows = {number: process_samples(told, space["pid"], space["since_us"]) for number, space in by_space.items()}
    ends = {
        number: (np.array([row[1] for row in rows[number]]) * instructions_per_us(told, space)).astype(np.int64)
        for number, space in by_space.items()
    }
    counted = referenced_pages(reader, ends, progress)
    return [
        Interval(space["pid"], space["name"], row[0], row[1] - before[1], int(count), row[2])
        for number, space in by_space.items()
        for before, row, count in zip([(0, 0, 0), *rows[number]], rows[number], counted[number])
    ]


def mean_by_process(intervals: list[Interval]) -> list[dict[str, Any]]:
    """One row for each process: intervals, and means over them, weighted by process time."""
    rows = []
    for pid in dict.fromkeys(interval.pid for interval in intervals):
        own = [interval for interval in intervals if interval.pid == pid]
        weights = [max(1, interval.user_us) for interval in own]
        referenced = float(np.average([interval.referenced for interval in own], weights=weights))
        accessed = float(np.average([interval.accessed for interval in own], weights=weights))
        rows.append(
            {
                "pid": pid,
                "name": own[0].name,
                "intervals": len(own),
                "referenced": referenced,
                "accessed": accessed,
                "share": accessed / referenced if referenced else 0.0,
            }
        )
    return rows
