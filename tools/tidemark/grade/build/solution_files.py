"""The solution of a lab, even if another file has replaced it: a starter, or a student's work.

labs/NAME/solution.txt names the solution by content: for each file of the lab a line "ID  PATH", where ID is git's blob
ID of its content. If the tree's file has that ID, it is the solution; otherwise the solution is in git's objects, even
after later commits. Students do not get the list. A lab without a list is taken as it is.

    PYTHONPATH=tools build/venv/bin/python -m tidemark.grade.build.solution_files

writes the lists of all labs, after a solution has changed.
"""

from __future__ import annotations

from pathlib import Path

from tidemark.errors import USAGE, LabError
from tidemark.files import write_atomically
from tidemark.grade.build import starters
from tidemark.grade.build.starters import LIST, blob_id, content, from_git
from tidemark.grade.build.tree import MANIFEST
from tidemark.grade.intake import lab as labs
from tidemark.grade.model import Lab
from tidemark.machine import qemu

WRITER = "PYTHONPATH=tools build/venv/bin/python -m tidemark.grade.build.solution_files"


def replaced(tree: Path, lab: Lab) -> dict[str, str]:
    """The ID, by path, of each file of the solution that is missing or replaced by another file; empty in a student's
    release."""
    if (tree / MANIFEST).is_file():
        return {}
    known = starters.ids(lab.folder).items()
    return {file: digest for file, digest in known if blob_id(content(tree / file) or b"") != digest}


def is_starter(tree: Path, lab: Lab, file: str) -> bool:
    """Is the starter in the place of this file of the solution?"""
    start = starters.of(lab.folder, file)
    return start is not None and start == content(tree / file)


def put_back(tree: Path, file: str, digest: str) -> str:
    """A line that says how to bring a file of the solution back into the tree."""
    if from_git(tree, digest) is None:
        return f"{file}: git does not hold it; take it from a clone with the whole history"
    return f"git cat-file blob {digest} >{file}"


def check_in_place(tree: Path) -> None:
    """Raises LabError, which says what to do next, if a file of a lab's solution is not in its place."""
    found = [(lab, *pair) for lab in all_labs(tree) for pair in replaced(tree, lab).items()]
    if not found:
        return
    what = [f"{file}: {'the starter' if is_starter(tree, lab, file) else 'another file'}" for lab, file, _ in found]
    back = [put_back(tree, file, digest) for _, file, digest in found]
    raise LabError(
        "\n  ".join(["a release is made from the solutions, but these files are not solutions:", *what])
        + "\n  ".join(["\nCommit or copy what you want to keep. Then put the solutions back:", *back])
        + f"\nIf a file is the new solution of its lab, record it: {WRITER}",
        USAGE,
    )


def all_labs(tree: Path) -> list[Lab]:
    """All labs of a tree."""
    return [labs.load(tree, name) for name in labs.names(tree)]


def write_list(tree: Path, lab: Lab) -> None:
    """Record the lab's files in the tree as its solution. Raises LabError if one is missing, or is the starter."""
    for file in lab.files:
        if not (tree / file).is_file() or is_starter(tree, lab, file):
            raise LabError(f"{file} is not a solution: it is missing, or the starter", USAGE)
    lines = [f"{blob_id((tree / file).read_bytes())}  {file}\n" for file in lab.files]
    write_atomically(lab.folder / LIST, "".join(lines))


if __name__ == "__main__":
    for each in all_labs(qemu.ROOT):
        if each.files:
            write_list(qemu.ROOT, each)
