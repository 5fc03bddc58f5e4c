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
    """One test: what its table in lab.toml says. `options` are those of its kind: whatever TOML can hold. `of`: the
    lab's files that it is about, all when it is empty.
    """

    title: str
    points: float
    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)
    hidden: bool = False
    of: tuple[str, ...] = ()


@dataclass(frozen=True)
class Quiz:
    """What lab.toml says of the quiz on a string of the student's own: `points` for all of it, in equal parts for its
    `questions`; the string's length and pages. About a run: the policy, with so many `frames`, and the `rival` that it
    is compared with, from which it must differ at least `differ` times; about working sets: `tau`, in references.
    `faults`: how many there may be, from and to, so that all strings are equally hard. Or, without a string, about a
    run of the `machine` that is handed out.
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
    """Whose submission it is, and the course's secret: what a student's own string comes from."""

    student: str
    secret: bytes = field(repr=False)


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
    files of the lab had in older releases, and those that they have now. `defines`: global symbols that the files may
    define; `registers`: a file, and the name of the policy or guard that it registers; `withholds`: files of the tree
    that students do not get; `without`: hooks that no policy or guard of the lab has. `quiz`: of the lab, if it has
    one; it is graded when there is `personal`, and then `quiz_answers` is one of the files. `questions`: those that are
    answered in words.
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

    @property
    def sources(self) -> tuple[str, ...]:
        """The files that tests of the kernel are about: all but the quiz's answers."""
        return tuple(file for file in self.files if file != self.quiz_answers)

    @property
    def answers(self) -> str:
        """Where a student's answers to the questions lie, relative to the tree."""
        return f"labs/{self.name}/answers.md"

    @property
    def paths(self) -> dict[str, str]:
        """Every path at which a file of the lab may be handed in: the file that is meant."""
        return {file: file for file in self.files} | dict(self.was)

    def files_of(self, test: Test) -> tuple[str, ...]:
        """The files that a test is about: those that it names, or that of its policy, or all."""
        policy = test.options.get("policy")
        own = [file for file in self.sources if Path(file).stem == policy]
        return test.of or tuple(own or self.sources)


@dataclass(frozen=True)
class Verdict:
    """What became of a test. `fraction` of its points, 0 to 1; `message` says in words what differs first, in lines;
    `figures` are numbers behind it; `plot` is a series for the report's picture, if there is one:
    {"title", "x", "y", "lines": {name: [[x, y], ...]}}; `place` is where in its first run it goes wrong, as `tidemark
    gdb` takes it, if the run itself does not say.
    """

    outcome: Outcome
    fraction: float
    message: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    plot: Mapping[str, object] | None = None
    place: str = ""


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
