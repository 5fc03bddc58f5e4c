"""What happened in a run, in one sentence: did it thrash, when, and how large was the demand.

It uses only the records `pressure` and `exit`, and no samples, so the sampling rate changes no word.
If a run of the same command with enough memory is known, its *ideal* run, the sentence says how many times as long this
run took: a run that does not thrash by the definition may still be far too slow.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.telemetry import thrashing
from tidemark.telemetry.stream import Telemetry

PAGES_A_MIB = 256
WAITED = 3  # the member of `us` of an exit record that counts waits for pages
NO_VERDICT = "No verdict, for its telemetry has no records of pressure: newer kernels write them; run it again"
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True)
class Demand:
    """The largest total demand of the processes: pages, number of processes, and the available frames; 0 if the
    telemetry does not tell."""

    pages: int
    processes: int
    frames: int

    @property
    def told(self) -> str:
        """The demand as text: `eight processes wanted 32 MiB of 13`."""
        who = f"{in_words(self.processes)} process{'' if self.processes == 1 else 'es'}"
        return f"{who} wanted {mib(self.pages)} MiB" + (f" of {mib(self.frames)}" if self.frames else "")


def in_words(count: int) -> str:
    """A count in words, or in digits if it is large."""
    return WORDS[count] if 0 <= count < len(WORDS) else f"{count:,}"


def mib(pages: float) -> str:
    """Pages as MiB, with at least two digits."""
    value = pages / PAGES_A_MIB
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def seconds(value: float) -> str:
    """A time, with at least three digits; below a tenth of a second in ms."""
    if 0 < value < 0.0995:
        return f"{1e3 * value:.3g} ms"
    return f"{value:,.0f} s" if value >= 100 else f"{value:.1f} s" if value >= 10 else f"{value:.2f} s"


def percent(share: float) -> str:
    """A share of 1 in percent, with two digits if it is small."""
    value = 100 * share
    return f"{value:.0f} %" if value >= 9.95 else f"{value:.1f} %" if value >= 0.05 or not value else "under 0.1 %"


def frames(data: Telemetry) -> int:
    """The frames that processes can have: the number free at boot, or the cap."""
    free = int(data.start.get("free", 0))
    return min(free, data.start.get("frames", 0) or free)


def demand(data: Telemetry) -> Demand | None:
    """The largest demand at any instant; None if the telemetry does not tell."""
    last = data.pressure[-1] if data.pressure else None
    return Demand(last["demand"], last["wanting"], frames(data)) if last and last["demand"] else None


def worked(data: Telemetry, begin_s: float, end_s: float) -> float:
    """The processor's share of work, 0 to 1, in the records' intervals that cover `begin_s` to `end_s`."""
    points: list[Mapping[str, Any]] = [{**data.start, "idle_us": 0}, *data.pressure]
    times = [point["t_us"] / 1e6 for point in points]
    first = max(bisect.bisect_right(times, begin_s + 1e-6) - 1, 0)
    last = min(bisect.bisect_left(times, end_s - 1e-6), len(points) - 1)
    length = points[last]["t_us"] - points[first]["t_us"]
    return 1 - (points[last]["idle_us"] - points[first]["idle_us"]) / length if length else 1.0


def spell(spells: Sequence[tuple[float, float]], end_s: float) -> str:
    """`Thrashing from 3.1 s to 320 s`; with several spells also their total length."""
    first, last = spells[0][0], spells[-1][1]
    # The first eviction and the end of the run are known to the microsecond; other ends are those of windows.
    until = f"the end, {seconds(last)}" if last >= end_s else f"{last:,.{0 if last >= 100 else 1}f} s"
    when = f"from {seconds(first)} to {until}"
    if len(spells) == 1:
        return f"Thrashing {when}"
    total = sum(end - begin for begin, end in spells)
    return f"Thrashing for {seconds(total)} in {in_words(len(spells))} spells {when}"


def sufficed(data: Telemetry) -> bool:
    """Did the run have as much memory as its processes wanted? If so, it is an ideal run of its command."""
    wanted, last = demand(data), data.pressure[-1] if data.pressure else None
    if not last or last["evicted"] or last["held"] or last["oom_kill"]:
        return False
    return not (wanted and wanted.pages > wanted.frames > 0)


def calm(data: Telemetry) -> str:
    """What a run did that did not thrash, in words."""
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
    """Whether and when the run thrashed, in words; empty if the telemetry does not tell."""
    if not data.pressure:
        return NO_VERDICT if data.samples else ""
    spells = thrashing.of(data)
    return spell(spells, data.pressure[-1]["t_us"] / 1e6) if spells else calm(data)


def turnaround_s(data: Telemetry) -> float:
    """The command's turnaround, the longest of its processes', since it waits for its children; 0 if none ended."""
    return max((record["turnaround_us"] for record in data.exits), default=0) / 1e6


def hardest_hit(data: Telemetry) -> str:
    """The process that waited longest for pages, in a sentence; empty if none waited for a read."""
    hit = max(data.exits, key=lambda record: record["us"][WAITED], default=None)
    if hit is None or not hit["us"][WAITED] or not hit["majflt"]:
        return ""
    waited, turnaround = (seconds(us / 1e6) for us in (hit["us"][WAITED], hit["turnaround_us"]))
    return (
        f"Hardest hit: {hit['comm']} {hit['pid']} waited for pages for {waited} of its {turnaround}, at "
        f"{hit['majflt']:,} of the {sum(record['majflt'] for record in data.exits):,} major faults."
    )


def times(ratio: float) -> str:
    """A slowdown as text, with two digits at least."""
    return f"{ratio:,.0f}" if ratio >= 9.95 else f"{ratio:.1f}"


def slower(ratio: float) -> str:
    """A part of the verdict: how many times as long as its ideal run the run took; empty if it was not slower."""
    return f"; it took {times(ratio)} times as long as with enough memory" if ratio >= 1.05 else ""


def sentence(data: Telemetry, ideal_s: float = 0) -> str:
    """What happened, without a full stop; empty if the telemetry does not tell. `ideal_s`: how long the command takes
    with enough memory, 0 if unknown."""
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
