"""tidemark quiz: questions about a string drawn for each student: sheets for a class, answers of a student."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.commands import options
from tidemark.errors import BAD_INPUT, USAGE, LabError
from tidemark.machine import qemu

if TYPE_CHECKING:
    from tidemark.grade.hand_out import paper as papers
    from tidemark.grade.judge.quiz.sheet import Sheet
    from tidemark.grade.model import Lab, Personal

app = typer.Typer(
    name="quiz",
    add_completion=False,
    help="A quiz on a string drawn for each student: sheets, answers.",
    no_args_is_help=True,
)

NONE = "-"


def check_lab(name: str) -> None:
    """Raises LabError if the lab has no quiz."""
    from tidemark.grade.intake import lab as labs

    if not labs.load(qemu.ROOT, name).quiz:
        raise LabError(f"lab {name} has no quiz: there is no [quiz] in labs/{name}/lab.toml", USAGE)


def sheets_of(tree: Path, assignment: Lab, whose: Personal, out: Path | None) -> tuple[papers.Sheet, papers.Sheet]:
    """(the sheet on paper, the key) of a student; NAME.toml is written into the folder `out`, if given. Raises LabError
    if no quiz can be drawn."""
    from tidemark.files import write_atomically
    from tidemark.grade.hand_out import quiz_paper
    from tidemark.grade.judge.quiz import personal, sheet

    name, quiz = whose.student, assignment.quiz
    assert quiz, "check_lab has seen it"
    drawn = personal.drawn(tree, assignment.name, quiz, whose)
    if out:
        text = sheet.text_of(assignment.name, name, quiz, drawn, whose.practice)
        write_atomically(out / f"{personal.plain_name(name)}.toml", text)
    return quiz_paper.printed(assignment, name, drawn, not whose.practice), quiz_paper.keys(assignment, name, drawn)


@app.command()
def export(
    lab: Annotated[str, typer.Option("--lab", help="The assignment: a folder of labs/.")],
    roster: Annotated[Path, typer.Option("--roster", help="The names of all students, one per line.")],
    secret: options.QuizSecret,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the sheets, NAME.toml.")] = None,
    paper: Annotated[
        Path | None,
        typer.Option("--paper", callback=options.writable, help="HTML file of all sheets, to be printed."),
    ] = None,
    keys: Annotated[
        Path | None, typer.Option("--keys", callback=options.writable, help="HTML file of all keys, for the examiner.")
    ] = None,
    supervised: options.SupervisedSheets = False,
) -> None:
    """Write each student's sheet: the string and the questions, without the keys.

    Example:  tidemark quiz export --lab clock --roster names.txt --secret ~/secret/quiz.key --out sheets

    tidemark quiz export --lab clock --roster names.txt --secret ~/secret/quiz.key --supervised --paper room.html

    The same name and secret make the same sheet. Students put NAME.toml into the tree as labs/LAB/quiz.toml. --paper
    writes a file that a browser prints, one student after another, each on a new page; --keys writes the keys.
    Without --supervised the sheets are practice for home: they give no points, and have other strings than those of a
    supervised session. Exit status 1: a student has no sheet; a line says why.
    """
    from tidemark.files import check_folder, write_atomically
    from tidemark.grade import reference
    from tidemark.grade.hand_out import paper as papers
    from tidemark.grade.hand_out import quiz_paper, sheets
    from tidemark.grade.intake import lab as labs
    from tidemark.grade.intake import roster as rosters
    from tidemark.grade.judge.quiz import personal, sheet
    from tidemark.grade.model import Personal

    if not out and not paper:
        raise LabError("say where: --out FOLDER for files, --paper FILE.html to print, or both", USAGE)
    check_lab(lab)
    sheets.check_keys(keys, out, paper)
    assignment, key, listed = labs.load(qemu.ROOT, lab), personal.read_secret(secret), rosters.read(roster)
    if out:
        check_folder(out)
        out.mkdir(parents=True, exist_ok=True)
    with reference.of(qemu.ROOT) as tree:

        def make(name: str) -> tuple[papers.Sheet, papers.Sheet]:
            return sheets_of(tree, assignment, Personal(name, key, practice=not supervised), out)

        made, failed = sheets.of_class(listed.names.values(), make, listed.refused)
    if paper:
        write_atomically(paper, papers.document(quiz_paper.title(assignment), [one for one, _ in made]))
    if keys:
        sheets.write_keys(keys, quiz_paper.title(assignment), [other for _, other in made])
    print(f"{len(made)} sheets in {' and '.join(str(place) for place in (out, paper) if place)}", end="")
    print(f"; a student puts NAME.toml into the tree as labs/{lab}/{sheet.SHEET}" if out else "")
    sheets.end(len(made), failed)


def given(text: str, sheet_: Sheet) -> dict[str, int]:
    """Answers in the order of the questions. Raises LabError unless there is one for each question."""
    from tidemark.grade.judge.quiz import sheet

    words, found = text.replace(",", " ").split(), {}
    if len(words) != len(sheet_.questions):
        raise LabError(f"{len(words)} answers for {len(sheet_.questions)} questions; give {NONE} for none", USAGE)
    for name, word in zip(sheet_.questions, words):
        number = sheet.number(word)
        if number is None and word != NONE:
            raise LabError(f"{word!r} is not an answer to {name}: give a whole number, or {NONE} for none", USAGE)
        if number is not None:
            found[name] = number
    return found


def asked(name: str, before: int | None) -> int | None:
    """The number that is typed, None for -, or `before` if nothing is typed."""
    from tidemark.grade.judge.quiz import sheet

    while True:
        text = input(f"   {name}{'' if before is None else f' [{before}]'}: ").strip()
        if not text:
            return before
        if text == NONE:
            return None
        if (number := sheet.number(text)) is not None:
            return number
        print(f"   give a whole number, {NONE} for none, or press Enter to go on")


def interview(sheet_: Sheet, before: dict[str, int]) -> dict[str, int]:
    """Show the questions, and ask each if stdin is a terminal. At end of file the earlier answers stay."""
    answers, asks = dict(before), sys.stdin.isatty()
    for number, (name, text) in enumerate(sheet_.questions.items(), 1):
        print(f"\n{number}. {text}")
        try:
            value = asked(name, before.get(name)) if asks else before.get(name)
        except EOFError:
            asks, value = False, before.get(name)
        if value is None:
            answers.pop(name, None)
        else:
            answers[name] = value
        if not asks:
            print(f"   {name}: {'not answered' if value is None else value}")
    return answers


def answers_before(path: Path, sheet_: Sheet) -> dict[str, int]:
    """The answers so far. Raises LabError if they are another student's, or cannot be read."""
    from tidemark.grade.judge.quiz import sheet
    from tidemark.grade.judge.quiz.personal import plain_name

    if not path.is_file():
        return {}
    name, answers = sheet.answered(path)
    if plain_name(name) != plain_name(sheet_.name):
        raise LabError(
            f"{path} has the answers of {name!r}, but the sheet is that of {sheet_.name!r}: remove one", BAD_INPUT
        )
    return {key: value for key, value in answers.items() if key in sheet_.questions}


