"""Grading during a term: written answers, late days, overrides, grading again, statistics."""

from __future__ import annotations

import csv
import io
import sys
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest
from grades import graded_as
from grading import starter
from test_grade_class import FILE, LAB, STAND_IN, Room
from tidemark.commands import class_stats, export_jplag
from tidemark.errors import LabError
from tidemark.grade import class_run, isolation, model
from tidemark.grade.build import tree
from tidemark.grade.hand_back import class_table, jplag, regrade, result, term, written
from tidemark.grade.hand_back.finals import Finals
from tidemark.grade.intake import lab as labs
from tidemark.grade.model import Question
from tidemark.runs import cluster

ASKED = (Question("1", "Why?", 2, ("because: 2",)), Question("2", "How far?", 3))
WITH_QUESTIONS = replace(LAB, questions=ASKED)
RULES = """
time_zone = "Europe/Berlin"
late_days = 2
percent_per_day = 10
most_days = 3
[deadline]
buddy = 2027-01-10T23:59:00
clock = 2027-01-20T23:59:00
[[override]]
student = "eve"
lab = "clock"
reason = "ill"
points = 7.5
[[override]]
student = "kim"
lab = "clock"
reason = "moved house"
deadline = 2027-01-25T23:59:00
"""
TIMES = """name,lab,time
ada,buddy,2027-01-11T12:00:00
ada,clock,2027-01-22T23:58:00+01:00
bob,clock,2027-01-20T22:59:00Z
zoe,clock,2027-01-29T00:00:00
kim,clock,2027-01-25T23:59:00
"""


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    """An empty room, with the stand-in that gives points for digits."""
    (tmp_path / "stand_in.py").write_text(STAND_IN)
    monkeypatch.setattr(isolation, "GRADER", [sys.executable, str(tmp_path / "stand_in.py")])
    return Room(tmp_path)


def rules(folder: Path, text: str = RULES) -> term.Term:
    """Writes and reads the rules."""
    (folder / "policy.toml").write_text(text)
    return term.load(folder / "policy.toml")


def times(folder: Path, of: term.Term) -> dict[tuple[str, str], datetime]:
    """Writes and reads the times."""
    (folder / "times.csv").write_text(TIMES)
    return term.load_times(folder / "times.csv", of.zone)


def book_of(room: Room, lab: labs.Lab = LAB, grader: str = "1", who: str = "all") -> tuple[class_table.Gradebook, list]:
    """The class graded by the stand-in, and the messages about changes."""
    book = class_table.Gradebook(room.submissions, lab, room.out, grader, {})
    book.finals = Finals(lab, marks=written.load(room.out / written.TABLE, lab))
    before = regrade.earlier(book)
    regrade.limit(book, who, before)
    book.settle()
    room.ran = [student.name for student in book.missing()]
    where = cluster.Local(2)
    run = class_run.ClassRun(book, where, isolation.Source(Path(), None), "none", room.look)
    try:
        run.run()
    finally:
        where.close(run.token)
    return book, regrade.changes(book, before, set(room.ran))


def rows(room: Room) -> dict[str, dict[str, str]]:
    """class.csv by name, without the apostrophe that prevents a name from being a formula."""
    text = (room.out / class_table.TABLE).read_text("utf-8")
    return {row["name"].removeprefix("'"): row for row in csv.DictReader(io.StringIO(text))}


# --- written answers ---


def test_answers_are_told_apart_by_their_headings() -> None:
    text = "my name\n# Question 2\n\nfar\x1b[31m\n# 3\nstill 2\n## 1. Why\nbecause\n## Question 1\nagain"
    assert written.split(text, ASKED) == {"2": "far\n# 3\nstill 2", "1": "because\nagain"}
    assert written.split("# 1\n \n# 2", ASKED) == {}
    assert written.split("### Hunt 1\nhere", [Question("hunt1", "Why?", 1)]) == {"hunt1": "here"}
    asked = (Question("hunt1", "Why?", 1), Question("1", "Where?", 1))
    text = written.text_of("\ufeff## HUNT1: why\n#1  0xc0101234 in schedule ()\n##1\nthere\n".encode())
    assert written.split(text, asked) == {"hunt1": "#1  0xc0101234 in schedule ()", "1": "there"}


