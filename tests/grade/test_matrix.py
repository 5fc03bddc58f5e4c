"""A solution gets full marks in the students' tree, whatever they have made of the other labs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from grading import messages, submission
from students import STATES, measure, others_become, unpacked
from tidemark.grade import grading
from tidemark.grade.build import starters, tree
from tidemark.grade.build.sandbox import best
from tidemark.grade.hand_out import figures
from tidemark.grade.intake import lab
from tidemark.grade.judge import budget
from tidemark.machine import qemu

pytestmark = pytest.mark.graded

IN_GDB = ("follow", "hunt")  # a student's tree has no keys of these
LABS = [name for name in lab.names(qemu.ROOT) if name not in IN_GDB]
real = lab.load


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The students' tree; the tests measure the numbers that budgets are relative to."""
    return unpacked(tmp_path_factory.mktemp("release"))


@pytest.mark.soak
@pytest.mark.parametrize(("name", "state"), [(name, state) for name in LABS for state in STATES])
def test_solution_gets_full_marks_in_the_students_tree(name: str, state: str, theirs: Path, tmp_path: Path) -> None:
    measure(theirs, lab.load(qemu.ROOT, name), tmp_path / "figures")
    others_become(theirs, name, state)
    request = grading.Request(theirs, submission(tmp_path / "in", name), name)
    made = grading.grade(request, grading.Host(tmp_path / "work", best(), jobs=2))
    assert made.score == made.most, messages(made)


@pytest.mark.soak
def test_fifo_and_clock_keep_their_budgets_beside_other_labs(theirs: Path, tmp_path: Path) -> None:
    """The budgets for processes that come and go; as fixed numbers they were too small in the students' tree."""
    whole = lab.load(qemu.ROOT, "clock")
    measure(theirs, whole, tmp_path / "figures")
    others_become(theirs, "clock", "mixed")
    few = replace(lab.load(theirs, "clock"), tests=tuple(figures.tests_of(whole)))
    with mock.patch.object(
        lab, "load", side_effect=lambda tree, name, *rest: few if name == "clock" else real(tree, name)
    ):
        request = grading.Request(theirs, submission(tmp_path / "in", "clock"), "clock")
        made = grading.grade(request, grading.Host(tmp_path / "work", best()))
    assert len(made.tests) == 2 and made.score == made.most, messages(made)


@pytest.mark.soak
def test_other_labs_are_graded_as_they_were_given_out(theirs: Path, tmp_path: Path) -> None:
    others = others_become(theirs, "clock", "solutions")
    tree.lay(theirs, lab.load(theirs, "clock"), theirs, tmp_path / "tree")
    tree.lay_starters(tmp_path / "tree", starters.of_labs(others))
    for each in others:
        for file in each.files:
            assert (tmp_path / "tree" / file).read_bytes() == (each.folder / "starter" / file).read_bytes()
            assert not (tmp_path / "tree/build" / file).with_suffix(".o").exists()


@pytest.mark.parametrize("name", LABS)
def test_no_budget_of_a_run_is_a_number(name: str) -> None:
    """The reads, or the cost, of a run of several processes depend on files of other labs."""
    for test in lab.load(qemu.ROOT, name).tests:
        if test.kind == "runs" or (test.kind == "faults" and "run" in test.options):
            assert "full" not in test.options and (test.kind == "runs" or budget.is_relative(test))
