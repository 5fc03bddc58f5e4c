"""Grading again after a correction: which students it concerns, and whose points changed by how much.

A grade belongs to a release, hidden tests and a grader. If one of these changes, the next call grades the class
again. An instructor may limit this to some students: the others' grades stay, and their rows say that they are older.
"""

from __future__ import annotations

import contextlib

from tidemark.errors import USAGE, LabError
from tidemark.grade.hand_back import result
from tidemark.grade.hand_back.class_table import GRADE, Gradebook, Student, hashes
from tidemark.grade.hand_back.text import number
from tidemark.grade.model import Grade

ALL, NONE = "all", "none"
Grades = dict[str, Grade]


def earlier(book: Gradebook) -> Grades:
    """The existing grades in a class's folder, from any release or grader."""
    found: Grades = {}
    for student in book.students:
        with contextlib.suppress(LabError, OSError):
            found[student.name] = result.load(book.out / student.name / GRADE)
    return found


def limit(book: Gradebook, who: str, before: Grades) -> None:
    """Grade again only the students named in `who` (with commas; ALL or NONE), even if nothing has changed for them. A
    new submission is graded in any case. Raises LabError for an unknown name."""
    if who == ALL:
        return
    named = set() if who == NONE else {name.strip() for name in who.split(",")}
    unknown = sorted(named - {student.name for student in book.students})
    if unknown:
        raise LabError(f"--regrade {unknown[0]}: no such student; give names, {ALL} or {NONE}", USAGE)
    for student in book.students:
        if student.name in named and not student.reason:
            student.grade = None
        elif student.is_missing and is_same(book, student) and student.name in before:
            student.grade, student.kept = before[student.name], True


def is_same(book: Gradebook, student: Student) -> bool:
    """Is the existing grade of exactly this submission?"""
    return book.about(student).get("files") == hashes(student.files)


def points_by_test(grade: Grade) -> dict[str, float]:
    """Points by the test's title."""
    return {graded.test.title: graded.points for graded in grade.tests}


def change(before: Grade, now: Grade) -> str:
    """One student's change in words; empty if no test has other points."""
    old, new = points_by_test(before), points_by_test(now)
    tests = [
        f"{title}: {number(old[title]) if title in old else '-'} -> {number(new[title]) if title in new else '-'}"
        for title in dict.fromkeys([*old, *new])
        if old.get(title) != new.get(title)
    ]
    total = f"{number(before.score)} -> {number(now.score)} ({now.score - before.score:+.2f})"
    return f"{total}; {'; '.join(tests)}" if tests else ""


def changes(book: Gradebook, before: Grades, again: set[str]) -> list[str]:
    """A line for each regraded student whose points changed, and a line with the number of the others."""
    both = [(each.name, each.grade) for each in book.students if each.name in again & set(before) and each.grade]
    told = [f"{name}: {change(before[name], now)}" for name, now in both if change(before[name], now)]
    gone = [f"{each.name}: had {number(before[each.name].score)}, is not graded now: {each.reason}" for each in
            book.students if each.name in again & set(before) and each.reason]  # fmt: skip
    same = len(both) - len(told)
    return [*told, *gone, *([f"graded again, unchanged: {same}"] if same else [])]


def mixed(book: Gradebook) -> list[str]:
    """Lines that say which release, hidden tests and grader made whose grades; empty if all grades of the class were
    made by the same ones."""
    by: dict[str, list[str]] = {}
    for student in book.students:
        if student.grade:
            earlier = ", before the tests or the grader changed" if student.kept else ""
            by.setdefault(result.made_by(student.grade) + earlier, []).append(student.name)
    kept = any(student.kept for student in book.students)
    if len(by) < 2 and not kept:
        return []
    lines = [f"  {len(names)} by {maker}: {', '.join(names)}" for maker, names in by.items()]
    return ["these grades cannot simply be compared, since not all are of this release and its tests:", *lines]
