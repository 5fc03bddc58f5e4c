"""Grading again after something was mended: whom it concerns, and who changed by how much.

A grade belongs to a release, hidden tests and a grader. When one of these changes, a class that is gone on with is
graded again. An instructor may say for whom: then the others' grades stay, and their rows say that they are older.
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
    """The grades that stand in a class's folder, whatever made them."""
    found: Grades = {}
    for student in book.students:
        with contextlib.suppress(LabError, OSError):
            found[student.name] = result.load(book.out / student.name / GRADE)
    return found


def limit(book: Gradebook, who: str, before: Grades) -> None:
    """Grade again only those named in `who` (with commas; ALL or NONE), these even if nothing has changed. Who handed
    in something else is graded in any case. LabError for a name that is not there."""
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
    """Was it just this submission that was graded?"""
    return book.about(student).get("files") == hashes(student.files)


def points_by_test(grade: Grade) -> dict[str, float]:
    """Points by the test's title."""
    return {graded.test.title: graded.points for graded in grade.tests}


def change(before: Grade, now: Grade) -> str:
    """One student's change in words; empty when no test has other points."""
    old, new = points_by_test(before), points_by_test(now)
    tests = [
        f"{title}: {number(old[title]) if title in old else '-'} -> {number(new[title]) if title in new else '-'}"
        for title in dict.fromkeys([*old, *new])
        if old.get(title) != new.get(title)
    ]
    total = f"{number(before.score)} -> {number(now.score)} ({now.score - before.score:+.2f})"
    return f"{total}; {'; '.join(tests)}" if tests else ""


def changes(book: Gradebook, before: Grades, again: set[str]) -> list[str]:
    """Who of those graded again changed by how much, a line each, and how many did not."""
    both = [(each.name, each.grade) for each in book.students if each.name in again & set(before) and each.grade]
    told = [f"{name}: {change(before[name], now)}" for name, now in both if change(before[name], now)]
    gone = [f"{each.name}: had {number(before[each.name].score)}, is not graded now: {each.reason}" for each in
            book.students if each.name in again & set(before) and each.reason]  # fmt: skip
    same = len(both) - len(told)
    return [*told, *gone, *([f"graded again, and as before: {same}"] if same else [])]


def mixed(book: Gradebook) -> list[str]:
    """What is to be said when the grades of a class were not all made by one release, its hidden tests and grader: how
    many and whose by which, a line each."""
    by: dict[str, list[str]] = {}
    for student in book.students:
        if student.grade:
            earlier = ", before the tests or the grader changed" if student.kept else ""
            by.setdefault(result.made_by(student.grade) + earlier, []).append(student.name)
    kept = any(student.kept for student in book.students)
    if len(by) < 2 and not kept:
        return []
    lines = [f"  {len(names)} by {maker}: {', '.join(names)}" for maker, names in by.items()]
    return ["these grades cannot simply be compared, not all are of this release and its tests:", *lines]
