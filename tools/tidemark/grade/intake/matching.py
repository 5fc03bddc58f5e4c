"""Which files of a submission are the lab's, even if their names were changed on the way.

A lab's file is looked for by its path, such as kernel/mm/policy/clock.c, at the top or below up to LEVELS folders; if
it is not there, by its bare name. Learning platforms change names, so case and their additions are ignored:
"clock (1).c", "clock-1.c", "clock - Copy.c", "ada_123_456_clock.c". Two different files that may be meant are an error,
which names both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from tidemark.errors import LabError

LEVELS = 3
ADDED = r"( ?\(\d+\)|-\d+| - copy)*"  # by platforms and browsers, before the suffix
NOT_HANDED_IN = ("__MACOSX", "build")


@dataclass(frozen=True)
class Found:
    """A file of a submission whose name matches that of a file of the lab. `data` is its content; if that cannot be
    taken, `data` is None and `problem` says why."""

    path: str
    data: bytes | None
    problem: str = ""


def pattern(names: Iterable[str]) -> str:
    """A pattern, to be used ignoring case, for the names of files that may be meant by these paths. Its group
    `before` is the text before the lab's name."""
    pure = [PurePosixPath(name) for name in names]
    either = "|".join(f"{re.escape(path.stem)}{ADDED}{re.escape(path.suffix)}" for path in pure)
    return rf"(?P<before>.*_)?(?:{either})"


def is_noise(path: str) -> bool:
    """Is the path in a folder that never holds submitted files, such as a lab's starter files?"""
    folders = path.split("/")[:-1]
    return any(part.startswith(".") or part in NOT_HANDED_IN for part in folders) or bool(
        re.search(r"(^|/)labs/[^/]+/starter/", path)
    )


def lies_at(path: str, file: str) -> bool:
    """Does a path end as the lab's file does, case and additions aside?"""
    theirs, ours = PurePosixPath(path).parts, PurePosixPath(file).parts
    above = len(theirs) - len(ours)
    if not 0 <= above <= LEVELS or (theirs[above:-1] != ours[:-1] and not alike(theirs[above:-1], ours[:-1])):
        return False
    name = PurePosixPath(ours[-1])
    expected = f"{re.escape(name.stem)}{ADDED}{re.escape(name.suffix)}"
    return bool(re.fullmatch(expected, theirs[-1], re.IGNORECASE))


def alike(some: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Are the two equal, ignoring case?"""
    return [part.casefold() for part in some] == [part.casefold() for part in others]


def is_named(path: str, file: str) -> bool:
    """Is the path that of the lab's file by its bare name?"""
    return path.count("/") <= LEVELS and bool(re.fullmatch(pattern([file]), path.rpartition("/")[2], re.IGNORECASE))


def candidates(found: Iterable[Found], paths: Mapping[str, str]) -> dict[str, list[tuple[str, Found]]]:
    """For each file of a lab the finds that may be meant by it: (the path as which it was found, the find). `paths` is
    as Lab.paths."""
    here = [each for each in found if not is_noise(each.path)]
    lying: dict[str, list[tuple[str, Found]]] = {file: [] for file in paths.values()}
    named: dict[str, list[tuple[str, Found]]] = {file: [] for file in paths.values()}
    for path, file in paths.items():
        lying[file] += [(path, each) for each in here if lies_at(each.path, path)]
    taken = {each.path for some in lying.values() for _, each in some}
    for path, file in paths.items():
        named[file] += [(path, each) for each in here if each.path not in taken and is_named(each.path, path)]
    return {file: lying[file] or named[file] for file in lying}


def the_one(file: str, found: list[tuple[str, Found]]) -> tuple[str, Found]:
    """The find that is meant by a file of the lab. Raises LabError if there is a choice, or it cannot be read."""
    first = found[0]
    for _, each in found:
        if each.problem:
            raise LabError(each.problem)
        if each.data != first[1].data:
            raise LabError(f"both {first[1].path} and {each.path} may be {file}: keep only one")
    return first


def is_plain(path: str, known: str) -> bool:
    """Was it handed in at its path or by its name, at the top or below one folder?"""
    name = PurePosixPath(known).name
    return any(
        path.removesuffix(end).count("/") <= 1 and (path == end or path.endswith(f"/{end}")) for end in (known, name)
    )
