"""Files and folders that are complete or absent: made under another name, and renamed when complete. output.py handles
special files that a name may lead to."""

from __future__ import annotations

import contextlib
import csv
import errno
import fcntl
import hashlib
import io
import json
import os
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tidemark import output
from tidemark.errors import USAGE, LabError

MEMORY, LEAST, EACH = Path("/dev/shm"), 4 << 30, 512 << 20  # bytes; EACH: the most evidence of one grading
OLD_S = 600  # seconds


def has_room(place: Path) -> bool:
    """Has a file system in memory enough room for gradings on all processors, and the machine twice that much memory,
    since the files are also read?"""
    if not os.access(place, os.W_OK):
        return False
    found, need = os.statvfs(place), max(LEAST, EACH * (os.cpu_count() or 1))
    if found.f_flag & os.ST_NOEXEC or found.f_bavail * found.f_frsize < need:
        return False
    lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    return any(words[0] == "MemAvailable:" and int(words[1]) << 10 >= 2 * need for words in lines)


def remove_left(place: Path, prefix: str) -> None:
    """Remove folders of ours whose process was killed: no other process would, and they take up memory. A young folder
    may be about to be locked, so it stays."""
    for folder in place.glob(prefix + "*"):
        with contextlib.suppress(OSError):
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and time.time() - found.st_mtime > OLD_S:
                with locked(folder):
                    shutil.rmtree(folder)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder while the block runs, or until the process ends. Raises BlockingIOError if it is locked."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(opened)


@contextlib.contextmanager
def scratch(prefix: str) -> Iterator[str]:
    """A folder for thousands of short-lived small files: in memory, unless TMPDIR is set, or there is too little room.
    On ext4 they took a third of a grading's time, since it searches long for an inode if many were
    removed in the last minute."""
    place = MEMORY if "TMPDIR" not in os.environ and has_room(MEMORY) else None
    if place:
        remove_left(place, prefix)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=place) as name, locked(Path(name)):
        yield name


def suffix() -> str:
    """The suffix of an incomplete file's name, different for each thread: others may write the same file."""
    return f".{threading.get_native_id()}{output.PARTIAL}"


def write_atomically(path: Path, data: bytes | str) -> None:
    """Replace `path` by `data` in one step: a reader, or a crash, sees the old file or the new one. If it is not a
    regular file, the bytes are written to it. Raises LabError if it cannot be written."""
    with output.written(path, suffix()) as out, output.telling(path):
        out.file.write(data.encode() if isinstance(data, str) else data)


def copy_atomically(source: Path, path: Path) -> None:
    """As write_atomically, with the content of another file."""
    with output.written(path, suffix()) as out, output.telling(path), source.open("rb") as data:
        shutil.copyfileobj(data, out.file)


def move(path: Path, to: Path) -> None:
    """Rename a folder. Raises OSError if the name `to` is taken, other than by an empty folder."""
    if os.path.lexists(to) and not to.is_dir():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(to))
    path.rename(to)


def write_json(path: Path, value: object) -> None:
    """Write `value` as indented JSON, in one step."""
    write_atomically(path, json.dumps(value, indent=2) + "\n")


def write_csv(path: Path, rows: Sequence[Mapping[str, object]], columns: Iterable[str] = ()) -> None:
    """Write rows as CSV, in one step. Columns: those given, then others in the order in which rows have them."""
    names = dict.fromkeys([*columns, *(name for row in rows for name in row)])
    text = io.StringIO()
    writer = csv.DictWriter(text, list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, text.getvalue())


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def check_folder(out: Path) -> None:
    """Raises LabError if `out` exists and is not a folder."""
    if out.exists() and not out.is_dir():
        raise LabError(f"{out} is not a folder; give another --out", USAGE)


def check_place(out: Path, mark: str) -> None:
    """Raises LabError if `out` exists and is neither empty nor a folder with a file `mark`, which may be replaced."""
    check_folder(out)
    if out.exists() and not (out / mark).exists() and any(out.iterdir()):
        raise LabError(f"{out} holds something else (it has no {mark}); give another --out", USAGE)


@contextlib.contextmanager
def folder_replacing(out: Path, mark: str) -> Iterator[Path]:
    """A new folder that replaces `out` if the block ends well, and is removed if it does not. If `out` is
    a link, the folder that it points to is replaced."""
    check_place(out, mark)
    out = Path(os.path.realpath(out))
    out.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".partial", dir=out.parent))
    try:
        new = scratch / "new"
        new.mkdir()
        yield new
        if out.exists():
            move(out, scratch / "old")
        move(new, out)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
