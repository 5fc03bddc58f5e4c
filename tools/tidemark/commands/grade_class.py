"""tidemark grade-class: the scores of a folder of submissions."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.commands import options
from tidemark.commands.grade import check_supervised
from tidemark.commands.sweep import Bar, say, where_to_run
from tidemark.errors import FAILED, USAGE, LabError
from tidemark.machine import qemu

if TYPE_CHECKING:
    from tidemark.grade import class_run, isolation
    from tidemark.grade.hand_back.class_table import Gradebook
    from tidemark.grade.hand_back.finals import Finals
    from tidemark.grade.model import Lab

MOST_NAMES = 4


def show_progress(bar: Bar, now: class_run.Progress) -> None:
    """Update the progress bar, and print the news above it."""
    if now.news:
        bar.bar.console.print(f"tidemark: {now.news}", markup=False)
    bar.bar.update(bar.task, completed=now.done, text=described(now))


def described(now: class_run.Progress) -> str:
    """The text of the bar: `graded; ada, bob; 3:12 left,`."""
    more = len(now.running) - MOST_NAMES
    names = ", ".join(now.running[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    left = "?" if now.left_s is None else f"{int(now.left_s) // 60}:{int(now.left_s) % 60:02}"
    return f"graded; {names or 'none'}; {left} left,"


def carry_out(book: Gradebook, source: isolation.Source, address: str, jobs: int | None, box: str, quiet: bool) -> None:
    """Grade the submissions that have no grade yet."""
    from tidemark.grade import class_run, isolation
    from tidemark.runs import cluster

    where = where_to_run(address, jobs)
    with Bar(len(book.students), quiet) as bar:
        given = source if isinstance(where, cluster.Local) else isolation.pack(source, book.lab.name)
        run = class_run.ClassRun(book, where, given, box, partial(show_progress, bar))
        try:
            warning = run.warning()
            if warning:
                say(warning)
            run.run()
        except (KeyboardInterrupt, LabError):
            say(f"stopped early: {len(book.missing())} are missing; run the same command again to continue")
            raise
        finally:
            where.close(run.token)


def show(book: Gradebook) -> None:
    """Print the class as a table."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for name in ("name", "score", "most"):
        table.add_column(name, justify="left" if name == "name" else "right", no_wrap=True)
    for name in ("outcome", "note"):
        table.add_column(name)
    for student in book.students:
        row = book.row(student)
        table.add_row(*(str(row.get(name, "")) for name in ("name", "score", "most", "outcome", "note")))
    Console(highlight=False, markup=False).print(table)


def tell_left_out(submissions: Path, book: Gradebook) -> None:
    """Name submissions whose names begin with a dot, and students in the course's tables who handed in nothing."""
    from tidemark.grade.hand_back import class_table

    for name in class_table.left_out(submissions):
        say(f"{name} was left out: its name begins with a dot")
    for name in book.finals.unknown([student.name for student in book.students]):
        say(f"{name} is in the rules, times or marks of {book.lab.name}, but handed in nothing")


def finals_of(lab: Lab, out: Path, policy: Path | None, times: Path | None) -> Finals:
    """What the final scores take into account: the term's rules, and the points in the class's rubric.csv."""
    from tidemark.grade.hand_back import term, written
    from tidemark.grade.hand_back.finals import Finals

    if times and not policy:
        raise LabError("--times needs --policy: without a deadline nothing is late", USAGE)
    rules = term.load(policy) if policy else None
    handed_in = term.load_times(times, rules.zone) if rules and times else {}
    return Finals(lab, rules, handed_in, written.load(out / written.TABLE, lab) if lab.questions else {})


