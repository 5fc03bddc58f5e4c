"""What a student handed in: a folder, such as a clone, or an archive; of it, the lab's files and nothing else.

They are looked for by their paths, kernel/mm/policy/clock.c, at the top or below one leading folder; if there is none,
by their bare names, clock.c. An archive is never unpacked: it is read member by member, and what is written has the
lab's own names. So a name in it can at most not be found. Names that no honest archive has (absolute ones, or with ..)
are refused nevertheless, to be looked at.

How much is read is limited: the archive itself, what it unpacks to, its number of members, and each of the lab's files.
In a folder no link is followed, or a student could hand in a file of who grades.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import hashlib
import io
import lzma
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from tidemark.errors import LabError
from tidemark.grade.model import Lab

MOST_ARCHIVE = 256 << 20
MOST_UNPACKED = 512 << 20
MOST_MEMBERS = 100_000
MOST_FILE = 1 << 20
MOST_NOTES = 8  # about files that were not used
POLICIES = "kernel/mm/policy/"
Opener = Callable[[Path], io.BufferedIOBase]
TARS: dict[str, Opener] = {
    ".tar": lambda path: io.BufferedReader(io.FileIO(path)),
    ".tar.gz": gzip.GzipFile,
    ".tgz": gzip.GzipFile,
    ".tar.xz": lzma.LZMAFile,
}
SUFFIXES = (".zip", *TARS)
SOURCES_ONLY = "hand in sources alone, without build/"
BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError,
    ValueError, OverflowError, OSError,
)  # fmt: skip


@dataclass(frozen=True)
class Found:
    """One of the lab's files in a submission: the leading folder, or "", the file's name, and what it holds."""

    top: str
    file: str
    data: bytes


def suffix(name: str) -> str:
    """The suffix that makes `name` an archive's, as it is written in it; empty: it is none."""
    found = next((known for known in SUFFIXES if name.lower().endswith(known)), "")
    return name[len(name) - len(found) :]


def read(submission: Path, lab: Lab) -> dict[str, bytes]:
    """The lab's files in a submission, by name; those that are not in it are left out. LabError when there are none, or
    there is a choice, or it cannot be read."""
    try:
        older = older_paths(submission, lab)
        found = list(found_in(submission, replace(lab, was=older))) or bare(submission, lab)
        return {name: named_as_here(data, name, older) for name, data in chosen(found, lab).items()}
    except LabError as error:
        raise LabError(f"{submission.name}: {error}") from None
    except OSError as error:
        raise LabError(f"{submission.name} cannot be read: {error.strerror}") from None


def older_paths(submission: Path, lab: Lab) -> dict[str, str]:
    """The lab's `was`, without those paths at which this release has another file, if the submission has the lab's
    where it lies now: then it is the other one."""
    here = {each.file for each in found_in(submission, replace(lab, was={}))}
    root = lab.folder.resolve().parent.parent
    return {old: new for old, new in lab.was.items() if new not in here or not (root / old).exists()}


def named_as_here(data: bytes, file: str, older: Mapping[str, str]) -> bytes:
    """A policy is found by its name, which is that of its file: if it had another one at an older path, this is its
    name now."""
    for old in (old for old, new in older.items() if new == file and file.startswith(POLICIES)):
        name, now = (PurePosixPath(path).stem.encode() for path in (old, file))
        data = re.sub(rb'(\.name\s*=\s*)"%s"' % re.escape(name), rb'\1"%s"' % now, data)
    return data


def unpack(submission: Path, lab: Lab, into: Path) -> Path:
    """Write the lab's files of a submission into the folder `into`, at their paths, and return it. LabError as of
    `read`."""
    files = read(submission, lab)
    into.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        (into / name).write_bytes(data)
    return into


def bare(submission: Path, lab: Lab) -> list[Found]:
    """The lab's files in a submission by their bare names."""
    paths = {PurePosixPath(file).name: file for file in lab.files}
    found = found_in(submission, replace(lab, files=tuple(paths), was={}))
    return [replace(each, file=paths[each.file]) for each in found]


def strays(submission: Path, lab: Lab, released: Mapping[str, str]) -> tuple[str, ...]:
    """Files of a submission that are not the lab's and not as they were released: they are not used. `released`: path
    to SHA-256."""
    others = tuple(file for file in released if file not in lab.files)
    try:
        found = list(found_in(submission, replace(lab, files=others, was={})))
    except (LabError, OSError):  # whatever hides there is not used either
        return ()
    changed = {each.file for each in found if hashlib.sha256(each.data).hexdigest() != released[each.file]}
    return tuple(sorted(changed))


def moved(submission: Path, lab: Lab) -> tuple[str, ...]:
    """Paths of older releases at which a submission has files of the lab."""
    try:
        older = older_paths(submission, lab)
        return tuple(each.file for each in found_in(submission, replace(lab, files=tuple(older), was={})))
    except (LabError, OSError):  # read has told
        return ()


def notes(submission: Path, lab: Lab, released: Mapping[str, str]) -> tuple[str, ...]:
    """What there is to say about a submission's files, a sentence each; `released` as of strays."""
    said = [f"{old} was taken as {lab.was[old]}, where it lies in this release" for old in moved(submission, lab)]
    others = strays(submission, lab, released)
    said += [f"{name} is not as it was released; the release's was used" for name in others[:MOST_NOTES]]
    more = len(others) - MOST_NOTES
    return (*said, *([f"{more} more files are not as they were released"] if more > 0 else []))


