"""Classroom 50's result.json, `classroom50/result/v1`, which an autograder.py leaves in its working directory.

Specification: https://github.com/foundation50/classroom50/wiki/Advanced-Autograding. Environment variables of the
runner say what was graded, and for whom. Scores must be whole numbers there: they are hundredths of a point, so
nothing is rounded. A grade has no date; `datetime` is that of the submission, from its tag. The file has no place for
notes; the report has them, and can be the release's text.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping

from tidemark.errors import USAGE, LabError
from tidemark.grade.hand_back.text import shown
from tidemark.grade.model import Grade, Graded

SCHEMA = "classroom50/result/v1"
HUNDREDTHS = 100
GIVEN = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
}
TAG = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z")


def given(environment: Mapping[str, str]) -> dict[str, str]:
    """The values of the runner's environment variables. Raises LabError if one is missing."""
    missing = [name for name in GIVEN.values() if not environment.get(name)]
    if missing:
        raise LabError(f"{', '.join(missing)} not set: only Classroom 50's runner can call this", USAGE)
    found = {key: environment[name] for key, name in GIVEN.items()}
    found["review"] = environment.get("REVIEW_URL") or found["commit"]
    tag = TAG.search(found["submission"])
    if not tag:
        raise LabError(f"SUBMISSION_TAG={found['submission']} has no date, as in submit/2026-06-01T14-32-05Z-a1b2c3d")
    return found | {"datetime": f"{tag[1]}T{tag[2]}:{tag[3]}:{tag[4]}Z"}


def hundredths(points: float) -> int:
    """Points as a whole number of hundredths."""
    return round(points * HUNDREDTHS)


def row(graded: Graded, show_hidden: bool) -> dict[str, object]:
    """One test. `message` is not in the specification, but is kept."""
    test = shown(graded, show_hidden)
    made: dict[str, object] = {"test-name": test.title, "passed": test.is_right}
    made |= {"score": hundredths(test.points), "max-score": hundredths(test.most)}
    return made | ({"message": test.message} if test.message and not test.is_right else {})


def export(grade: Grade, show_hidden: bool = False) -> str:
    """The file. Raises LabError outside of Classroom 50's runner."""
    tests = [row(graded, show_hidden) for graded in grade.tests]
    made: dict[str, object] = {"schema": SCHEMA, **given(os.environ)}
    made |= {"score": hundredths(grade.score), "max-score": hundredths(grade.most), "tests": tests}
    return json.dumps(made, indent=2) + "\n"
