"""tidemark grade: a submission's score, test by test."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark import files
from tidemark.commands import options
from tidemark.errors import USAGE, LabError
from tidemark.machine import host, qemu

if TYPE_CHECKING:
    from tidemark.grade.model import Grade, Graded, Lab


def whose_quiz(supervised: bool, student: str, handed_in: Path | None) -> str:
    """The student whose quiz is graded; empty if none is. Raises LabError if the student is not known."""
    from tidemark.grade.hand_back import class_table

    if not supervised:
        return ""
    if student:
        return student
    if handed_in is None:
        raise LabError("--supervised: whose submission is it? --student NAME", USAGE)
    return class_table.name_of(handed_in.resolve())


def check_supervised(supervised: bool, lab: Lab) -> None:
    """Raises LabError if a quiz was taken under supervision and cannot be graded."""
    if supervised and lab.quiz and not lab.personal:
        raise LabError("--supervised: grading the quiz takes the course's secret, quiz.key in --secret", USAGE)


def tell_of_quiz(lab: Lab, secret: Path | None, quiet: bool) -> None:
    """Print a line if the lab has a quiz, and there is no secret to grade it. If there is one, the grade has a note."""
    if lab.quiz and not (secret and (secret / "quiz.key").is_file()) and not quiet:
        said = f"grading it takes the course's secret; labs/{lab.name}/handout.md says more"
        print(f"no quiz ({lab.quiz.points:g} more points): {said}")


def store(made: Grade, json_: Path | None, plot: Path | None, show_hidden: bool) -> None:
    """Write the grade to the files that the options name."""
    if json_:
        from tidemark.grade.hand_back import result

        result.save(made, json_)
    if plot:
        from tidemark.grade.hand_back import plot as plots

        plots.draw(made, plot, show_hidden)


def grade(
    lab: Annotated[str, typer.Argument(metavar="LAB", help="The assignment: a folder of labs/.")],
    submission: Annotated[
        Path | None,
        typer.Option(
            "--submission", "-s", help="The tree, folder, archive or file that a student handed in; default: this tree."
        ),
    ] = None,
    secret: Annotated[Path | None, typer.Option("--secret", help="Folder with hidden tests, LAB.toml.")] = None,
    release: Annotated[
        Path | None,
        typer.Option("--release", help="The built tree that all other files come from; default: this tree."),
    ] = None,
    test: Annotated[
        str, typer.Option("--test", "-t", help="Only this test: its number in lab.toml, or a part of its title.")
    ] = "",
    json_: Annotated[
        Path | None, typer.Option("--json", callback=options.writable, help="Also write the grade into this file.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", callback=options.writable, help="Also draw the grade into this PNG file.")
    ] = None,
    show_hidden: Annotated[bool, typer.Option("--show-hidden", help="Also say why hidden tests failed.")] = False,
    student: Annotated[
        str,
        typer.Option(
            "--student", help="The student whose quiz and rule it is; default: for the quiz, the submission's name."
        ),
    ] = "",
    supervised: options.Supervised = False,
    roster: Annotated[
        Path | None,
        typer.Option("--roster", help="The names of the class, one per line; another --student is refused."),
    ] = None,
    sandbox: Annotated[
        str, typer.Option("--sandbox", help="The sandbox for the student's code: auto, bwrap, user or none.")
    ] = "auto",
    quiet: options.Quiet = False,
) -> None:
    """Grade one submission, and print its score.

    Example:  tidemark grade clock --json grade.json

    tidemark grade clock --submission handed-in/ada.zip --secret secret

    tidemark grade clock --test Belady

    Only the files that labs/LAB/lab.toml names are taken from the submission. The exit status is 0 if the submission
    could be graded, whatever its score.
    """
    from tidemark.grade import grading, reference
    from tidemark.grade.build import reading, solutions
    from tidemark.grade.build import sandbox as sandboxes
    from tidemark.grade.build import tree as trees
    from tidemark.grade.hand_back import text
    from tidemark.grade.intake import archive
    from tidemark.grade.intake import lab as labs
    from tidemark.grade.intake import roster as rosters

    os.umask(0o022)  # the user that runs the student's code must be able to read
    tree = (release or qemu.ROOT).resolve()
    if roster and student and (said := rosters.read(roster).strangers([student])):
        raise LabError(said[student], USAGE)
    handed_in = submission or tree
    whose = whose_quiz(supervised, student, submission)
    assignment = labs.load(tree, lab, secret, whose)
    check_supervised(supervised, assignment)

    def show(graded: Graded) -> None:
        if not quiet:
            print(text.line(graded, show_hidden), flush=True)

    box = sandboxes.choose(sandbox, secret)
    if submission:
        solutions.check(box, tree, sandbox)
    taken = archive.take(handed_in, assignment, trees.released(tree, labs.students_files(tree)), reading.reader(box))
    with reference.of(tree) as base, files.scratch("tidemark-grade-") as scratch:
        files_taken = taken.write(Path(scratch, "submission"))
        jobs, keep = host.processors(), None if submission else qemu.ROOT / "build/failed"
        made = grading.grade(
            grading.Request(base, files_taken, lab, secret, whose, student, test, taken.notes),
            grading.Host(Path(scratch, "work"), box, jobs, keep),
            show,
        )
    tell_of_quiz(assignment, secret, quiet)
    store(made, json_, plot, show_hidden)
    print(text.closing(made) if not quiet else text.score(made))
