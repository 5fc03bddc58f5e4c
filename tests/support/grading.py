"""Shared by the tests of grading: grading of files that replace this tree's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from unittest import mock

from tidemark.grade import grading
from tidemark.grade.build import starters
from tidemark.grade.build.sandbox import Sandbox, best
from tidemark.grade.intake import lab
from tidemark.grade.model import Grade
from tidemark.machine import qemu


def solution(file: str) -> str:
    """The text of a reference solution: this tree's own file."""
    return (qemu.ROOT / file).read_text()


def starter(lab_name: str, file: str) -> str:
    """The text of a starter file."""
    return starters.of_labs([lab.load(qemu.ROOT, lab_name)])[file].decode()


def submission(folder: Path, lab_name: str, files: Mapping[str, str] | None = None) -> Path:
    """A folder with the reference solution of a lab, except for `files`: paths with their replacement texts."""
    solutions = {file: solution(file) for file in lab.load(qemu.ROOT, lab_name).files}
    for file, text in {**solutions, **(files or {})}.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    return folder


def graded(
    scratch: Path,
    lab_name: str,
    files: Mapping[str, str] | None = None,
    secret: Path | None = None,
    titles: Sequence[str] = (),
    sandbox: Sandbox | None = None,
) -> Grade:
    """The grade of a submission with `files` (see `submission`); `titles`: only these tests, or all if empty;
    `sandbox`: the best if not given."""
    handed_in = submission(scratch / "handed-in", lab_name, files)
    whole, real = lab.load(qemu.ROOT, lab_name, secret), lab.load
    few = replace(whole, tests=tuple(test for test in whole.tests if test.title in titles or not titles))
    with mock.patch.object(
        lab, "load", side_effect=lambda tree, name, *more: few if name == lab_name else real(tree, name, *more)
    ):
        return grading.grade(
            grading.Request(qemu.ROOT, handed_in, lab_name, secret),
            grading.Host(scratch / "work", sandbox or best(), jobs=2),
        )


def messages(made: Grade) -> str:
    """All messages of a grade."""
    return "\n".join([*(one.verdict.message for one in made.tests), *made.notes])