@app.command()
def take(
    lab: Annotated[str, typer.Argument(metavar="LAB", help="The assignment: a folder of labs/.")],
    answers: Annotated[str, typer.Option("--answers", help="An answer for each question, in order, - for none.")] = "",
) -> None:
    """Show your questions in labs/LAB/quiz.toml, and keep your answers in labs/LAB/quiz-answers.toml.

    Example:  tidemark quiz take clock --answers "12 3 - 7 4"

    At a terminal you are asked each question: Enter keeps the answer so far, - removes it.
    """
    from tidemark.grade.judge.quiz import sheet

    check_lab(lab)
    folder = qemu.ROOT / "labs" / lab
    sheet_ = sheet.read(folder / sheet.SHEET, lab)
    path = qemu.ROOT / sheet.answers_file(lab)
    before = {} if answers else answers_before(path, sheet_)
    found = given(answers, sheet_) if answers else {}
    print(f"The quiz of {sheet_.name}, lab {lab}. {sheet_.introduction}\n\n{sheet_.how}")
    if sheet_.practice:
        print(f"\n{sheet.AT_HOME}")
    if not answers:
        found = interview(sheet_, before)
    if answers or found != before:
        sheet.write(path, sheet_, found)
    print(f"\n{len(found)} of {len(sheet_.questions)} answered, in {sheet.answers_file(lab)}: hand in that file, too.")
