"""Which kernels of a pool a student gets, drawn from secret and name as the quiz is (judge/quiz/personal.py)."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

from tidemark.errors import FAILED, USAGE, LabError
from tidemark.grade.hunts.pool import SCHEMA, Row
from tidemark.grade.judge.quiz.personal import Draw, plain_name

EACH = 3
MOST_NAMED = 1  # hunts of a student whose panic or hang names the function


def seed(secret: bytes) -> str:
    """The seed of a course's pool."""
    return hmac.new(secret, f"{SCHEMA}\0pool".encode(), hashlib.sha256).hexdigest()[:16]


def shuffled(rows: Sequence[Row], draw: Draw) -> list[Row]:
    """The rows in drawn order."""
    left, found = list(rows), []
    while left:
        found.append(left.pop(draw.below(len(left))))
    return found


def fits(row: Row, chosen: Sequence[Row]) -> bool:
    """Hunts of one student lie in different files, and at most MOST_NAMED names its function."""
    named = sum(each.named for each in (*chosen, row))
    return row.file not in {each.file for each in chosen} and named <= MOST_NAMED


def drawn(rows: Sequence[Row], secret: bytes, student: str) -> tuple[Row, ...]:
    """The student's hunts: the same for the same pool, secret and name. Raises LabError if the pool has too few."""
    name = plain_name(student)
    if not name:
        raise LabError(f"{student!r} is not a name", USAGE)
    chosen: list[Row] = []
    for row in shuffled(rows, Draw(secret, SCHEMA, "hunt", name)):
        if len(chosen) < EACH and fits(row, chosen):
            chosen.append(row)
    if len(chosen) < EACH:
        raise LabError(f"the pool's {len(rows)} kernels give {name} only {len(chosen)} different hunts", FAILED)
    return tuple(chosen)
