"""tidemark rubric: points for written answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.errors import USAGE, LabError
from tidemark.machine import qemu

if TYPE_CHECKING:
    from tidemark.grade.hand_back.written import Answers, Marks
    from tidemark.grade.model import Lab, Question


def asked_for(question: Question, name: str) -> tuple[float | None, str]:
    """Points and a remark from the terminal; (None, "") if Enter alone is pressed."""
    from tidemark.grade.hand_back.text import number

    while True:
        given = input(f"{name}: points of {number(question.points)}, and a remark (Enter: later): ").strip()
        if not given:
            return None, ""
        points, _, remark = given.partition(" ")
        try:
            value = float(points.replace(",", "."))
        except ValueError:
            value = -1
        if 0 <= value <= question.points:
            return value, remark.strip()
        print(f"give a number from 0 to {number(question.points)}, and after a space your remark")


def ask(folder: Path, lab: Lab, answers: Answers, marks: Marks) -> None:
    """Go through the answers that have no points yet, question by question. Each mark is saved at once."""
    from tidemark.grade.hand_back import text, written

    for question in lab.questions:
        missing = [name for name in answers if written.mark_for(question, name, answers[name], marks).points is None]
        if missing:
            print("\n".join(["", written.asked(question), *(f"  - {line}" for line in question.rubric)]))
        for name in missing:
            print(f"\n{text.indented(written.shown(question, answers[name]))}")
            points, remark = asked_for(question, name)
            if points is not None:
                marks[name, question.name] = written.Mark(points, remark)
                written.save(folder / written.TABLE, lab, answers, marks)


def rubric(
    grades: Annotated[Path, typer.Argument(metavar="GRADES", help="The folder of grades of `grade-class`.")],
    lab: Annotated[str, typer.Option("--lab", help="The assignment: a folder of labs/.")],
    ask_: Annotated[bool, typer.Option("--ask", help="Show each answer without points, and ask for them.")] = False,
) -> None:
    """Give points for written answers, with the rubric of labs/LAB/questions.toml.

    Example:  tidemark rubric grades --lab clock --ask

    Writes GRADES/rubric.csv, whose points you may also fill in by hand; rubric.txt, every question with its rubric and
    all answers; and NAME/written.txt for each student. The next call of grade-class adds the points to
    class.csv.
    """
    from tidemark.grade.hand_back import written
    from tidemark.grade.intake import lab as labs

    assignment = labs.load(qemu.ROOT, lab)
    if not assignment.questions:
        raise LabError(f"labs/{lab}/{labs.QUESTIONS} does not exist: this lab has no questions with points", USAGE)
    answers = written.answers_in(grades, assignment)
    if not answers:
        raise LabError(f"{grades} holds no grades; make them with `tidemark grade-class`", USAGE)
    marks = written.load(grades / written.TABLE, assignment)
    try:
        if ask_:
            ask(grades, assignment, answers, marks)
    except EOFError:
        print()
    finally:
        written.write(grades, assignment, answers, marks)
    pairs = [(question, name) for question in assignment.questions for name in answers]
    left = sum(written.mark_for(question, name, answers[name], marks).points is None for question, name in pairs)
    print(f"{left} of {len(pairs)} answers have no points yet; {grades / written.TABLE}, {grades / written.PAGE}")
