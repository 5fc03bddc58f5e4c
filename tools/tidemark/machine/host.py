"""What Linux has and other systems lack: macOS, for example."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

PR_SET_PDEATHSIG = 1
# Looked up here: after a fork in a process with threads, the loader's lock may be held.
_prctl = getattr(ctypes.CDLL(None), "prctl", None)


def processors() -> int:
    """The number of processors that this process may use; elsewhere than on Linux, of the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor_time(pid: int) -> str:
    """The time that a process has used the processor, for comparison with itself. Only on Linux; elsewhere empty."""
    try:
        return " ".join(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13])  # utime, stime
    except OSError:
        return ""


def die_with_parent() -> None:
    """In a child, before it starts a program: end it when the parent ends for any reason. Only on Linux; elsewhere a
    parent that is killed leaves it running."""
    if _prctl:
        _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@contextlib.contextmanager
def unnamed_file(name: str) -> Iterator[tuple[int, str]]:
    """A file in memory: its descriptor, and its path while this process runs. Elsewhere than on Linux a temporary file,
    which is removed at the end."""
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        fd = os.memfd_create(name)
        try:
            yield fd, f"/proc/{os.getpid()}/fd/{fd}"
        finally:
            os.close(fd)
    else:
        with tempfile.NamedTemporaryFile(prefix=f"{name}-") as file:
            yield file.fileno(), file.name
