"""A class's results, test by test, without names: what to explain again, and which tests tell nothing.

For each test: the number of students with all its points, the median and the mean of the points as a share of all, the
number of submissions for each other outcome, and where the first difference was, for tests that compare reference by
reference. A test that all students pass, or none, tells no two students apart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from tidemark.errors import USAGE, LabError
from tidemark.grade.hand_back import result
from tidemark.grade.hand_back.text import clean, number
from tidemark.grade.model import Grade, Graded, Outcome

FIRST = re.compile(r"reference (\d+)")
BOUNDS = (1, 10, 30, 100, 300, 1000)  # a range from each bound to below the next
BAR = 40


@dataclass(frozen=True)
class Row:
    """One test in a class. `first`: numbers of the references of first differences, in order."""

    title: str
    hidden: bool
    most: float
    submissions: int
    right: int
    median: float
    mean: float
    outcomes: dict[str, int]
    first: tuple[int, ...]

    def histogram(self) -> dict[str, int]:
        """First differences by range, "10-29"."""
        ends = [f"-{end - 1}" for end in BOUNDS[1:]] + ["-"]
        counts = Counter(sum(at >= low for low in BOUNDS) - 1 for at in self.first)
        return {f"{low}{end}": counts[place] for place, (low, end) in enumerate(zip(BOUNDS, ends))}

    def as_csv(self) -> dict[str, object]:
        """The row of a table."""
        row: dict[str, object] = {"test": self.title, "hidden": int(self.hidden), "most": number(self.most)}
        row |= {"submissions": self.submissions, "right": self.right}
        row |= {"median": number(self.median), "mean": number(self.mean)}
        row |= {outcome.value: self.outcomes.get(outcome.value, 0) for outcome in Outcome if outcome != Outcome.RIGHT}
        return row | {f"first difference {name}": count for name, count in self.histogram().items()}


def read(folder: Path) -> list[Grade]:
    """The grades of a class's folder. Raises LabError if there are none, or of several labs."""
    grades = [result.load(path) for path in sorted(folder.glob("*/grade.json"))]
    if not grades:
        raise LabError(f"{folder} holds no grades; make them with `tidemark grade-class`", USAGE)
    labs = sorted({grade.lab for grade in grades})
    if len(labs) > 1:
        raise LabError(f"{folder} holds grades of several labs: {', '.join(labs)}")
    return grades


def row(title: str, graded: Sequence[Graded]) -> Row:
    """The row of one test."""
    shares = [each.points / each.test.points if each.test.points else 1.0 for each in graded]
    found = (FIRST.match(each.verdict.message) for each in graded if each.verdict.outcome is Outcome.WRONG)
    outcomes = Counter(each.verdict.outcome.value for each in graded)
    return Row(
        " ".join(clean(title).split()),
        graded[0].test.hidden,
        graded[0].test.points,
        len(graded),
        outcomes.pop(Outcome.RIGHT.value, 0),
        median(shares),
        mean(shares),
        dict(outcomes),
        tuple(sorted(int(match[1]) for match in found if match)),
    )


def rows(grades: Iterable[Grade]) -> list[Row]:
    """All tests of a class, in their order."""
    tests: dict[str, list[Graded]] = {}
    for grade in grades:
        for graded in grade.tests:
            tests.setdefault(graded.test.title, []).append(graded)
    return [row(title, graded) for title, graded in tests.items()]


def text(made: Sequence[Row], grades: Sequence[Grade]) -> str:
    """The statistics as text."""
    scores = [grade.score for grade in grades]
    most = max(grade.most for grade in grades)
    lines = [f"{len(grades)} grades of {grades[0].lab}: median {number(median(scores))} of {number(most)} points", ""]
    for each in made:
        ended = ", ".join(f"{count} {name}" for name, count in sorted(each.outcomes.items()))
        lines += [f"{each.title}{' (hidden)' * each.hidden}"]
        lines += [
            f"  {each.right} of {each.submissions} right; median {each.median:.0%} of {number(each.most)} points"
            + (f"; {ended}" if ended else "")
        ]
        lines += histogram_text(each)
    return "\n".join(lines)


def histogram_text(made: Row) -> list[str]:
    """The lines with a bar for each range of first differences; empty if there are none."""
    counts = made.histogram()
    top = max(counts.values())
    bars = [
        f"    {name:>8} {'#' * -(-count * BAR // max(top, BAR))} {count}" for name, count in counts.items() if count
    ]
    return ["  first difference at reference", *bars] if bars else []
