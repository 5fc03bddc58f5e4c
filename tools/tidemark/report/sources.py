"""From folders to the data of a report: runs with their telemetry, and cells, one for each run of a sweep.

A run that ended by itself must have complete telemetry: a gap, or a missing end, is an error that names the file. A run
that was interrupted, or whose guest panicked, hung or ran out of time, has telemetry up to that point; it is drawn, and
its `note` says so everywhere. A run of a sweep never stops the report: if unusable, it is a row with the reason.
"""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tidemark.errors import LabError
from tidemark.machine import parameters, qemu
from tidemark.report import yardstick
from tidemark.report.cells import Cell
from tidemark.report.text import printable
from tidemark.runs import results, summary, sweep
from tidemark.runs.plan import IDEAL, VARIABLES, arguments
from tidemark.telemetry import story, thrashing
from tidemark.telemetry.stream import Telemetry

ENDED_ITSELF = (qemu.OK, qemu.FAILED)
TOLD_APART_BY = ("vm", "mem", "swap", "frames", "run", "seed", "cmdline", "exact")
SAME_WORK = ("run", "seed", "disk", "disk_kind", "exact")

Progress = Callable[[str], None]
UNSAMPLED = "no timelines: the run ended before two samples; --cmdline 'sample_ms=10 sample_percent=100' takes more"


@dataclass(frozen=True)
class Run:
    """One run to draw. `note` is empty, or says why the run did not end well. `ideal_s`: seconds that the same command
    took with enough memory, in another run of the report; 0: there is no such run."""

    label: str
    result: results.Result
    data: Telemetry
    note: str = ""
    ideal_s: float = 0

    @property
    def policy(self) -> str:
        """The policy at boot, from the kernel's `start` record."""
        return str(self.data.start.get("policy", "?"))

    @cached_property
    def story(self) -> str:
        """What happened, in a sentence; empty if the telemetry does not tell."""
        said = story.sentence(self.data, self.ideal_s)
        return said + "." if said else ""

    @cached_property
    def spells(self) -> list[tuple[float, float]]:
        """The spans (begin, end) of time in which the run thrashed, in seconds."""
        return thrashing.of(self.data) or []

    @property
    def sampled(self) -> bool:
        """Are there samples to draw over time?"""
        return len(self.data.samples) > 1


@dataclass
class Sources:
    """The runs and cells of one report, and the reasons why some folders were refused."""

    runs: list[Run] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def notes(self) -> list[str]:
        """Sentences on missing runs, and for each reason why runs or cells cannot be drawn well."""
        names: dict[str, list[str]] = {}
        for name, why in [(run.label, run.note) for run in self.runs] + [(cell.name, cell.why) for cell in self.cells]:
            if why:
                names.setdefault(why, []).append(name)
        missing = [f"missing: {reason}" for reason in self.refused]
        return missing + [f"{'; '.join(some[:2])}{more(some[2:])}: {why}" for why, some in names.items()]


def more(names: Sequence[str]) -> str:
    """Text such as ` and 7 more`; empty if there are no names."""
    return f" and {len(names)} more" if names else ""


def how_it_ended(meta: dict[str, Any]) -> str:
    """Empty if the run ended well, else what happened to it."""
    if meta.get("state") == "running":
        return "interrupted: stopped early, or still running; drawn up to the end of its telemetry"
    if meta.get("state") != "done":
        return f"interrupted: {meta.get('reason') or 'stopped before its end'}; drawn up to the end of its telemetry"
    if meta.get("exit") != qemu.OK:
        return f"failed: {meta.get('reason') or 'exit ' + str(meta.get('exit'))}"
    return ""


def read_run(folder: Path) -> tuple[results.Result, Telemetry, str]:
    """A result, its telemetry and its note. Raises LabError if it cannot be drawn."""
    result = results.load(folder)
    if "telemetry=off" in str(result.meta.get("settings", {}).get("cmdline", "")).split():
        raise LabError(f"{folder} was run with telemetry=off, so there is nothing to draw: run it again without it")
    results.check_files(result)
    ended = result.meta.get("state") == "done" and result.meta.get("exit") in ENDED_ITSELF
    data = result.telemetry(partial=not ended)
    note = how_it_ended(result.meta)
    if len(data.samples) < 2:
        note += f"; {UNSAMPLED}" if note else UNSAMPLED
    return result, data, note


def distinct(candidates: Sequence[dict[str, str]], names: Sequence[str]) -> list[str]:
    """A label for each run: the settings in which they differ, and the folder's name when these are not enough."""
    differ = [key for key in TOLD_APART_BY if len({c.get(key, "") for c in candidates}) > 1] or ["vm"]
    labels = [", ".join(written(key, c[key]) for key in differ if c.get(key)) for c in candidates]
    named = [label if labels.count(label) == 1 else f"{label} ({name})" for label, name in zip(labels, names)]
    unique = [label if named.count(label) == 1 else f"{label} {at}" for at, label in enumerate(named, 1)]
    return [printable(label) for label in unique]


def written(key: str, value: str) -> str:
    """One setting in a label: 2q, 16M and a command as they are, others with their names."""
    return value if key in ("vm", "mem", "run", "cmdline") else f"{key} {value}"


def settings_of(result: results.Result) -> dict[str, str]:
    """A result's settings as text; those that are not set are left out."""
    return {key: str(value) for key, value in result.meta.get("settings", {}).items() if value not in ("", None, [])}


