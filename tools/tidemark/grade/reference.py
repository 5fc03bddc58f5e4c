"""The tree that a submission is compared with: all labs' solutions, even if other files are in their places.

In a clone `make lab` installs a starter over a solution, and a student writes there. That file must not affect
what is right. So if another file is in the place of a solution, grading takes a copy of the tree with the solutions,
in build/reference. The copy is made anew if other files of the tree have changed, and never while a grader uses
it. If a solution is not available, its starter cannot be cut either, and grading is refused.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tidemark.errors import BAD_INPUT, LabError
from tidemark.files import sha256
from tidemark.grade.build import solution_files, starters, tree, workspace
from tidemark.grade.build.solutions import REFERENCE, RULES
from tidemark.grade.build.workspace import check_release
from tidemark.grade.intake import rules
from tidemark.grade.model import Lab

TREE, STAMP, FLAGS = "tree", "made-of", "build/flags"


def missing(lab: str, file: str) -> LabError:
    """The error for a lab without a solution."""
    said = (
        f"this tree has no solution of lab {lab} to compare with: {file} holds something else, and git does not have it"
    )
    return LabError(f"{said}. Grade in a clone with its whole history, or in the archive for students", BAD_INPUT)


def to_lay(release: Path) -> dict[str, bytes]:
    """The files, by path, that must replace files of the tree so that it has all solutions. Raises LabError if one is
    not available."""
    found: dict[str, bytes] = {}
    for each in solution_files.all_labs(release):
        for file, digest in solution_files.replaced(release, each).items():
            data = starters.from_git(release, digest)
            if data is None:
                raise missing(each.name, file)
            found[file] = data
    return found


def made_of(release: Path, laid: Mapping[str, bytes]) -> str:
    """A hash of what a copy is made of, without the files that are in the places of solutions."""
    sources = (file for file in tree.files_of(release) if str(file) not in laid and file.suffix not in tree.TEXTS)
    lines = [f"{sha256(release / file)}  {file}" for file in sources]
    lines += [f"{hashlib.sha256(data).hexdigest()}  {file}" for file, data in sorted(laid.items())]
    lines += [" ".join(workspace.compiler()), (release / FLAGS).read_text() if (release / FLAGS).is_file() else ""]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def make(release: Path, laid: Mapping[str, bytes], copy: Path) -> None:
    """Make and build a copy of the tree with these files in their places."""
    copy.mkdir()
    tree.copy_built(release, copy)
    for file, data in laid.items():
        tree.leave_behind(copy, file)
        (copy / file).parent.mkdir(parents=True, exist_ok=True)
        (copy / file).write_bytes(data)
    workspace.make_trusted(copy, "grade-base")


def make_anew(release: Path, laid: Mapping[str, bytes], place: Path, stamp: str) -> None:
    """Make the copy in its place, replacing any existing one."""
    (place / STAMP).unlink(missing_ok=True)
    shutil.rmtree(place / TREE, ignore_errors=True)
    make(release, laid, place / TREE)
    (place / STAMP).write_text(stamp)


def wait_alone(folder: int, place: Path) -> None:
    """Lock an opened folder exclusively; print a line if a grader still uses its contents."""
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"{place} is in use by another grading, and older than this tree; waiting for it to end", file=sys.stderr)
        fcntl.flock(folder, fcntl.LOCK_EX)


@contextlib.contextmanager
def held(release: Path, laid: Mapping[str, bytes], place: Path) -> Iterator[Path]:
    """The copy, which is not made anew while the block runs."""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    stamp, folder = made_of(release, laid), os.open(place, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_SH)
        while starters.content(place / STAMP) != stamp.encode():
            wait_alone(folder, place)
            if starters.content(place / STAMP) != stamp.encode():
                make_anew(release, laid, place, stamp)
            fcntl.flock(folder, fcntl.LOCK_SH)  # another grading may come between, so look again
        yield place / TREE
    finally:
        os.close(folder)


@contextlib.contextmanager
def of(release: Path) -> Iterator[Path]:
    """A tree with the solutions of all labs: `release` itself if it has them or is a student's. Raises LabError if they
    are not available."""
    laid = to_lay(release)
    if not laid:
        yield release
        return
    check_release(release)
    with held(release, laid, release / REFERENCE) as copy:
        yield copy


@contextlib.contextmanager
def of_rule(release: Path, lab: Lab) -> Iterator[Path | None]:
    """A copy of `release`, which has all solutions, with that of the student's rule; None if the plain lab is graded,
    or if `release` is a student's. Raises LabError if the variant cannot be generated."""
    if not lab.rule or (release / tree.MANIFEST).is_file():
        yield None
        return
    text = rules.source(lab.rule, (release / lab.rule.file).read_text())
    place = release / RULES / f"{lab.name}-{lab.rule.name.replace(' ', '-')}"
    with held(release, {lab.rule.file: text.encode()}, place) as copy:
        yield copy
