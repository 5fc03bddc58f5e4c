"""The parts of a grade that may be shown, and the report on a terminal.

Everything that goes to a person or another system passes `shown` or `notes`, which do two things. They leave out the
messages of hidden tests, unless the instructor asks for them. And they turn the output of a student's code into text:
a console may hold escape sequences, NUL, bytes that are not UTF-8, and lines that look like ours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tidemark.grade.model import Grade, Graded, Outcome

MAX_CHARACTERS = 4000
INDENT = "    "

# ECMA-48: control sequences (CSI), strings (OSC, DCS, SOS, PM, APC) up to their end, and other escape sequences.
ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)"
    r"|\x1b[PX^_][^\x1b\n]*\x1b\\"
    r"|\x1b[ -/]*[0-~]"
)
# Characters that XML 1.0 forbids, that only some programs take for a line end, or that change text direction.
UNSHOWABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


@dataclass(frozen=True)
class Shown:
    """The parts of one test that may be shown. `message` is "" if there is none, or it may not be shown."""

    title: str
    outcome: Outcome
    points: float
    most: float
    hidden: bool
    message: str

    @property
    def is_right(self) -> bool:
        """Did the test get all its points?"""
        return self.outcome is Outcome.RIGHT

    @property
    def word(self) -> str:
        """The outcome as text: "ok", "wrong answer"."""
        return "ok" if self.is_right else self.outcome.value


def clean(text: str) -> str:
    """`text` without escape sequences, newlines only between lines, other control characters as \\x00, and cut."""
    text = ESCAPES.sub("", text.replace("\r\n", "\n"))
    text = UNSHOWABLE.sub(lambda match: ascii(match[0])[1:-1], text).rstrip()
    left_out = len(text) - MAX_CHARACTERS
    return text if left_out <= 0 else f"{text[:MAX_CHARACTERS]} ... ({left_out} more characters)"


def shown(graded: Graded, show_hidden: bool = False) -> Shown:
    """The parts of one test that may be shown."""
    test, verdict = graded.test, graded.verdict
    message = "" if test.hidden and not show_hidden else clean(verdict.message)
    title = " ".join(clean(test.title).split())
    return Shown(title, verdict.outcome, graded.points, test.points, test.hidden, message)


def number(points: float) -> str:
    """Points, with at most two decimals."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


def share(points: float, most: float) -> str:
    """Points out of the most: "1.4/2"."""
    return f"{number(points)}/{number(most)}"


def indented(text: str, indent: str = INDENT) -> str:
    """A cleaned text with every line indented, so that none can be taken for a line of the report."""
    return "\n".join((indent + each).rstrip() for each in text.split("\n"))


def notes(grade: Grade) -> list[str]:
    """The notes that may be shown: "note: ...", one line each."""
    return [f"note: {indented(clean(note)).lstrip()}" for note in grade.notes]


def line(graded: Graded, show_hidden: bool = False) -> str:
    """One test: title, outcome and points, and below it the message if the test is not right."""
    test = shown(graded, show_hidden)
    head = f"{test.title} ... {test.word} ({share(test.points, test.most)})"
    return head if test.is_right or not test.message else f"{head}\n{indented(test.message)}"


def score(grade: Grade) -> str:
    """The last line of a report: "Score: 18/20"."""
    return f"Score: {share(grade.score, grade.most)}"


def closing(grade: Grade) -> str:
    """The lines after the tests: the notes and the score."""
    return "\n".join([*notes(grade), score(grade)])


def report(grade: Grade, show_hidden: bool = False) -> str:
    """The output of `make grade`: a line for each test, the notes, and the score as the last line."""
    return "\n".join([*(line(graded, show_hidden) for graded in grade.tests), closing(grade)])
