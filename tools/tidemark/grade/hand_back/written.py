"""The handout's questions: the students' written answers, and the points that a person gives for them.

    NAME/answers.md    the file handed in as labs/LAB/answers.md: a heading for each question, such as "## 2"
    rubric.csv         a row for each student and question: name, question, points, remark; you fill in the points
    rubric.txt         to read beside it: each question with its rubric, and below it all students' answers
    NAME/written.txt   for the student: the student's answers, points and remarks

A missing answer has 0 points, unless the question is answered on paper. An answer has no points until a person gives
some, and until then there is no sum.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tidemark.errors import LabError
from tidemark.files import write_atomically, write_csv
from tidemark.grade.hand_back.text import clean, indented, number, share
from tidemark.grade.model import Lab, Question

ANSWERS, TABLE, PAGE, WRITTEN = "answers.md", "rubric.csv", "rubric.txt", "written.txt"
COLUMNS = ("name", "question", "points", "remark")
# "#1  0xc0123456 in schedule ()" is a frame in gdb's output, not a heading.
# The first word is the question's name, or its first and second word together: "### Hunt 1" is hunt1.
HEADING = re.compile(r"^#(?:\s|#+)\s*(?:question\s+)?([\w.-]+?)[.:)]?(?:\s+(\w*).*)?$", re.IGNORECASE)
FORMULA = tuple("=+-@\t")


@dataclass(frozen=True)
class Mark:
    """Points that a person gave for an answer, None if not yet, and a remark."""

    points: float | None
    remark: str = ""


Marks = dict[tuple[str, str], Mark]  # (student, question)
Answers = Mapping[str, Mapping[str, str]]  # student, question


def split(text: str, questions: Iterable[Question]) -> dict[str, str]:
    """The answers by question, cleaned for display; empty ones are left out."""
    known = {question.name.casefold(): question.name for question in questions}
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        heading = HEADING.match(line)
        words = (heading[1], heading[1] + (heading[2] or "")) if heading else ()
        if named := next((known[word.casefold()] for word in words if word.casefold() in known), ""):
            name = named
        elif name:
            found.setdefault(name, []).append(line)
    answers = {name: clean("\n".join(lines)).strip("\n") for name, lines in found.items()}
    return {name: answer for name, answer in answers.items() if answer.strip()}


def text_of(data: bytes) -> str:
    """The text of a file of answers, which may begin with a byte order mark."""
    return data.decode("utf-8-sig", "replace")


def answers_in(folder: Path, lab: Lab) -> dict[str, dict[str, str]]:
    """All students' answers in a folder of grades; a student without answers has an empty row."""
    students = sorted(path.parent for path in folder.glob("*/submission.json"))
    return {student.name: answers_of(student / ANSWERS, lab) for student in students}


def answers_of(path: Path, lab: Lab) -> dict[str, str]:
    """The answers of one student."""
    data = path.read_bytes() if path.is_file() else b""
    return split(text_of(data), lab.questions)


def as_cell(text: str) -> str:
    """The text as a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith((*FORMULA, "'")) else text


def from_cell(text: str) -> str:
    """The text of a cell that as_cell made."""
    return text[1:] if text[:1] == "'" and text[1:].startswith((*FORMULA, "'")) else text


def mark_of(row: Mapping[str, str | None], most: Mapping[str, float], where: str) -> Mark:
    """One row's mark. Raises LabError if the points are out of the question's range."""
    question, given = row["question"] or "", (row["points"] or "").strip()
    if question not in most:
        raise LabError(f"{where}: there is no question {question!r}; there are {', '.join(most)}")
    try:
        points = float(given.replace(",", ".")) if given else None
    except ValueError:
        points = math.nan
    if points is not None and not 0 <= points <= most[question]:
        raise LabError(f"{where}: points are {given!r}; question {question} allows 0 to {number(most[question])}")
    return Mark(points, from_cell(row.get("remark") or ""))


def load(path: Path, lab: Lab) -> Marks:
    """The marks in rubric.csv; empty if there is no file. Raises LabError, which names the line, if one is invalid."""
    if not path.is_file():
        return {}
    most = {question.name: question.points for question in lab.questions}
    marks: Marks = {}
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file)
        if not set(COLUMNS[:3]) <= set(rows.fieldnames or ()):
            raise LabError(f"{path}: it must have the columns {', '.join(COLUMNS)}")
        for row in rows:
            where = f"{path}, line {rows.line_num}"
            key = from_cell(row["name"] or ""), row["question"] or ""
            if key in marks:
                raise LabError(f"{where}: {key[0]}, question {key[1]} appears twice")
            marks[key] = mark_of(row, most, where)
    return marks


def save(path: Path, lab: Lab, students: Iterable[str], marks: Marks) -> None:
    """Write rubric.csv, in one step: every student with every question, then the marks of other students."""
    wanted = dict.fromkeys([(name, question.name) for name in students for question in lab.questions])
    rows = []
    for name, question in [*wanted, *(key for key in marks if key not in wanted)]:
        mark = marks.get((name, question), Mark(None))
        points = "" if mark.points is None else number(mark.points)
        rows.append({"name": as_cell(name), "question": question, "points": points, "remark": as_cell(mark.remark)})
    write_csv(path, rows, COLUMNS)


def mark_for(question: Question, name: str, answers: Mapping[str, str], marks: Marks) -> Mark:
    """A student's mark for a question: the one that was given, or 0 points if there is no answer where one is due."""
    mark = marks.get((name, question.name), Mark(None))
    is_missing = question.name not in answers and not question.paper
    return Mark(0.0, mark.remark or "no answer") if mark.points is None and is_missing else mark


def shown(question: Question, answers: Mapping[str, str]) -> str:
    """A student's answer, or that there is none."""
    return answers.get(question.name, "(on paper)" if question.paper else "(no answer)")


def asked(question: Question) -> str:
    """A question as its heading."""
    return f"{question.name} ({number(question.points)} points)  {question.text}"


def page(lab: Lab, answers: Answers, marks: Marks) -> str:
    """The text of rubric.txt, question by question: the rubric, then all students' answers."""
    lines: list[str] = []
    for question in lab.questions:
        lines += [asked(question), *(f"  - {line}" for line in question.rubric), ""]
        for name, given in answers.items():
            mark = mark_for(question, name, given, marks)
            points = "no points yet" if mark.points is None else share(mark.points, question.points)
            lines += [f"  {name}: {points}", indented(shown(question, given), " " * 6), ""]
    return "\n".join(lines)


def for_student(lab: Lab, name: str, answers: Mapping[str, str], marks: Marks) -> str:
    """The text of a student's written.txt: answers with points and remarks, without the rubric."""
    lines: list[str] = []
    for question in lab.questions:
        mark = mark_for(question, name, answers, marks)
        points = "no points yet" if mark.points is None else share(mark.points, question.points)
        remark = f": {clean(mark.remark)}" if mark.remark else ""
        lines += [asked(question), indented(shown(question, answers)), f"  {points}{remark}", ""]
    return "\n".join(lines)


def write(folder: Path, lab: Lab, answers: Answers, marks: Marks) -> None:
    """Write rubric.csv, rubric.txt, and every student's written.txt."""
    save(folder / TABLE, lab, answers, marks)
    write_atomically(folder / PAGE, page(lab, answers, marks).encode("utf-8", "replace"))
    for name, given in answers.items():
        text = for_student(lab, name, given, marks)
        write_atomically(folder / name / WRITTEN, text.encode("utf-8", "replace"))
