"""Users of the system that exist only during a run, so that a limit of processes counts one run's processes,
and a run can neither read nor signal another, nor own its files.

Root may run a command under any user number, even without an entry in /etc/passwd. systemd's list of users leaves 60706
to 61183 unused. A process that uses a number holds an abstract Unix socket with its name: the system gives it to only
one process, and frees it however that process ends.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tidemark.errors import NO_TOOL, LabError
from tidemark.files import MEMORY

NUMBERS = range(60706, 61184)
TRIES = 50
SHARED = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"))


@dataclass(frozen=True)
class User:
    """A user and group with this number, reserved as long as `held` is open."""

    number: int
    held: socket.socket = field(repr=False, compare=False)


def claim() -> User:
    """An unused user, freed when it is closed or garbage-collected. Raises LabError if all are in use."""
    for number in NUMBERS:
        held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            held.bind(f"\0tidemark-user-{number}")
        except OSError:
            held.close()
            continue
        return User(number, held)
    raise LabError(f"all users from {NUMBERS[0]} to {NUMBERS[-1]} are in use: wait for other gradings", NO_TOOL)


@contextlib.contextmanager
def claimed() -> Iterator[User]:
    """A user that is reserved until the block is left."""
    user = claim()
    with user.held:
        yield user


def own(folder: Path, number: int, group: int) -> None:
    """Give a folder and everything in it to a user. Links are not followed, and a file with a second name is left: it
    could be a file of the system, linked here by the folder's previous owner."""
    os.chown(folder, number, group)
    for _, folders, files, at in os.fwalk(folder):
        for name in [*folders, *files]:
            found = os.stat(name, dir_fd=at, follow_symlinks=False)
            is_ours = stat.S_ISDIR(found.st_mode) or found.st_nlink == 1
            if is_ours and (found.st_uid, found.st_gid) != (number, group):
                os.chown(name, number, group, dir_fd=at, follow_symlinks=False)


def is_ours(folder: Path) -> bool:
    """Is the folder below one for temporary files, so that we may change its mode?"""
    return not {Path(tempfile.gettempdir()).resolve(), MEMORY}.isdisjoint(folder.parents)


def admit(folder: Path, group: int) -> None:
    """Let a group read and enter a folder; below the folder for temporary files deny it to others. Raises LabError
    if another folder is not readable for all users."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    if is_ours(folder):
        os.chown(folder, -1, group)
        folder.chmod((mode | 0o050) & ~0o007)
    elif mode & 0o005 != 0o005:
        raise cannot_enter(folder)


def let_pass(folder: Path) -> None:
    """Let all users pass through a folder to files that they can name. Raises LabError if we may not change it."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & 0o001:
        return
    if not is_ours(folder):
        raise cannot_enter(folder)
    folder.chmod(mode | 0o001)


def cannot_enter(folder: Path) -> LabError:
    """The error for a folder that cannot be entered, with what to do about it."""
    return LabError(
        f"{folder} cannot be entered by the user that runs students' code: `chmod o+rx` it, or set TMPDIR to a folder "
        "that every user may enter"
    )


def everybody_reads(path: Path) -> bool:
    """May every user of the system read this, or enter it, by its mode and those of the folders above?"""
    found = path.resolve()
    way = all(folder.stat().st_mode & 0o001 for folder in found.parents)
    return way and bool(found.stat().st_mode & 0o005)


@functools.cache
def shared_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder that all users may enter, and that is removed when this process ends."""
    folder = tempfile.TemporaryDirectory(prefix="tidemark-shared-")
    Path(folder.name).chmod(0o755)
    return folder


@functools.cache
def copy_for_all(path: Path) -> Path:
    """A copy of a file that all users may read, made once."""
    place = Path(tempfile.mkdtemp(dir=shared_folder().name))
    place.chmod(0o755)
    copy = Path(shutil.copy(path, place))
    copy.chmod(0o755)
    return copy


def tasks(number: int) -> int:
    """The number of a user's threads, which the system compares with its limit of processes."""
    count = 0
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            count += len(os.listdir(path / "task")) if path.stat().st_uid == number else 0
    return count


def runs_something(user: User) -> bool:
    """Is there a process of this user, other than zombies?"""
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            if path.stat().st_uid == user.number and (path / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                return True
    return False


def clean_up(user: User) -> None:
    """Remove the files that a user without processes left in folders that all users may write to."""
    for shared in SHARED:
        for path in shared.iterdir() if shared.is_dir() else ():
            with contextlib.suppress(OSError):
                if path.lstat().st_uid == user.number:
                    shutil.rmtree(path) if stat.S_ISDIR(path.lstat().st_mode) else path.unlink()


def end_all(user: User) -> None:
    """End every process of a user. Only kill(-1) reaches all at once, even if they fork, and only that user may call
    it. Raises LabError if they cannot be ended."""
    kill = ["sh", "-c", f"kill -{signal.SIGKILL:d} -1"]
    for _ in range(TRIES):
        if not runs_something(user):
            return
        subprocess.run(kill, user=user.number, group=user.number, extra_groups=[], stderr=subprocess.DEVNULL)
    raise LabError(f"processes of user {user.number} cannot be ended; `pkill -KILL -U {user.number}` may do it")
