"""tidemark release: the archive for students."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidemark.commands import options
from tidemark.errors import FAILED, USAGE, LabError
from tidemark.machine import qemu


def write_sheets(out: Path, roster: Path | None, secret: Path | None) -> None:
    """Write the sheets of rules per student. Raises LabError at the end if one is missing."""
    from tidemark.grade.build import solution_files
    from tidemark.grade.hand_out import rule_sheets, sheets
    from tidemark.grade.intake import roster as rosters
    from tidemark.grade.judge.quiz import personal

    if not roster or not secret:
        raise LabError("--rules needs --roster and --secret", USAGE)
    listed, key = rosters.read(roster), personal.read_secret(secret)
    for said in listed.refused:
        sheets.tell(said)
    made, failed = rule_sheets.write(solution_files.all_labs(qemu.ROOT), listed.names, key, out, say=sheets.tell)
    failed += len(listed.refused)
    print(f"{made} sheets in {out}; a student puts LAB/NAME.md into the tree as labs/LAB/{rule_sheets.SHEET}")
    if failed:
        raise LabError(f"{failed} sheets are missing", FAILED)


def release(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", callback=options.writable, help="The archive; default: build/tidemark-student.tar.gz."
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if a solution is not in its place in this tree.")
    ] = False,
    rules: Annotated[
        Path | None,
        typer.Option("--rules", help="Write no archive, but each student's rules into this folder, LAB/NAME.md."),
    ] = None,
    roster: Annotated[
        Path | None, typer.Option("--roster", help="With --rules: the names of all students, one per line.")
    ] = None,
    secret: Annotated[
        Path | None, typer.Option("--secret", help="With --rules: the course's secret, a file with 16 bytes or more.")
    ] = None,
) -> None:
    """Write the student archive: this tree with every assignment's starter, and without solutions.

    Example:  tidemark release -o tidemark-2027.tar.gz

    tidemark release --rules sheets --roster names.txt --secret ~/secret/quiz.key

    What visible tests expect is computed with the solutions and stored in it. The same tree makes the same archive.
    """
    from tidemark.grade.hand_out import release as releases

    if rules:
        write_sheets(rules, roster, secret)
        return
    if check:
        releases.check(qemu.ROOT)
        return
    path = out or qemu.ROOT / "build/tidemark-student.tar.gz"
    made = releases.write(qemu.ROOT, path, say=print)
    print(f"{path}: {made.files} files, {made.bytes >> 10} KiB; without the solutions of {', '.join(made.labs)}")
