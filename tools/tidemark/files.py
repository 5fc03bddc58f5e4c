"""Files and folders that are whole or not there: made under another name, and renamed when complete. What a file's name
may lead to is in output.py."""

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

MEMORY, LEAST, EACH = Path("/dev/shm"), 4 << 30, 512 << 20  # bytes; EACH: of one grading's evidence, at most
OLD_S = 600  # seconds


def has_room(place: Path) -> bool:
    """Has a file system in memory room for what gradings on all processors leave there, and the machine for that twice,
    since it is read?"""
    if not os.access(place, os.W_OK):
        return False
    found, need = os.statvfs(place), max(LEAST, EACH * (os.cpu_count() or 1))
    if found.f_flag & os.ST_NOEXEC or found.f_bavail * found.f_frsize < need:
        return False
    lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    return any(words[0] == "MemAvailable:" and int(words[1]) << 10 >= 2 * need for words in lines)


def remove_left(place: Path, prefix: str) -> None:
    """Remove folders of ours that belong to nobody any more, since who made them was killed: nobody else would, and
    they take memory. A young one may be about to be locked."""
    for folder in place.glob(prefix + "*"):
        with contextlib.suppress(OSError):
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and time.time() - found.st_mtime > OLD_S:
                with locked(folder):
                    shutil.rmtree(folder)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """A folder that is in use while the block runs, or until the process ends. BlockingIOError when it is already."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(opened)


@contextlib.contextmanager
def scratch(prefix: str) -> Iterator[str]:
    """A folder for thousands of small files that are soon removed: in memory, unless TMPDIR says where, or there is not
    much room. On ext4 they took a third of the time of a grading, since it looks long for an inode when many were
    removed in the last minute."""
    place = MEMORY if "TMPDIR" not in os.environ and has_room(MEMORY) else None
    if place:
        remove_left(place, prefix)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=place) as name, locked(Path(name)):
        yield name


def suffix() -> str:
    """The end of the name of an incomplete file, for this thread alone: others may write the same file."""
    return f".{threading.get_native_id()}{output.PARTIAL}"


def write_atomically(path: Path, data: bytes | str) -> None:
    """Replace `path` by `data` at once: a reader, or a crash, sees the old file or the new one. What is not a regular
    file gets the bytes. LabError if it cannot be written."""
    with output.written(path, suffix()) as out, output.telling(path):
        out.file.write(data.encode() if isinstance(data, str) else data)


def copy_atomically(source: Path, path: Path) -> None:
    """The same with what another file holds."""
    with output.written(path, suffix()) as out, output.telling(path), source.open("rb") as data:
        shutil.copyfileobj(data, out.file)


def move(path: Path, to: Path) -> None:
    """Rename a folder. OSError if the name `to` is taken, other than by an empty folder."""
    if os.path.lexists(to) and not to.is_dir():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(to))
    path.rename(to)


def write_json(path: Path, value: object) -> None:
    """`value` as indented JSON, at once."""
    write_atomically(path, json.dumps(value, indent=2) + "\n")


def write_csv(path: Path, rows: Sequence[Mapping[str, object]], columns: Iterable[str] = ()) -> None:
    """Rows as CSV, at once. Columns: those given, then others in the order in which rows bring them."""
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
    """LabError if `out` is there and is not a folder."""
    if out.exists() and not out.is_dir():
        raise LabError(f"{out} is not a folder; give another --out", USAGE)


def check_place(out: Path, mark: str) -> None:
    """LabError if `out` is there and is neither an empty folder nor one with a file `mark`, which may be replaced."""
    check_folder(out)
    if out.exists() and not (out / mark).exists() and any(out.iterdir()):
        raise LabError(f"{out} holds something else (it has no {mark}); give another --out", USAGE)


@contextlib.contextmanager
def folder_replacing(out: Path, mark: str) -> Iterator[Path]:
    """A new folder that takes the place of `out` when the block ends well, and is removed when it does not. If `out` is
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
