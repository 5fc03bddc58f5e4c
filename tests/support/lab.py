"""What the tests of the lab share: the command `tidemark` as a user runs it, and stand-ins for QEMU."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from tidemark import qemu

LIMIT_S = 240


def tidemark(*args: object, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    """Run the command in `cwd`; its status and texts."""
    command = [sys.executable, "-m", "tidemark.cli", *map(str, args)]
    env = {**os.environ, "COLUMNS": "100", **(env or {})}
    return subprocess.run(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S
    )


def tidemark_in_background(*args: object, cwd: Path) -> subprocess.Popen:
    """The same, without waiting. Ctrl-C works on it even when these tests run in the background."""
    return subprocess.Popen(
        [sys.executable, "-m", "tidemark.cli", *map(str, args)],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def qemu_replaced(folder: Path, script: str) -> dict[str, str]:
    """An environment whose QEMU is this shell script; $QEMU in it is the true one."""
    folder.mkdir(exist_ok=True)
    stand_in = folder / qemu.PROGRAM
    stand_in.write_text(f"#!/bin/sh\nQEMU={shutil.which(qemu.PROGRAM)}\n{script}\n")
    stand_in.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}
