"""Profiles: where a run's time went, by kernel function.

There are two kinds. Both cover the whole run: every moment belongs to one function of the kernel, to `user` (all
programs together), or to `idle`.

    ticks         the guest's own profiler (`profile_hz=`, kernel/observe/profile.c): instants on a fixed grid, in the
                  telemetry's `profile` records. A function hit n times has a standard error of about √n ticks.
    instructions  counted one by one by the QEMU plugin (tools/plugin/profile.c), in the result's profile.csv; also by
                  caller in profile.folded, which has a line for each stack: FUNCTION;FUNCTION;...
                  INSTRUCTIONS. In an exact run an instruction takes a nanosecond, and time without instructions
                  is idle.

The work of interrupt handlers while no task can run is idle time to the guest, and so to its ticks; instructions of
handlers count for their functions. A tick while interrupts are off counts for the function that switches them on.

The compiler's copies of parts of a function (`.part.0`, `.isra.0`, `.constprop.0`, `.cold`) count for the
function. Shares are of all time, as in figures 7.9 and 7.10 of A. McMenamin, "Applying working set heuristics to the
Linux kernel", 2011, and of the kernel's own time: neither idle nor a program's.
"""

from __future__ import annotations

import csv
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tidemark.errors import USAGE, LabError
from tidemark.machine import plugin, qemu
from tidemark.runs import experiment, results
from tidemark.telemetry import stream

USER, IDLE, OTHERS, BOOT = "user", "idle", "(others)", "(boot)"
KERNEL = "(kernel)"
COUNTS, STACKS = "profile.csv", "profile.folded"
NS_PER_S = 10**9


