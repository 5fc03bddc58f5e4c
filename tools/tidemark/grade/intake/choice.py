"""One test of an assignment alone: the other tests take time that you need not spend while you work on it."""

from __future__ import annotations

from dataclasses import replace

from tidemark.errors import USAGE, LabError
from tidemark.grade.model import Lab, Test


def of_tests(lab: Lab, wanted: str) -> Lab:
    """The lab with only the wanted tests: by their number in lab.toml, from 1 on, or by a part of their titles,
    ignoring case. All tests for "". Raises LabError, with a list of tests, if there are none."""
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
    """Has the test this number, or this text in its title?"""
    return int(wanted) == number if wanted.isdecimal() else wanted.casefold() in test.title.casefold()


def note(lab: Lab) -> str:
    """A note on a grade of only some tests."""
    count = len(lab.tests)
    return f"this is a part: {'one test' if count == 1 else f'{count} tests'} of the lab, without the points of others"
