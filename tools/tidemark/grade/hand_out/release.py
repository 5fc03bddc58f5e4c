"""The student archive: the tree with every lab's starter installed, and without anything that reveals the solutions.

It is made in a scratch folder and checked there: no file of it may equal a solution, have a part of one, or have marks
of parts. The archive has no dates and no
owners, so the same tree gives the same bytes.
"""

from __future__ import annotations

import gzip
import io
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tidemark.errors import FAILED, USAGE, LabError
from tidemark.files import write_atomically
from tidemark.grade.build import cut, machines, solution_files, starters
from tidemark.grade.build.tree import MANIFEST, files_of, manifest
from tidemark.grade.hand_out import figures, rule_sheets, starter
from tidemark.grade.intake import rules
from tidemark.grade.judge import expected
from tidemark.grade.judge.quiz import sheet
from tidemark.grade.model import Lab

TOP = "tidemark"
MORE = (
    "README.md",
    "LICENSE",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs",
    ".vscode",
    ".devcontainer",
    ".clang-format",
    ".gitignore",
)
LEFT_OUT = ("labs/autograder", "tools/figures", "reference/")  # the reference image has the solutions
FOR_INSTRUCTORS = ("instructors.md", "assistants.md", "threats.md", "add-a-lab.md")  # in any folder of docs
OF_ONE_STUDENT = (sheet.SHEET, sheet.ANSWERS, rule_sheets.SHEET)
NOT_IN_ARCHIVE = (*FOR_INSTRUCTORS, *OF_ONE_STUDENT, starters.LIST, rules.FILE)


@dataclass(frozen=True)
class Made:
    """A finished archive: number of files in it, its size in bytes, and the labs whose solutions it lacks."""

    files: int
    bytes: int
    labs: tuple[str, ...]


def wanted(tree: Path) -> list[Path]:
    """The files for students, relative to the tree, before starters are installed."""
    found = list(files_of(tree))
    for name in MORE:
        path = tree / name
        found += [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    relative = (path.relative_to(tree) if path.is_absolute() else path for path in found)
    kept = {path for path in relative if not str(path).startswith(LEFT_OUT) and path.name not in NOT_IN_ARCHIVE}
    return sorted(path for path in kept if path.suffix != starters.PIECES)


def check_no_solution(tree: Path, folder: Path, labs: list[Lab]) -> None:
    """Raises LabError if a solution, a part that students write, or a file of the reference image is in the folder
    under any name."""
    images = {path.read_bytes() for path in tree.glob("reference/*.xz")}
    solutions = {(tree / file).read_text(): file for each in labs for file in each.files if (tree / file).is_file()}
    parts = {part: file for text, file in solutions.items() for part in (text, *cut.marked(text))}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.read_bytes() in images:
            raise LabError(f"{path.relative_to(folder)} is of the reference image: nothing was written", FAILED)
        text, where = path.read_text(errors="replace"), path.relative_to(folder)
        held = [file for part, file in parts.items() if part in text]
        if held:
            raise LabError(f"{where} holds the solution {held[0]}: nothing was written", FAILED)
        if cut.is_marked(text):
            raise LabError(f"{where} has marks of what students write: nothing was written", FAILED)


def fill(tree: Path, folder: Path, labs: list[Lab], say: Callable[[str], None]) -> None:
    """Copy the students' tree into `folder`."""
    lacking = [file for each in labs for file in each.withholds if not (tree / file).is_file()]
    if lacking:
        raise LabError(f"withholds: the tree has no {', '.join(lacking)}", FAILED)
    for file in wanted(tree):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(tree / file, folder / file)
        (folder / file).chmod((tree / file).stat().st_mode & 0o755)
    for name in {name for each in labs for name in each.withholds}:
        (folder / name).unlink()
    for each in labs:
        given = starter.of(each)
        starter.write(folder, given)
        starter.write(folder / "labs" / each.name / starters.FOLDER, given)
        for path, place in machines.files(tree, each.name, say):
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / place)
        say(f"labs/{each.name}: computing what its visible tests expect")
        with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as scratch:
            expected.write(folder / "labs" / each.name, each, figures.measured(tree, each, Path(scratch)))
    (folder / MANIFEST).write_text(manifest(folder))


def packed(folder: Path) -> bytes:
    """The folder as a .tar.gz below TOP, with equal bytes for equal content."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            if not path.is_file():
                continue
            member = tarfile.TarInfo(f"{TOP}/{path.relative_to(folder)}")
            member.size, member.mode = path.stat().st_size, 0o755 if path.stat().st_mode & 0o100 else 0o644
            with path.open("rb") as data:
                archive.addfile(member, data)
    return gzip.compress(plain.getvalue(), mtime=0)


def check(tree: Path) -> list[Lab]:
    """The labs of a tree. Raises LabError if no release can be made from it."""
    if (tree / MANIFEST).exists():
        raise LabError("this tree is a student's release itself; a release is made from the instructor's tree", USAGE)
    solution_files.check_in_place(tree)
    labs = solution_files.all_labs(tree)
    for each in labs:
        starter.of(each)
    return labs


def write(tree: Path, out: Path, say: Callable[[str], None]) -> Made:
    """Write the student archive of the instructor's `tree` to `out`."""
    labs = check(tree)
    with tempfile.TemporaryDirectory(prefix="tidemark-release-") as scratch:
        folder = Path(scratch)
        fill(tree, folder, labs, say)
        check_no_solution(tree, folder, labs)
        archive = packed(folder)
        write_atomically(out, archive)
        files = sum(path.is_file() for path in folder.rglob("*"))
        return Made(files, len(archive), tuple(each.name for each in labs))
