"""tidemark quiz: questions about a string drawn for each student: sheets for a class, answers of a student."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.errors import BAD_INPUT, USAGE, LabError
from tidemark.machine import qemu

if TYPE_CHECKING:
    from tidemark.grade.judge.quiz.sheet import Sheet

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


def names_in(roster: Path) -> dict[str, str]:
    """The names of a class by their plain forms, which name files. Raises LabError if two plain forms are the same."""
    from tidemark.grade.judge.quiz.personal import plain_name

    try:
        lines = [line.strip() for line in roster.read_text("utf-8-sig").splitlines()]
    except (OSError, ValueError) as error:
        raise LabError(f"{roster} cannot be read: {getattr(error, 'strerror', '') or error}", BAD_INPUT) from None
    found: dict[str, str] = {}
    for line in (line for line in lines if line and not line.startswith("#")):
        plain = plain_name(line)
        if not plain or not line.isprintable() or plain in found:
            why = f"cannot be told from {found[plain]!r}" if plain in found else "is not a name"
            raise LabError(f"{roster}: {line!r} {why}", BAD_INPUT)
        found[plain] = line
    if not found:
        raise LabError(f"{roster} has no names; write one per line", BAD_INPUT)
    return found


@app.command()
def export(
    lab: Annotated[str, typer.Option("--lab", help="The assignment: a folder of labs/.")],
    roster: Annotated[Path, typer.Option("--roster", help="The names of all students, one per line.")],
    secret: Annotated[Path, typer.Option("--secret", help="The course's secret: a file with at least 16 bytes.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the sheets, NAME.toml.")],
) -> None:
    """Write each student's sheet: the string and the questions, without the keys.

    Example:  tidemark quiz export --lab clock --roster names.txt --secret ~/secret/quiz.key --out sheets

    The same name and secret make the same sheet. Students put theirs into the tree as labs/LAB/quiz.toml.
    """
    from tidemark.files import check_folder, write_atomically
    from tidemark.grade import reference
    from tidemark.grade.intake import lab as labs
    from tidemark.grade.judge.quiz import personal, sheet
    from tidemark.grade.model import Personal

    check_lab(lab)
    assignment, key, names = labs.load(qemu.ROOT, lab), personal.read_secret(secret), names_in(roster)
    quiz = assignment.quiz
    assert quiz, "check_lab has seen it"
    check_folder(out)
    out.mkdir(parents=True, exist_ok=True)
    with reference.of(qemu.ROOT) as tree:
        for plain, name in names.items():
            drawn = personal.drawn(tree, lab, quiz, Personal(name, key))
            write_atomically(out / f"{plain}.toml", sheet.text_of(lab, name, quiz, drawn))
    print(f"{len(names)} sheets in {out}; a student puts NAME.toml into the tree as labs/{lab}/{sheet.SHEET}")


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
    if not answers:
        found = interview(sheet_, before)
    if answers or found != before:
        sheet.write(path, sheet_, found)
    print(f"\n{len(found)} of {len(sheet_.questions)} answered, in {sheet.answers_file(lab)}: hand in that file, too.")
