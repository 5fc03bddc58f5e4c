"""Files and folders that are whole or not there: written under another name, and renamed when complete."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tidemark.errors import USAGE, LabError

MEMORY, MUCH = Path("/dev/shm"), 4 << 30  # bytes


def scratch(prefix: str) -> tempfile.TemporaryDirectory[str]:
    """A folder for thousands of small files that are soon removed: in memory, unless TMPDIR says where, or the system
    has no place there with much room. On ext4 they took a third of the time of a grading, since it looks long for an
    inode when many were removed in the last minute."""
    place = None
    if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK):
        found = os.statvfs(MEMORY)
        if found.f_bavail * found.f_frsize >= MUCH and not found.f_flag & os.ST_NOEXEC:
            place = MEMORY
    return tempfile.TemporaryDirectory(prefix=prefix, dir=place)


def write_atomically(path: Path, data: bytes | str) -> None:
    """Replace `path` by `data` at once: a reader, or a crash, sees the old file or the new one."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(data.encode() if isinstance(data, str) else data)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


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


def check_place(out: Path, mark: str) -> None:
    """LabError if `out` is there and is neither an empty folder nor one with a file `mark`, which may be replaced."""
    if out.exists() and not (out / mark).exists() and (not out.is_dir() or any(out.iterdir())):
        raise LabError(f"{out} holds something else (it has no {mark}); give another --out", USAGE)


@contextlib.contextmanager
def folder_replacing(out: Path, mark: str) -> Iterator[Path]:
    """A new folder that takes the place of `out` when the block ends well, and is removed when it does not."""
    check_place(out, mark)
    out.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".partial", dir=out.parent))
    try:
        new = scratch / "new"
        new.mkdir()
        yield new
        if out.exists():
            out.rename(scratch / "old")
        new.rename(out)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