def test_points_for_answers_enter_the_class(room: Room) -> None:
    for name in ("=ada", "bob"):
        room.hand_in(name, "9")
    answers = room.submissions / "=ada" / LAB.answers
    answers.parent.mkdir(parents=True)
    answers.write_text("## 1\nLRU is a stack\n")
    book_of(room, WITH_QUESTIONS)
    first = rows(room)["=ada"]
    assert (first["score"], first["raw"], first["final"], first["question 2"]) == ("9", "", "", "0")
    assert first["note"] == "answers.md has no answer below a heading 2; no points yet for question 1"
    assert rows(room)["bob"]["final"] == "9"
    given = written.answers_in(room.out, WITH_QUESTIONS)
    assert given == {"=ada": {"1": "LRU is a stack"}, "bob": {}}
    written.write(room.out, WITH_QUESTIONS, given, {("=ada", "1"): written.Mark(1.5, "-1: why?")})
    table, page = ((room.out / name).read_text() for name in (written.TABLE, written.PAGE))
    assert table.splitlines()[1] == "'=ada,1,1.5,'-1: why?"
    assert "because: 2" in page and "LRU is a stack" in page
    assert "1.5/2: -1: why?" in (room.out / "=ada" / written.WRITTEN).read_text()
    assert "because" not in (room.out / "=ada" / written.WRITTEN).read_text()
    book_of(room, WITH_QUESTIONS)
    assert room.ran == [] and rows(room)["=ada"]["final"] == "10.5" and rows(room)["=ada"]["of"] == "14"
    (room.out / written.TABLE).write_text("name,question,points\nbob,1,2.5\n")
    with pytest.raises(LabError, match=r"line 2: points are '2.5'; question 1 allows 0 to 2"):
        book_of(room, WITH_QUESTIONS)


def test_new_answers_are_taken_without_grading_again(room: Room) -> None:
    room.hand_in("ada", "9")
    book_of(room, WITH_QUESTIONS)
    (room.submissions / "ada/answers.md").write_text("# 2\n3 m")
    book_of(room, WITH_QUESTIONS)
    assert room.ran == [] and (room.out / "ada/answers.md").read_text() == "# 2\n3 m"


def test_answers_that_are_there_twice_are_not_lost_silently(room: Room) -> None:
    room.hand_in("ada", "9")
    for folder in ("a", "b"):
        (room.submissions / "ada" / folder).mkdir()
        (room.submissions / "ada" / folder / "answers.md").write_text(f"# 1\n{folder}")
    book_of(room, WITH_QUESTIONS)
    said = "written answers were not taken: ada: both a/answers.md and b/answers.md may be labs/clock/answers.md"
    assert rows(room)["ada"]["note"].startswith(said)


def test_without_questions_and_rules_nothing_is_added(room: Room) -> None:
    room.hand_in("ada", "9")
    (room.submissions / "ada/answers.md").write_text("# 1\nx")
    book_of(room)
    assert room.rows() == ["ada,9,9,right,9,"] and not (room.out / "ada/answers.md").exists()


def test_questions_are_read_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "questions.toml"
    assert labs.questions_of(path) == ()
    path.write_text('[[question]]\nname = "1"\nquestion = "Why?"\npoints = 2\nrubric = ["because: 2"]\n')
    assert labs.questions_of(path) == ASKED[:1]
    path.write_text(path.read_text() * 2)
    with pytest.raises(LabError, match="two questions are called '1'"):
        labs.questions_of(path)


