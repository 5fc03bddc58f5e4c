"""A student's submission: a folder, such as a clone, an archive, or a file. Only the lab's files are taken from it.

matching.py decides which files these are. An archive is never unpacked: it is read member by member in the sandbox
(tidemark.grade.intake.members), and only files with the lab's own names are written. So an evil name in it can at most
fail to be found. Names that no honest archive has (absolute ones, or with ..) are refused nevertheless.

Links in a folder are not followed, or a student could hand in a file of the person who grades.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from tidemark.errors import LabError
from tidemark.grade.intake.matching import Found, candidates, is_noise, is_plain, pattern, the_one
from tidemark.grade.intake.members import MOST_FILE, MOST_MEMBERS, SOURCES_ONLY, SUFFIXES, tails
from tidemark.grade.model import Lab

MOST_ARCHIVE = 256 << 20
MOST_NOTES = 8  # notes about files that were not used
MOST_LEVELS = 100  # nested folders
POLICIES = "kernel/mm/policy/"
Reader = Callable[[bytes], str]  # takes an order with its archive, gives the answer (tidemark.grade.build.reading)


@dataclass(frozen=True)
class Listing:
    """The files of a submission: those named like the lab's, and the SHA-256 of those that the release has, too."""

    found: list[Found]
    digests: Mapping[str, str]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Taken:
    """The lab's files in a submission, by name, and notes on them, a sentence each."""

    files: dict[str, bytes] = field(repr=False)
    notes: tuple[str, ...]

    def write(self, into: Path) -> Path:
        """Write the files into the folder `into`, at their paths, readable by their owner only, and return it."""
        into.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, data in self.files.items():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            (into / name).write_bytes(data)
        return into


def suffix(name: str) -> str:
    """The suffix that makes `name` the name of an archive, as written; empty if it is not one."""
    found = next((known for known in SUFFIXES if name.lower().endswith(known)), "")
    return name[len(name) - len(found) :]


def before_name(name: str, lab: Lab) -> str | None:
    """The text that a platform put before the name of a lab's file, or of the written answers, such as "ada_123_456_";
    None if it is not such a name."""
    match = re.fullmatch(pattern([*lab.paths, *([lab.answers] if lab.questions else [])]), name, re.IGNORECASE)
    return match and (match["before"] or "")


def take(submissions: Path | Sequence[Path], lab: Lab, released: Mapping[str, str], reader: Reader) -> Taken:
    """The lab's files in a submission, a path or several files. `released`: path to SHA-256 of those release files that
    are not a student's. Raises LabError if there are none, if there is a choice, or if it cannot be read."""
    paths = [submissions] if isinstance(submissions, Path) else list(submissions)
    name = " and ".join(path.name for path in paths)
    try:
        listings = [listing(path, lab, released, reader) for path in paths]
        found = [each for one in listings for each in one.found]
        digests = {path: digest for one in listings for path, digest in one.digests.items()}
        taken = chosen(found, lab)
    except LabError as error:
        raise LabError(f"{name}: {error}") from None
    except OSError as error:
        raise LabError(f"{name} cannot be read: {error.strerror}") from None
    said = [note for one in listings for note in one.notes]
    return replace(taken, notes=(*said, *taken.notes, *strays(digests, released)))


def chosen(found: list[Found], lab: Lab) -> Taken:
    """The lab's files among what was found. Raises LabError if there is none of them, or a choice."""
    if not lab.files:
        needs = "the course's secret and supervision (--secret, --supervised)"
        raise LabError(f"lab {lab.name} is only a quiz: grading it takes {needs}")
    older = older_paths(found, lab)
    picked = candidates(found, {file: file for file in lab.files} | older)
    ones = {file: the_one(file, picked[file]) for file in lab.files if picked[file]}
    if not ones:
        raise LabError(f"there is no {', '.join(lab.files)}, at its path or by its name: hand in the files themselves")
    files, notes = {}, []
    for file, (known, each) in ones.items():
        files[file] = named_as_here(each.data or b"", file, older)
        if known in older:
            notes.append(f"{each.path} was taken as {file}, its path in this release")
        elif not is_plain(each.path, known):
            notes.append(f"{each.path} was taken as {file}")
    missing = [f"{file} was not handed in: tests that depend on it fail" for file in lab.sources if file not in ones]
    return Taken(files, (*notes, *missing))


def older_paths(found: list[Found], lab: Lab) -> dict[str, str]:
    """The lab's `was`, without old paths at which this release has another file, if the submission has the lab's file
    at its new path: then the file at the old path is the other one."""
    here = {file for file, some in candidates(found, {file: file for file in lab.files}).items() if some}
    root = lab.folder.resolve().parent.parent
    return {old: new for old, new in lab.was.items() if new not in here or not (root / old).exists()}


def named_as_here(data: bytes, file: str, older: Mapping[str, str]) -> bytes:
    """The file with its policy's current name. A policy's name is that of its file; if it had another one at an older
    path, it is replaced."""
    for old in (old for old, new in older.items() if new == file and file.startswith(POLICIES)):
        name, now = (PurePosixPath(path).stem.encode() for path in (old, file))
        data = re.sub(rb'(\.name\s*=\s*)"%s"' % re.escape(name), rb'\1"%s"' % now, data)
    return data


