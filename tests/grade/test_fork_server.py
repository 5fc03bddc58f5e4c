"""The fork server, with a job that prints, fails, or sleeps."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tidemark.grade.fork_server import Ended, ForkServer

JOB = """
import sys, time
from tidemark.grade.fork_server import serve

def job(what):
    print("said", what, flush=True)
    if what == "sleep":
        time.sleep(1000)
    sys.exit(int(what))

serve(job)
"""


@pytest.fixture
def server() -> Iterator[ForkServer]:
    yield ForkServer([sys.executable, "-c", JOB], dict(os.environ))


def log_in(folder: Path, name: str = "log") -> Path:
    """An empty file."""
    (folder / name).touch()
    return folder / name


def test_status_and_output_are_those_of_each_job(server: ForkServer, tmp_path: Path) -> None:
    for status in (0, 3):
        log = log_in(tmp_path, f"log{status}")
        server.begin(log, str(status))
        assert server.status(None) == status and log.read_text() == f"said {status}\n"


def test_job_that_is_ended(server: ForkServer, tmp_path: Path) -> None:
    process = server.begin(log_in(tmp_path), "sleep")
    assert server.status(0.1) is None
    server.end(process, 10)
    assert not Path("/proc", str(process)).exists()
    server.begin(log_in(tmp_path), "4")
    assert server.status(None) == 4


def test_job_that_has_ended_before_it_is_ended_leaves_no_answer(server: ForkServer, tmp_path: Path) -> None:
    process = server.begin(log_in(tmp_path), "5")
    while Path("/proc", str(process)).exists():
        time.sleep(0.01)
    server.end(process, 10)
    server.begin(log_in(tmp_path), "6")
    assert server.status(None) == 6


def test_server_that_has_ended_says_so(server: ForkServer, tmp_path: Path) -> None:
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    with pytest.raises(Ended):
        server.begin(log_in(tmp_path), "0")
