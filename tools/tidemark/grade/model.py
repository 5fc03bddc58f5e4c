"""The data of grading: labs and their tests, verdicts, grades. Plain data; no I/O.

A lab is a folder labs/NAME. Its lab.toml names the student's files and the tests; a secret folder may hold NAME.toml
with more tests, which are hidden. A test has a kind, which is a module in tidemark.grade.judge.kinds, and that kind's
options. A verdict is the result of one test; a grade is all verdicts, with notes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any


class Outcome(str, Enum):
    """How a test ended. Only RIGHT gives all points; OVER_BUDGET gives some, on the test's stated scale."""

    RIGHT = "right"
    OVER_BUDGET = "over budget"
    MISSING = "not handed in"
    WRONG = "wrong answer"
    BROKE_RULE = "broke a rule"
    PANICKED = "panicked"
    HUNG = "hung"
    NO_BOOT = "did not boot"
    NO_BUILD = "did not build"


@dataclass(frozen=True)
class Test:
    """One test, from its table in lab.toml. `options` are those of its kind, with values of any TOML type. `of`: the
    lab's files that it is about; empty: all.
    """

    title: str
    points: float
    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)
    hidden: bool = False
    of: tuple[str, ...] = ()


@dataclass(frozen=True)
class Quiz:
    """The table [quiz] of lab.toml, on a string drawn for each student: `points` for all of it, in equal parts for its
    `questions`; the string's length `refs` and number of `pages`. About a run: the policy, with `frames` frames, and
    the `rival` that it is compared with, from which it must differ at least `differ` times; about working sets: `tau`,
    in references. `faults`: their least and greatest number, so that all strings are equally hard. Or, without a
    string, about a run of the `machine` that students get.
    """

    points: float
    questions: tuple[str, ...]
    pages: int = 0
    refs: int = 0
    faults: tuple[int, int] = (0, 0)
    policy: str = ""
    rival: str = "fifo"
    frames: int = 0
    differ: int = 0
    tau: int = 0
    machine: str = ""


@dataclass(frozen=True)
class Personal:
    """The student and the course's secret, from which the student's own string is drawn. `practice`: another string,
    for home, so that practice reveals nothing about the string that gives points."""

    student: str
    secret: bytes = field(repr=False)
    practice: bool = False


@dataclass(frozen=True)
class Rule:
    """A variant of a lab's rule, drawn for a student: its options' names, the rule in words, the solution's file, the
    changes that make the variant of it, and values for its tests."""

    name: str
    text: str
    file: str
    changes: tuple[tuple[str, str], ...] = field(repr=False)
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def policy(self) -> str:
        """The policy whose rule it is."""
        return Path(self.file).stem


@dataclass(frozen=True)
class Question:
    """A question for which a person gives points; `rubric`: the criteria, in lines; `paper`: it is answered on paper or
    in person, not in the file of answers."""

    name: str
    text: str
    points: float
    rubric: tuple[str, ...] = ()
    paper: bool = False


@dataclass(frozen=True)
class Lab:
    """One assignment. `files`: the student's, relative to the tree; `may_use`: symbols that they may use (names,
    or groups in brackets, see tidemark.grade.build.object_rules); `may_store`: variables of the kernel that they may
    write to. `own_tests`: names of host tests and of in-kernel suites that fail with the starter. `was`: old paths of
    the lab's files, in older releases, and their present paths. `defines`: global symbols that the files may
    define; `registers`: a file, and the name of the policy or guard that it registers; `withholds`: files of the tree
    that students do not get; `without`: hooks that the lab's policies and guards may not have. `quiz`: the lab's quiz,
    if it has one; it is graded if there is `personal`, and then `quiz_answers` is one of the files. `questions`: those
    with written answers. `rules`: students have variants of the lab's rule; `rule`: that of this student, if known.
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
    defines: tuple[str, ...] = ()
    registers: Mapping[str, str] = field(default_factory=dict)
    withholds: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    quiz: Quiz | None = None
    personal: Personal | None = None
    quiz_answers: str = ""
    rules: bool = False
    rule: Rule | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        """The files that tests of the kernel are about: all except the quiz's answers."""
        return tuple(file for file in self.files if file != self.quiz_answers)

    @property
    def answers(self) -> str:
        """The path of a student's answers to the questions, relative to the tree."""
        return f"labs/{self.name}/answers.md"

    @property
    def paths(self) -> dict[str, str]:
        """From every path at which a file of the lab may be handed in to that file."""
        return {file: file for file in self.files} | dict(self.was)

    def files_of(self, test: Test) -> tuple[str, ...]:
        """The files that a test is about: those that it names, or that of its policy, or all."""
        policy = test.options.get("policy")
        own = [file for file in self.sources if Path(file).stem == policy]
        return test.of or tuple(own or self.sources)


@dataclass(frozen=True)
class Verdict:
    """The result of a test. `fraction` of its points, 0 to 1; `message` describes the first difference, in lines;
    `figures` are numbers behind it; `plot` is a series for the report's picture, if there is one:
    {"title", "x", "y", "lines": {name: [[x, y], ...]}}; `place` is the place in its first run where it goes wrong, in
    the notation of `tidemark gdb`, unless the run itself shows it.
    """

    outcome: Outcome
    fraction: float
    message: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    plot: Mapping[str, object] | None = None
    place: str = ""


def right(message: str = "", **more: Any) -> Verdict:
    """A verdict with all points."""
    return Verdict(Outcome.RIGHT, 1.0, message, **more)


def wrong(message: str, outcome: Outcome = Outcome.WRONG, **more: Any) -> Verdict:
    """A verdict without points."""
    return Verdict(outcome, 0.0, message, **more)


def scaled(value: float, full: float, none: float, message: str, **more: Any) -> Verdict:
    """Full points if `value` is at most `full`, none from `none` on, in proportion in between."""
    fraction = min(1.0, max(0.0, (none - value) / (none - full)))
    scale = f"{message}: full points up to {full:,.6g}, none from {none:,.6g}; yours {value:,.6g}"
    if fraction == 1.0:
        return right(scale, **more)
    return Verdict(Outcome.OVER_BUDGET, round(fraction, 2), scale, **more)


@dataclass(frozen=True)
class Graded:
    """A test with its verdict; `points` are given out of test.points."""

    test: Test
    verdict: Verdict

    @property
    def points(self) -> float:
        """Points given, to two decimals."""
        return round(self.test.points * self.verdict.fraction, 2)


@dataclass(frozen=True)
class Grade:
    """The result of a submission. `notes` are remarks, such as on a Makefile that was not used; `meta` names what
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
        """The points of all tests together."""
        return sum(graded.test.points for graded in self.tests)

    @property
    def outcome(self) -> Outcome:
        """The worst of all tests' outcomes."""
        order = list(Outcome)
        return max((graded.verdict.outcome for graded in self.tests), key=order.index, default=Outcome.RIGHT)