def strays(digests: Mapping[str, str], released: Mapping[str, str]) -> tuple[str, ...]:
    """A sentence for each file of a submission that differs from the release, and so is not used."""
    changed = set()
    for path, digest in digests.items():
        file = next((tail for tail in tails(path) if tail in released), "")
        if file and not is_noise(path) and digest != released[file]:
            changed.add(file)
    said = [f"{name} differs from the release; the release's file was used" for name in sorted(changed)[:MOST_NOTES]]
    more = len(changed) - MOST_NOTES
    return (*said, *([f"{more} more files differ from the release"] if more > 0 else []))


def listing(path: Path, lab: Lab, released: Mapping[str, str], reader: Reader) -> Listing:
    """The files in one submission."""
    if path.is_dir():
        inside = in_folder(path, lab, released)
        return inside if inside.found else in_only_archive(path, lab, released, reader) or inside
    if not path.exists():
        raise LabError("there is no such file or folder")
    if path.is_file() and suffix(path.name):
        return in_archive(path, lab, released, reader)
    if not path.is_file() or before_name(path.name, lab) is None:
        names = ", ".join(PurePosixPath(file).name for file in lab.files)
        raise LabError(f"this is not a folder, an archive ({', '.join(SUFFIXES)}) or a file of the lab ({names})")
    return Listing([of_file(path.parent, path.name)], {})


def in_archive(path: Path, lab: Lab, released: Mapping[str, str], reader: Reader) -> Listing:
    """The files in an archive, read in the sandbox."""
    if path.stat().st_size > MOST_ARCHIVE:
        raise LabError(f"it is larger than {MOST_ARCHIVE >> 20} MiB: {SOURCES_ONLY}")
    order = {"kind": suffix(path.name).lower(), "wanted": pattern(lab.paths), "released": sorted(released)}
    answer = json.loads(reader(json.dumps(order).encode() + b"\n" + path.read_bytes()))
    if "refused" in answer:
        raise LabError(answer["refused"])
    found = [Found(name, base64.b64decode(code) if not why else None, why) for name, code, why in answer["files"]]
    return Listing(found, answer["digests"])


def in_only_archive(folder: Path, lab: Lab, released: Mapping[str, str], reader: Reader) -> Listing | None:
    """The files in the only archive of a folder, as platforms give one to each student; None if there is none."""
    inside = sorted(path for path in folder.iterdir() if suffix(path.name) and path.is_file() and not path.is_symlink())
    if len(inside) > 1:
        raise LabError(f"there are {inside[0].name} and {inside[1].name} in it: keep only one")
    if not inside:
        return None
    return replace(in_archive(inside[0], lab, released, reader), notes=(f"{inside[0].name} in the folder was read",))


def in_folder(folder: Path, lab: Lab, released: Mapping[str, str]) -> Listing:
    """The files in a folder."""
    wanted, found, digests = re.compile(pattern(lab.paths), re.IGNORECASE), [], {}
    for number, (path, is_link) in enumerate(paths_in(folder, ""), 1):
        if number > MOST_MEMBERS:
            raise LabError(f"it has more than {MOST_MEMBERS} files: {SOURCES_ONLY}")
        if is_link and any(file.startswith(f"{tail}/") for tail in tails(path) for file in lab.paths):
            raise LabError(f"{path}: this is a link, or behind one; hand in the file itself")
        if wanted.fullmatch(path.rpartition("/")[2]):
            found.append(of_file(folder, path))
        elif not is_link and not released.keys().isdisjoint(tails(path)):
            digests[path] = hashlib.sha256(of_file(folder, path).data or b"").hexdigest()
    return Listing(found, digests)


def paths_in(folder: Path, top: str) -> Iterator[tuple[str, bool]]:
    """(path, whether it is a link) of a folder's files and links, in order, relative to it. Raises LabError if they are
    nested too deeply."""
    if top.count("/") > MOST_LEVELS:
        raise LabError(f"it has folders {MOST_LEVELS} levels deep: {SOURCES_ONLY}")
    with os.scandir(folder / top) as entries:
        inner = sorted(entries, key=lambda entry: entry.name)
    for entry in inner:
        path = f"{top}{entry.name}"
        if not entry.is_dir(follow_symlinks=False):
            yield path, entry.is_symlink()
        elif not is_noise(f"{path}/"):
            yield from paths_in(folder, f"{path}/")


def of_file(folder: Path, path: str) -> Found:
    """Read a file in a folder, which must be neither a link nor behind one."""
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in PurePosixPath(path).parts:
            inner = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
            os.close(at)
            at = inner
        if not stat.S_ISREG(os.fstat(at).st_mode):
            return Found(path, None, f"{path} is not a file: hand in the file itself")
        with open(at, "rb", closefd=False) as file:
            data = file.read(MOST_FILE + 1)
        return Found(path, data) if len(data) <= MOST_FILE else Found(path, None, f"{path} is larger than 1 MiB")
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        return Found(path, None, f"{path}: this is a link, or behind one; hand in the file itself")
    finally:
        os.close(at)
