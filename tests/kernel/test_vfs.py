"""Files behave as on Linux: compares the output of the program `vfs` there and here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from guest import boot
from tidemark.machine import qemu

PROGRAM = qemu.ROOT / "build/user/vfs"


def on_this_host(folder: Path) -> list[str]:
    """The lines of `vfs matrix` on the host's kernel; skips if the host is not a Linux that runs 32-bit programs."""
    try:
        done = subprocess.run([PROGRAM, "matrix"], cwd=folder, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"the host does not run {PROGRAM.name}: {error}")
    return done.stdout.splitlines()


def test_every_rename_is_answered_as_on_linux(tmp_path: Path) -> None:
    theirs = on_this_host(tmp_path)
    ours = boot("cd /tmp; vfs matrix").check_exit().console.splitlines()
    assert len(theirs) == 98
    assert [line for line in ours if line.startswith("rename ")] == theirs
