"""Kind `quiz`: one answer about the student's own string, compared with the key.

Tests of this kind come from the table [quiz] of lab.toml, one for each question, if the secret folder has the
course's secret and the quiz was taken under supervision. The keys are computed again from the secret and the name of
the submission. If the file of answers has another name, or belongs to the sheet for home, the answers are wrong, and
the message says so.

Options:
    question    the question's name
"""

from __future__ import annotations

from tidemark.errors import LabError
from tidemark.grade.judge.quiz import sheet
from tidemark.grade.judge.quiz.personal import drawn, plain_name
from tidemark.grade.model import Outcome, Test, Verdict, right, wrong
from tidemark.grade.witness.machine import Machine


def judge(test: Test, machine: Machine) -> Verdict:
    """Read the answer, and compare. The key is not told."""
    quiz, personal, name = machine.lab.quiz, machine.lab.personal, str(test.options["question"])
    assert quiz and personal, "lab.load makes no such test without them"
    path = machine.tree / machine.lab.quiz_answers
    if not path.is_file():
        said = f"{machine.lab.quiz_answers} is missing; `make quiz LAB={machine.lab.name}` writes it"
        return wrong(said, Outcome.MISSING)
    try:
        whose, answers = sheet.answered(path)
        practised = sheet.is_practice(path)
    except LabError as error:
        return wrong(str(error))
    if plain_name(whose) != plain_name(personal.student):
        return wrong(f"{path.name} is that of {whose[:60]!r}; this is the submission of {personal.student!r}")
    if practised:
        return wrong(f"{path.name} has the answers to the sheet for home, which is practice and gives no points")
    if name not in answers:
        return wrong("not answered")
    asked = drawn(machine.release, machine.lab.name, quiz, personal).asked
    key = next(each.key for each in asked if each.name == name)
    return right() if answers[name] == key else wrong(f"{answers[name]} is not the answer")
