"""Processes of this machine, seen in /proc by the tests of sweeps."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

LIMIT_S = 60
T = TypeVar("T")


def wait_until(condition: Callable[[], T]) -> T:
    """Waits until `condition` is true, and returns its value. The test fails after LIMIT_S."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"what was waited for did not come in {LIMIT_S} s")


def guests(parent: int, words: str) -> list[int]:
    """The pids of the QEMUs that `parent` has started with `words` in the command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            stat = (path / "stat").read_text().rpartition(")")[2].split()
            command = (path / "cmdline").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(stat[1]) == parent and "qemu-system" in command and words in command:
            found.append(int(path.name))
    return found


def wait_for_guest(parent: int, words: str) -> int:
    """Waits for the first QEMU that `guests` finds; returns its pid."""
    return wait_until(lambda: guests(parent, words))[0]
