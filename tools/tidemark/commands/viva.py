"""tidemark viva: sheets for ten minutes in gdb at each student's own run, and the examiner's keys."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.commands import options
from tidemark.errors import BAD_INPUT, USAGE, LabError

if TYPE_CHECKING:
    from tidemark.grade.hand_out.paper import Sheet
    from tidemark.grade.intake.roster import Roster
    from tidemark.grade.model import Personal

SCHEMA = "tidemark-viva/1"
LEAST = 20  # faults that a run must have to ask about


def made_for(folder: Path, personal: Personal, image: Path, quiet: bool) -> tuple[Sheet, Sheet]:
    """(the sheet, the key) for a student whose run is in a folder. Raises LabError, which says why there is none."""
    from tidemark.commands.why import policy_at, recorded
    from tidemark.grade.hand_out import viva_paper
    from tidemark.grade.judge.quiz.personal import draw_for
    from tidemark.grade.judge.viva import handed_in, moment
    from tidemark.runs import result_image, results
    from tidemark.telemetry.live import LiveLine

    if not (folder / results.META).is_file():
        raise LabError(f"was never run: {folder} is not a result of `tidemark run`", BAD_INPUT)
    handed_in.check_files(folder)
    result = results.load(folder)
    handed_in.check_settings(result)
    made_of = result_image.of(result, options.image_of(result, image.resolve()))
    with tempfile.TemporaryDirectory(prefix="tidemark-") as scratch, LiveLine(quiet) as live:
        events = recorded(result, made_of, Path(scratch), live)
    found = moment.drawn(events, draw_for(personal, SCHEMA, "").below, LEAST)
    policy, asked = policy_at(result, found.fault.ns), result.meta["settings"]["vm"]
    if policy != asked:
        raise LabError(f"{folder}: the policy was {policy} instead of {asked} at the fault: run it again", BAD_INPUT)
    return (
        viva_paper.printed(personal.student, folder, found, policy),
        viva_paper.keys(personal.student, folder, found, policy),
    )


def names_of(runs: Path, roster: Roster | None) -> tuple[dict[str, Path], list[str]]:
    """(the folder of each student, a sentence for each that gets no sheet). With a roster each of its students has a
    folder, even if that does not exist."""
    from tidemark.grade.intake import roster as rosters
    from tidemark.grade.judge.quiz.personal import owner, plain_name

    there = sorted(path.name for path in runs.iterdir() if path.is_dir() and not path.name.startswith("."))
    twice = rosters.clashes(there)
    if not roster:
        return {name: runs / name for name in there if name not in twice}, list(dict.fromkeys(twice.values()))
    strangers = roster.strangers(name for name in there if name not in twice)
    folders = {plain_name(owner(name)): runs / name for name in there if name not in twice | strangers}
    clashing = {plain_name(owner(name)) for name in twice}
    wanted = {name: folders.get(plain, runs / name) for plain, name in roster.names.items() if plain not in clashing}
    return wanted, [*roster.refused, *dict.fromkeys(twice.values()), *strangers.values()]


def viva(
    runs: Annotated[Path, typer.Argument(metavar="RUNS", help="Folder with a run of each student, RUNS/NAME.")],
    secret: options.QuizSecret,
    out: options.Sheets,
    keys: options.Keys,
    roster: options.Roster = None,
    image: options.Image = options.DEFAULT.image,
    quiet: options.Quiet = False,
) -> None:
    """Write a sheet for a viva in gdb for each student, and the examiner's keys.

    Example:  tidemark viva runs --secret ~/secret/quiz.key --out viva.html --keys viva-keys.html

    RUNS/NAME is a run of the student's own kernel, such as of `tidemark run --events --vm clock --frames 60 --swap
    sim:ssd -o runs/NAME phase 256 128 4 2000`. The sheet sends the student to a fault of this run, drawn from secret
    and name, and asks which page is evicted next, where it came from, and whether it comes back. The keys are what the
    run's events say; a run without events is repeated to record them. Exit status 1: a student has no sheet; a line
    says why.
    """
    from tidemark.files import write_atomically
    from tidemark.grade.hand_out import paper, sheets, viva_paper
    from tidemark.grade.intake import roster as rosters
    from tidemark.grade.judge.quiz import personal
    from tidemark.grade.model import Personal

    if not runs.is_dir():
        raise LabError(f"{runs} is not a folder; give one with a run of each student, RUNS/NAME", USAGE)
    sheets.check_keys(keys, out)
    key = personal.read_secret(secret)
    folders, refused = names_of(runs, rosters.read(roster) if roster else None)
    made, failed = sheets.of_class(
        folders, lambda name: made_for(folders[name], Personal(personal.owner(name), key), image, quiet), refused
    )
    write_atomically(out, paper.document(viva_paper.TITLE, [one for one, _ in made]))
    sheets.write_keys(keys, viva_paper.TITLE, [other for _, other in made])
    print(f"{len(made)} sheets in {out}, keys in {keys}")
    sheets.end(len(made), failed)
