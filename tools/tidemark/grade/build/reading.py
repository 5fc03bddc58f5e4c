"""Reading archives in the sandbox, so that a bad archive costs no more than a row of the class's table, and seconds."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tidemark.grade.build.sandbox import Limits, Sandbox
from tidemark.grade.intake import members

SYSTEM_PYTHON = Path("/usr/bin/python3")
LIMIT_S = 20  # of processor time; an honest archive takes less than 1 s
LIMITS = Limits(memory=768 << 20, file=1 << 20, output=48 << 20, processes=16, open_files=64, wall=3)


def python(box: Sandbox) -> Path:
    """Python without the libraries of a venv: the grader's, or the system's if the sandbox cannot read the grader's."""
    own = Path(sys.executable).resolve()
    return own if box.may_read(own) else SYSTEM_PYTHON


def reader(box: Sandbox) -> Callable[[bytes], str]:
    """A function that takes an order for an archive, runs tidemark.grade.intake.members on it in the sandbox, and
    returns the answer. Several threads may call it."""
    box = replace(box, limits=LIMITS)
    program = box.within_reach(Path(members.__file__).resolve())
    command = [str(python(box)), "-I", "-S", str(program)]

    def read(order: bytes) -> str:
        with tempfile.TemporaryDirectory(prefix="tidemark-reading-") as folder:
            status, out, err = box.run(command, Path(folder), order, (), LIMIT_S)
        return out.decode() if status == 0 else json.dumps({"refused": reason(status, err)})

    return read


def reason(status: int, err: bytes) -> str:
    """Why there is no answer, in words."""
    if status in (-signal.SIGXCPU, -signal.SIGKILL) and not err.strip():
        return f"reading it takes more than {LIMIT_S} s"
    said = err.decode("utf-8", "replace").strip().splitlines()
    return f"reading it failed: {said[-1] if said else f'status {status}'}"
