"""What grading is about: labs and their tests, verdicts, grades. Plain data; no I/O.

A lab is a folder labs/NAME. Its lab.toml names the student's files and the tests; a secret folder may hold NAME.toml
with more tests, which are hidden. A test has a kind, which is a module in tidemark.grade.judge.kinds, and that kind's
options. A verdict is what became of one test; a grade is all verdicts, with what was noticed on the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any


class Outcome(str, Enum):
    """How a test ended. Only RIGHT brings all points; OVER_BUDGET brings some, on the test's stated scale."""

    RIGHT = "right"
    OVER_BUDGET = "over budget"
    WRONG = "wrong answer"
    BROKE_RULE = "broke a rule"
    PANICKED = "panicked"
    HUNG = "hung"
    NO_BOOT = "did not boot"
    NO_BUILD = "did not build"


@dataclass(frozen=True)
class Test:
    """One test: what its table in lab.toml says. `options` are those of its kind: whatever TOML can hold."""

    title: str
    points: float
    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)
    hidden: bool = False


@dataclass(frozen=True)
class Question:
    """A question of the handout that a person gives points for; `rubric`: what they are given for, in lines."""

    name: str
    text: str
    points: float
    rubric: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lab:
    """One assignment. `files`: the student's, relative to the tree; `may_use`: symbols that they may refer to (names,
    or groups in brackets, see tidemark.grade.build.object_rules); `may_store`: variables of the kernel that they may
    write to. `own_tests`: names of host tests and of in-kernel suites that fail with the starter. `was`: paths that
    files of the lab had in older releases, and those that they have now. `questions`: those that are answered in words.
    """

    name: str
    number: int
    title: str
    folder: Path
    files: tuple[str, ...]
    may_use: tuple[str, ...]
    may_store: tuple[str, ...]
    own_tests: tuple[str, ...]
    tests: tuple[Test, ...]
    was: Mapping[str, str] = field(default_factory=dict)
    questions: tuple[Question, ...] = ()

    @property
    def answers(self) -> str:
        """Where a student's answers to the questions lie, relative to the tree."""
        return f"labs/{self.name}/answers.md"

    @property
    def paths(self) -> dict[str, str]:
        """Every path at which a file of the lab may be handed in: the file that is meant."""
        return {file: file for file in self.files} | dict(self.was)


@dataclass(frozen=True)
class Verdict:
    """What became of a test. `fraction` of its points, 0 to 1; `message` says in words what differs first, in lines;
    `figures` are numbers behind it; `plot` is a series for the report's picture, if there is one:
    {"title", "x", "y", "lines": {name: [[x, y], ...]}}.
    """

    outcome: Outcome
    fraction: float
    message: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    plot: Mapping[str, object] | None = None


def right(message: str = "", **more: Any) -> Verdict:
    """All points."""
    return Verdict(Outcome.RIGHT, 1.0, message, **more)


def wrong(message: str, outcome: Outcome = Outcome.WRONG, **more: Any) -> Verdict:
    """No points."""
    return Verdict(outcome, 0.0, message, **more)


def scaled(value: float, full: float, none: float, message: str, **more: Any) -> Verdict:
    """Full points while `value` is at most `full`, none from `none` on, in proportion between."""
    fraction = min(1.0, max(0.0, (none - value) / (none - full)))
    scale = f"{message}: full points up to {full:,.6g}, none from {none:,.6g}; yours {value:,.6g}"
    if fraction == 1.0:
        return right(scale, **more)
    return Verdict(Outcome.OVER_BUDGET, round(fraction, 2), scale, **more)


@dataclass(frozen=True)
class Graded:
    """A test with its verdict; `points` of test.points."""

    test: Test
    verdict: Verdict

    @property
    def points(self) -> float:
        """Points given, to two decimals."""
        return round(self.test.points * self.verdict.fraction, 2)


@dataclass(frozen=True)
class Grade:
    """What a submission came to. `notes` say what was noticed, such as a Makefile that was not used; `meta` says what
    graded it: the release, QEMU, the kernel's SHA-256. Two gradings of the same files are equal.
    """

    lab: str
    title: str
    tests: tuple[Graded, ...]
    notes: tuple[str, ...] = ()
    meta: Mapping[str, str] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """Points of all tests."""
        return round(sum(graded.points for graded in self.tests), 2)

    @property
    def most(self) -> float:
        """Points that there are."""
        return sum(graded.test.points for graded in self.tests)

    @property
    def outcome(self) -> Outcome:
        """The worst of all tests' outcomes."""
        order = list(Outcome)
        return max((graded.verdict.outcome for graded in self.tests), key=order.index, default=Outcome.RIGHT)
