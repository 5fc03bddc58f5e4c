"""Correct solutions that differ from the reference: a student with one of these has earned full marks."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest import mock

import pytest
from grading import messages, submission
from soak import soak_but
from students import measure, unpacked
from tidemark.grade import grading
from tidemark.grade.build.sandbox import best
from tidemark.grade.intake import lab
from tidemark.machine import qemu
from trials import Trial, trial
from variants import home, solutions

pytestmark = pytest.mark.graded

SOLUTIONS = solutions()


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The students' tree."""
    return unpacked(tmp_path_factory.mktemp("release"))


@cache
def measured(theirs: Path, name: str) -> None:
    """Ensures that the figures of a lab exist."""
    measure(theirs, lab.load(qemu.ROOT, name), theirs.parent / f"figures-{name}")


@pytest.mark.soak
@pytest.mark.parametrize("which", sorted(SOLUTIONS))
def test_other_solution_gets_full_marks(which: str, theirs: Path, tmp_path: Path) -> None:
    name, file = home(which)
    measured(theirs, name)
    handed_in, real = submission(tmp_path / "in", name, {file: SOLUTIONS[which]}), lab.load
    whole = lab.load(theirs, name)
    few = replace(whole, tests=tuple(test for test in whole.tests if file in whole.files_of(test)))
    with mock.patch.object(
        lab, "load", side_effect=lambda tree, other, *more: few if other == name else real(tree, other, *more)
    ):
        made = grading.grade(grading.Request(theirs, handed_in, name), grading.Host(tmp_path / "work", best(), jobs=2))
    assert made.score == made.most, messages(made)


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return trial("clock", tmp_path_factory.mktemp("correct"))


@pytest.mark.parametrize(
    "which", soak_but([which for which in SOLUTIONS if which.startswith("clock_")], "clock_looks_first")
)
def test_other_form_does_what_it_is_asked(which: str, tried: Trial) -> None:
    (tried.machine.tree / home(which)[1]).write_text(SOLUTIONS[which])
    for test in tried.machine.lab.tests:
        if test.kind == "script" and test.options["policy"] == "clock":
            verdict = tried.judge_on_host(test)
            assert verdict.fraction == 1, f"{test.title}: {verdict.message}"