def test_an_answer_on_paper_waits_for_points_although_the_file_lacks_it(tmp_path: Path) -> None:
    viva = Question("viva", "A viva in gdb", 5, (), paper=True)
    lab = replace(LAB, questions=(viva, Question("1", "Why?", 2)))
    row, said = Finals(lab).row("ada", 9, {})
    assert "raw" not in row and row["question 1"] == "0" and said == ["no points yet for question viva"]
    row, _ = Finals(lab, marks={("ada", "viva"): written.Mark(4)}).row("ada", 9, {})
    assert (row["question viva"], row["raw"]) == ("4", "13")
    assert "(on paper)" in written.for_student(lab, "ada", {}, {})
    path = tmp_path / "questions.toml"
    text = '[[question]]\nname = "viva"\nquestion = "Why?"\npoints = 2\nrubric = []\npaper = '
    path.write_text(f"{text}true\n")
    assert labs.questions_of(path)[0].paper
    path.write_text(f"{text}1\n")
    with pytest.raises(LabError, match="paper = 1 is neither true nor false"):
        labs.questions_of(path)


# --- late days and overrides ---


def test_late_days_are_spent_in_order_and_the_rest_costs(tmp_path: Path) -> None:
    of = rules(tmp_path)
    finals = Finals(LAB, of, times(tmp_path, of))
    ada, said = finals.row("ada", 9, {})
    assert said == ["2 days late: 1 late day used, 0 left; 10 % off"]
    assert (ada["raw"], ada["late"], ada["final"]) == ("9", "-0.9", "8.1")
    assert finals.row("bob", 9, {}) == ({"of": "9", "raw": "9", "late": "0", "final": "9"}, [])
    assert finals.row("zoe", 9, {})[0]["final"] == "0"
    left, said = finals.row("max", 9, {})
    assert said == ["no time of handing in: no sum until there is one, or an override"] and "final" not in left
    assert Finals(LAB, of, {}).row("max", 9, {})[1] == ["no time of handing in: taken as in time"]


def test_override_is_never_silent(tmp_path: Path) -> None:
    of = rules(tmp_path)
    finals = Finals(LAB, of, times(tmp_path, of))
    eve, said = finals.row("eve", None, {})
    assert (eve["override"], eve["final"]) == ("7.5", "7.5") and said[-1] == "override: 7.5 points: ill"
    kim, said = finals.row("kim", 9, {})
    assert kim["final"] == "9" and said == ["override: deadline 2027-01-25 22:59 UTC: moved house"]
    assert finals.unknown(["ada", "bob", "kim", "zoe"]) == ["eve"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('reason = "ill"\n', "", "needs student, lab and reason"),
        ("percent_per_day = 10", "percent_per_day = -1", "percent_per_day = -1 is not a number"),
        ('"Europe/Berlin"', '"Atlantis"', "time_zone = 'Atlantis' is not a time zone"),
        ('student = "kim"', 'student = "eve"', "two overrides of eve"),
        ("2027-01-20T23:59:00", "2027-01-20", "clock = 2027-01-20 is not a date and time"),
    ],
)
def test_rules_that_cannot_be_meant_are_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    with pytest.raises(LabError, match=says):
        rules(tmp_path, RULES.replace(old, new))


def test_summer_time_moves_no_deadline(tmp_path: Path) -> None:
    of = rules(tmp_path, 'time_zone = "Europe/Berlin"\n[deadline]\nclock = 2027-07-01T12:00:00\n')
    assert of.deadlines["clock"] == datetime(2027, 7, 1, 10, tzinfo=timezone.utc)


# --- grading again ---


def test_who_changed_by_how_much_is_told(room: Room) -> None:
    room.hand_in("ada", "9")
    room.hand_in("bob", "9")
    assert book_of(room)[1] == []
    room.hand_in("ada", "4")
    assert book_of(room)[1] == ["ada: 9 -> 3.96 (-5.04); digits: 9 -> 3.96"]
    assert book_of(room, grader="2")[1] == ["graded again, unchanged: 2"]


