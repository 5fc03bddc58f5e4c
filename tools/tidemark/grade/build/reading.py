"""Reading archives in the sandbox: whatever is in one costs a row of the class's table, and seconds."""

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
LIMIT_S = 20  # of processor time; an honest archive takes less than one
LIMITS = Limits(memory=768 << 20, file=1 << 20, output=48 << 20, processes=16, open_files=64, wall=3)


def python(box: Sandbox) -> Path:
    """Python without the libraries of a venv: the grader's, or the system's where that may not be read."""
    own = Path(sys.executable).resolve()
    return own if box.may_read(own) else SYSTEM_PYTHON


def reader(box: Sandbox) -> Callable[[bytes], str]:
    """A function that has an order and its archive answered (tidemark.grade.intake.members) by a process in the
    sandbox; several threads may call it."""
    box = replace(box, limits=LIMITS)
    program = box.within_reach(Path(members.__file__).resolve())
    command = [str(python(box)), "-I", "-S", str(program)]

    def read(order: bytes) -> str:
        with tempfile.TemporaryDirectory(prefix="tidemark-reading-") as folder:
            status, out, err = box.run(command, Path(folder), order, (), LIMIT_S)
        return out.decode() if status == 0 else json.dumps({"refused": reason(status, err)})

    return read


def reason(status: int, err: bytes) -> str:
    """Why there is no answer."""
    if status in (-signal.SIGXCPU, -signal.SIGKILL) and not err.strip():
        return f"reading it takes more than {LIMIT_S} s"
    said = err.decode("utf-8", "replace").strip().splitlines()
    return f"reading it came to no end: {said[-1] if said else f'status {status}'}"
