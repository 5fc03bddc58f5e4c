"""Which C file uses a function or a variable of which other, read from their object files by nm.

Text would not do: a local variable may have the name of another file's function.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from structure import source

# The folders whose files form no circle, and the folders where make puts their objects, each under its source's path.
OBJECTS = {"tools/plugin": "build/obj", "tools/vmsim": "build/vmsim/checked", "user/sh": "build/obj"}


def symbols(file: Path) -> tuple[set[str], set[str]]:
    """The names that the object of a C file defines for other files, and those that it uses of other files."""
    folder = next(folder for part, folder in OBJECTS.items() if file.is_relative_to(part))
    command = ["nm", "--portability", "--extern-only", source.ROOT / folder / file.with_suffix(".o")]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    names = [line.split()[:2] for line in lines]
    used = {name for name, kind in names if kind in "Uvw"}  # v, w: weak; lower case: not defined here
    return {name for name, _ in names} - used, used


def arrows(part: str) -> Iterator[source.Arrow]:
    """Each use, by a file in the folder `part`, of a definition in another file there."""
    found = {file: symbols(file) for file in source.c_files(f"{part}/*.c")}
    owners = {name: file for file, (defined, _) in found.items() for name in defined}
    for file, (_, used) in found.items():
        for target in {owners[name] for name in used if name in owners}:
            yield source.Arrow(file, 0, target, part, part)
