"""results.json of a Gradescope autograder.

Specification: https://gradescope-autograders.readthedocs.io/en/latest/specs/ (sections Output format, Output string
formatting, Controlling test case visibility). Hidden tests become visible when the instructor publishes the grades.
The general output is visible at once, so it counts only visible tests.
"""

from __future__ import annotations

import json

from tidemark.grade.hand_back.text import clean, notes, number, share, shown
from tidemark.grade.model import Grade, Graded


def test_case(graded: Graded, show_hidden: bool) -> dict[str, object]:
    """One entry of `tests`."""
    test = shown(graded, show_hidden)
    return {
        "name": test.title,
        "name_format": "text",
        "score": test.points,
        "max_score": test.most,
        "status": "passed" if test.is_right else "failed",
        "output": "\n".join(filter(None, [test.word, test.message])),
        "output_format": "text",
        "visibility": "after_published" if test.hidden else "visible",
    }


def output(grade: Grade) -> str:
    """The text about the whole submission."""
    seen = [graded for graded in grade.tests if not graded.test.hidden]
    hidden = [graded.test.points for graded in grade.tests if graded.test.hidden]
    sums = share(sum(graded.points for graded in seen), sum(graded.test.points for graded in seen))
    lines = [f"{clean(grade.title)}: {sums} points in the tests that you see."]
    if hidden:
        lines.append(f"{len(hidden)} more tests, {number(sum(hidden))} points, are shown when grades are published.")
    return "\n".join([*lines, *notes(grade)])


def export(grade: Grade, show_hidden: bool = False) -> str:
    """The text of results.json."""
    results = {
        "score": grade.score,
        "output": output(grade),
        "output_format": "text",
        "tests": [test_case(graded, show_hidden) for graded in grade.tests],
    }
    return json.dumps(results, indent=2) + "\n"
