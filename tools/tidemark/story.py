"""What happened in a run, in one sentence: did it thrash, from when to when, who wanted how much of what there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark import thrashing
from tidemark.telemetry import Telemetry

PAGES_A_MIB = 256
SMALL = 20  # a process whose demand is less than this part of the largest does not count
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


def large(sample: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The processes of a sample whose demand counts; not init."""
    some = [process for process in sample.get("procs", ()) if process["pid"] != 1]
    most = max((process["mad"] for process in some), default=0)
    return [process for process in some if most and process["mad"] * SMALL >= most]


def demand(data: Telemetry) -> Demand | None:
    """The sample in which most was wanted; None when no sample has processes."""
    found = [(sum(process["mad"] for process in some), len(some)) for some in map(large, data.samples)]
    pages, processes = max(found, default=(0, 0))
    return Demand(pages, processes, frames(data)) if pages else None


def worked(data: Telemetry, begin_s: float, end_s: float) -> float:
    """The processor's share of work, 0 to 1, in the samples' intervals from `begin_s` to `end_s`."""
    points: list[Mapping[str, Any]] = [{**data.start, "idle_us": 0}, *data.samples]
    inside = [point for point in points if begin_s - 1e-6 <= point["t_us"] / 1e6 <= end_s + 1e-6]
    length = inside[-1]["t_us"] - inside[0]["t_us"] if inside else 0
    return 1 - (inside[-1]["idle_us"] - inside[0]["idle_us"]) / length if length else 1.0


def spell(spells: Sequence[tuple[float, float]], end_s: float) -> str:
    """`Thrashing from 3.1 s to 320 s`; of several spells how long they were together."""
    first, last = spells[0][0], spells[-1][1]
    when = f"from {seconds(first)} to {'the end, ' if last >= end_s else ''}{seconds(last)}"
    if len(spells) == 1:
        return f"Thrashing {when}"
    total = sum(end - begin for begin, end in spells)
    return f"Thrashing for {seconds(total)} in {in_words(len(spells))} spells {when}"


def calm(data: Telemetry, wanted: Demand | None) -> str:
    """How a run that did not thrash went."""
    last = data.samples[-1]
    read = thrashing.grown(data.start, last, "vm", "pswpin")
    held = max((sample.get("held", 0) for sample in data.samples), default=0)
    if thrashing.grown({}, last, "vm", "oom_kill"):
        return "Out of memory"
    if not read and (not wanted or wanted.pages <= (wanted.frames or wanted.pages)):
        return "Memory sufficed"
    if held:
        return f"No thrashing, with {in_words(held)} held back at once"
    full = thrashing.grown(data.start, last, "psi", "full_us") / max(last["t_us"] - data.start["t_us"], 1)
    if full >= thrashing.WAITING:
        return "Waiting for pages, but no thrashing"
    return "Paging, but no thrashing" if read else "Memory was short, but nothing was read back"


def sentence(data: Telemetry) -> str:
    """What happened, without a full stop; empty when there are no samples to tell by."""
    if not data.samples:
        return ""
    spells, wanted = thrashing.of(data), demand(data)
    begin, end = data.start["t_us"] / 1e6, data.samples[-1]["t_us"] / 1e6
    if spells is None:
        what = "Nobody can say whether it thrashed, for the telemetry has no PSI"
    elif spells:
        what = spell(spells, end)
        begin, end = spells[0][0], spells[-1][1]
    else:
        what = calm(data, wanted)
    share = (
        f"the processor worked {percent(worked(data, begin, end))} of the {'time' if spells else seconds(end - begin)}"
    )
    killed = int(thrashing.grown({}, data.samples[-1], "vm", "oom_kill"))
    parts = [wanted.told] if wanted else []
    parts += [f"{in_words(killed)} killed for memory"] if killed else []
    return f"{what}: {'; '.join([*parts, share])}"
