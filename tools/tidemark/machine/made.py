"""Programs of this tree that are built when they are first needed."""

from __future__ import annotations

import os
import subprocess

from tidemark.errors import NO_TOOL, LabError
from tidemark.machine import qemu


def trouble(target: str) -> str:
    """Why `make` cannot make a target in this tree, in its own words; empty if it has made it. Raises LabError without
    make."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "--no-print-directory", "--silent", target]
    try:
        made = subprocess.run(
            command, cwd=qemu.ROOT, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
        )
    except FileNotFoundError:
        raise LabError("make is not installed; `apt-get install make` installs it", NO_TOOL) from None
    return made.stderr.strip() or f"make {target} fails" if made.returncode else ""
