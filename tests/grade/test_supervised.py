"""A quiz gives points only under supervision, and a name that cannot be told costs its students alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from tidemark.commands import grade
from tidemark.errors import LabError
from tidemark.grade import class_run, grading, isolation
from tidemark.grade.hand_back import class_table
from tidemark.grade.intake import lab, roster
from tidemark.machine import qemu

pytestmark = pytest.mark.graded

FILE = "kernel/mm/policy/clock.c"


def test_names_that_cannot_be_told_apart_cost_these_students_alone(tmp_path: Path) -> None:
    for name in ("Ada", "ada", "Bob", "Eve"):
        (tmp_path / "in" / name / FILE).parent.mkdir(parents=True)
        (tmp_path / "in" / name / FILE).write_text("int x;")
    (tmp_path / "names").write_text("Ada\nBob\n")
    book = class_table.Gradebook(tmp_path / "in", lab.load(qemu.ROOT, "clock"), tmp_path / "out", "grader", {})
    names = [student.name for student in book.students]
    said = roster.misnamed(names, tmp_path / "names")
    assert said["Ada"] == said["ada"] == "'Ada' and 'ada' are one name to the draw: change one"
    assert said["Eve"] == "'Eve' is not on the roster names: name it as there"
    book.refuse(said)
    assert [student.name for student in book.missing()] == ["Bob"]
    assert {student.name: student.reason for student in book.failed()} == said
    assert not roster.misnamed(names, None, drawn=False)
    with pytest.raises(LabError, match=r"no submission has a name of the roster .*another class"):
        roster.misnamed(["Eve", "Mallory"], tmp_path / "names")


def test_a_quiz_at_home_is_in_no_score_and_the_grade_says_so(tmp_path: Path) -> None:
    (tmp_path / "quiz.key").write_text("0123456789abcdef")
    request = grading.Request(qemu.ROOT, tmp_path, "clock", tmp_path)
    home, room = (lab.load(qemu.ROOT, "clock", tmp_path, name) for name in ("", "Ada"))
    assert [grading.about_quiz(request, each) for each in (home, room)] == [[grading.NO_QUIZ], []]
    assert {test.kind for test in room.tests} - {test.kind for test in home.tests} == {"quiz"}
    grade.check_supervised(True, room)
    with pytest.raises(LabError, match="--supervised: grading the quiz takes the course's secret"):
        grade.check_supervised(True, home)
    source = isolation.Source(qemu.ROOT, None)
    assert class_run.grader(source, "clock") != class_run.grader(source, "clock", supervised=True)
