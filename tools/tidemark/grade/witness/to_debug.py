"""A run that went wrong, kept as a result of `tidemark run` is, so that `tidemark gdb` can stand in it and go back.

The plugin changes nothing for the guest, so the same machine without it comes to the same places.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from tidemark import experiment, image, kept, plugin, qemu, results
from tidemark.grade.build.workspace import Workspace


@dataclass(frozen=True)
class Left:
    """What a run has left in its folder until its test is judged: the settings it ran with, its console, and how it
    ended, as of qemu.unattended."""

    settings: qemu.Settings
    console: Path
    code: int
    reason: str

    def remove(self) -> None:
        """It is not wanted."""
        shutil.rmtree(self.settings.image, ignore_errors=True)


def lay_symbols(workspace: Workspace, folder: Path, command: str) -> None:
    """Beside the kernel that ran: its table of symbols, and the programs of its command line."""
    for name in (plugin.SYMBOLS, *kept.programs(workspace.tree, command)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(workspace.tree / name, folder / name)


def keep(workspace: Workspace, left: Left, place: str) -> str:
    """Keep a run in workspace.keep, which is not there: the command for gdb, or nothing if there is none. `place`:
    where it went wrong, as `tidemark gdb` takes it, or nothing where the run itself says so. A run with a disk is not
    kept, which has changed meanwhile, nor one that has been removed.
    """
    if not workspace.keep or left.settings.disk or not left.settings.image.is_dir():
        return ""
    plain = replace(left.settings, qemu_flags="", prefix=())
    lay_symbols(workspace, plain.image, plain.run)
    words = qemu.qemu_command(plain, results.CONSOLE)
    about = image.describe(plain.image), image.qemu_version()
    result = results.create(workspace.keep, plain, qemu.command_line(plain), *about, words)
    shutil.copyfile(left.console, result.console_path)
    shutil.copyfile(plain.telemetry, result.telemetry_path)
    results.finish(result, "done", left.code, left.reason, 0)
    kept.keep(result, plain.image)
    said = experiment.at_place(result, place) if place else experiment.cause(result)
    if not said:
        shutil.rmtree(workspace.keep)
    return said
