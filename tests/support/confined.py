"""Marks of tests that need a sandbox. In many containers an ordinary user cannot have one, and root can have only a
separate user, who may read whatever all users may read."""

from __future__ import annotations

import pytest
from tidemark.errors import LabError
from tidemark.grade.build import sandbox, solutions, users
from tidemark.machine import qemu


def trouble() -> str:
    """Why the grader refuses work from outside its tree here: the work could read the solutions; "" if it does not."""
    try:
        solutions.check(sandbox.find(), qemu.ROOT, "")
    except LabError as error:
        return str(error)
    return ""


def closed() -> str:
    """Why students' code cannot run in this tree; "" if it can. A separate user must be able to enter it."""
    try:
        for folder in qemu.ROOT.parents if sandbox.find().kind == "user" else ():
            users.let_pass(folder)
    except LabError as error:
        return str(error)
    return ""


TROUBLE = {kind: sandbox.trouble(kind) for kind in ("bwrap", "user")}
NEEDS_BWRAP = pytest.mark.skipif(bool(TROUBLE["bwrap"]), reason=f"bwrap does not work here: {TROUBLE['bwrap']}")
NEEDS_SANDBOX = pytest.mark.skipif(bool(trouble()), reason=trouble())
NEEDS_WAY_IN = pytest.mark.skipif(bool(closed()), reason=closed())
