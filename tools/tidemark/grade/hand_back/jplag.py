"""Submissions laid out for JPlag, which looks for copied work: https://github.com/jplag/JPlag

    submissions/NAME/FILE   the lab's files of each student
    base/FILE               the starters, which all students share and JPlag therefore leaves out

A file has only the last part of its path as its name. Nothing is sent anywhere: JPlag runs on this machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from shlex import quote

from tidemark.errors import BAD_INPUT, LabError
from tidemark.files import folder_replacing
from tidemark.grade.build import starters
from tidemark.grade.hand_back.class_table import Student
from tidemark.grade.model import Lab

MARK, SUBMISSIONS, BASE = "jplag.txt", "submissions", "base"


def lay(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder, under the last parts of their names."""
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / PurePosixPath(name).name).write_bytes(data)


def command(out: Path) -> str:
    """The command that runs JPlag 6 on such a folder."""
    words = ["-l", "c", "-bc", quote(str(out / BASE)), "-r", quote(str(out / "result")), quote(str(out / SUBMISSIONS))]
    return f"java -jar jplag.jar {' '.join(words)}"


def write(out: Path, lab: Lab, students: Iterable[Student]) -> tuple[int, list[str]]:
    """Make the folder. Returns (number of students in it, why others are left out). Raises LabError if two files of the
    lab have the same last name."""
    names = [PurePosixPath(file).name for file in lab.files]
    if len(set(names)) < len(names):
        raise LabError(f"two files of {lab.name} have the same last name", BAD_INPUT)
    code = [file for file in lab.files if file.endswith((".c", ".h"))]
    count, left_out = 0, []
    with folder_replacing(out, MARK) as new:
        lay(new / BASE, {file: data for file, data in starters.of_labs([lab]).items() if file in code})
        for student in students:
            files = {file: data for file, data in student.files.items() if file in code}
            if files:
                lay(new / SUBMISSIONS / student.name, files)
                count += 1
            else:
                left_out.append(f"{student.name}: {student.reason or 'no C files'}")
        (new / MARK).write_text(command(out) + "\n")
    return count, left_out
