"""tidemark lab: begin an assignment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.errors import USAGE, LabError
from tidemark.machine import qemu

if TYPE_CHECKING:
    from tidemark.grade.model import Lab


def sheet_of(lab: Lab, student: str, secret: Path | None) -> dict[str, bytes]:
    """The sheet with a student's rule, by path; empty if no student is named."""
    from tidemark.grade.hand_out import rule_sheets
    from tidemark.grade.intake import rules
    from tidemark.grade.judge.quiz import personal

    if bool(student) != bool(secret):
        raise LabError("a student's rule takes both --name and --secret", USAGE)
    if not student or not secret:
        return {}
    rule = rules.drawn(lab, personal.read_secret(secret), student)
    return {rule_sheets.place(lab): rule_sheets.text(lab, rule, student).encode()}


def lab(
    name: Annotated[str, typer.Argument(metavar="[LAB]", help="The assignment; without it, list all.")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the starter files into this folder instead.")
    ] = None,
    student: Annotated[
        str, typer.Option("--name", help="The student whose rule goes into labs/LAB/rule.md (with --secret).")
    ] = "",
    secret: Annotated[
        Path | None, typer.Option("--secret", help="The course's secret: a file with at least 16 bytes.")
    ] = None,
) -> None:
    """Lay an assignment's starter files over this tree.

    Example:  tidemark lab clock

    tidemark lab clock --name alice --secret ~/secret/quiz.key --out alice

    Work that is not committed is never overwritten.
    """
    from tidemark.grade.hand_out import starter
    from tidemark.grade.intake import lab as labs

    if not name:
        for each in labs.names(qemu.ROOT):
            found = labs.load(qemu.ROOT, each)
            print(f"{found.number}  {each:12} {found.title}")
        print("`make lab LAB=NAME` begins one; read labs/NAME/handout.md first.")
        return
    found = labs.load(qemu.ROOT, name)
    sheet = sheet_of(found, student, secret)
    if out:
        starter.write(out, starter.of(found) | sheet)
        return
    for file in starter.lay(qemu.ROOT, found):
        print(f"{file}: the starter")
    starter.write(qemu.ROOT, sheet)
    for file in sheet:
        print(f"{file}: the rule of {student}")
    print(f"Read labs/{name}/handout.md. `make grade LAB={name}` runs the tests and shows the score.")