def grade_class(
    submissions: Annotated[Path, typer.Argument(metavar="SUBMISSIONS", help="Folder with a submission per student.")],
    lab: Annotated[str, typer.Option("--lab", help="The assignment: a folder of labs/.")],
    secret: Annotated[Path | None, typer.Option("--secret", help="Folder with hidden tests, LAB.toml.")] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Submissions at a time (default: number of cores).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder of grades (default: results/grades-LAB).")
    ] = None,
    cluster: Annotated[str, typer.Option("--cluster", help="Address of a Dask scheduler whose workers grade.")] = "",
    sandbox: Annotated[
        str, typer.Option("--sandbox", help="The sandbox for students' code: auto, bwrap, user or none.")
    ] = "auto",
    release: Annotated[
        Path | None,
        typer.Option("--release", help="The built tree that all other files come from; default: this tree."),
    ] = None,
    policy: Annotated[
        Path | None, typer.Option("--policy", help="A term's rules: deadlines, late days, overrides (policy.toml).")
    ] = None,
    times: Annotated[
        Path | None, typer.Option("--times", help="When submissions were handed in: a CSV file with name, lab, time.")
    ] = None,
    again: Annotated[
        str, typer.Option("--regrade", help="Students to grade again after other changes: NAME,NAME, all or none.")
    ] = "all",
    supervised: options.Supervised = False,
    roster: Annotated[
        Path | None, typer.Option("--roster", help="The names of all students, one per line: no other name is graded.")
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Grade every submission of a folder once, in parallel, and collect the scores in a table.

    Example:  tidemark grade-class handed-in --lab clock --secret secret -o grades

    Each folder, .zip, .tar, .tar.gz, .tgz or .tar.xz in SUBMISSIONS is one student's and named after the student. For a
    file such as ada_123_clock.c the student's name is the part before the lab's name. The folder of grades
    gets class.csv, one row for each student, and NAME/grade.json and NAME/report.txt. The report says nothing about
    hidden tests except their points. Run the same command again to continue after Ctrl-C, or with more submissions: it
    grades only new or changed submissions, and lists which grades changed, and how. Exit status 1: a submission could
    not be graded; its row says why.
    """
    from tidemark.grade import class_run, isolation, reference
    from tidemark.grade.build import sandbox as sandboxes
    from tidemark.grade.build import tree as trees
    from tidemark.grade.build.workspace import check_release
    from tidemark.grade.hand_back import class_table, regrade
    from tidemark.grade.intake import lab as labs
    from tidemark.grade.intake import roster as rosters
    from tidemark.grade.intake import rules

    tree = (release or qemu.ROOT).resolve()
    hidden = secret.resolve() if secret else None
    assignment = labs.load(tree, lab, hidden, "everybody" if supervised else "")
    check_supervised(supervised, assignment)
    check_release(tree)
    released, box = trees.released(tree, labs.students_files(tree)), sandboxes.find(sandbox)
    place = out or Path("results", f"grades-{lab}")
    with reference.of(tree) as base:
        source = isolation.Source(base, hidden)
        book = class_table.Gradebook(
            submissions, assignment, place, class_run.grader(source, lab, supervised), released, box
        )
        named = supervised or rules.are_drawn(assignment, hidden)
        book.refuse(rosters.misnamed([student.name for student in book.students], roster, named))
        book.finals = finals_of(assignment, place, policy, times)
        before = regrade.earlier(book)
        regrade.limit(book, again, before)
        book.settle()
        due = {student.name for student in book.missing()}
        missing = len(due)
        kept = sum(student.grade is not None for student in book.students)
        if missing:
            carry_out(book, source, cluster, jobs, sandbox, quiet)
    show(book)
    tell_left_out(submissions, book)
    failed = book.failed()
    told = [*regrade.changes(book, before, due), *regrade.mixed(book)]
    print("".join(f"{line}\n" for line in told), end="")
    print(f"{missing - len(book.missing())} graded, {kept} unchanged; {book.out / class_table.TABLE}")
    if failed:
        raise LabError(f"{len(failed)} of {len(book.students)} could not be graded; their notes say why", FAILED)
