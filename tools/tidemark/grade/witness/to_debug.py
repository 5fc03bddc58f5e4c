"""A run that went wrong, kept as a result of `tidemark run` is, so that `tidemark gdb` can stand in it and go back.

The plugin changes nothing for the guest, so the same machine without it comes to the same places.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from tidemark import experiment, image, kept, plugin, qemu, results
from tidemark.grade.build.workspace import Workspace

WENT_WRONG = (qemu.FAILED, qemu.PANICKED, qemu.HUNG)


def lay_symbols(workspace: Workspace, folder: Path, command: str) -> None:
    """Beside the kernel that ran: its table of symbols, and the programs of its command line."""
    for name in (plugin.SYMBOLS, *kept.programs(workspace.tree, command)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(workspace.tree / name, folder / name)


def keep(workspace: Workspace, settings: qemu.Settings, console: Path, code: int, reason: str) -> str:
    """Keep a run in workspace.keep, unless one is there already: the command for gdb, or nothing if there is none.
    `settings` are those it ran with; a run with a disk is not kept, which has changed meanwhile.
    """
    if not workspace.keep or workspace.keep.exists() or settings.disk:
        return ""
    plain = replace(settings, qemu_flags="", prefix=())
    lay_symbols(workspace, settings.image, settings.run)
    words = qemu.qemu_command(plain, results.CONSOLE)
    about = image.describe(settings.image), image.qemu_version()
    result = results.create(workspace.keep, plain, qemu.command_line(plain), *about, words)
    shutil.copyfile(console, result.console_path)
    shutil.copyfile(settings.telemetry, result.telemetry_path)
    results.finish(result, "done", code, reason, 0)
    kept.keep(result, settings.image)
    said = experiment.cause(result)
    if not said:
        shutil.rmtree(workspace.keep)
    return said
