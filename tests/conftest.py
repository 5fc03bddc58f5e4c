"""pytest's own settings: how many processes, and the image that the tests run must be there."""

from __future__ import annotations

import gc
import os
import signal

import pytest
from tidemark import qemu

pytest_plugins = ["pytester", "unchanged"]


def pytest_configure() -> None:
    """Started in the background by a script, everything below it would ignore Ctrl-C, which tests press."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers() -> int:
    """Two more than there are processors, since tests also wait: for a debugger, a browser, the end of a program."""
    return len(os.sched_getaffinity(0)) + 2


def pytest_collection_finish() -> None:
    """What has been loaded stays: looking through it again and again for garbage took a twentieth of all the time."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def image() -> None:
    """Stop with what to do when nothing has been built."""
    for name in (qemu.KERNEL, qemu.INITRD):
        if not (qemu.ROOT / name).exists():
            pytest.exit(f"{name} is not there: run `make check`, or `make` first", returncode=3)
