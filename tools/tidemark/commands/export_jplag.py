"""tidemark export-jplag: submissions laid out for JPlag, which finds copied work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidemark.errors import USAGE, LabError
from tidemark.machine import qemu


def export_jplag(
    submissions: Annotated[Path, typer.Argument(metavar="SUBMISSIONS", help="Folder with a submission per student.")],
    lab: Annotated[str, typer.Option("--lab", help="The assignment: a folder of labs/.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The folder to make (default: jplag-LAB).")] = None,
) -> None:
    """Lay submissions out for JPlag, with the starters as base code, and print the command that runs it.

    Example:  tidemark export-jplag handed-in --lab clock -o jplag-clock
    """
    from tidemark.grade.build import reading
    from tidemark.grade.build import sandbox as sandboxes
    from tidemark.grade.hand_back import class_table, jplag
    from tidemark.grade.intake import lab as labs

    assignment = labs.load(qemu.ROOT, lab)
    place = out or Path(f"jplag-{lab}")
    if place.resolve() == submissions.resolve():
        raise LabError(f"--out {place} is the folder of the submissions; give another", USAGE)
    handed_in, reader = class_table.handed_in(submissions, assignment), reading.reader(sandboxes.find())
    students = (class_table.collected(name, paths, assignment, {}, reader) for name, paths in handed_in.items())
    count, left_out = jplag.write(place, assignment, students)
    for line in left_out:
        print(f"left out: {line}")
    print(f"{count} of {len(handed_in)} submissions. Now run:\n{jplag.command(place)}")
