"""Detection of thrashing: a verdict with one definition, for the lamp, the sentences, the marks and the figures.

P. Denning ("Thrashing: its causes and prevention", AFIPS FJCC 33, 1968) defines thrashing: paging is so heavy that
nothing else makes progress, because more processes are active than fit into memory. Each process takes from the others
the pages that they need next. Here a window of WINDOW_US thrashes if

    1. for at least half of it (WAITING) all processes that were not asleep voluntarily waited for pages: some
       process did, and none ran or could run. This is `full` of PSI (J. Weiner, Linux 4.20); and
    2. pages were exchanged, not only fetched: at least half (EXCHANGED) as many were evicted as read.

A machine that refills free memory waits, but evicts nothing, and does not thrash. A process that admission holds back
neither waits for a page nor makes progress.

The numbers come from the records `pressure`, which the kernel writes every tenth of a second from exact counters. So
the verdict does not depend on the sampling rate. A window ends with each record and covers the fewest records that last
for WINDOW_US together. A shorter run is one window. Thrashing lasts from the first page evicted in the first such
window to the end of the last; windows that touch are one spell.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.telemetry.stream import Telemetry

WINDOW_US = 1_000_000
WAITING, EXCHANGED = 0.5, 0.5

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Window:
    """A span of machine time: µs since boot; the share of it in which all processes waited for pages, 0 to 1; the pages
    read and evicted in it; the time of its first eviction, 0 if there was none."""

    begin_us: int
    end_us: int
    waiting: float
    read: int
    evicted: int
    evicting_us: int

    @property
    def thrashes(self) -> bool:
        """The verdict."""
        return self.waiting >= WAITING and self.evicted >= EXCHANGED * self.read > 0


def grown(before: Record, after: Record, name: str) -> int:
    """The growth of a counter; in the start record all counters are 0."""
    return int(after.get(name, 0) - before.get(name, 0))


def window(points: Sequence[Record]) -> Window:
    """The window from the first of these records (`pressure`, or the start record) to the last."""
    before, after = points[0], points[-1]
    length = max(after["t_us"] - before["t_us"], 1)
    evicting = next((point["evicting_us"] for point in points[1:] if point["evicting_us"]), 0)
    waiting = grown(before, after, "full_us") / length
    moved = grown(before, after, "read"), grown(before, after, "evicted")
    return Window(before["t_us"], after["t_us"], waiting, *moved, evicting)


def window_at(points: Sequence[Record], at: int, ended: bool) -> Window | None:
    """The window that ends with a record; `points` are the start record and all later ones. None before the first
    second. But if the run has `ended` and was shorter, its last record has a window, too."""
    since = points[at]["t_us"] - WINDOW_US
    back = bisect.bisect_right(points, since, 0, at, key=lambda point: point["t_us"]) - 1
    if back < 0 and not (ended and at == len(points) - 1):
        return None
    return window(points[max(back, 0) : at + 1])


def windows(start: Record, pressure: Sequence[Record], ended: bool = True) -> list[Window]:
    """The windows of a run, in order of time."""
    points = [start, *pressure]
    found = (window_at(points, at, ended) for at in range(1, len(points)))
    return [one for one in found if one]


def spells(every: Sequence[Window]) -> list[tuple[float, float]]:
    """The spells of thrashing, (begin, end) in seconds since boot."""
    merged: list[tuple[float, float]] = []
    for one in every:
        if not one.thrashes:
            continue
        if merged and one.begin_us / 1e6 <= merged[-1][1]:
            merged[-1] = merged[-1][0], one.end_us / 1e6
        else:
            merged.append((max(one.begin_us, one.evicting_us) / 1e6, one.end_us / 1e6))
    return merged


def of(data: Telemetry) -> list[tuple[float, float]] | None:
    """The spells of a run; None if its telemetry has no records `pressure`."""
    return spells(windows(data.start, data.pressure)) if data.pressure else None
