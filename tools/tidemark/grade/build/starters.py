"""The starters of labs, and the solutions that they are cut from (cut.py).

A student's release has no solutions: there labs/NAME/starter/PATH is the starter of PATH. Such a file is taken in any
tree. labs/NAME/solution.txt names the solution (solution_files.py), which git holds even if another file has its place.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tidemark.errors import BAD_INPUT, LabError
from tidemark.grade.build import cut
from tidemark.grade.model import Lab

LIST, FOLDER, PIECES, ANSWERS = "solution.txt", "starter", ".starter", "answers.toml"


def content(path: Path) -> bytes | None:
    """The content of a file; None if it does not exist."""
    return path.read_bytes() if path.is_file() else None


def blob_id(data: bytes) -> str:
    """Git's name for a file with this content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def ids(folder: Path) -> dict[str, str]:
    """The ID of each file of a lab's solution, by path; none if the lab, in `folder`, has no list."""
    path = folder / LIST
    lines = path.read_text().splitlines() if path.is_file() else []
    return {file: digest for digest, _, file in (line.partition("  ") for line in lines)}


def from_git(tree: Path, digest: str) -> bytes | None:
    """The content that git holds under an ID; None if there is no git, or its history begins later."""
    try:
        made = subprocess.run(["git", "-C", str(tree), "cat-file", "blob", digest], capture_output=True)
    except FileNotFoundError:
        return None
    return None if made.returncode else made.stdout


def solution(folder: Path, file: str) -> bytes | None:
    """The content of a file of a lab's solution; None if it is not available. A file with marks is a new solution,
    which the list does not name yet."""
    tree, digest = folder.parents[1], ids(folder).get(file)
    here = content(tree / file)
    if digest is None or (
        here is not None and (blob_id(here) == digest or cut.is_marked(here.decode(errors="replace")))
    ):
        return here
    return from_git(tree, digest)


def of(folder: Path, file: str) -> bytes | None:
    """The starter of a file of the lab in `folder`; None if there is none, or if the solution is not available. Raises
    LabError if it cannot be cut."""
    whole = content(folder / FOLDER / file)
    pieces = content(folder / f"{Path(file).name}{PIECES}")
    if whole is not None or (pieces is None and Path(file).name != ANSWERS):
        return whole
    text = solution(folder, file)
    if text is None:
        return None
    try:
        made = cut.from_answers(text.decode()) if pieces is None else cut.from_parts(text.decode(), pieces.decode())
    except ValueError as error:
        raise LabError(f"{file}: no starter can be cut from it: {error}", BAD_INPUT) from None
    return made.encode()


def of_labs(labs: Iterable[Lab]) -> dict[str, bytes]:
    """The starters of labs, by path."""
    found = {file: of(each.folder, file) for each in labs for file in each.files}
    return {file: data for file, data in found.items() if data is not None}