def test_only_those_named_are_graded_again_and_mixing_is_said(room: Room) -> None:
    for name in ("ada", "bob", "eve"):
        room.hand_in(name, "9")
    book_of(room)
    room.hand_in("eve", "8")
    book, _ = book_of(room, grader="2", who="ada")
    assert room.ran == ["ada", "eve"]
    first = "these grades cannot simply be compared, since not all are of this release and its tests:"
    assert [line.rpartition(": ")[2] for line in regrade.mixed(book)[1:]] == ["ada, eve", "bob"]
    assert regrade.mixed(book)[0] == first
    assert "graded by another release" in rows(room)["bob"]["note"]
    book, _ = book_of(room, grader="2", who="ada")
    assert room.ran == ["ada"]
    book, _ = book_of(room, grader="2")
    assert room.ran == ["bob"] and regrade.mixed(book) == []
    with pytest.raises(LabError, match="--regrade max: no such student"):
        book_of(room, who="max")


def test_two_releases_in_one_call_are_told_apart(room: Room) -> None:
    for name in ("ada", "bob"):
        room.hand_in(name, "9")
    book, _ = book_of(room)
    assert regrade.mixed(book) == []
    made = book.students[1].grade
    assert made
    book.students[1].grade = replace(made, meta={"tidemark": "0.5.0", "release": "1a2b"})
    assert regrade.mixed(book)[2] == "  1 by tidemark 0.5.0, release 1a2b: bob"


def test_a_mended_handout_or_rubric_is_no_other_release(tmp_path: Path) -> None:
    for name, text in (("lab.toml", "1"), ("handout.md", "1"), ("questions.toml", "1")):
        (tmp_path / "labs/clock").mkdir(parents=True, exist_ok=True)
        (tmp_path / "labs/clock" / name).write_text(text)
    before = tree.identity(tmp_path)
    (tmp_path / "labs/clock/handout.md").write_text("2")
    (tmp_path / "labs/clock/questions.toml").write_text("2")
    assert tree.identity(tmp_path) == before and Path("labs/clock/questions.toml") not in tree.files_of(tmp_path)
    (tmp_path / "labs/clock/lab.toml").write_text("2")
    assert tree.identity(tmp_path) != before


# --- a class as a whole ---


def test_statistics_name_nobody(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    for name, at in (("ada", 7), ("bob", 12), ("eve", 0), ("kim", 500)):
        differs = model.wrong(f"reference {at}, to page 5: expected victim page 2") if at else model.right()
        tests = (graded_as("string", 2, differs), graded_as("work", 4, model.scaled(150, 100, 200, "reads")))
        (tmp_path / "grades" / name).mkdir(parents=True)
        result.save(model.Grade("clock", "Second chance", tests), tmp_path / "grades" / name / "grade.json")
    class_stats.class_stats(tmp_path / "grades", tmp_path / "tests.csv")
    assert capsys.readouterr().out.splitlines() == [
        "4 grades of clock: median 2 of 6 points",
        "",
        "string",
        "  1 of 4 right; median 0% of 2 points; 3 wrong answer",
        "  first difference at reference",
        "         1-9 # 1",
        "       10-29 # 1",
        "     300-999 # 1",
        "work",
        "  0 of 4 right; median 50% of 4 points; 4 over budget",
    ]
    table = (tmp_path / "tests.csv").read_text()
    assert "string,0,2,4,1,0,0.25,0,0,3," in table and "ada" not in table
    with pytest.raises(LabError, match="holds no grades"):
        class_stats.class_stats(tmp_path)


def test_jplag_gets_submissions_and_starters(room: Room, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    room.hand_in("ada l", "int a;")
    (room.submissions / "bob.zip").write_bytes(b"no zip")
    export_jplag.export_jplag(room.submissions, "clock", tmp_path / "out")
    said = capsys.readouterr().out
    found = sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.c"))
    assert found == ["base/clock.c", "base/fifo.c", "submissions/ada l/clock.c"]
    assert (tmp_path / "out/base/clock.c").read_text() == starter("clock", FILE)
    assert "left out: bob: bob.zip" in said and "1 of 2 submissions" in said
    assert jplag.command(Path("out")) == "java -jar jplag.jar -l c -bc out/base -r out/result out/submissions"
    assert said.splitlines()[-1] == jplag.command(tmp_path / "out")