@dataclass(frozen=True)
class Profile:
    """`counts` are ticks or instructions (`unit`) by name, idle included; `per_s` of them are a second of machine
    time. `stacks`: those of the kernel's functions by their callers, outermost first; empty if not recorded."""

    name: str
    unit: str
    per_s: float
    counts: Mapping[str, int]
    stacks: Mapping[tuple[str, ...], int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """All counts: the whole time."""
        return sum(self.counts.values())

    def seconds(self, function: str) -> float:
        """Machine time of one function, s."""
        return self.counts.get(function, 0) / self.per_s

    def of_time(self, function: str) -> float:
        """A function's share of all time, 0 to 1."""
        return self.counts.get(function, 0) / self.total if self.total else 0.0

    @property
    def kernel(self) -> int:
        """Counts of the kernel's own functions."""
        return self.total - self.counts.get(IDLE, 0) - self.counts.get(USER, 0)

    def of_kernel(self, function: str) -> float | None:
        """A function's share of the kernel's own time, 0 to 1; None for idle and user, which are not part of it."""
        if function in (IDLE, USER):
            return None
        return self.counts.get(function, 0) / self.kernel if self.kernel else 0.0


def summed(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The sum for each name, without sums of 0."""
    sums: Counter[str] = Counter()
    for name, count in counts:
        sums[name] += count
    return {name: count for name, count in sums.items() if count}


def base_name(function: str) -> str:
    """A function's name without the compiler's suffix for a copy."""
    return function.partition(".")[0]


def merged(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts, with those of the compiler's copies added to their functions."""
    return summed((base_name(name), count) for name, count in counts.items())


def from_ticks(name: str, data: stream.Telemetry) -> Profile:
    """The profile in a run's telemetry. Raises LabError if it has none, or a part is missing."""
    records = [record for record in data.events if record["ev"] == "profile"]
    if not records:
        raise LabError(
            f"{name} has no profile: it is written at a run's end with --cmdline profile_hz=1000; "
            "or count instructions with `tidemark profile --exact -- COMMAND`"
        )
    counts = merged({name: count for record in records for name, count in record["functions"].items()})
    if sum(counts.values()) != records[0]["ticks"]:
        raise LabError(f"{name}: the profile's {sum(counts.values())} ticks should be {records[0]['ticks']}")
    return Profile(name, "ticks", records[0]["hz"], counts)


def read_counts(path: Path) -> dict[str, int]:
    """Instructions by function, from the plugin's CSV: programs are `user`, code before the kernel is left out."""
    try:
        with path.open(newline="") as file:
            title, *lines = csv.reader(file)
        if title != ["function", "instructions"]:
            raise ValueError(title)
        counts = [(name, int(count)) for name, count in lines]
    except (OSError, ValueError, csv.Error) as error:
        raise LabError(f"{path} is not a profile of the plugin (function,instructions): {error!r}") from None
    return summed((USER if name.startswith("(user") else name, count) for name, count in counts if name != BOOT)


def read_stacks(path: Path) -> dict[tuple[str, ...], int]:
    """Instructions by stack, from the plugin's file. The compiler's copies of a function count as the function, which
    occurs once in a row. Empty if there is no file: the result is from an earlier version."""
    if not path.exists():
        return {}
    sums: Counter[tuple[str, ...]] = Counter()
    try:
        for line in path.read_text("ascii").splitlines():
            stack, _, count = line.rpartition(" ")
            sums[tuple(name for name, _ in itertools.groupby(stack.split(";"), base_name))] += int(count)
    except (OSError, ValueError) as error:
        raise LabError(f"{path} has no stacks of the plugin (FUNCTION;FUNCTION;... NUMBER): {error!r}") from None
    return dict(sums)


def from_instructions(name: str, counts: Mapping[str, int], end_us: int, whole: bool = True) -> Profile:
    """The profile of an exact run that took `end_us` of machine time; time without instructions is idle.

    A run that was stopped (not `whole`) has continued for a while after its last telemetry.
    """
    executed = sum(counts.values())
    idle = end_us * NS_PER_S // 10**6 - executed
    if whole and idle < -executed // 1000:  # power off comes after the end of the telemetry
        raise LabError(f"{name}: {executed:,} instructions do not fit into {end_us:,} µs: the files are of two runs")
    return Profile(name, "instructions", NS_PER_S, merged({**counts, IDLE: max(idle, 0)}))


def load(target: Path) -> Profile:
    """The profile of a result's folder (exact if it has profile.csv), or of a telemetry file."""
    if not target.is_dir():
        if not target.is_file():
            raise LabError(f"{target} is neither a result's folder nor a telemetry file")
        return from_ticks(target.name, stream.read(target))
    result = results.load(target)
    if not (target / COUNTS).exists():
        return from_ticks(result.name, result.telemetry(partial=True))
    data = result.telemetry(partial=True)
    end_us = max(record["t_us"] for record in (data.end or data.start, *data.samples, *data.exits, *data.events))
    flat = from_instructions(result.name, read_counts(target / COUNTS), end_us, data.whole)
    return replace(flat, stacks=read_stacks(target / STACKS))


def distinct(profiles: Sequence[Profile], targets: Sequence[Path]) -> list[Profile]:
    """The profiles, named by their paths if names are the same."""
    names = [profile.name for profile in profiles]
    return [
        replace(profile, name=str(target)) if names.count(profile.name) > 1 else profile
        for profile, target in zip(profiles, targets)
    ]


def record(settings: qemu.Settings, folder: Path, progress: experiment.Progress) -> results.Result:
    """Run `settings` into `folder`, with the instructions of every function counted in its profile.csv.

    Raises LabError if the run is not exact, or the plugin cannot be used.
    """
    if not settings.exact:
        raise LabError("only an exact run can be profiled exactly", USAGE)
    flags = plugin.flags(
        "profile",
        out=folder.resolve() / COUNTS,
        stacks=folder.resolve() / STACKS,
        symbols=plugin.symbols(settings.image),
    )
    return experiment.run(replace(settings, qemu_flags=settings.qemu_flags + flags), folder, progress)


def functions(profiles: Sequence[Profile]) -> list[str]:
    """All names: idle, user, the kernel's by their largest share in any of the profiles, and `(others)` last."""

    def rank(name: str) -> tuple[int, float]:
        place = {IDLE: 0, USER: 1, OTHERS: 3}.get(name, 2)
        return place, -max(profile.of_kernel(name) or 0.0 for profile in profiles)

    return sorted(dict.fromkeys(name for profile in profiles for name in profile.counts), key=rank)


def shortened(profiles: Sequence[Profile], top: int) -> list[Profile]:
    """The profiles with `idle`, `user` and the `top` first functions of the kernel; the others are `(others)`."""
    kernel = [name for name in functions(profiles) if name not in (IDLE, USER)]
    kept = {IDLE, USER, *kernel[:top]}
    return [
        replace(profile, counts=summed((name if name in kept else OTHERS, n) for name, n in profile.counts.items()))
        for profile in profiles
    ]


def rows(profiles: Sequence[Profile]) -> list[dict[str, Any]]:
    """A row for each profile and function: profile, function, unit, count, seconds; shares of 1: of_time, of_kernel."""
    return [
        {
            "profile": profile.name,
            "function": name,
            "unit": profile.unit,
            "count": profile.counts.get(name, 0),
            "seconds": profile.seconds(name),
            "of_time": profile.of_time(name),
            "of_kernel": profile.of_kernel(name),
        }
        for profile in profiles
        for name in functions(profiles)
    ]


def stacked(profile: Profile) -> dict[tuple[str, ...], int]:
    """The counts by stack. Without callers, the caller of a kernel function is KERNEL."""
    found: dict[tuple[str, ...], int] = {}
    for name, count in profile.counts.items():
        if name in (IDLE, USER):
            found[name,] = count
        elif not profile.stacks:
            found[KERNEL, name] = count
    return {**found, **profile.stacks}


def speedscope(profile: Profile) -> dict[str, Any]:
    """The profile in the file format of speedscope (https://www.speedscope.app/file-format-schema.json): first without
    the idle time, then with it.
    """
    stacks = stacked(profile)
    place = {name: at for at, name in enumerate(dict.fromkeys(name for stack in stacks for name in stack))}

    def sampled(title: str, shown: Sequence[tuple[str, ...]]) -> dict[str, Any]:
        weights = [round(stacks[stack] * NS_PER_S / profile.per_s) for stack in shown]
        return {
            "type": "sampled",
            "name": f"{profile.name}: {title}, by {profile.unit}",
            "unit": "nanoseconds",
            "startValue": 0,
            "endValue": sum(weights),
            "samples": [[place[name] for name in stack] for stack in shown],
            "weights": weights,
        }

    busy = [stack for stack in stacks if stack != (IDLE,)]
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": "tidemark",
        "name": profile.name,
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": name} for name in place]},
        "profiles": [sampled("busy", busy), sampled("idle included", list(stacks))],
    }
