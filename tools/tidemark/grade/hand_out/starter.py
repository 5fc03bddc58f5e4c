"""The beginning of a lab: its starters replace the files of the tree."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from tidemark.errors import FAILED, USAGE, LabError
from tidemark.files import sha256
from tidemark.grade.build import starters
from tidemark.grade.build.tree import MANIFEST, released
from tidemark.grade.model import Lab


def of(lab: Lab) -> dict[str, bytes]:
    """The starters of a lab, by path. Raises LabError if a file has none."""
    found = starters.of_labs([lab])
    lacking = [file for file in lab.files if file not in found]
    if lacking:
        said = "its solution is not in this tree, and git does not hold it"
        raise LabError(f"labs/{lab.name}: no starter for {', '.join(lacking)}; if it is to be cut, {said}", FAILED)
    return found


def lay(tree: Path, lab: Lab) -> list[str]:
    """Replace files of a tree by the starters; returns the changed files. Raises LabError, and changes nothing, if
    uncommitted work would be lost.
    """
    changing = {file: data for file, data in of(lab).items() if starters.content(tree / file) != data}
    losing = [file for file in changing if (tree / file).exists() and not kept(tree, file)]
    if losing:
        raise LabError(
            f"{', '.join(losing)}: your work there is not committed, and the starter would replace it. "
            f"`git add {' '.join(losing)} && git commit` keeps it (without a repository: first `git init`, or copy it "
            "elsewhere); then try again",
            USAGE,
        )
    write(tree, changing)
    return list(changing)


def write(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files, by path, into a folder."""
    for file, data in contents.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(data)


def kept(tree: Path, file: str) -> bool:
    """Can the file be recovered from git, or, if unchanged, from the release's archive?"""
    if (tree / MANIFEST).is_file() and released(tree).get(file) == sha256(tree / file):
        return True
    command = ["git", "-C", str(tree), "status", "--porcelain", "--ignored", "--", file]
    try:
        status = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        return False
    return status.returncode == 0 and not status.stdout.strip()
