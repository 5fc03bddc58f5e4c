"""Sheets for a class: each student's is made alone, so that one that cannot be made costs the others nothing.

Students get the sheets; the keys go to the examiner, in a file of their own that only its owner may read.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from tidemark.errors import FAILED, USAGE, LabError
from tidemark.files import write_atomically
from tidemark.grade.hand_back.text import clean
from tidemark.grade.hand_out import paper

Made = TypeVar("Made")
SUPERVISED = "Under supervision: {}."
PRACTICE = "Practice, for home: it gives no points, only a supervised session does, with other questions."


def status(supervised: bool, points: str) -> str:
    """The first paragraph of every sheet: whether it gives points."""
    return paper.text(SUPERVISED.format(points) if supervised else PRACTICE)


def tell(sentence: str) -> None:
    """Print a sentence about a student who gets no sheet."""
    print(f"tidemark: {sentence}", file=sys.stderr, flush=True)


def of_class(
    names: Iterable[str], make: Callable[[str], Made], refused: Sequence[str] = (), jobs: int = 1
) -> tuple[list[Made], int]:
    """(what `make` returns for each name, the number of sentences). A name for which `make` fails gets a sentence, as
    `refused` are, and the others go on: what a student handed in may be malformed in any way. `jobs` are made at a
    time."""
    made, failed = [], len(refused)
    for sentence in refused:
        tell(sentence)
    with ThreadPoolExecutor(jobs) as pool:
        coming = [(name, pool.submit(make, name)) for name in names]
        try:
            for name, future in coming:
                try:
                    made.append(future.result())
                except Exception as error:
                    failed += 1
                    said = str(error) if isinstance(error, LabError) else f"it cannot be read: {error!r}"
                    tell(f"{name}: {clean(said.removeprefix(f'{name}: '))}")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return made, failed


def check_keys(keys: Path | None, *places: Path | None) -> None:
    """Raises LabError if the keys would be among the sheets, which are in these files and folders."""
    for place in filter(None, places):
        if keys and keys.resolve().is_relative_to(place.resolve()):
            raise LabError(f"--keys {keys} would be among the sheets in {place}: give a file elsewhere", USAGE)


def write_keys(path: Path, title: str, keys: Sequence[paper.Sheet]) -> None:
    """Write the examiner's file, for its owner alone."""
    write_atomically(path, paper.document(title, keys))
    if path.is_file():
        path.chmod(0o600)


def end(made: int, failed: int) -> None:
    """Raises LabError if students have no sheet."""
    if failed:
        raise LabError(f"{made} sheets were made, {failed} could not be: the lines above say why", FAILED)
