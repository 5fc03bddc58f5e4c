"""Break my code on paper: the changed line in the student's own file, the tests to choose from, and the key."""

from __future__ import annotations

from tidemark.grade.hand_out import paper, sheets
from tidemark.grade.judge import expected
from tidemark.grade.judge.broken import first_failure
from tidemark.grade.judge.broken.drawn import Broken
from tidemark.grade.model import Lab, Test
from tidemark.grade.witness.playback import pages_of

CONTEXT = 6  # lines shown on either side of the changed one
QUESTIONS = (
    "Which of these tests fails first, in their order? Its number.",
    "At which reference of its string does the policy first evict a wrong page? The reference's number.",
    "Which page does it evict there?",
    "Which page should it evict there, and does it evict without the change?",
    "Why does the change have this effect?",
)
LINES = (0, 0, 0, 0, 4)  # of room for each answer; 0: for a number
FULL = "Each test passes with your file as it is. The pages x1, x2 and so on are used once each before its string."
TAB = 4  # columns, on paper


def title(lab: Lab) -> str:
    """The heading of sheets."""
    return f"Break my code, lab {lab.number}: {lab.title}"


def change_text(broken: Broken) -> str:
    """The lines around the change, as a diff with line numbers."""
    lines, at = broken.source.split("\n"), broken.change.line
    shown = []
    for number in range(max(1, at - CONTEXT), min(len(lines), at + CONTEXT) + 1):
        mark = "-" if number == at else " "
        shown.append(f"{number:4} {mark} {lines[number - 1].expandtabs(TAB)}")
        if number == at:
            shown.append(f"{number:4} + {broken.change.text.expandtabs(TAB)}")
    return "\n".join([broken.change.file, "", *shown])


def head(number: int, test: Test) -> str:
    """A test that the student chooses from, in words."""
    policy, frames, _ = expected.options_of(test)
    first, before = int(test.options.get("first", 1)), len(first_failure.prefix_for(test))
    later = f"; evictions count from reference {first} on" if first > 1 else ""
    return f"Test {number}: {test.title} (vm={policy}, {frames} frames, after x1 to x{before}{later})"


def test_blocks(number: int, test: Test) -> list[str]:
    """A test that the student chooses from."""
    return [paper.text(head(number, test)), paper.references(pages_of(test))]


def about(broken: Broken) -> list[str]:
    """The blocks before the questions."""
    tests = [block for number, test in enumerate(broken.tests, 1) for block in test_blocks(number, test)]
    return [
        paper.text("One line of your file is changed: the line with - becomes the line with +."),
        paper.listing(change_text(broken)),
        paper.text(FULL),
        *tests,
    ]


def answers(broken: Broken) -> tuple[str, ...]:
    """The key, an answer for each question."""
    failure, change = broken.failure, broken.change
    number = broken.tests.index(failure.test) + 1
    return (
        f"Test {number}: {failure.test.title}",
        f"Reference {failure.reference}, to page {failure.page}",
        f"Page {failure.evicted}",
        f"Page {failure.right}",
        f"For the examiner to judge. The change: {change.what}, in {change.file}, line {change.line}.",
    )


def printed(lab: Lab, name: str, broken: Broken, supervised: bool) -> paper.Sheet:
    """A student's sheet."""
    asked = [paper.question(at, *each) for at, each in enumerate(zip(QUESTIONS, LINES), 1)]
    points = "your course says how many points it gives"
    return paper.Sheet(title(lab), name, [sheets.status(supervised, points), *about(broken), *asked])


def keys(lab: Lab, name: str, broken: Broken) -> paper.Sheet:
    """The examiner's key."""
    asked = [paper.answer(at, *each) for at, each in enumerate(zip(QUESTIONS, answers(broken)), 1)]
    return paper.Sheet(f"KEYS. {title(lab)}", name, [paper.listing(change_text(broken)), *asked])
