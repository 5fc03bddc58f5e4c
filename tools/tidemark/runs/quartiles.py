"""Realistic runs scatter: median and spread of several runs of one kind. Pure functions."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

QUANTITIES = (
    "virtual_s",
    "utilisation",
    "user",
    "faults",
    "major_faults",
    "refaults",
    "pages_in",
    "pages_out",
    "stalls",
)


def numbers(summary: dict[str, Any]) -> dict[str, float]:
    """The compared numbers of a run (see summary.of): QUANTITIES of the system, and mean turnaround in ms."""
    turnarounds = [row["turnaround_ms"] for row in summary["processes"]]
    mean = {"mean_turnaround_ms": statistics.fmean(turnarounds)} if turnarounds else {}
    return {name: summary["system"][name] for name in QUANTITIES if name in summary["system"]} | mean


def spread(values: Sequence[float]) -> dict[str, float]:
    """Least, lower quartile, median, upper quartile and greatest of one or more values.

    Quartiles are Hyndman and Fan's type 7, as in spreadsheets and R.
    """
    if len(values) == 1:
        low = high = values[0]
    else:
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"min": min(values), "q1": low, "median": statistics.median(values), "q3": high, "max": max(values)}


def of(runs: Sequence[dict[str, float]]) -> list[dict[str, Any]]:
    """A row for each quantity that every run has: its name and its spread."""
    names = [name for name in runs[0] if all(name in run for run in runs)]
    return [{"quantity": name, **spread([run[name] for run in runs])} for name in names]
