"""One run into a result's folder that also records its event stream (tidemark.telemetry.events)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tidemark.errors import NO_TOOL, LabError
from tidemark.machine import plugin, qemu
from tidemark.runs import experiment, results
from tidemark.telemetry import events


def run(
    settings: qemu.Settings,
    folder: Path,
    progress: experiment.Progress = experiment.nothing,
    after: int | None = None,
) -> results.Result:
    """As experiment.run, with events.FILE in the folder. `after`: see events.flags.

    KeyboardInterrupt keeps the events so far, and is raised again. Raises LabError also if the plugin gave up.
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
    return result
