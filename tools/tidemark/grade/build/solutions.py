"""Where the solutions are that a student's code must not read, and whether it could: then nothing is graded.

What a student hands in is compiled, so `#include` of a path is enough to hand in what lies there. In namespaces there
is nothing at such a path, unless the tree lies in a folder of the system's, which is shown. As a user of its own the
code reads what everybody may; with the grader's own rights, all.
"""

from __future__ import annotations

import os
from pathlib import Path

from tidemark.errors import USAGE, LabError
from tidemark.grade.build import users
from tidemark.grade.build.sandbox import SYSTEM, Sandbox
from tidemark.grade.build.tree import MANIFEST

# What of an instructor's tree holds solutions, or what was made of them.
REFERENCE = "build/reference"  # has a copy of the tree with all solutions, in tree/
BUILT = ("build/kernel", "build/vmsim", "build/host", "build/labs", "build/followed", REFERENCE)
PLACES = ("kernel", "labs", ".git", *BUILT)
FILES = ("build/pass1.elf", "build/tidemark.elf")


def places(release: Path) -> list[Path]:
    """The folders and files of a release that hold solutions, and of the tree that it is a copy of; none of a
    student's."""
    if (release / MANIFEST).is_file():
        return []
    is_copy = release.parent.match(REFERENCE)
    found = [tree / name for tree in (release, *release.parents[2:3][:is_copy]) for name in (*PLACES, *FILES)]
    return [path for path in found if path.exists()]


def could_read(sandbox: Sandbox, path: Path) -> bool:
    """Could a student's code in the sandbox read this?"""
    if sandbox.kind == "none":
        return True
    if sandbox.kind == "bwrap" and not any(path.resolve().is_relative_to(folder) for folder in SYSTEM):
        return False
    return users.everybody_reads(path) if sandbox.user else os.access(path, os.R_OK)


def check(sandbox: Sandbox, release: Path, asked: str) -> None:
    """LabError when what somebody else handed in could read the solutions of a release. `asked`: the kind of sandbox
    that was asked for; who asks for none by its name trusts what they grade."""
    readable = [] if asked == "none" else [path for path in places(release) if could_read(sandbox, path)]
    if not readable:
        return
    said = f"{readable[0]}: what was handed in could read the solutions there"
    if sandbox.kind == "none":
        raise LabError(f"{said} ({sandbox.why}); if you trust who wrote it, --sandbox none grades it", USAGE)
    raise LabError(f"{said}: `chmod -R o= {' '.join(map(str, readable))}`", USAGE)
