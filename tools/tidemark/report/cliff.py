"""Where memory ceases to suffice, in a sentence: how many times its ideal the work takes along an axis, by policy.

A sweep along an axis (the number of processes, memory, any number of the plan) with ideal runs shows a cliff: up to
some position the work takes about its ideal time, and beyond it many times as long. The sentence names for each policy
the positions at which the median of its repetitions is at least CLIFF times the ideal, and the greatest median.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from tidemark.report import cells
from tidemark.report.cells import MEMORY, PROCESSES, Cell, Panel
from tidemark.telemetry.story import times

CLIFF = 2.0
MOST_NAMED = 4
SLOWDOWN = "time_over_ideal"


def in_order(panels: Sequence[Panel]) -> list[str]:
    """The policies of these panels, the quickest first: by the geometric mean of their median turnarounds."""
    logs: dict[str, list[float]] = {}
    for panel in panels:
        for policy, line in panel.lines.items():
            times = [value for value in cells.medians(line, "turnaround_s")[1] if value > 0]
            logs.setdefault(policy, []).extend(map(math.log, times))
    return sorted(logs, key=lambda policy: sum(logs[policy]) / len(logs[policy]) if logs[policy] else math.inf)


def where(every: Sequence[float], high: Sequence[float], x: str) -> str:
    """The high positions among all, both ascending: `from 5 processes on`, `up to 16 MiB`, `at ws.tau_ms 5, 20`."""

    def at(value: float) -> str:
        text = f"{value:g}"
        if x == PROCESSES:
            return f"{text} process{'' if value == 1 else 'es'}"
        return f"{text} MiB" if x == MEMORY else f"{x} {text}"

    if list(high) == list(every):
        return f"everywhere from {at(every[0])} to {at(every[-1])}"
    if list(high) == list(every[-len(high) :]):
        return f"from {at(high[0])} on"
    if list(high) == list(every[: len(high)]):
        return f"up to {at(high[-1])}"
    return f"at {', '.join(map(at, high))}"


def of_policy(policy: str, line: Sequence[tuple[float, Cell]], x: str, first: bool) -> str:
    """One policy in words; empty if its runs have no ideal. `first`: with the words that are said once."""
    found = {at: median(values) for at, values in sorted(cells.repetitions(line, SLOWDOWN).items())}
    if len(found) < 2:
        return ""
    high = [at for at, value in found.items() if value >= CLIFF]
    takes, ideal = ("work takes ", " its ideal") if first else ("", "")
    most = f"{times(max(found.values()))} times{ideal}"
    if not high:
        return f"under {policy} {takes}at most {most}"
    return f"under {policy}, {where(list(found), high, x)}, {takes}{'' if len(high) == 1 else 'up to '}{most}"


def sentence(every: Sequence[Cell], chosen: Sequence[str] = ()) -> str:
    """The cliff of each panel along each axis, in words; of many policies only the best, the worst and the chosen.
    Empty without ideal runs, or without an axis."""
    said = []
    for x in cells.axes(every):
        panels = cells.panels(every, x)
        for panel in panels:
            order = in_order([panel])
            few = len(order) <= MOST_NAMED
            named = order if few else [name for name in order if name in (order[0], order[-1], *chosen)]
            told: list[str] = []
            for name in reversed(named):
                told += [words] if (words := of_policy(name, panel.lines[name], x, not told)) else []
            if told:
                place = f"{panel.title}: " if len(panels) > 1 else ""
                left = "" if few else f" The picture has {len(order) - len(named)} more."
                said.append(f"{place}{told[0][0].upper()}{'; '.join(told)[1:]}.{left}")
    return " ".join(said)
