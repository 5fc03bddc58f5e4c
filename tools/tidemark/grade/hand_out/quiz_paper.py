"""A quiz on paper: a student's sheet, and the examiner's keys."""

from __future__ import annotations

from tidemark.grade.hand_out import paper, sheets
from tidemark.grade.judge.quiz import sheet
from tidemark.grade.judge.quiz.personal import Drawn
from tidemark.grade.model import Lab, Quiz


def title(lab: Lab) -> str:
    """The heading of sheets."""
    return f"Quiz, lab {lab.number}: {lab.title}"


def about(quiz: Quiz, drawn: Drawn) -> list[str]:
    """The blocks that say what the questions are about."""
    if quiz.machine:
        commands = sheet.how(quiz, " ".join(map(str, drawn.string)))
        return [paper.text("The run, and the place in it that the questions are about:"), paper.listing(commands)]
    if quiz.tau:
        said = sheet.how(quiz, "")
    else:
        said = f"The policy is {quiz.policy}, with {quiz.frames} frames; {quiz.rival} is the policy to compare with."
    start = "References count from 1; below each number stands the page. Memory is empty at first."
    return [paper.text(f"{said} {start}"), paper.references(drawn.string)]


def printed(lab: Lab, name: str, drawn: Drawn, supervised: bool) -> paper.Sheet:
    """A student's sheet."""
    assert lab.quiz, "only a lab with a quiz has sheets"
    points = f"{lab.quiz.points:g} points, in equal parts. Each answer is one whole number"
    asked = [paper.question(number, each.text) for number, each in enumerate(drawn.asked, 1)]
    return paper.Sheet(title(lab), name, [sheets.status(supervised, points), *about(lab.quiz, drawn), *asked])


def keys(lab: Lab, name: str, drawn: Drawn) -> paper.Sheet:
    """The keys of a student's sheet."""
    asked = [paper.answer(number, each.text, str(each.key)) for number, each in enumerate(drawn.asked, 1)]
    return paper.Sheet(f"KEYS. {title(lab)}", name, asked)
