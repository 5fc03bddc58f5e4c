"""Starter files: a lab's labs/NAME/starter/PATH replaces PATH."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tidemark.errors import USAGE, LabError
from tidemark.files import sha256
from tidemark.grade.build.tree import MANIFEST, released
from tidemark.grade.model import Lab

FOLDER = "starter"


def files(lab: Lab) -> list[Path]:
    """The starter's files, relative to the tree."""
    folder = lab.folder / FOLDER
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def replace(tree: Path, lab: Lab) -> None:
    """Copy the starter over a tree, replacing any existing files."""
    for file in files(lab):
        (tree / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(lab.folder / FOLDER / file, tree / file)


def lay(tree: Path, lab: Lab) -> list[Path]:
    """Copy the starter over a tree; returns the changed files. Raises LabError, and changes nothing, if uncommitted
    work would be lost.
    """
    changing = [file for file in files(lab) if not same(lab.folder / FOLDER / file, tree / file)]
    losing = [str(file) for file in changing if (tree / file).exists() and not kept(tree, file)]
    if losing:
        raise LabError(
            f"{', '.join(losing)}: your work there is not committed, and the starter would replace it. "
            f"`git add {' '.join(losing)} && git commit` keeps it; then try again",
            USAGE,
        )
    replace(tree, lab)
    return changing


def same(one: Path, other: Path) -> bool:
    """Do two files exist and have equal contents?"""
    return other.is_file() and one.read_bytes() == other.read_bytes()


def kept(tree: Path, file: Path) -> bool:
    """Can the file be recovered from git, or, if unchanged, from the release's archive?"""
    if (tree / MANIFEST).is_file() and released(tree).get(str(file)) == sha256(tree / file):
        return True
    command = ["git", "-C", str(tree), "status", "--porcelain", "--ignored", "--", str(file)]
    try:
        status = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        return False
    return status.returncode == 0 and not status.stdout.strip()
