"""A run that went wrong, stored like a result of `tidemark run`, so that `tidemark gdb` can go to any place of it.

The plugin changes nothing for the guest, so the same machine reaches the same places without it.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from tidemark.grade.build.workspace import Workspace
from tidemark.machine import image, plugin, qemu
from tidemark.runs import experiment, result_image, results


@dataclass(frozen=True)
class Left:
    """The files of a run until its test is judged: its settings, its console, and how it
    ended, as reported by qemu.unattended."""

    settings: qemu.Settings
    console: Path
    code: int
    reason: str

    def remove(self) -> None:
        """Remove the files, which are not needed."""
        shutil.rmtree(self.settings.image, ignore_errors=True)


def lay_symbols(workspace: Workspace, folder: Path, command: str) -> None:
    """Copy the kernel's table of symbols, and the programs of its command line, to the kernel that ran."""
    for name in (plugin.SYMBOLS, *result_image.programs(workspace.tree, command)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(workspace.tree / name, folder / name)


def keep(workspace: Workspace, left: Left, place: str) -> str:
    """Store a run in workspace.keep, which must not exist; returns the command for gdb, or "" if there is none. `place`
    is where the run went wrong, in the notation of `tidemark gdb`, or "" if the run itself shows it. A run with a disk
    is not stored, since its disk has changed meanwhile, nor is one that has been removed.
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
    result_image.keep(result, plain.image)
    said = experiment.at_place(result, place) if place else experiment.cause(result)
    if not said:
        shutil.rmtree(workspace.keep)
    return said
