"""tidemark hunts: kernels with one changed line each: a pool, three for each student, points for the places."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.commands import options
from tidemark.commands.sweep import Bar, say
from tidemark.errors import FAILED, USAGE, LabError
from tidemark.machine import qemu

if TYPE_CHECKING:
    from tidemark.grade.hunts.pool import Progress

app = typer.Typer(
    name="hunts",
    add_completion=False,
    help="Bug hunts for each student: a pool of changed kernels, three for each name, points for the places.",
    no_args_is_help=True,
)

EVERY_S = 30
MOST_KERNELS = 1000

PoolFolder = Annotated[Path, typer.Argument(metavar="POOL", help="The pool's folder; it has the keys.")]
Secret = Annotated[Path, typer.Option("--secret", help="The course's secret: a file with at least 16 bytes.")]


class Shown:
    """Progress: a bar at a terminal, else a line now and then."""

    def __init__(self, bar: Bar) -> None:
        self.bar, self.next = bar, time.monotonic() + EVERY_S

    def __call__(self, now: Progress) -> None:
        left = "?" if now.left_s is None else f"{int(now.left_s) // 60}:{int(now.left_s) % 60:02}"
        text = f"kernels; {now.tried} changes tried; {left} left"
        if self.bar.next_line == 0.0 and time.monotonic() >= self.next:
            say(f"{now.taken} of {now.nr} {text}")
            self.next = time.monotonic() + EVERY_S
        self.bar.bar.update(self.bar.task, completed=now.taken, text=text)


def seed_of(secret: Path | None, seed: str) -> str:
    """The pool's seed: the given one, or one that follows from the secret."""
    from tidemark.grade.hunts import drawing
    from tidemark.grade.judge.quiz import personal

    if (secret is None) == (not seed):
        raise LabError("give either --secret or --seed", USAGE)
    return seed or drawing.seed(personal.read_secret(secret)) if secret else seed


@app.command()
def make(
    pool: PoolFolder,
    secret: Annotated[
        Path | None, typer.Option("--secret", help="The course's secret, from which the pool's seed follows.")
    ] = None,
    seed: Annotated[str, typer.Option("--seed", help="The seed that an earlier call printed.")] = "",
    nr: Annotated[int, typer.Option("--nr", min=3, max=MOST_KERNELS, help="Number of kernels.")] = 200,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, max=64, help="Kernels at a time.")] = 2,
    quiet: options.Quiet = False,
) -> None:
    """Make the pool: kernels with one changed line each, and a symptom that is seen twice.

    Example:  tidemark hunts make ~/hunts --secret ~/secret/quiz.key --nr 200

    The same tree, compiler and seed make the same pool. Call it again to continue after Ctrl-C, or with a larger --nr,
    but not once archives are handed out: then students would have other hunts. Keep the seed and the folder to
    yourself: they are the keys.
    """
    from tidemark.grade.hunts import pool as pools

    chosen = seed_of(secret, seed)
    say(f"seed {chosen}")
    with Bar(nr, quiet) as bar:
        try:
            made = pools.make(qemu.ROOT, pool, chosen, nr, jobs, Shown(bar))
        except KeyboardInterrupt:
            say(f"stopped early: {len(pools.Pool(pool).taken())} of {nr} kernels; the same command continues")
            raise
    rows = made.rows()
    print(f"{pool}: {len(made.complete())} kernels of {len(rows)} changes tried; seed {chosen}")


@app.command("hand-out")
def hand_out(
    pool: PoolFolder,
    roster: Annotated[Path, typer.Argument(metavar="ROSTER", help="The names of all students, one per line.")],
    secret: Secret,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the archives, NAME.tar.gz.")],
) -> None:
    """Write each student's archive: three machines, their commands, and files for the answers.

    Example:  tidemark hunts hand-out ~/hunts names.txt --secret ~/secret/quiz.key -o archives

    The same pool, secret and name give the same hunts. An archive has no key.
    """
    from tidemark.files import check_folder
    from tidemark.grade.hunts import hand_out as archives
    from tidemark.grade.hunts.pool import Pool
    from tidemark.grade.intake import roster as rosters
    from tidemark.grade.judge.quiz import personal

    key, listed, rows = personal.read_secret(secret), rosters.read(roster), Pool(pool).complete()
    check_folder(out)
    out.mkdir(parents=True, exist_ok=True)
    times = archives.write(Pool(pool), rows, listed.names, key, out)
    most = max(times.values(), default=0)
    print(f"{len(listed.names)} archives in {out}, of {len(times)} kernels; one kernel was drawn {most} times")
    if listed.refused:
        raise LabError(f"without an archive: {'; '.join(listed.refused)}", FAILED)


@app.command()
def grade(
    pool: PoolFolder,
    submissions: Annotated[Path, typer.Argument(metavar="SUBMISSIONS", help="Folder with a submission per student.")],
    roster: Annotated[Path, typer.Option("--roster", help="The names of all students, one per line.")],
    secret: Secret,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of grades.")],
    sandbox: Annotated[str, typer.Option("--sandbox", help="The sandbox: auto, bwrap, user or none.")] = "auto",
) -> None:
    """Give points for the places, 2 of 8 for each hunt; the other 6 are for the way, and given by a person.

    Example:  tidemark hunts grade ~/hunts handed-in --roster names.txt --secret ~/secret/quiz.key -o hunt-grades

    Writes hunts.csv, with a row for each student; keys.txt, with the key, the rubric and the answer of each hunt; and
    rubric.csv: fill in the points for the ways, and call this again. Exit status 1: something could not be graded.
    """
    from tidemark.files import check_folder
    from tidemark.grade.build import reading
    from tidemark.grade.build import sandbox as sandboxes
    from tidemark.grade.hunts import grading
    from tidemark.grade.hunts.pool import Pool
    from tidemark.grade.intake import roster as rosters
    from tidemark.grade.judge.quiz import personal

    key, listed, rows = personal.read_secret(secret), rosters.read(roster), Pool(pool).complete()
    check_folder(out)
    box = sandboxes.find(sandbox)
    table = grading.grade(rows, key, listed.names, submissions, out, reading.reader(box))
    wrong = [row for row in table if "places" not in row]
    left = [row for row in table if "places" in row and row.get("final", "") == ""]
    print(f"{len(table)} submissions; {len(left)} have no sum yet: {out / grading.KEYS}, {out / 'rubric.csv'}")
    if wrong:
        raise LabError("; ".join(f"{row['name']}: {row['note']}" for row in wrong), FAILED)
