"""The major faults of a run with an event stream as a chart of points: a click on one shows the life of its page.

x is the time at which a fault began, y how long it took, both exact. With each point go its process and page, when the
page had been evicted before, and why, and the commands that lead there. gdb is led by the time: it counts faults where
the processor traps, and some of these are not about a page of the process.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidemark.report.charts import Chart, chart, series
from tidemark.report.figure import VERMILION, Look
from tidemark.report.sources import Run
from tidemark.telemetry.event_tracks import REASONS
from tidemark.telemetry.events import MAJOR, SWAP, Events, Kind

TITLE, MOST = "Major faults: when each began, and how long it took", 2000


def major(found: Events) -> tuple[np.ndarray, np.ndarray]:
    """The places of the FAULT and of the FAULT_END of each major fault: two int[n]. A process has one at a time."""
    places = found.of(Kind.FAULT, Kind.FAULT_END)
    rows = found.rows[places]
    order = np.argsort(rows["pid"], kind="stable")
    places, rows = places[order], rows[order]
    ends = np.flatnonzero((rows["kind"] == Kind.FAULT_END) & (rows["how"] == MAJOR))
    ends = ends[ends > 0]
    fits = (rows["kind"][ends - 1] == Kind.FAULT) & (rows["pid"][ends - 1] == rows["pid"][ends])
    return places[ends[fits] - 1], places[ends[fits]]


def last_before(of: np.ndarray, places: np.ndarray, wanted: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """int[n]: among `places`, which ascend and have the keys `of`, the last with each wanted key below each limit; -1
    if there is none. Keys are int64 from 0 on."""
    pairs = np.dtype([("key", "i8"), ("place", "i8")])
    both, ends = np.empty(len(places), pairs), np.empty(len(wanted), pairs)
    both["key"], both["place"], ends["key"], ends["place"] = of, places, wanted, limits
    both.sort(order=("key", "place"))
    at = np.searchsorted(both, ends) - 1
    if not len(both):
        return np.full(len(wanted), -1)
    return np.where((at >= 0) & (both["key"][at] == wanted), both["place"][at], -1)


def pages(rows: np.ndarray) -> np.ndarray:
    """A number for each process and page, int64[n]."""
    combined: np.ndarray = rows["pid"].astype("i8") << 20 | rows["page"]
    return combined


def evicted_before(found: Events, begins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places of the last EVICT of the page of each FAULT, and of the SELECT with which the policy chose it: two
    int[n]; -1 if there was none."""
    gone, selects, rows = found.of(Kind.EVICT), found.of(Kind.SELECT), found.rows
    gone = gone[rows["store"][gone] <= SWAP]
    before = last_before(pages(rows[gone]), gone, pages(rows[begins]), begins)
    frames = rows["frame"].astype("i8")
    chosen = last_before(frames[selects], selects, np.where(before < 0, -1, frames[before]), before)
    return before, chosen


def picked(found: Events, begin: int, before: int, chosen: int, names: dict[int, str]) -> list[Any]:
    """What a click shows of a fault: [process, pid, page, time of the eviction in s or None, its reason, the task that
    evicted it]."""
    row = found.row(begin)
    said: list[Any] = [names.get(row.pid, "task"), row.pid, f"{row.page:#x}"]
    if before < 0 or chosen < 0:
        return [*said, None, "", ""]
    by = found.row(chosen)
    return [*said, by.ns / 1e9, REASONS[by.why], f"{names.get(by.other, 'task')} {by.other}"]


def reading(points: Chart) -> str:
    """How to read the chart, and how many faults it leaves out."""
    nr, every = len(points["picked"]), points["all"]
    left = f" Shown are the {nr:,} of {every:,} that took longest." if nr < every else ""
    return "Click on a point, or move to it with the arrows and press Enter, to see the life of its page." + left


def of_run(run: Run, found: Events) -> Chart | None:
    """The chart of a run and its events; None without major faults."""
    begins, ends = major(found)
    if not len(begins):
        return None
    took = (found.rows["ns"][ends] - found.rows["ns"][begins]).astype(float) / 1e3
    kept = np.sort(np.argsort(-took, kind="stable")[:MOST])
    kept = kept[np.argsort(begins[kept], kind="stable")]
    names = found.names()
    before, chosen = evicted_before(found, begins[kept])
    shown = [
        picked(found, begin, gone, choice, names)
        for begin, gone, choice in zip(begins[kept].tolist(), before.tolist(), chosen.tolist())
    ]
    times = [round(ns / 1e9, 9) for ns in found.rows["ns"][begins[kept]].tolist()]
    columns = [times, [round(one, 1) for one in took[kept].tolist()]]
    more = {"log": True, "picked": shown, "result": str(run.result.folder), "all": len(begins)}
    return chart(TITLE, "µs", [series("took", Look(VERMILION))], [run], blocks=[columns], **more)
