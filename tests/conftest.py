"""pytest's own settings: the number of processes, and a check that the image exists."""

from __future__ import annotations

import gc
import os
import signal

import pytest
from tidemark.machine import qemu

pytest_plugins = ["pytester", "unchanged", "browser"]


def pytest_configure() -> None:
    """Restores Ctrl-C, which tests use: started in the background by a script, all child processes would ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers() -> int:
    """Two more than the number of processors, because tests also wait: for a debugger, a browser, the end of a
    program."""
    return len(os.sched_getaffinity(0)) + 2


def pytest_collection_finish() -> None:
    """Exempts loaded objects from garbage collection: scanning them took a twentieth of the total time."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def image(request: pytest.FixtureRequest) -> None:
    """Stops with instructions if nothing has been built, and a test needs it."""
    if all(item.get_closest_marker("unbuilt") for item in request.session.items):
        return
    for name in (qemu.KERNEL, qemu.INITRD):
        if not (qemu.ROOT / name).exists():
            pytest.exit(f"{name} does not exist: run `make check`, or `make` first", returncode=3)
