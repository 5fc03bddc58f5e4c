"""Grades in the formats of other systems: one module for each, with a function
`export(grade: Grade, show_hidden: bool = False) -> str`, the text of the file.

Messages of hidden tests are left out unless `show_hidden`. All text of a grade passes `shown` or `notes` of
tidemark.grade.hand_back.text. No format gets the result of a single question of a quiz: a student that submits again
would learn the keys. The sum of the quiz is left out, too, unless the instructor asks for it.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from importlib import import_module

from tidemark.grade.hand_back.text import number
from tidemark.grade.model import Grade, Graded, Outcome, Test, Verdict

QUIZ = "quiz"  # the kind of its questions' tests


class Format(str, Enum):
    """The formats; the value is the module's name."""

    GRADESCOPE = "gradescope"
    PRAIRIELEARN = "prairielearn"
    AUTOLAB = "autolab"
    JUNIT = "junit"
    CLASSROOM50 = "classroom50"


def sum_of(questions: list[Graded]) -> Graded:
    """One test in the place of a quiz's questions. It is hidden: Gradescope shows it when the grades are published."""
    most = sum(each.test.points for each in questions)
    fraction = sum(each.points for each in questions) / most
    outcome = Outcome.RIGHT if fraction == 1 else Outcome.WRONG
    return Graded(Test("quiz", most, QUIZ, hidden=True), Verdict(outcome, fraction))


def without_questions(grade: Grade, with_quiz: bool) -> Grade:
    """The grade without a quiz's questions; `with_quiz`: with their sum as one test."""
    questions = [each for each in grade.tests if each.test.kind == QUIZ]
    if not questions:
        return grade
    tests = tuple(each for each in grade.tests if each.test.kind != QUIZ)
    if with_quiz:
        return replace(grade, tests=(*tests, sum_of(questions)))
    points = number(sum(each.test.points for each in questions))
    said = f"the quiz, {points} points, is not in this score: its points are told after the deadline"
    return replace(grade, tests=tests, notes=(*grade.notes, said))


def export(grade: Grade, to: str, show_hidden: bool = False, with_quiz: bool = False) -> str:
    """The grade in a Format. `with_quiz`: with the sum of the quiz's points."""
    made = without_questions(grade, with_quiz)
    text: str = import_module(f"{__name__}.{to}").export(made, show_hidden)
    return text
