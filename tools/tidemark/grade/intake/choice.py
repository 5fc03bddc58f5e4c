"""One test of an assignment alone: while you work on it, the others cost time."""

from __future__ import annotations

from dataclasses import replace

from tidemark.errors import USAGE, LabError
from tidemark.grade.model import Lab, Test


def of_tests(lab: Lab, wanted: str) -> Lab:
    """The lab with those tests alone that are meant: by a number, from 1 on as lab.toml has them, or by a part of their
    titles, whatever its case. All for "". LabError, with the list, when there is none."""
    if not wanted.strip():
        return lab
    tests = tuple(test for number, test in enumerate(lab.tests, 1) if is_meant(test, number, wanted.strip()))
    if tests:
        return replace(lab, tests=tests)
    listed = "\n".join(
        f"  {number:2} {'a hidden test' if test.hidden else test.title}" for number, test in enumerate(lab.tests, 1)
    )
    raise LabError(f"TEST={wanted}: {lab.name} has no such test; there are\n{listed}", USAGE)


def is_meant(test: Test, number: int, wanted: str) -> bool:
    """Is it the test of this number, or with this in its title?"""
    return int(wanted) == number if wanted.isdecimal() else wanted.casefold() in test.title.casefold()


def note(lab: Lab) -> str:
    """What is to be said of a grade of some tests."""
    count = len(lab.tests)
    return f"this is a part: {'one test' if count == 1 else f'{count} tests'} of the lab, and the points of no other"
