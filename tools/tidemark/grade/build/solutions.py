"""The places of solutions that a student's code must not read; if it could read them, nothing is graded.

Submissions are compiled, so `#include` of a path is enough to hand in the contents of a file. In namespaces such a path
is empty, unless the tree is in a folder of the system, which is visible. As a separate user, the
code reads what every user may read; with the grader's own rights, everything.
"""

from __future__ import annotations

import os
from pathlib import Path

from tidemark.errors import USAGE, LabError
from tidemark.grade.build import users
from tidemark.grade.build.sandbox import SYSTEM, Sandbox
from tidemark.grade.build.tree import MANIFEST

# Parts of an instructor's tree with solutions, or with what was made from them.
REFERENCE = "build/reference"  # has a copy of the tree with all solutions, in tree/
RULES = "build/rules"  # has a folder for each variant of a lab's rule, with such a copy
BUILT = ("build/kernel", "build/vmsim", "build/host", "build/labs", "build/followed", REFERENCE, RULES)
PLACES = ("kernel", "labs", ".git", *BUILT)
FILES = ("build/pass1.elf", "build/tidemark.elf")


def places(release: Path) -> list[Path]:
    """The folders and files with solutions, of a release and of the tree that it is a copy of; empty for a student's
    release."""
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
    """Raises LabError if a submission could read the solutions of a release. `asked`: the requested kind of sandbox. A
    user who asks for `none` trusts the submissions."""
    readable = [] if asked == "none" else [path for path in places(release) if could_read(sandbox, path)]
    if not readable:
        return
    said = f"{readable[0]}: submissions could read the solutions there"
    if sandbox.kind == "none":
        raise LabError(f"{said} ({sandbox.why}); if you trust its author, --sandbox none grades it", USAGE)
    raise LabError(f"{said}: `chmod -R o= {' '.join(map(str, readable))}`", USAGE)
