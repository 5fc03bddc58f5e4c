"""One run into a result's folder that also records its event stream (tidemark.telemetry.events)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from tidemark.errors import NO_TOOL, LabError
from tidemark.machine import plugin, qemu
from tidemark.runs import experiment, results
from tidemark.telemetry import events, stream
from tidemark.telemetry.events import MAJOR, MINOR, Events, Kind
from tidemark.telemetry.records import Exit


def run(
    settings: qemu.Settings,
    folder: Path,
    progress: experiment.Progress = experiment.nothing,
    after: int | None = None,
) -> results.Result:
    """As experiment.run, with events.FILE in the folder. `after`: see events.flags.

    KeyboardInterrupt keeps the events so far, and is raised again. Raises LabError also if the plugin gave up, or if
    the events contradict the kernel's counters: then there are none.
    """
    settings = replace(settings, qemu_flags=settings.qemu_flags + events.flags(settings.image, folder, after))
    whole = False
    try:
        result = experiment.run(settings, folder, progress)
        whole = result.meta["exit"] != qemu.TIMED_OUT
    finally:
        events.pack(folder, whole)
    if said := plugin.complaint(folder / results.QEMU_LOG):
        raise LabError(f"{said}; {folder} keeps the partial result", NO_TOOL)
    check(result)
    return result


def check(result: results.Result) -> None:
    """Raises LabError, and removes the events, if they have other faults of a process than the kernel counted. The
    plugin knows the layout of the kernel's structures, so it cannot read a kernel of another version."""
    found = events.read(result.folder)
    try:
        exits = result.telemetry(partial=True).exits
    except stream.TelemetryError:
        return  # telemetry=off
    if found and not agree(found, counts(exits)):
        (result.folder / events.FILE).unlink()
        raise LabError(
            f"{result.folder}: the events do not have the faults that the kernel counted: the plugin is of another "
            "version than the kernel; run `make`, and record the run again"
        )


def counts(exits: list[Exit]) -> Counter[tuple[int, int]]:
    """The faults of ended processes that the kernel counted, by pid and kind. A pid may have been used twice."""
    found: Counter[tuple[int, int]] = Counter()
    for record in exits:
        found[record["pid"], MINOR] += record["minflt"]
        found[record["pid"], MAJOR] += record["majflt"]
    return found


def agree(found: Events, counted: Counter[tuple[int, int]]) -> bool:
    """Do the events have exactly the counted faults?"""
    ends = found.rows[found.of(Kind.FAULT_END)]
    seen = Counter(zip(ends["pid"].tolist(), ends["how"].tolist()))
    return all(seen[fault] == count for fault, count in counted.items())
