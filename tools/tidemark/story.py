"""What happened in a run, in one sentence: did it thrash, from when to when, and how much was demanded.

All of it comes from the records `pressure` and `exit`, none from samples: how often a run was sampled changes no word.
Where a run of the same command with enough memory is known, its *ideal*, the sentence says how many times as long this
one took: a run that does not thrash by the definition may still be far too slow.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark import thrashing
from tidemark.telemetry import Telemetry

PAGES_A_MIB = 256
NO_VERDICT = "No verdict, for its telemetry has no records of pressure: a kernel of today writes them; run it again"
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True)
class Demand:
    """The most that the processes wanted together: pages, how many processes, and the frames that there were; 0 where
    the telemetry does not say."""

    pages: int
    processes: int
    frames: int

    @property
    def told(self) -> str:
        """`eight processes wanted 32 MiB of 13`."""
        who = f"{in_words(self.processes)} process{'' if self.processes == 1 else 'es'}"
        return f"{who} wanted {mib(self.pages)} MiB" + (f" of {mib(self.frames)}" if self.frames else "")


def in_words(count: int) -> str:
    """A count as one writes it."""
    return WORDS[count] if 0 <= count < len(WORDS) else f"{count:,}"


def mib(pages: float) -> str:
    """Pages as MiB, to two digits at least."""
    value = pages / PAGES_A_MIB
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def seconds(value: float) -> str:
    """A time, to three digits at least; below a tenth of a second in ms."""
    if 0 < value < 0.0995:
        return f"{1e3 * value:.3g} ms"
    return f"{value:,.0f} s" if value >= 100 else f"{value:.1f} s" if value >= 10 else f"{value:.2f} s"


def percent(share: float) -> str:
    """A share of 1, to two digits where it is small."""
    value = 100 * share
    return f"{value:.0f} %" if value >= 9.95 else f"{value:.1f} %" if value >= 0.05 or not value else "under 0.1 %"


def frames(data: Telemetry) -> int:
    """The frames that processes can have: those free at boot, or the cap."""
    free = int(data.start.get("free", 0))
    return min(free, data.start.get("frames", 0) or free)


def demand(data: Telemetry) -> Demand | None:
    """The most that was wanted at any instant; None when the telemetry does not say."""
    last = data.pressure[-1] if data.pressure else None
    return Demand(last["demand"], last["wanting"], frames(data)) if last and last["demand"] else None


def worked(data: Telemetry, begin_s: float, end_s: float) -> float:
    """The processor's share of work, 0 to 1, in the records' intervals that hold the time from `begin_s` to `end_s`."""
    points: list[Mapping[str, Any]] = [{**data.start, "idle_us": 0}, *data.pressure]
    times = [point["t_us"] / 1e6 for point in points]
    first = max(bisect.bisect_right(times, begin_s + 1e-6) - 1, 0)
    last = min(bisect.bisect_left(times, end_s - 1e-6), len(points) - 1)
    length = points[last]["t_us"] - points[first]["t_us"]
    return 1 - (points[last]["idle_us"] - points[first]["idle_us"]) / length if length else 1.0


def spell(spells: Sequence[tuple[float, float]], end_s: float) -> str:
    """`Thrashing from 3.1 s to 320 s`; of several spells how long they were together."""
    first, last = spells[0][0], spells[-1][1]
    when = f"from {seconds(first)} to {'the end, ' if last >= end_s else ''}{seconds(last)}"
    if len(spells) == 1:
        return f"Thrashing {when}"
    total = sum(end - begin for begin, end in spells)
    return f"Thrashing for {seconds(total)} in {in_words(len(spells))} spells {when}"


def sufficed(data: Telemetry) -> bool:
    """Did the run have as much memory as its processes wanted? Then it is an ideal run of its command."""
    wanted, last = demand(data), data.pressure[-1] if data.pressure else None
    if not last or last["evicted"] or last["held"] or last["oom_kill"]:
        return False
    return not (wanted and wanted.pages > wanted.frames > 0)


def calm(data: Telemetry) -> str:
    """How a run that did not thrash went."""
    last = data.pressure[-1]
    if last["oom_kill"]:
        return "Out of memory"
    if not last["evicted"]:
        return "Memory sufficed" if sufficed(data) else "Nothing was evicted"
    if thrashing.window([data.start, last]).waiting >= thrashing.WAITING:
        how = "Waiting for pages, but no thrashing"
    else:
        how = "Paging, but no thrashing" if last["read"] else "Memory was short, but nothing was read back"
    return f"{how}, with {in_words(last['held'])} held back at once" if last["held"] else how


def verdict(data: Telemetry) -> str:
    """Did it thrash, and from when to when; empty when there is nothing to tell by."""
    if not data.pressure:
        return NO_VERDICT if data.samples else ""
    spells = thrashing.of(data)
    return spell(spells, data.pressure[-1]["t_us"] / 1e6) if spells else calm(data)


def turnaround_s(data: Telemetry) -> float:
    """The command's, creation to end: the longest of its processes', for it waits for its children. 0: none ended."""
    return max((record["turnaround_us"] for record in data.exits), default=0) / 1e6


def slower(ratio: float) -> str:
    """A part of the verdict: how many times as long as its ideal run this one took; empty if it was not slower."""
    times = f"{ratio:,.0f}" if ratio >= 9.95 else f"{ratio:.1f}"
    return f"; it took {times} times as long as with enough memory" if ratio >= 1.05 else ""


def sentence(data: Telemetry, ideal_s: float = 0) -> str:
    """What happened, without a full stop; empty when there is nothing to tell by. `ideal_s`: how long the command takes
    with enough memory, 0 if that is not known."""
    if not data.pressure:
        return verdict(data)
    spells, wanted = thrashing.of(data), demand(data)
    begin, end = data.start["t_us"] / 1e6, data.pressure[-1]["t_us"] / 1e6
    what = verdict(data)
    if ideal_s:
        what += slower(turnaround_s(data) / ideal_s)
    if spells:
        begin, end = spells[0][0], spells[-1][1]
    share = (
        f"the processor worked {percent(worked(data, begin, end))} of the {'time' if spells else seconds(end - begin)}"
    )
    killed = data.pressure[-1]["oom_kill"]
    parts = [wanted.told] if wanted else []
    parts += [f"{in_words(killed)} killed for memory"] if killed else []
    return f"{what}: {'; '.join([*parts, share])}"
