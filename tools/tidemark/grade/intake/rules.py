"""Rules per student: a variant of a lab's rule, drawn from a course's secret, the lab and the submission's name.

labs/NAME/variants.toml, which students do not get, has

    file             the solution that the variants change
    variants         the variants, each by the names of its options: "counter skip"
    words            optional: what holds for all variants, in words
    [option.NAME]    rule: the rule in words; change: pairs of texts, the first of which the solution has once, and
                     which the second replaces; uses: pieces that are needed first; values: for the tests
    [piece]          changes that several options share
    [[test]]         optional: what replaces the visible test of the same title; kind, and that kind's options

A variant's solution is the lab's solution with the changes of its pieces and options, one after the other. Tests keep
their titles and points, so that all students of a class have the same table.

A lab has rules per student if its lab.toml says `rules = true`, if the secret folder has the course's secret, and if
the student is named. Otherwise the plain lab is graded, and a note says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidemark.errors import BAD_INPUT, LabError
from tidemark.grade.intake.lab import QUIZ_KEY, known_kinds, read
from tidemark.grade.judge.quiz.personal import Draw, owner, plain_name, read_secret
from tidemark.grade.model import Lab, Rule, Test

FILE = "variants.toml"
SCHEMA = "tidemark-rule/1"
KEYS = {"file", "variants", "words", "piece", "option", "test"}

Change = tuple[str, str]


def pairs(path: Path, rows: Sequence[Sequence[str]]) -> tuple[Change, ...]:
    """Changes, as tuples. Raises LabError if one is not a pair of texts."""
    if not all(len(row) == 2 and all(isinstance(text, str) for text in row) for row in rows):
        raise LabError(f"{path}: every change is a pair of texts", BAD_INPUT)
    return tuple((old, new) for old, new in rows)


def rule_of(path: Path, found: dict[str, Any], name: str) -> Rule:
    """One variant. Raises LabError if it names an option or a piece that the file lacks."""
    options = found.get("option", {})
    names = name.split()
    if unknown := [each for each in names if each not in options]:
        raise LabError(f"{path}: variant {name!r}: there is no option {unknown[0]!r}", BAD_INPUT)
    needed = dict.fromkeys(piece for each in names for piece in options[each].get("uses", ()))
    if unknown := [piece for piece in needed if piece not in found.get("piece", {})]:
        raise LabError(f"{path}: variant {name!r}: there is no piece {unknown[0]!r}", BAD_INPUT)
    rows = [row for piece in found.get("piece", {}) if piece in needed for row in found["piece"][piece]]
    rows += [row for each in names for row in options[each].get("change", ())]
    words = [str(found["words"]).strip() + "\n"] if "words" in found else []
    text = "\n".join([*words, *(f"- {str(options[each]['rule']).strip()}" for each in names)])
    values = {key: value for each in names for key, value in options[each].get("values", {}).items()}
    return Rule(name, text, str(found["file"]), pairs(path, rows), values)


def of_lab(lab: Lab) -> tuple[Rule, ...]:
    """All variants of a lab's rule; empty if it has none. Raises LabError, which says what is wrong with its file."""
    path = lab.folder / FILE
    if not path.is_file():
        return ()
    found = read(path)
    if set(found) - KEYS or not {"file", "variants", "option"} <= set(found) or found["file"] not in lab.files:
        raise LabError(f"{path}: it needs file, one of the lab's, variants and [option.NAME]", BAD_INPUT)
    return tuple(rule_of(path, found, name) for name in found["variants"])


def drawn(lab: Lab, secret: bytes, student: str) -> Rule:
    """A student's variant of a lab's rule: the same for the same secret, lab and name. Raises LabError for a lab
    without variants, and for a name without letters."""
    rules, name = of_lab(lab), plain_name(owner(student))
    if not rules:
        raise LabError(f"lab {lab.name} has no rules per student: there is no labs/{lab.name}/{FILE}", BAD_INPUT)
    if not name:
        raise LabError(f"{student!r} is not a name", BAD_INPUT)
    return rules[Draw(secret, SCHEMA, lab.name, name).below(len(rules))]


def source(rule: Rule, solution: str) -> str:
    """A variant's solution. Raises LabError if it cannot be generated: a text that is to be replaced is not there."""
    for old, new in rule.changes:
        if solution.count(old) != 1:
            line = next(line for line in old.splitlines() if line.strip()).strip()
            said = f"{rule.file} has {line!r} {solution.count(old)} times, not once"
            raise LabError(f"the variant {rule.name!r} cannot be generated: {said}", BAD_INPUT)
        solution = solution.replace(old, new)
    return solution


def filled(options: Any, values: dict[str, Any]) -> Any:
    """A test's options, in which a text "$name" stands for the variant's value of that name."""
    if isinstance(options, dict):
        return {key: filled(value, values) for key, value in options.items()}
    return values.get(options[1:], options) if isinstance(options, str) and options.startswith("$") else options


def with_tests(lab: Lab, rule: Rule) -> Lab:
    """The lab with the tests of a variant. Raises LabError if one replaces a test that the lab lacks."""
    path = lab.folder / FILE
    tables = {str(table.get("title")): table for table in read(path).get("test", ())}
    unknown = set(tables) - {test.title for test in lab.tests}
    if unknown or any(table.get("kind") not in known_kinds() for table in tables.values()):
        raise LabError(f"{path}: a [[test]] has the title of a test of the lab, and a kind", BAD_INPUT)

    def of(test: Test) -> Test:
        table = tables.get(test.title)
        if not table or test.hidden:
            return test
        options = {key: value for key, value in table.items() if key not in ("title", "kind")}
        return replace(test, kind=table["kind"], options=filled(options, dict(rule.values)))

    return replace(lab, rule=rule, tests=tuple(map(of, lab.tests)))


def are_drawn(lab: Lab, secret: Path | None) -> bool:
    """Has each student a rule, by lab.toml, and is the course's secret in the folder `secret`?"""
    return lab.rules and secret is not None and (secret / QUIZ_KEY).is_file()


def applied(lab: Lab, secret: Path | None, student: str) -> Lab:
    """The lab with the student's rule and its tests, or the plain lab if it has no rules per student, if there is no
    course's secret in the folder `secret`, or if the student is not named."""
    if not student or not secret or not are_drawn(lab, secret):
        return lab
    return with_tests(lab, drawn(lab, read_secret(secret / QUIZ_KEY), student))


def notes(lab: Lab) -> list[str]:
    """What a grade says about the student's rule; nothing if the lab has no rules per student."""
    if not lab.rules:
        return []
    if not lab.rule:
        return [
            "each student of this course has a rule of their own, but no name came with this submission, or no "
            "secret: the plain lab was graded"
        ]
    return [f"graded by this student's own rule, {lab.rule.name!r}"]
