"""One run into a result's folder."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidemark.errors import FAILED, NO_SPACE, NO_TOOL, USAGE, LabError
from tidemark.machine import image, qemu
from tidemark.runs import results
from tidemark.telemetry import stream

KILLED = "killed by signal"

Progress = Callable[[list[dict[str, Any]]], None]


def nothing(records: list[dict[str, Any]]) -> None:
    """Show no progress."""


def last_line(path: Path) -> str:
    """The last non-empty line of a text file; "" if there is none."""
    lines = path.read_text(errors="replace").split("\n") if path.exists() else []
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def why(result: results.Result, code: int, timeout: float, status: int) -> str:
    """One line on how the run ended, with the message of the guest or of QEMU."""
    said = ""
    if code in (qemu.PANICKED, qemu.HUNG, qemu.REFUSED):
        console = result.console_path.read_text("ascii", "replace").splitlines()
        marks = {qemu.PANICKED: "panic", qemu.HUNG: "hung", qemu.REFUSED: "command line:"}
        said = next((line.strip() for line in console if marks[code] in line.lower()), "")
    elif code == qemu.NO_QEMU:
        killed = f"{KILLED} {-status}" if status < 0 else ""
        said = killed or last_line(result.folder / results.QEMU_LOG) or qemu.RESET
    elif code == qemu.TIMED_OUT:
        said = f"{timeout:g} s of host time; --timeout changes it"
    return image.reason(code) + (f": {said}" if said else "")


def missing(error: FileNotFoundError) -> LabError:
    """The error for a missing tool."""
    return LabError(f"{error.filename} is not installed; `make doctor` says how to get it", NO_TOOL)


def check_telemetry(result: results.Result, settings: qemu.Settings) -> None:
    """Raises LabError if the run ended but its telemetry is incomplete, for instance because the disk is full."""
    if "telemetry=off" in settings.cmdline.split():
        return
    try:
        result.telemetry()
    except stream.TelemetryError as error:
        raise LabError(
            f"the run ended, but its telemetry is incomplete (is the disk full?): {error}", NO_SPACE
        ) from None


def checking(folder: Path, before: image.Stamp, console: Path, progress: Progress) -> Progress:
    """`progress`, which once checks that the image was not written again before the guest printed to its console: QEMU
    has read the whole image by then, and later changes do not matter."""
    pending = True

    def look(records: list[dict[str, Any]]) -> None:
        nonlocal pending
        if pending and console.stat().st_size:
            pending = False
            image.check_unchanged(folder, before)
        progress(records)

    return look


def run(settings: qemu.Settings, folder: Path, progress: Progress = nothing) -> results.Result:
    """Run `settings` into `folder`; `progress` gets the telemetry's records as they come.

    The result's meta.json has the exit code (qemu.OK …): a guest that fails is a result too. Raises LabError if nothing
    could be run or written. KeyboardInterrupt ends QEMU, keeps the result so far, and is raised again.
    """
    settings = replace(settings, telemetry=str(folder / results.TELEMETRY))
    version = image.qemu_version()
    before, described = image.stamp(settings.image), image.describe(settings.image)
    progress = checking(settings.image, before, folder / results.CONSOLE, progress)
    try:
        ready = qemu.prepared(settings)
        command = qemu.qemu_command(ready, str(folder / results.CONSOLE))
        result = results.create(folder, settings, qemu.command_line(ready), described, version, command)
        return carry_out(result, ready, progress)
    except qemu.BadSetting as error:
        raise LabError(str(error), USAGE) from None
    except FileNotFoundError as error:
        raise missing(error) from None
    except OSError as error:
        raise LabError(f"{folder} cannot be written: {error.strerror}", NO_SPACE) from None


def carry_out(result: results.Result, settings: qemu.Settings, progress: Progress) -> results.Result:
    """Perform the run, in a folder that has been made for it."""
    result.telemetry_path.write_bytes(b"")
    follower = stream.Follower(result.telemetry_path)
    log = result.folder / results.QEMU_LOG
    begun = time.monotonic()
    state, code, reason = "interrupted", None, "stopped early"
    try:
        with log.open("wb") as messages:
            code, status = qemu.unattended(settings, result.console_path, lambda: progress(follower.poll()), messages)
        reason = why(result, code, settings.timeout, status)
        if code in (qemu.OK, qemu.FAILED):
            check_telemetry(result, settings)
        state = "done"
    except FileNotFoundError as error:
        raise missing(error) from None
    except LabError as error:
        reason = str(error)
        raise
    finally:
        follower.close()
        if log.exists() and not log.stat().st_size:
            log.unlink()
        results.finish(result, state, code, reason, time.monotonic() - begun)
    return result


def drop_refused(result: results.Result) -> None:
    """Raises LabError, and removes the folder, if the kernel refused its command line: nothing ran."""
    if result.meta["exit"] == qemu.REFUSED:
        shutil.rmtree(result.folder)
        raise LabError(result.meta["reason"], USAGE)


def cause(result: results.Result) -> str:
    """The command that puts gdb at the error of an exact run; "" if there is none."""
    if not result.meta["settings"]["exact"] or result.meta["exit"] is None:
        return ""
    try:
        data = result.telemetry(partial=True)
    except stream.TelemetryError:
        return ""
    failed = next((at for at, record in enumerate(data.exits, 1) if record["status"]), 0)
    event = {qemu.PANICKED: "panic", qemu.HUNG: "hang"}.get(result.meta["exit"], "")
    if any(record["ev"] == "violation" for record in data.events):
        event = "violation"  # later events may be its consequences
    if not event and result.meta["exit"] == qemu.FAILED and failed:
        event = f"exit:{failed}"
    return at_place(result, f"--event {event}") if event else ""


def at_place(result: results.Result, place: str) -> str:
    """The command that puts gdb at a place of an exact run."""
    return f"`tidemark gdb {result.folder} {place}` puts gdb there, and goes back."


def demand_success(result: results.Result) -> None:
    """Raises LabError, with the end of the console, if the run did not end well; drop_refused may remove the folder."""
    drop_refused(result)
    if result.meta["exit"] != qemu.OK:
        text = (
            f"{result.meta['reason']}. The console ends so:\n{result.tail()}\n{result.folder} keeps it. {cause(result)}"
        )
        raise LabError(text.rstrip(), FAILED)