def found_in(submission: Path, lab: Lab) -> Iterator[Found]:
    """All of the lab's files in a submission."""
    if submission.is_dir():
        return in_folder(submission, lab)
    if not submission.exists():
        raise LabError("there is no such file or folder")
    if not submission.is_file() or not suffix(submission.name):
        raise LabError(f"this is no folder and no archive; archives end in {', '.join(SUFFIXES)}")
    return in_archive(submission, lab)


def chosen(found: list[Found], lab: Lab) -> dict[str, bytes]:
    """The lab's files by name, if there is no choice between several."""
    if not found:
        wanted = ", ".join(lab.files)
        raise LabError(f"there is no {wanted}, at the top or below one folder: hand files in within their folders")
    tops = sorted({each.top for each in found})
    if len(tops) > 1:
        places = ", ".join(top or "the top" for top in tops)
        raise LabError(f"the lab's files are there more than once, at {places}: keep those that are meant")
    names = [each.file for each in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise LabError(f"there are two files {twice}: keep the one that is meant")
    return {each.file: each.data for each in sorted(found, key=lambda each: lab.files.index(each.file))}


def is_noise(top: str) -> bool:
    """Is it a folder that no student made?"""
    return top.startswith(".") or top == "__MACOSX"


def place(name: str, lab: Lab) -> tuple[str, str] | None:
    """(leading folder or "", the lab's file) that a path in a submission means; None: neither."""
    for path, file in lab.paths.items():
        top = "" if name == path else name.removesuffix(f"/{path}")
        if top != name and "/" not in top and not is_noise(top):
            return top, file
    return None


def taken(data: bytes, name: str) -> bytes:
    """What a file holds. LabError when it is larger than any source."""
    if len(data) > MOST_FILE:
        raise LabError(f"{name} is larger than {MOST_FILE >> 20} MiB")
    return data


def in_folder(folder: Path, lab: Lab) -> Iterator[Found]:
    """The lab's files at the top of a folder and of the folders in it."""
    with os.scandir(folder) as entries:
        inner = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False) and not is_noise(entry.name)]
    for top in ("", *sorted(inner)):
        for path, file in lab.paths.items():
            data = read_inside(folder, PurePosixPath(top, path))
            if data is not None:
                yield Found(top, file, data)


def read_inside(folder: Path, path: PurePosixPath) -> bytes | None:
    """A file in a folder, or None. LabError when it, or a folder on the way, is a link or something else."""
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in path.parts:
            inner = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
            os.close(at)
            at = inner
        if not stat.S_ISREG(os.fstat(at).st_mode):
            raise LabError(f"{path} is no file: hand in the file itself")
        with open(at, "rb", closefd=False) as file:
            return taken(file.read(MOST_FILE + 1), str(path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise LabError(f"{path}: there is a link on the way; hand in the file itself") from None
    finally:
        os.close(at)


def in_archive(path: Path, lab: Lab) -> Iterator[Found]:
    """The lab's files in an archive."""
    if path.stat().st_size > MOST_ARCHIVE:
        raise LabError(f"it is larger than {MOST_ARCHIVE >> 20} MiB: {SOURCES_ONLY}")
    kind = suffix(path.name).lower()
    try:
        yield from in_zip(path, lab) if kind == ".zip" else in_tar(path, TARS[kind], lab)
    except BROKEN as error:
        raise LabError(f"it cannot be read as {kind}: {error or type(error).__name__}") from None


def cleaned(name: str, number: int) -> str:
    """A member's name with / between its parts; LabError for one that no honest archive has. `number`: its own."""
    if number > MOST_MEMBERS:
        raise LabError(f"it has more than {MOST_MEMBERS} members: {SOURCES_ONLY}")
    parts = name.replace("\\", "/").split("/")
    if ".." in parts or parts[0].endswith(":") or (len(parts) > 1 and not parts[0]):
        raise LabError(f"a member is called {name!r}, which lies outside of the archive")
    return "/".join(part for part in parts if part not in ("", "."))


def in_zip(path: Path, lab: Lab) -> Iterator[Found]:
    """The lab's files in a .zip."""
    with zipfile.ZipFile(path) as archive:
        for number, member in enumerate(archive.infolist(), 1):
            at = place(cleaned(member.filename, number), lab)
            if not at:
                continue
            mode = member.external_attr >> 16
            if member.is_dir() or (stat.S_IFMT(mode) and not stat.S_ISREG(mode)):
                raise LabError(f"{member.filename} is no file: hand in the file itself")
            with archive.open(member) as file:
                yield Found(*at, taken(file.read(MOST_FILE + 1), member.filename))


class Metered(io.RawIOBase):
    """What an archive unpacks to, as far as MOST_UNPACKED."""

    def __init__(self, file: io.BufferedIOBase) -> None:
        self.file, self.left = file, MOST_UNPACKED

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes. LabError when there has been too much."""
        data = self.file.read(size)
        self.left -= len(data)
        if self.left < 0:
            raise LabError(f"it unpacks to more than {MOST_UNPACKED >> 20} MiB: {SOURCES_ONLY}")
        return data


def in_tar(path: Path, opener: Opener, lab: Lab) -> Iterator[Found]:
    """The lab's files in a .tar that `opener` opens; it is read once, from its beginning to its end."""
    with opener(path) as plain, tarfile.open(fileobj=Metered(plain), mode="r|") as archive:
        for number, member in enumerate(archive, 1):
            at = place(cleaned(member.name, number), lab)
            if not at:
                continue
            if not member.isreg() or member.issparse():
                raise LabError(f"{member.name} is no file: hand in the file itself")
            content = archive.extractfile(member)
            assert content, "it is a regular file"
            with contextlib.closing(content) as file:
                yield Found(*at, taken(file.read(MOST_FILE + 1), member.name))
