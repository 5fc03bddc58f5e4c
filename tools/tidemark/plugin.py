"""QEMU's plugin, tools/plugin: what to add to a run's QEMU flags so that it watches the guest."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tidemark import qemu, results
from tidemark.errors import BAD_INPUT, NO_TOOL, LabError

PLUGIN = qemu.ROOT / "build/plugin/tidemark.so"
SYMBOLS = qemu.KERNEL + ".nm"
SAYS = "tidemark plugin: "


def symbols(image: Path) -> Path:
    """The file of the kernel's symbols in an image's folder. LabError when it is not there."""
    path = (image / SYMBOLS).resolve()
    if not path.exists():
        raise LabError(f"{path} is not here; `make` writes it", BAD_INPUT)
    return path


def addresses(image: Path, *names: str) -> list[int]:
    """Where the kernel in an image's folder has these functions. LabError when it has not."""
    path = symbols(image)
    lines = (line.split() for line in path.read_text().splitlines())
    found = {fields[2]: int(fields[0], 16) for fields in lines if len(fields) == 3}
    for name in names:
        if name not in found:
            raise LabError(
                f"{path}: this kernel has no {name}, by which the plugin knows it; build this tree", BAD_INPUT
            )
    return [found[name] for name in names]


@cache
def options(program: str) -> str:
    """What a QEMU says of its options."""
    return subprocess.run([program, "-help"], capture_output=True, text=True, timeout=60).stdout


def check_qemu() -> None:
    """LabError when QEMU is missing or has no plugins."""
    program = shutil.which(qemu.PROGRAM)
    if not program:
        raise LabError(f"{qemu.PROGRAM} is not here; `make doctor` says how to get it", NO_TOOL)
    if "-plugin " not in options(program):
        raise LabError(
            f"this {qemu.PROGRAM} was built without plugins: take that of Debian or Ubuntu (package qemu-system-x86), "
            "or build one with --enable-plugins --enable-modules",
            NO_TOOL,
        )


def flags(mode: str, reach: Callable[[Path], Path] = Path, /, **options: str | Path) -> str:
    """What to add to Settings.qemu_flags for a mode of the plugin (tools/plugin has the options). `reach`: where a QEMU
    that may not read everything finds a file.

    LabError when the plugin has not been built, or QEMU cannot load one.
    """
    if not PLUGIN.exists():
        raise LabError(f"{PLUGIN} is not here; `make lab` builds it", NO_TOOL)
    check_qemu()
    words = [str(reach(PLUGIN)), f"mode={mode}", *(f"{name}={value}" for name, value in options.items())]
    return " -plugin " + shlex.quote(",".join(word.replace(",", ",,") for word in words))


def complaint(result: results.Result) -> str:
    """What the plugin said when it gave up, or nothing."""
    log = result.folder / results.QEMU_LOG
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return next((line.removeprefix(SAYS) for line in lines if line.startswith(SAYS)), "")
