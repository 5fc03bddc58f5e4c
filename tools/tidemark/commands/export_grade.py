"""tidemark export-grade: a grade in the format of Gradescope, PrairieLearn, Autolab, Classroom 50 or JUnit readers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tidemark.commands import options
from tidemark.grade.hand_back.export import Format


def export_grade(
    grade: Annotated[Path, typer.Argument(metavar="GRADE.json", help="A grade, from `tidemark grade LAB --json`.")],
    to: Annotated[Format, typer.Option("--to", help="The system that will read it.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", callback=options.writable, help="Write into this file, not to the terminal."),
    ] = None,
    show_hidden: Annotated[
        bool, typer.Option("--show-hidden", help="Also say why hidden tests failed; students can read it.")
    ] = False,
    with_quiz: Annotated[
        bool, typer.Option("--with-quiz", help="Also write the sum of the quiz's points: after the deadline only.")
    ] = False,
) -> None:
    """Write a grade in the format of another system.

    Example:  tidemark export-grade grade.json --to gradescope -o results.json

    Results of single questions of a quiz are never written: a student that submits again would learn the keys.

    labs/autograder has the scripts that these systems run; the scripts call this command.
    """
    from tidemark.files import write_atomically
    from tidemark.grade.hand_back import result
    from tidemark.grade.hand_back.export import export

    text = export(result.load(grade), to.value, show_hidden, with_quiz)
    if out is None:
        sys.stdout.write(text)
        return
    write_atomically(out, text)
