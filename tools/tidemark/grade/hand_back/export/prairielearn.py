"""results.json of a PrairieLearn external grader.

Specification: https://docs.prairielearn.com/externalGrading/ (section Grading results). Code that does not build is not
gradable there, so it costs the student no attempt. The file may have 1 MB; the picture is left out if necessary.
"""

from __future__ import annotations

import base64
import json

from tidemark.grade.hand_back.plot import png
from tidemark.grade.hand_back.text import clean, notes, score, shown
from tidemark.grade.model import Grade, Graded, Outcome

MAX_BYTES = 1_000_000
REFERS = "the reason is told with the test "  # begins tidemark.grade.grading.SEE


def test_case(graded: Graded, show_hidden: bool) -> dict[str, object]:
    """One entry of `tests`."""
    test = shown(graded, show_hidden)
    return {
        "name": test.title,
        "description": "A hidden test." if test.hidden else "",
        "points": test.points,
        "max_points": test.most,
        "message": test.word,
        "output": test.message,
    }


def build_errors(grade: Grade, show_hidden: bool) -> list[str]:
    """The compiler's output if no test could be built; else an empty list."""
    unbuilt = {Outcome.NO_BUILD, Outcome.MISSING}
    if not grade.tests or any(graded.verdict.outcome not in unbuilt for graded in grade.tests):
        return []
    said = dict.fromkeys(shown(graded, show_hidden).message for graded in grade.tests)
    return [message for message in said if message and not message.startswith(REFERS)] or [Outcome.NO_BUILD.value]


def export(grade: Grade, show_hidden: bool = False) -> str:
    """The text of results.json."""
    errors = build_errors(grade, show_hidden)
    results = {
        "gradable": not errors,
        "score": min(1.0, grade.score / grade.most) if grade.most else 0.0,
        "message": f"{clean(grade.title)}\n{score(grade)}",
        "output": "\n".join(notes(grade)),
        "tests": [test_case(graded, show_hidden) for graded in grade.tests],
    }
    if errors:
        results["format_errors"] = errors
    url = "data:image/png;base64," + base64.b64encode(png(grade, show_hidden)).decode("ascii")
    text = json.dumps({**results, "images": [{"label": "Points of each test", "url": url}]}, indent=2) + "\n"
    return text if len(text) <= MAX_BYTES else json.dumps(results, indent=2) + "\n"
