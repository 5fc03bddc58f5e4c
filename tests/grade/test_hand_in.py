"""Packing a student's submission, and running a single test."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from grading import solution, starter, submission
from lab import tidemark
from tidemark.errors import USAGE, LabError
from tidemark.grade import grading
from tidemark.grade.build import reading
from tidemark.grade.build.sandbox import best
from tidemark.grade.hand_back import text
from tidemark.grade.hand_out import hand_in
from tidemark.grade.intake import archive, choice, lab
from tidemark.grade.model import Lab
from tidemark.machine import qemu

FIFO, CLOCK = "kernel/mm/policy/fifo.c", "kernel/mm/policy/clock.c"


@pytest.fixture
def clock() -> Lab:
    """The assignment."""
    return lab.load(qemu.ROOT, "clock")


def test_archive_holds_the_labs_files_and_a_list(clock: Lab, tmp_path: Path) -> None:
    tree = submission(tmp_path / "tree", "clock")
    out = tmp_path / "clock-handin.zip"
    listed = hand_in.pack(tree, clock, out)
    assert [line.split()[2] for line in listed.splitlines()] == list(clock.files)
    with zipfile.ZipFile(out) as made:
        assert made.namelist() == [hand_in.LIST, *clock.files] and made.read(hand_in.LIST).decode() == listed
    first = out.read_bytes()
    hand_in.pack(tree, clock, out)
    assert out.read_bytes() == first
    taken = archive.take(out, clock, {}, reading.reader(best()))
    assert taken.notes == () and taken.files == {file: solution(file).encode() for file in clock.files}


def test_starter_or_missing_file_is_not_packed(clock: Lab, tmp_path: Path) -> None:
    tree, out = submission(tmp_path / "tree", "clock", {FIFO: starter("clock", FIFO)}), tmp_path / "out.zip"
    with pytest.raises(LabError, match=f"^{FIFO}: still the starter's, so nothing was packed"):
        hand_in.pack(tree, clock, out)
    (tree / FIFO).unlink()
    with pytest.raises(LabError, match=f"^{FIFO}: not there, so nothing was packed"):
        hand_in.pack(tree, clock, out)
    assert not out.exists()


def test_command_packs_this_tree_and_asks_nothing(tmp_path: Path) -> None:
    done = tidemark("hand-in", "clock", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert FIFO in done.stdout and "Hand in clock-handin.zip" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["clock-handin.zip"]


def test_one_test_is_meant_by_number_or_title(clock: Lab) -> None:
    assert choice.of_tests(clock, "") is clock
    assert choice.of_tests(clock, "2").tests == clock.tests[1:2]
    assert choice.of_tests(clock, "bELADY").tests == tuple(test for test in clock.tests if "Belady" in test.title) != ()
    hidden = replace(clock, tests=(replace(clock.tests[0], hidden=True),))
    for wanted in ("0", "99", "no such words"):
        with pytest.raises(LabError, match=f"TEST={wanted}: clock has no such test") as caught:
            choice.of_tests(clock, wanted)
        assert caught.value.code == USAGE and f" 1 {clock.tests[0].title}" in str(caught.value)
    with pytest.raises(LabError) as caught:
        choice.of_tests(hidden, "99")
    assert clock.tests[0].title not in str(caught.value)


def test_grade_of_one_test_says_that_it_is_a_part(tmp_path: Path) -> None:
    handed_in = submission(tmp_path / "handed-in", "clock")
    made = grading.grade(
        grading.Request(qemu.ROOT, handed_in, "clock", only="Belady's string with 3"),
        grading.Host(tmp_path / "work", best()),
    )
    assert len(made.tests) == 1 and made.score == made.most > 0
    assert text.report(made).splitlines()[-2:] == [
        "note: this is a part: one test of the lab, without the points of others",
        text.score(made),
    ]
