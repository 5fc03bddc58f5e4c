"""Running a command that may do anything: write without end, wait forever, fill the disk.

Its output is cut while it comes, not afterwards. It is ended if it prints more than a limit, if its writable folders
grow beyond a limit, if all its processes have slept for a while, and, as a last resort, if it takes too
long by the wall clock. That limit depends on the load of the host, so limits of processor time
(tidemark.grade.build.sandbox) should come first.

A process that reads a terminal without input, as `#include "/dev/ptmx"` does, uses no processor time. The states of its
threads distinguish it from a process that waits for the processor or the disk: in several looks in a row all are
asleep, and none has run in between.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

POLL_S, LOOK_EVERY_S = 0.1, 1.0
PIECE = 1 << 16
STOPPED = -signal.SIGKILL
ASLEEP = ("S", "T", "Z")  # in /proc/PID/stat: threads in these states run only after an event


@dataclass(frozen=True)
class Bounds:
    """The limits of a command: bytes of each of its two streams; bytes and number of files in `folders`; seconds by
    the wall clock, and seconds in which all its processes sleep."""

    output: int
    disk: int
    files: int
    wall_s: float
    asleep_s: float
    folders: tuple[Path, ...] = ()


class TooMuch(Exception):
    """A bound was passed; the text says which."""


def size(folders: Sequence[Path]) -> tuple[int, int]:
    """(bytes on the disk, number of files) in folders. Files that vanish meanwhile do not count."""
    nr_bytes = nr_files = 0
    for folder in folders:
        for at, _, names in os.walk(folder):
            for name in names:
                with contextlib.suppress(OSError):
                    nr_bytes += os.lstat(os.path.join(at, name)).st_blocks * 512
                    nr_files += 1
    return nr_bytes, nr_files


def check_disk(bounds: Bounds) -> None:
    """Raises TooMuch if the folders have grown beyond their bounds."""
    nr_bytes, nr_files = size(bounds.folders)
    if nr_bytes > bounds.disk:
        raise TooMuch(f"it filled its folder with more than {bounds.disk >> 20} MiB")
    if nr_files > bounds.files:
        raise TooMuch(f"it filled its folder with more than {bounds.files} files")


def threads(pid: str) -> Iterator[tuple[str, str, int]]:
    """Each thread of a process, and of all that it started: number, state, ticks of processor time. Raises OSError if
    one ends meanwhile."""
    for task in Path("/proc", pid, "task").iterdir():
        state, *fields = (task / "stat").read_text().rpartition(")")[2].split()
        yield task.name, state, int(fields[10]) + int(fields[11])
        for child in (task / "children").read_text().split():
            yield from threads(child)


@dataclass
class Watch:
    """Watches a process and all that it started. `asleep`: the number of looks in a row that found no progress."""

    process: subprocess.Popen[bytes]
    bounds: Bounds
    started: float = field(default_factory=time.monotonic)
    looked: float = field(default_factory=time.monotonic)
    before: list[tuple[str, str, int]] = field(default_factory=list)
    asleep: int = 0

    def look(self) -> None:
        """Raises TooMuch if a bound is passed."""
        now = time.monotonic()
        if now - self.started > self.bounds.wall_s:
            raise TooMuch(f"it took more than {self.bounds.wall_s:g} s")
        if now - self.looked < LOOK_EVERY_S:
            return
        self.looked = now
        check_disk(self.bounds)
        self.check_sleep()

    def check_sleep(self) -> None:
        """Raises TooMuch after too many looks in a row without progress."""
        seen = []
        with contextlib.suppress(OSError):
            seen = sorted(threads(str(self.process.pid)))
        sleeps = seen == self.before and all(state in ASLEEP for _, state, _ in seen)
        self.asleep = self.asleep + 1 if seen and sleeps else 0
        self.before = seen
        if self.asleep * LOOK_EVERY_S >= self.bounds.asleep_s:
            raise TooMuch(f"it did nothing for {self.bounds.asleep_s:g} s: it waits for what does not come")


def collect(process: subprocess.Popen[bytes], out: bytearray, err: bytearray, bounds: Bounds) -> None:
    """Read both streams until the process has ended. Raises TooMuch if it passes a bound."""
    watch = Watch(process, bounds)
    assert process.stdout and process.stderr
    with selectors.DefaultSelector() as streams:
        for stream, data in ((process.stdout, out), (process.stderr, err)):
            streams.register(stream, selectors.EVENT_READ, data)
        while streams.get_map():
            has_ended = process.poll() is not None
            ready = streams.select(POLL_S)
            for key, _ in ready:
                piece = os.read(key.fd, PIECE)
                room = bounds.output - len(key.data)
                key.data.extend(piece[:room])
                if not piece:
                    streams.unregister(key.fileobj)
                elif len(piece) > room:
                    raise TooMuch(f"it printed more than {bounds.output >> 10} KiB")
            if has_ended and not ready:
                return  # a process that it left behind holds the pipes
            watch.look()
    while process.poll() is None:  # it has closed its streams
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(POLL_S)
        watch.look()


def run(
    command: Sequence[str], cwd: Path, stdin: bytes, bounds: Bounds, end: Callable[[subprocess.Popen[bytes]], None]
) -> tuple[int, bytes, bytes]:
    """Run a command in a new session; returns (status, output, errors). `end` must end it, and all that it has started.

    The status is the command's; negative: the signal that ended it, also if the status was 128 + signal. A command that
    passed a bound has the status STOPPED, and the reason as the last line of its errors.
    """
    out, err, reason = bytearray(), bytearray(), ""
    with tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        process = subprocess.Popen(
            command,
            cwd=cwd,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            umask=0o022,
        )
    with process:
        try:
            collect(process, out, err, bounds)
        except TooMuch as error:
            reason = f"{error}\n"
        finally:
            end(process)
            process.wait()
    if reason:
        return STOPPED, bytes(out), bytes(err) + (b"\n" if err and not err.endswith(b"\n") else b"") + reason.encode()
    status = process.returncode
    return (128 - status if 128 < status <= 192 else status), bytes(out), bytes(err)
