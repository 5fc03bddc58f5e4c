"""QEMU's plugin, tools/plugin: the QEMU flags with which it watches the guest of a run."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tidemark.errors import BAD_INPUT, NO_TOOL, LabError
from tidemark.machine import home, qemu
from tidemark.machine.image import qemu_version

PLUGIN = qemu.ROOT / "build/plugin/tidemark.so"
SYMBOLS = qemu.KERNEL + ".nm"
SAYS = "tidemark plugin: "
REFERENCES = ("trace", "uses", "past")  # modes that record all references


def symbols(image: Path) -> Path:
    """The file of the kernel's symbols in an image's folder. Raises LabError if it does not exist."""
    path = (image / SYMBOLS).resolve()
    if not path.exists():
        raise LabError(f"{path} does not exist; `make` writes it", BAD_INPUT)
    return path


def addresses(image: Path, *names: str) -> list[int]:
    """The addresses of these symbols in the kernel of an image's folder. Raises LabError if one is missing."""
    path = symbols(image)
    lines = (line.split() for line in path.read_text().splitlines())
    found = {fields[2]: int(fields[0], 16) for fields in lines if len(fields) == 3}
    for name in names:
        if name not in found:
            raise LabError(f"{path}: this kernel has no {name}, which the plugin needs; build this tree", BAD_INPUT)
    return [found[name] for name in names]


@cache
def options(program: str) -> str:
    """The output of QEMU's -help."""
    return subprocess.run([program, "-help"], capture_output=True, text=True, timeout=60).stdout


@cache
def warn() -> None:
    """Says once what QEMU 8.2 does wrong."""
    version = qemu_version()
    if version.startswith("8.2."):
        print(
            f"tidemark: QEMU {version} may record a few references too many, or stop executing; 7.2 and 10.0 do "
            "not (docs/reference/limits.md)",
            file=sys.stderr,
        )


def check_qemu() -> None:
    """Raises LabError if QEMU is missing or has no plugins."""
    program = shutil.which(qemu.PROGRAM)
    if not program:
        raise LabError(f"{qemu.PROGRAM} is not installed; `make doctor` says how to get it", NO_TOOL)
    if "-plugin " not in options(program):
        raise LabError(
            f"this {qemu.PROGRAM} was built without plugins: take that of Debian or Ubuntu (package qemu-system-x86), "
            "or build one with --enable-plugins --enable-modules",
            NO_TOOL,
        )


def flags(mode: str, reach: Callable[[Path], Path] = Path, /, **options: str | Path) -> str:
    """The addition to Settings.qemu_flags for a mode of the plugin (tools/plugin has the options). `reach`: maps a file
    to a path where a QEMU that may not read everything can read it.

    Raises LabError if the plugin has not been built, or QEMU cannot load one.
    """
    if home.INSTALLED:
        raise LabError(f"this needs {home.PLUGIN}: use `make lab` in a clone of Tidemark", NO_TOOL)
    if not PLUGIN.exists():
        raise LabError(f"{PLUGIN} does not exist; `make lab` builds it", NO_TOOL)
    check_qemu()
    if mode in REFERENCES:
        warn()
    words = [str(reach(PLUGIN)), f"mode={mode}", *(f"{name}={value}" for name, value in options.items())]
    return " -plugin " + shlex.quote(",".join(word.replace(",", ",,") for word in words))


def complaint(log: Path) -> str:
    """The plugin's last message in the file of QEMU's messages if it gave up; "" if it did not."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return next((line.removeprefix(SAYS) for line in lines if line.startswith(SAYS)), "")
