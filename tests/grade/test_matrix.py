"""A solution gets full marks in the tree that students get, whatever they have made of the other labs."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from grading import messages, submission
from tidemark import qemu
from tidemark.grade import grading
from tidemark.grade.build import machines, tree, workspace
from tidemark.grade.build.sandbox import best
from tidemark.grade.hand_out import figures, release
from tidemark.grade.intake import lab
from tidemark.grade.judge import budget, expected
from tidemark.grade.model import Lab

pytestmark = pytest.mark.graded

IN_GDB = ("follow", "hunt")  # a student's tree has no keys of these
LABS = [name for name in lab.names(qemu.ROOT) if name not in IN_GDB]
real = lab.load
STATES = ("starters", "solutions", "mixed")


def built(folder: Path) -> Path:
    """A release, built; what this tree has built of files that are no student's is taken along."""
    tree.take_along_what_is_built(qemu.ROOT, folder)
    for file in lab.students_files(folder):
        text = (folder / file).read_bytes()
        tree.leave_behind(folder, file)
        (folder / file).write_bytes(text)
    words = ["make", "--silent", "-f", "tools/build.mk", f"CC={' '.join(workspace.compiler())}"]
    subprocess.run([*words, *grading.KERNEL, "build/plugin/tidemark.so"], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The students' tree; what budgets are relative to is measured by the tests."""
    archive = tmp_path_factory.mktemp("release") / "student.tar.gz"
    with mock.patch.object(figures, "measured", return_value={}), mock.patch.object(machines, "files", return_value=()):
        release.write(qemu.ROOT, archive, say=lambda text: None)
    with tarfile.open(archive) as members:
        members.extractall(archive.parent)
    return built(archive.parent / release.TOP)


def measure(theirs: Path, each: Lab, scratch: Path) -> None:
    """What `make release` would have measured for a lab."""
    scratch.mkdir()
    expected.write(theirs / "labs" / each.name, each, figures.measured(qemu.ROOT, each, scratch))


def others_become(folder: Path, name: str, state: str) -> list[Lab]:
    """All labs but one as they were given out, done, or every second one done."""
    others = lab.others(folder, name)
    tree.lay_starters(folder, others)
    for each in others[:: 2 if state == "mixed" else 1] if state != "starters" else ():
        for file in each.files:
            shutil.copyfile(qemu.ROOT / file, folder / file)
    return others


@pytest.mark.soak
@pytest.mark.parametrize(("name", "state"), [(name, state) for name in LABS for state in STATES])
def test_solution_gets_full_marks_in_the_students_tree(name: str, state: str, theirs: Path, tmp_path: Path) -> None:
    measure(theirs, lab.load(qemu.ROOT, name), tmp_path / "figures")
    others_become(theirs, name, state)
    made = grading.grade(theirs, submission(tmp_path / "in", name), name, None, tmp_path / "work", best(), jobs=2)
    assert made.score == made.most, messages(made)


def test_fifo_and_clock_keep_their_budgets_beside_other_labs(theirs: Path, tmp_path: Path) -> None:
    """Those of processes that come and go, which were too small in the students' tree when they were numbers."""
    whole = lab.load(qemu.ROOT, "clock")
    measure(theirs, whole, tmp_path / "figures")
    others_become(theirs, "clock", "mixed")
    few = replace(lab.load(theirs, "clock"), tests=tuple(figures.tests_of(whole)))
    with mock.patch.object(
        lab, "load", side_effect=lambda tree, name, *rest: few if name == "clock" else real(tree, name)
    ):
        made = grading.grade(theirs, submission(tmp_path / "in", "clock"), "clock", None, tmp_path / "work", best())
    assert len(made.tests) == 2 and made.score == made.most, messages(made)


def test_other_labs_are_graded_as_they_were_given_out(theirs: Path, tmp_path: Path) -> None:
    others = others_become(theirs, "clock", "solutions")
    tree.lay(theirs, lab.load(theirs, "clock"), theirs, tmp_path / "tree")
    tree.lay_starters(tmp_path / "tree", others)
    for each in others:
        for file in each.files:
            assert (tmp_path / "tree" / file).read_bytes() == (each.folder / "starter" / file).read_bytes()
            assert not (tmp_path / "tree/build" / file).with_suffix(".o").exists()


@pytest.mark.parametrize("name", LABS)
def test_no_budget_of_a_run_is_a_number(name: str) -> None:
    """What a run of several processes reads, or costs, hangs on files of other labs."""
    for test in lab.load(qemu.ROOT, name).tests:
        if test.kind == "runs" or (test.kind == "faults" and "run" in test.options):
            assert "full" not in test.options and (test.kind == "runs" or budget.is_relative(test))
