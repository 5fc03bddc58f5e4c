"""A grade as a file: JSON, schema tidemark-grade/1.

It holds everything, including the questions and messages of hidden tests, so a file of a grading with hidden tests is
only for the instructor. What others may see goes through tidemark.grade.hand_back.text. It has no dates or durations,
and mappings are sorted, so equal grades are equal bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tidemark.errors import LabError
from tidemark.files import write_json
from tidemark.grade.model import Grade, Graded, Outcome, Test, Verdict

SCHEMA = "tidemark-grade/1"
NUMBER = (int, float)
MAX_WHOLE = 2**53
OUTCOMES = [outcome.value for outcome in Outcome]
NAMES = {str: "text", bool: "true or false", list: "a list", dict: "an object", NUMBER: "a number"}


def plain(value: Any) -> Any:
    """`value` in the types of JSON: mappings sorted, sequences as lists, numpy's numbers as Python's, 2 for 2.0 (which
    are equal, so must give the same bytes), None for nan and inf.
    """
    if isinstance(value, Mapping):
        return {str(name): plain(value[name]) for name in sorted(value, key=str)}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(each) for each in value]
    if isinstance(value, float):
        is_whole = value.is_integer() and abs(value) < MAX_WHOLE
        return int(value) if is_whole else value if math.isfinite(value) else None
    return value


def graded_to_dict(graded: Graded) -> dict[str, Any]:
    """One test with its verdict. Figures that are not finite are left out."""
    test, verdict = graded.test, graded.verdict
    return {
        "title": test.title,
        "points": plain(test.points),
        "kind": test.kind,
        "options": plain(test.options),
        "hidden": test.hidden,
        "outcome": verdict.outcome.value,
        "fraction": plain(verdict.fraction),
        "given": plain(graded.points),
        "message": verdict.message,
        "figures": {name: value for name, value in plain(verdict.figures).items() if value is not None},
        "plot": plain(verdict.plot),
    }


def to_dict(grade: Grade) -> dict[str, Any]:
    """The grade as a JSON object; equal grades give equal texts."""
    return {
        "schema": SCHEMA,
        "lab": grade.lab,
        "title": grade.title,
        "score": plain(grade.score),
        "most": plain(grade.most),
        "outcome": grade.outcome.value,
        "tests": [graded_to_dict(graded) for graded in grade.tests],
        "notes": list(grade.notes),
        "meta": plain(grade.meta),
    }


def member(data: Mapping[str, Any], name: str, kind: type | tuple[type, ...], where: str) -> Any:
    """data[name]. Raises LabError if it is missing or not of that kind."""
    if name not in data:
        raise LabError(f"{where}: {name} is missing")
    value = data[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise LabError(f"{where}: {name} is {shortly(value)}, which is not {NAMES[kind]}")
    if kind is NUMBER and isinstance(value, NUMBER) and not math.isfinite(value):
        raise LabError(f"{where}: {name} is {value}, which is not a number")
    return value


def shortly(value: Any) -> str:
    """A value as JSON, in a few characters."""
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."


def all_of(values: Sequence[Any], kind: type | tuple[type, ...], where: str) -> list[Any]:
    """The values as a list. Raises LabError unless all are of that kind."""
    return [member({"it": value}, "it", kind, f"{where}[{at}]") for at, value in enumerate(values)]


def plot_from(data: Any, where: str) -> dict[str, Any] | None:
    """A verdict's plot: title, x, y, and lines of points, whose coordinates may be null. Raises LabError if invalid."""
    if data is None:
        return None
    if not isinstance(data, dict):
        raise LabError(f"{where} is {shortly(data)}, which is not an object")
    for name in ("title", "x", "y"):
        member(data, name, str, where)
    for name, line in member(data, "lines", dict, where).items():
        for point in all_of(member(data["lines"], name, list, f"{where}.lines"), list, f"{where}.lines.{name}"):
            if len(point) != 2 or not all(each is None or type(each) in NUMBER for each in point):
                raise LabError(f"{where}.lines.{name}: {shortly(point)} is not a point [x, y] in {shortly(line)}")
    return data


def graded_from(data: Any, where: str) -> Graded:
    """One test with its verdict. Raises LabError if the data are invalid."""
    if not isinstance(data, dict):
        raise LabError(f"{where} is {shortly(data)}, which is not an object")
    points, fraction = member(data, "points", NUMBER, where), member(data, "fraction", NUMBER, where)
    outcome = member(data, "outcome", str, where)
    if points < 0 or not 0 <= fraction <= 1:
        raise LabError(f"{where}: points are {points} and fraction is {fraction}; they must be at least 0, and 0 to 1")
    if outcome not in OUTCOMES:
        raise LabError(f"{where}: outcome is {shortly(outcome)}; it must be one of {', '.join(OUTCOMES)}")
    figures = member(data, "figures", dict, where)
    all_of(list(figures.values()), NUMBER, f"{where}.figures")
    test = Test(
        member(data, "title", str, where),
        points,
        member(data, "kind", str, where),
        member(data, "options", dict, where),
        member(data, "hidden", bool, where),
    )
    plot = plot_from(data.get("plot"), f"{where}.plot")
    return Graded(test, Verdict(Outcome(outcome), fraction, member(data, "message", str, where), figures, plot))


def from_dict(data: Any) -> Grade:
    """The grade in a result of `to_dict`. Raises LabError (BAD_INPUT), which says what is wrong, for anything else."""
    if not isinstance(data, dict) or "schema" not in data:
        raise LabError(f"this is not a grade: it has no schema; `tidemark grade --json FILE` writes one ({SCHEMA})")
    if data["schema"] != SCHEMA:
        raise LabError(f"schema is {shortly(data['schema'])}, but this reads {SCHEMA}: grade again with this tidemark")
    tests = member(data, "tests", list, "the grade")
    meta = member(data, "meta", dict, "the grade")
    all_of(list(meta.values()), str, "meta")
    grade = Grade(
        member(data, "lab", str, "the grade"),
        member(data, "title", str, "the grade"),
        tuple(graded_from(each, f"tests[{at}]") for at, each in enumerate(tests)),
        tuple(all_of(member(data, "notes", list, "the grade"), str, "notes")),
        meta,
    )
    check_sums(data, grade)
    return grade


def check_sums(data: Mapping[str, Any], grade: Grade) -> None:
    """Raises LabError if the score, or the points of a test, differ from what the tests add up to."""
    made = to_dict(grade)
    pairs = [(f"tests[{at}]", one, two, ("given",)) for at, (one, two) in enumerate(zip(data["tests"], made["tests"]))]
    for where, has, comes_to, names in [*pairs, ("the grade", data, made, ("score", "most", "outcome"))]:
        for name in names:
            if has.get(name) != comes_to[name]:
                raise LabError(f"{where}: {name} is {shortly(has.get(name))}, but the tests give {comes_to[name]}")


def made_by(grade: Grade) -> str:
    """What made the grade, in words: the version of tidemark, and the hash of the release's sources."""
    return f"tidemark {grade.meta.get('tidemark', '?')}, release {grade.meta.get('release', '?')}"


def save(grade: Grade, path: Path) -> None:
    """Write the grade, in one step."""
    write_json(path, to_dict(grade))


def load(path: Path) -> Grade:
    """Read a grade. Raises LabError (BAD_INPUT), which says what is wrong with the file."""
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise LabError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise LabError(f"{path} is not JSON: {error}") from error
    try:
        return from_dict(data)
    except LabError as error:
        raise LabError(f"{path}: {error}", error.code) from error
