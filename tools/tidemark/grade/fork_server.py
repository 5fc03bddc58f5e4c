"""A fork server: a process that has loaded what a job needs, and forks for each job, one at a time.

Loading takes longer than forking, and a job that crashes or runs for ever affects no other. The server reads jobs from
its standard input, a line of JSON each: the file for what the job prints, and the arguments of a function. It answers
with two lines: the number of the job's process, and, when that has ended, its status. (multiprocessing has a fork
server, too, but a worker of a Dask cluster may not start one.)
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tidemark.machine import host


class Ended(Exception):
    """The server has ended."""


class ForkServer:
    """A server, started by a command."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        # numpy's library would start threads, and a process that forks must have none.
        environment = environment | {"OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,
            preexec_fn=host.die_with_parent,
        )

    def answer(self) -> int:
        """The server's next line. Raises Ended."""
        assert self.process.stdout
        try:
            return int(self.process.stdout.readline())
        except ValueError:
            self.process.kill()
            raise Ended from None

    def begin(self, log: Path, *words: str) -> int:
        """Begin a job; returns its process. Raises Ended."""
        assert self.process.stdin
        try:
            self.process.stdin.write(json.dumps([str(log), *words]).encode() + b"\n")
        except BrokenPipeError:
            raise Ended from None
        return self.answer()

    def status(self, wait_s: float | None) -> int | None:
        """The status of the job, negative for a signal; None if it runs on after that time, if one is given. Raises
        Ended."""
        assert self.process.stdout
        return self.answer() if select.select([self.process.stdout], [], [], wait_s)[0] else None

    def end(self, process: int, kindly_s: float) -> None:
        """End the job's process. SIGTERM comes first, so that it can end what it has started. Raises Ended."""
        for number, wait_s in ((signal.SIGTERM, kindly_s), (signal.SIGKILL, None)):
            with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile, and its status is still to be read
                os.kill(process, number)
            if self.status(wait_s) is not None:
                return

    def __del__(self) -> None:
        """End the server with the thread that started it."""
        self.process.communicate()


def serve(job: Callable[..., None]) -> None:
    """Fork for each line of standard input. In the child `job` is called, and this returns."""
    for line in sys.stdin.buffer:
        log, *words = json.loads(line)
        child = os.fork()
        if not child:
            os.setsid()
            host.die_with_parent()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            for stream in (1, 2):
                os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND), stream)
            return job(*words)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
