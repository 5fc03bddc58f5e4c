"""tidemark grade: a submission's score, test by test."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from tidemark import qemu
from tidemark.commands import options


def grade(
    lab: Annotated[str, typer.Argument(metavar="LAB", help="The assignment: a folder of labs/.")],
    submission: Annotated[
        Path | None,
        typer.Option(
            "--submission", "-s", help="A tree, a folder or an archive with the student's files; default: this tree."
        ),
    ] = None,
    secret: Annotated[Path | None, typer.Option("--secret", help="Folder with hidden tests, LAB.toml.")] = None,
    release: Annotated[
        Path | None,
        typer.Option("--release", help="The tree, built, that all other files are taken from; default: this tree."),
    ] = None,
    json_: Annotated[Path | None, typer.Option("--json", help="Also write the grade into this file.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Also draw it into this PNG file.")] = None,
    show_hidden: Annotated[bool, typer.Option("--show-hidden", help="Say also why hidden tests failed.")] = False,
    sandbox: Annotated[
        str, typer.Option("--sandbox", help="How the student's code is run: auto, bwrap, user or none.")
    ] = "auto",
    quiet: options.Quiet = False,
) -> None:
    """Grade one submission, and print its score.

    Example:  tidemark grade clock --json grade.json

    tidemark grade clock --submission handed-in/ada.zip --secret secret

    Only the files that labs/LAB/lab.toml names are taken from the submission. The exit status is 0 when it could be
    graded, whatever the score is.
    """
    from tidemark.grade import grading
    from tidemark.grade.build import sandbox as sandboxes
    from tidemark.grade.build import solutions
    from tidemark.grade.build import tree as trees
    from tidemark.grade.hand_back import result, text
    from tidemark.grade.intake import archive
    from tidemark.grade.intake import lab as labs
    from tidemark.grade.model import Graded

    os.umask(0o022)  # the user that runs the student's code must be able to read
    tree = (release or qemu.ROOT).resolve()
    handed_in = submission or tree
    assignment = labs.load(tree, lab, secret)

    def show(graded: Graded) -> None:
        if not quiet:
            print(text.line(graded, show_hidden), flush=True)

    box = sandboxes.choose(sandbox, secret, tree)
    if submission:
        solutions.check(box, tree, sandbox)
    with tempfile.TemporaryDirectory(prefix="tidemark-grade-") as scratch:
        made = grading.grade(
            tree,
            archive.unpack(handed_in, assignment, Path(scratch, "submission")),
            lab,
            secret,
            Path(scratch, "work"),
            box,
            archive.notes(handed_in, assignment, trees.released(tree, labs.students_files(tree))),
            jobs=len(os.sched_getaffinity(0)),
            progress=show,
        )
    if json_:
        result.save(made, json_)
    if plot:
        from tidemark.grade.hand_back import plot as plots

        plots.draw(made, plot, show_hidden)
    print(text.closing(made) if not quiet else text.score(made))
