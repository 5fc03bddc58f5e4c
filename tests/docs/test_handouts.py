"""What each handout says before its theory: difficulty, hours with their basis, what to read, how a design is argued.

The numbers in it are computed here once more: lines and answers from the tree, the hours by the rule in
docs/reference/students.md.
"""

from __future__ import annotations

import difflib
import math
import re
from pathlib import Path

import pytest
from tidemark.grade.build import starters
from tidemark.grade.intake import lab
from tidemark.machine import qemu

LABS = lab.names(qemu.ROOT)
LINES_AN_HOUR, HOURS_FOR_ONE = 20, 0.5  # of an idea, or of an answer
STUDENTS = qemu.ROOT / "docs/reference/students.md"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
ROW = re.compile(r"^\| ([^|]+) \| ([\d.]+) \| ([^|]+) \|$", re.MULTILINE)
every_lab = pytest.mark.parametrize("name", LABS)


def handout(name: str) -> str:
    return (qemu.ROOT / "labs" / name / "handout.md").read_text()


def section(text: str, title: str) -> str:
    """The text below a heading of the second level, up to the next; empty if there is none."""
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def before(name: str) -> str:
    return section(handout(name), "Before you begin")


def code(text: bytes) -> list[str]:
    """The lines without comments, except blank ones."""
    return [line for line in COMMENT.sub("", text.decode()).splitlines() if line.strip()]


def to_write(name: str) -> dict[str, int]:
    """For each file of a lab, by its name, how many lines of the solution its starter does not have."""
    assignment, found = lab.load(qemu.ROOT, name), {}
    for file, start in starters.of_labs([assignment]).items():
        solution = starters.solution(assignment.folder, file)
        assert solution, file
        pair = code(start), code(solution)
        same = difflib.SequenceMatcher(None, *pair, autojunk=False).get_matching_blocks()
        found[Path(file).name] = len(pair[1]) - sum(block.size for block in same)
    return found


def answers_of(name: str) -> int:
    """How many answers a lab asks for, apart from the optional quiz of a lab with code."""
    assignment = lab.load(qemu.ROOT, name)
    if not assignment.files:
        return len(assignment.quiz.questions) if assignment.quiz else 0
    return to_write(name).get(starters.ANSWERS, 0)


def rows(name: str) -> list[tuple[str, float, list[str]]]:
    """The steps in the table: name, hours, new ideas."""
    return [
        (step, float(hours), [] if ideas == "–" else ideas.split("; "))
        for step, hours, ideas in ROW.findall(before(name))
    ]


@every_lab
def test_lines_and_answers_are_those_of_the_tree(name: str) -> None:
    said = {file: int(count) for count, file in re.findall(r"(\d+)(?: lines)?\s+in\s+`([\w.]+)`", before(name))}
    assert said == {file: count for file, count in to_write(name).items() if file != starters.ANSWERS}
    answers = re.search(r"(\d+)\s+answers", before(name))
    assert int(answers[1] if answers else 0) == answers_of(name)


@every_lab
def test_hours_follow_from_the_rule(name: str) -> None:
    text, ideas = before(name), sum(len(ideas) for _, _, ideas in rows(name))
    lines = sum(count for file, count in to_write(name).items() if file != starters.ANSWERS)
    hours = lines / LINES_AN_HOUR + HOURS_FOR_ONE * (ideas + answers_of(name))
    assert re.search(rf"\b{ideas}\s+new\s+ideas", text)
    said = re.match(r"\nDifficulty ([123]) of 3\. About ([\d.]+) hours: \*an estimate\*", text)
    assert said and float(said[2]) == math.ceil(2 * hours) / 2 == sum(hours for _, hours, _ in rows(name))
    assert "students.md#difficulty-and-hours" in text and "| step | hours (estimate) | new ideas |" in text


def test_rule_is_the_one_that_students_read() -> None:
    said = " ".join(STUDENTS.read_text().split())
    rule = f"an hour for each {LINES_AN_HOUR} lines of code, and half an hour for each new idea and for each answer"
    assert rule in said


@every_lab
def test_each_step_has_its_hours(name: str) -> None:
    task = section(handout(name), "Task")
    steps = re.findall(r"^(\d)\. ", task, re.MULTILINE)
    steps = steps or re.findall(r"^\| ([a-z, ]+) \| (?!where)", task, re.MULTILINE)  # the table of follow
    named = ", ".join(step for step, _, _ in rows(name) if step != "answers").split(", ")
    assert sorted(", ".join(steps).split(", ")) == sorted(named)


@every_lab
def test_reading_and_argument_are_there(name: str) -> None:
    read, books, argument = before(name).partition("\n- *Read these first*")[2].split("\n- ")
    paths = re.findall(r"`([\w/.]+\.[hc])`", read)
    assert paths and re.search(r"\]\(\.\./\.\./docs/(guide|reference)/", read)
    assert [path for path in paths if not (qemu.ROOT / path).is_file()] == []
    assert "students.md#textbooks" in books and re.search(
        r"OSTEP,\s+\*.*\*;\s+Silberschatz,\s+\*.*;\s+Tanenbaum,\s+\*", books, re.DOTALL
    )
    assert "students.md#argue-for-a-design" in argument
    assert re.search(r"Claim: .+ Against: .+ Measure: .+\.", " ".join(argument.split()))


def asked_in(text: str) -> set[str]:
    """The names of the questions in a handout: "1. ...", "- `name`: ...", and "below `## hunt1` to `## hunt5`"."""
    found = {name or number for name, number in re.findall(r"^(?:- `(\w+)`: |(\d)\. )", text, re.MULTILINE)}
    for word, last in re.findall(r"`## ([a-z]+)1` to `## \1(\d)`", text):
        found |= {f"{word}{number}" for number in range(1, int(last) + 1)}
    return found


@every_lab
def test_written_questions_are_asked_and_their_points_add_up(name: str) -> None:
    questions, asked = lab.load(qemu.ROOT, name).questions, asked_in(handout(name))
    assert len(questions) >= 2 and {question.name for question in questions} <= asked
    for question in questions:
        points = [float(line.partition(":")[0]) for line in question.rubric]
        assert sum(points) == question.points and min(points) > 0


def test_example_of_an_argument_has_the_figures_of_its_page() -> None:
    example = re.findall(r"^> .*$", STUDENTS.read_text(), re.MULTILINE)
    figures = re.findall(r"\d+,\d+", " ".join(example))
    page = (qemu.ROOT / "docs/guide/policies/clock.md").read_text()
    assert len(figures) == 4 and all(f" {figure} " in page for figure in figures)