def read_cell(folder: Path, name: str, factors: dict[str, str]) -> Cell:
    """The cell in a result's folder; its `why` is the error message if it cannot be used."""
    try:
        result, data, _ = read_run(folder)
    except LabError as error:
        return Cell(name, by_parameter(factors), {}, str(error))
    why, settings = how_it_ended(result.meta), settings_of(result)
    numbers = {} if why else summary.measured_result(result, data)
    verdict = "" if why else story.verdict(data)
    return Cell(name, by_parameter(factors | settings), numbers, why, written_out(settings), verdict=verdict)


def written_out(settings: dict[str, str]) -> str:
    """The command of tidemark that makes a run with these settings, for a shell."""
    options = [
        "vm",
        "mem",
        "swap",
        *(["disk", "disk_kind"] if settings.get("disk") else []),
        "frames",
        "seed",
        "cmdline",
    ]
    given = [(f"--{name.replace('_', '-')}", settings[name]) for name in options if settings.get(name)]
    return shlex.join(["tidemark", "run", settings.get("run", ""), *(word for pair in given for word in pair)])


def by_parameter(factors: dict[str, str]) -> dict[str, str]:
    """The factors, with each parameter of the kernel's command line, and of the disk, as a separate factor."""
    named, rest = parameters.split(factors.get("cmdline", ""))
    disk, *changes = factors.get("swap", "").split(",")
    named |= dict(change.split("=", 1) for change in changes if "=" in change)
    others = {name: value for name, value in factors.items() if name != "cmdline"} | ({"swap": disk} if disk else {})
    return others | named | ({"cmdline": rest} if rest else {})


def read_table(folder: Path) -> list[dict[str, str]] | None:
    """cells.csv as rows of text; None if there is none."""
    path = folder / sweep.TABLE
    if not path.exists():
        return None
    try:
        with path.open(newline="") as file:
            return [{key: value or "" for key, value in row.items() if key} for row in csv.DictReader(file)]
    except (OSError, ValueError, csv.Error) as error:
        raise LabError(f"{path} cannot be read: {error}") from None


def check_schema(folder: Path) -> None:
    """Raises LabError if the sweep has another schema, or none."""
    path = folder / sweep.ABOUT
    try:
        schema = json.loads(path.read_text())["schema"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError(f"{path} cannot be read ({error!r}): make it with `tidemark sweep`") from None
    if schema != sweep.SCHEMA:
        raise LabError(f"{path} has schema {schema}, this program reads schema {sweep.SCHEMA}: run the sweep again")


def read_sweep(folder: Path, progress: Progress) -> list[Cell]:
    """The cells of a sweep, in the order of its table; their numbers come from their folders."""
    check_schema(folder)
    rows = read_table(folder)
    if rows is None:
        rows = [{"id": path.name} for path in sorted((folder / sweep.CELLS).glob("*"))]
    cells = []
    for at, row in enumerate(rows, 1):
        keys = (*VARIABLES, IDEAL, *arguments([row.get("workload", "")]))
        name, factors = row.get("id", ""), {key: row[key] for key in keys if row.get(key)}
        progress(f"{folder.name}: cell {at} of {len(rows)}")
        place = folder / sweep.CELLS / name
        if name and place.is_dir():
            cells.append(read_cell(place, name, factors))
        else:
            cells.append(Cell(name, by_parameter(factors), {}, row.get("reason") or "it has not been run"))
    return [replace(cell, sweep=folder.name) for cell in yardstick.measured(folder, cells)]


def runs_in(folder: Path) -> list[Path]:
    """The folder itself if it is a result; else the results in it, as `tidemark run --real` leaves them."""
    if (folder / results.META).exists():
        return [folder]
    inside = [path.parent for path in folder.glob(f"*/{results.META}")]
    return sorted(inside, key=lambda path: (len(path.name), path.name)) or [folder]


def ideal_of(result: results.Result, every: Sequence[tuple[results.Result, Telemetry, str]]) -> float:
    """Seconds that the command of a run takes with enough memory: the least of the runs that had it; 0 if none had."""
    own = settings_of(result)
    ideal = [
        story.turnaround_s(data)
        for other, data, _ in every
        if how_it_ended(other.meta) == how_it_ended(result.meta) == "" and story.sufficed(data)
        if all(own.get(name) == settings_of(other).get(name) for name in SAME_WORK)
    ]
    return min(ideal, default=0)


def gather(folders: Iterable[Path], progress: Progress = lambda text: None) -> Sources:
    """Everything in `folders`, runs and sweeps in any mixture. Raises LabError for a folder that is neither, and if
    nothing can be drawn. A run that cannot be drawn, beside others that can, is a note.
    """
    sources, lone, errors = Sources(), [], []
    for folder in dict.fromkeys(path.resolve() for path in folders):
        if not folder.is_dir():
            raise LabError(f"{folder} is not a folder; make it with `tidemark run` or `tidemark sweep`")
        if (folder / sweep.ABOUT).exists():
            sources.cells += read_sweep(folder, progress)
            continue
        for path in runs_in(folder):
            progress(str(path))
            try:
                lone.append(read_run(path))
            except LabError as error:
                errors.append(error)
    if errors and not lone and not sources.cells:
        raise errors[0]
    sources.refused = list(map(str, errors))
    labels = distinct([settings_of(result) for result, _, _ in lone], [result.name for result, _, _ in lone])
    sources.runs = [Run(label, *one, ideal_of(one[0], lone)) for label, one in zip(labels, lone)]
    return sources
