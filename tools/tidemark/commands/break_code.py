"""tidemark break-code: one line of a student's own file is changed; which test fails first, with which page?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.commands import options
from tidemark.errors import LabError
from tidemark.machine import host, qemu

if TYPE_CHECKING:
    from tidemark.grade.build.sandbox import Sandbox
    from tidemark.grade.hand_out.paper import Sheet
    from tidemark.grade.model import Lab, Personal
    from tidemark.grade.witness.machine import Machine

app = typer.Typer(
    name="break-code",
    add_completion=False,
    help="Break my code: one line of a student's own file is changed; which test fails first?",
    no_args_is_help=True,
)

LabName = Annotated[str, typer.Option("--lab", help="The assignment: a folder of labs/.")]
Box = Annotated[str, typer.Option("--sandbox", help="The sandbox for the student's code: auto, bwrap, user or none.")]


@contextmanager
def laid(base: Path, lab: Lab, submission: Path, box: Sandbox) -> Iterator[Machine]:
    """A tree with a submission's files in their places, in a scratch folder. Starters replace files that it lacks."""
    from tidemark import files
    from tidemark.grade import grading
    from tidemark.grade.build import object_rules
    from tidemark.grade.witness.machine import Machine

    with files.scratch("tidemark-break-") as scratch:
        place = grading.Host(Path(scratch), box)
        tree = grading.lay_tree(grading.Request(base, submission, lab.name), place, lab)
        machine = Machine(lab, tree, base, place.scratch / "runs", box, object_rules.objects(lab))
        for file in lab.sources:
            if not (tree / file).is_file():
                grading.stand_in(machine, file)
        yield machine


def sheets_of(base: Path, lab: Lab, files_: dict[str, bytes], personal: Personal, box: Sandbox) -> tuple[Sheet, Sheet]:
    """(the sheet, the key) for a student's files. Raises LabError, which says why there is none."""
    from tidemark import files
    from tidemark.grade.hand_out import break_paper
    from tidemark.grade.intake.archive import Taken
    from tidemark.grade.judge.broken import drawn

    with files.scratch("tidemark-taken-") as scratch:
        submission = Taken(files_, ()).write(Path(scratch, "submission"))
        with laid(base, lab, submission, box) as machine:
            broken = drawn.of(machine, personal)
    name = personal.student
    return break_paper.printed(lab, name, broken, not personal.practice), break_paper.keys(lab, name, broken)


@app.command()
def export(
    submissions: Annotated[Path, typer.Argument(metavar="SUBMISSIONS", help="Folder with a submission per student.")],
    lab: LabName,
    secret: options.QuizSecret,
    out: options.Sheets,
    keys: options.Keys,
    roster: options.Roster = None,
    supervised: options.SupervisedSheets = False,
    sandbox: Box = "auto",
) -> None:
    """Change one line of each student's own file, and write a sheet that asks which test fails first.

    Example:  tidemark break-code export in --lab clock --secret secret/quiz.key -o break.html --keys break-keys.html

    SUBMISSIONS is a folder as for `tidemark grade-class`. The line is one that the student wrote, drawn from secret,
    lab and the submission's name. The key comes from running the changed file in the simulator; a change is taken only
    if a page that is evicted shows its first failure. Without --supervised the sheets are practice: they have other
    changes, and give no points. Exit status 1: a student has no sheet; a line says why.
    """
    from tidemark.files import write_atomically
    from tidemark.grade import reference
    from tidemark.grade.build import reading, solutions
    from tidemark.grade.build import sandbox as sandboxes
    from tidemark.grade.build import tree as trees
    from tidemark.grade.build.workspace import check_release
    from tidemark.grade.hand_back import class_table
    from tidemark.grade.hand_out import break_paper, paper, sheets
    from tidemark.grade.intake import lab as labs
    from tidemark.grade.intake import roster as rosters
    from tidemark.grade.judge.broken import drawn
    from tidemark.grade.judge.quiz import personal
    from tidemark.grade.model import Personal

    os.umask(0o022)  # the user that runs the student's code must be able to read
    assignment, key = labs.load(qemu.ROOT, lab), personal.read_secret(secret)
    drawn.check_lab(assignment)
    sheets.check_keys(keys, out)
    check_release(qemu.ROOT)
    box = sandboxes.choose(sandbox)
    solutions.check(box, qemu.ROOT, sandbox)
    found, reader = class_table.handed_in(submissions, assignment), reading.reader(box)
    refused = rosters.misnamed(found, roster)
    released = trees.released(qemu.ROOT, labs.students_files(qemu.ROOT))
    with reference.of(qemu.ROOT) as base:

        def make(name: str) -> tuple[paper.Sheet, paper.Sheet]:
            student = class_table.collected(name, found[name], assignment, released, reader)
            if student.reason:
                raise LabError(student.reason)
            whose = Personal(personal.owner(name), key, practice=not supervised)
            return sheets_of(base, assignment, student.files, whose, box)

        names = [name for name in found if name not in refused]
        made, failed = sheets.of_class(names, make, list(dict.fromkeys(refused.values())), host.processors())
    write_atomically(out, paper.document(break_paper.title(assignment), [one for one, _ in made]))
    sheets.write_keys(keys, break_paper.title(assignment), [other for _, other in made])
    print(f"{len(made)} sheets in {out}, keys in {keys}")
    sheets.end(len(made), failed)


@app.command("try")
def try_(
    lab: Annotated[str, typer.Argument(metavar="LAB", help="The assignment: a folder of labs/.")],
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another number draws another change.")] = 1,
    show: Annotated[bool, typer.Option("--show", help="Show the answers, too.")] = False,
    sandbox: Box = "auto",
) -> None:
    """Practise on your own file in this tree: one of your lines is changed, and you predict what fails. No points.

    Example:  tidemark break-code try clock --seed 3

    Write your answers down, then call the command again with --show.
    """
    from tidemark.grade import reference
    from tidemark.grade.build import sandbox as sandboxes
    from tidemark.grade.build.workspace import check_release
    from tidemark.grade.hand_out import break_paper
    from tidemark.grade.intake import lab as labs
    from tidemark.grade.judge.broken import drawn
    from tidemark.grade.model import Personal
    from tidemark.grade.witness.playback import pages_of

    os.umask(0o022)
    assignment = labs.load(qemu.ROOT, lab)
    drawn.check_lab(assignment)
    check_release(qemu.ROOT)
    with (
        reference.of(qemu.ROOT) as base,
        laid(base, assignment, qemu.ROOT, sandboxes.choose(sandbox)) as machine,
    ):
        broken = drawn.of(machine, Personal(f"seed {seed}", b"practice", practice=True))
    print(f"Practice: it gives no points.\n\n{break_paper.change_text(broken)}\n\n{break_paper.FULL}\n")
    for number, test in enumerate(broken.tests, 1):
        print(f"{break_paper.head(number, test)}\n    {' '.join(map(str, pages_of(test)))}")
    print()
    answers = break_paper.answers(broken) if show else [""] * len(break_paper.QUESTIONS)
    for number, (question, answer) in enumerate(zip(break_paper.QUESTIONS, answers), 1):
        print(f"{number}. {question}" + (f"\n   {answer}" if answer else ""))
