"""Running a command that may do anything: it writes without end, waits for ever, fills the disk.

What it prints is cut while it comes, not afterwards. It is ended when it prints more than a limit, when the folders
that it may write to grow beyond one, and, as a last resort, when it takes too long by the clock on the wall: that one
depends on what else the host does, so limits of processor time (tidemark.grade.build.sandbox) should come first.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

POLL_S, DISK_EVERY_S = 0.1, 2.0
PIECE = 1 << 16
STOPPED = -signal.SIGKILL


@dataclass(frozen=True)
class Bounds:
    """Where a command is ended: bytes of each of its two streams; bytes and number of files in `folders`; seconds."""

    output: int
    disk: int
    files: int
    wall_s: float
    folders: tuple[Path, ...] = ()


class TooMuch(Exception):
    """A bound was passed; the text says which."""


def size(folders: Sequence[Path]) -> tuple[int, int]:
    """(bytes on the disk, number of files) in folders. What vanishes meanwhile does not count."""
    nr_bytes = nr_files = 0
    for folder in folders:
        for at, _, names in os.walk(folder):
            for name in names:
                with contextlib.suppress(OSError):
                    nr_bytes += os.lstat(os.path.join(at, name)).st_blocks * 512
                    nr_files += 1
    return nr_bytes, nr_files


def check_disk(bounds: Bounds) -> None:
    """TooMuch when the folders have grown beyond their bounds."""
    nr_bytes, nr_files = size(bounds.folders)
    if nr_bytes > bounds.disk:
        raise TooMuch(f"it filled its folder with more than {bounds.disk >> 20} MiB")
    if nr_files > bounds.files:
        raise TooMuch(f"it filled its folder with more than {bounds.files} files")


def collect(process: subprocess.Popen[bytes], out: bytearray, err: bytearray, bounds: Bounds) -> None:
    """Read both streams until the process has ended. TooMuch when it passes a bound."""
    started = disk_at = time.monotonic()
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
                return  # a process that it left behind has the pipes
            now = time.monotonic()
            if now - started > bounds.wall_s:
                raise TooMuch(f"it took more than {bounds.wall_s:g} s")
            if now - disk_at > DISK_EVERY_S:
                check_disk(bounds)
                disk_at = time.monotonic()
        wait_quietly(process, bounds, started)


def wait_quietly(process: subprocess.Popen[bytes], bounds: Bounds, started: float) -> None:
    """Wait for a process that has closed its streams. TooMuch when it passes a bound."""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(min(DISK_EVERY_S, max(0.0, started + bounds.wall_s - time.monotonic())))
            return
        check_disk(bounds)
        if time.monotonic() - started > bounds.wall_s:
            raise TooMuch(f"it took more than {bounds.wall_s:g} s")


def run(
    command: Sequence[str], cwd: Path, stdin: bytes, bounds: Bounds, end: Callable[[subprocess.Popen[bytes]], None]
) -> tuple[int, bytes, bytes]:
    """Run a command in a session of its own; (status, output, errors). `end` ends it, and all it has started.

    The status is the command's; negative: the signal that ended it, also where 128 + signal says so. What was stopped
    for passing a bound has the status STOPPED, and the reason as the last line of its errors.
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
