"""Writing a file that a user names: complete or not at all, and without replacing devices, links or folders.

    PATH is                           action
    nothing, or a regular file        renamed over when PATH.partial beside it is complete; its mode stays
    a symbolic link                   its target, by this table; the link stays
    /dev/stdout, /dev/fd/N            written to this process's descriptor, wherever it leads
    a device, a FIFO, a terminal      opened and written to when the data is complete in a temporary file
    a folder                          refused, as are a missing folder and a write-protected file

So a reader, a full disk or a crash leaves the old file or the new one. The price: it must be possible to create a file
in the folder of a regular file, and a file with several names (hard links) is replaced only under this name. If a FIFO
has no reader, the command waits for one.

No other code in tools/ renames a file to its final name; tests/structure checks that.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tidemark.errors import NO_SPACE, USAGE, LabError

PARTIAL = ".partial"
DESCRIPTORS = re.compile(r"/proc/(\d+)(?:/task/\d+)?/fd")


@dataclass(frozen=True)
class Target:
    """The target of a path: `file`, to be renamed over, and the existing file's status (`old`); or `through`, a path or
    a descriptor of this process, to be written to."""

    file: Path = Path()
    old: os.stat_result | None = None
    through: str | int | None = None


@contextlib.contextmanager
def telling(path: Path, code: int = NO_SPACE) -> Iterator[None]:
    """Turn an OSError into a LabError that names `path`."""
    try:
        yield
    except OSError as error:
        raise LabError(f"{path} cannot be written: {error.strerror or error}", code) from None


def descriptor(path: Path) -> str | int | None:
    """The descriptor that a path such as /dev/stdout names: this process's as its number, another's as a path.
    None for any other path. Circles of links must have been refused before."""
    while True:
        found = DESCRIPTORS.fullmatch(os.path.realpath(path.parent))
        if found and path.name.isdecimal():
            return int(path.name) if int(found[1]) == os.getpid() else str(path)
        if not path.is_symlink():
            return None
        path = path.parent / path.readlink()


def allowed(path: Path, mode: int) -> bool:
    """May this process access the path in this mode?"""
    return os.access(path, mode, effective_ids=True)


def check_folder(file: Path, exists: bool) -> None:
    """Raises OSError unless a file can be created in the folder of `file`."""
    folder = file.parent
    if not folder.is_dir():
        raise OSError(errno.ENOENT, f"{folder} is not a folder")
    if not allowed(folder, os.W_OK | os.X_OK):
        why = ", and a file is only replaced as a whole" if exists and allowed(file, os.W_OK) else ""
        raise OSError(errno.EACCES, f"its folder {folder} takes no new file{why}")


def target_of(path: Path) -> Target:
    """The target of output for `path`. Raises OSError if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        found = None
    through = descriptor(path)
    if through is not None:
        return Target(through=through)
    if found and stat.S_ISDIR(found.st_mode):
        raise OSError(errno.EISDIR, "it is a folder; name a file")
    if found and not stat.S_ISREG(found.st_mode):
        return Target(through=str(path))
    file = Path(os.path.realpath(path))
    if found and not allowed(file, os.W_OK):
        raise OSError(errno.EACCES, "it is write-protected")
    check_folder(file, bool(found))
    return Target(file, found)


def check(path: Path) -> None:
    """Raises LabError if output could not go to `path`; for commands that work long before they write."""
    with telling(path, USAGE):
        target_of(path)


class Output:
    """A file being written: `file` takes the bytes, in the file `partial`; `close` moves them to `path`; `drop`
    discards them, and does nothing after `close`. Raises LabError if `path` cannot be written.
    """

    def __init__(self, path: Path, suffix: str = PARTIAL) -> None:
        self.path, self._handed_on = path, False
        with telling(path):
            self._target = target_of(path)
            if self._target.through is None:
                self.partial = self._target.file.with_name(self._target.file.name + suffix)
            else:
                handle, name = tempfile.mkstemp(prefix="tidemark-", suffix=PARTIAL)
                os.close(handle)
                self.partial = Path(name)
            self.file: BinaryIO = self.partial.open("wb")

    def close(self) -> None:
        """Rename the file to `path`, or write its bytes to the target of `path`."""
        with telling(self.path):
            self.file.close()
            if self._target.through is None:
                self._take_after(self._target.old)
                self.partial.replace(self._target.file)
            else:
                self._pour(self._target.through)
                self.partial.unlink()
        self._handed_on = True

    def drop(self) -> None:
        """Remove the partial file, unless `close` has succeeded."""
        with contextlib.suppress(OSError):
            self.file.close()
        if not self._handed_on:
            self.partial.unlink(missing_ok=True)

    def _take_after(self, old: os.stat_result | None) -> None:
        """Give the new file the mode of the old one, and its owner if that is allowed."""
        if old:
            with contextlib.suppress(PermissionError):
                os.chown(self.partial, old.st_uid, old.st_gid)
            self.partial.chmod(stat.S_IMODE(old.st_mode))

    def _pour(self, to: str | int) -> None:
        """Write to a device, FIFO or terminal, after flushing printed output."""
        sys.stdout.flush()
        sys.stderr.flush()
        opened = os.dup(to) if isinstance(to, int) else os.open(to, os.O_WRONLY | os.O_TRUNC | os.O_NOCTTY)
        with self.partial.open("rb") as whole, os.fdopen(opened, "wb") as out:
            shutil.copyfileobj(whole, out)


@contextlib.contextmanager
def written(path: Path, suffix: str = PARTIAL) -> Iterator[Output]:
    """An Output that is closed when the block ends well, and dropped if it does not."""
    output = Output(path, suffix)
    try:
        yield output
        output.close()
    finally:
        output.drop()
