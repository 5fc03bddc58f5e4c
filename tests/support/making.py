"""Runs `make` without a terminal."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tidemark.machine import qemu


def environment(**more: str) -> dict[str, str]:
    """The environment of a shell that was not started by make."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return {**inherited, **more}


def make(
    *words: str, stdin: str = "", folder: Path = qemu.ROOT, timeout: float = 120, **env: str
) -> subprocess.CompletedProcess:
    """Runs `make WORDS` in a tree, with `stdin` as its standard input."""
    return subprocess.run(
        ["make", "--no-print-directory", *words],
        cwd=folder,
        env=environment(**env),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
