"""When a machine thrashes: a verdict with one definition, for the lamp, the sentences, the marks and the figures.

P. Denning ("Thrashing: its causes and prevention", AFIPS FJCC 33, 1968) calls that thrashing: paging is so heavy that
nothing else gets on, because more processes are active than memory has room for. Each then takes from the others the
pages that they will want next. Here a window of WINDOW_US thrashes when

    1. for at least half of it (WAITING) nobody got on for want of a page: some process waited for one, and none ran or
       could run. This is `full` of PSI (J. Weiner, Linux 4.20), without the time that only admission explains; and
    2. pages were exchanged, in either half of it: at least half (EXCHANGED) as many were evicted as read, and read as
       evicted.

A machine that fills its memory for the first time evicts and hardly reads; one that refills free memory reads and
evicts nothing. Both wait, but do not thrash; so what goes out in one half and comes back in the other is no exchange.
A process that is held back by admission does not wait for a page, though PSI counts it: where somebody was held back,
`full` counts only as far as the waits for pages of all processes together reach.

The window of a sample ends there and takes as few intervals as make up WINDOW_US; so where samples are farther apart,
it is one interval. Before the first second there is none; a run that is shorter is one window.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.telemetry import Telemetry

WINDOW_US = 1_000_000
WAITING, EXCHANGED = 0.5, 0.5
PAGEWAIT, ADMIT = 3, 4  # in the accounts of an exit record
KIB_A_PAGE = 4

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Window:
    """A stretch of machine time: µs since boot; the share of it in which nobody got on for want of a page, 0 to 1; of
    its halves, or of the whole if it cannot be parted, the pages read and the pages evicted."""

    begin_us: int
    end_us: int
    waiting: float
    moved: tuple[tuple[float, float], ...]

    @property
    def exchanged(self) -> bool:
        """Were about as many pages evicted as read?"""
        return all(min(pair) >= EXCHANGED * max(pair) > 0 for pair in self.moved)

    @property
    def thrashes(self) -> bool:
        """The verdict."""
        return self.waiting >= WAITING and self.exchanged


def grown(before: Record, after: Record, *path: str) -> float:
    """By how much a counter has grown; one that is missing was 0."""

    def value(record: Any) -> float:
        for name in path:
            record = (record or {}).get(name)
        return float(record or 0)

    return value(after) - value(before)


def spent(before: Record, after: Record, ended: Sequence[Record], name: str, at: int) -> float:
    """µs that all processes together spent in an account: `name` in a sample, `at` in records of those that ended."""
    old = {process["pid"]: process.get(name, 0) for process in before.get("procs", ())}
    living = sum(process.get(name, 0) - old.get(process["pid"], 0) for process in after.get("procs", ()))
    return float(living + sum(record["us"][at] - old.get(record["pid"], 0) for record in ended))


def moved(before: Record, after: Record) -> tuple[float, float]:
    """Pages that came in, of swap and of files, and pages that were evicted."""
    read = grown(before, after, "vm", "pswpin") + grown(before, after, "vm", "pgpgin") / KIB_A_PAGE
    return read, sum(grown(before, after, "vm", f"pgsteal_{who}") for who in ("kswapd", "direct"))


def window(points: Sequence[Record], ended: Sequence[Record]) -> Window | None:
    """The window of these samples; the first may be the start record. `ended`: the exit records between them. None
    when the telemetry has no PSI."""
    before, after = points[0], points[-1]
    length = after["t_us"] - before["t_us"]
    if "psi" not in after or length <= 0:
        return None
    full = grown(before, after, "psi", "full_us")
    if spent(before, after, ended, "admit_us", ADMIT) > 0:
        full = min(full, spent(before, after, ended, "pagewait_us", PAGEWAIT))
    middle = before["t_us"] + length // 2
    half = min(points, key=lambda point: abs(point["t_us"] - middle))
    parts = [(before, after)] if half is before or half is after else [(before, half), (half, after)]
    waiting = min(max(full / length, 0.0), 1.0)
    return Window(before["t_us"], after["t_us"], waiting, tuple(moved(*part) for part in parts))


def windows(start: Record, samples: Sequence[Record], exits: Sequence[Record], ended: bool = True) -> list[Window]:
    """The window of each sample that has one, in order of time. `ended`: so a run under a second is a window, too."""
    points = [start, *samples]
    times = [point["t_us"] for point in points]
    ends = [record["t_us"] for record in exits]
    found = []
    for at in range(1, len(points)):
        back = bisect.bisect_right(times, times[at] - WINDOW_US, 0, at) - 1
        if back < 0 and not (ended and at == len(points) - 1):
            continue
        back = max(back, 0)
        between = exits[bisect.bisect_right(ends, times[back]) : bisect.bisect_right(ends, times[at])]
        found.append(window(points[back : at + 1], between))
    return [one for one in found if one]


def spells(every: Sequence[Window]) -> list[tuple[float, float]]:
    """From when to when, in seconds since boot: windows that thrash and touch are one spell."""
    merged: list[tuple[float, float]] = []
    for one in every:
        if not one.thrashes:
            continue
        begin, end = one.begin_us / 1e6, one.end_us / 1e6
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], end
        else:
            merged.append((begin, end))
    return merged


def of(data: Telemetry) -> list[tuple[float, float]] | None:
    """The spells of a run; None when its telemetry cannot tell."""
    if not data.samples or not any("psi" in sample for sample in data.samples):
        return None
    return spells(windows(data.start, data.samples, data.exits))
