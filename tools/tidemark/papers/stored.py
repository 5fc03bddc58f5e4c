"""Stored results: what the runs of a plan gave, as small JSON in the tree, and the verdicts that followed.

results/PAPER/PLAN.json      a row of numbers for each run, and what made them
results/PAPER/verdicts.json  the verdict on each figure, which `make check` computes again
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidemark.errors import LabError
from tidemark.files import write_atomically
from tidemark.papers import across
from tidemark.papers.declared import HERE, Paper, Sweep
from tidemark.papers.predicate import Values
from tidemark.runs.plan import IDEAL
from tidemark.runs.replicates import REPETITION

RESULTS = HERE / "results"
VERDICTS = "verdicts.json"
SCHEMA = 1
DIGITS = 7


@dataclass(frozen=True)
class Run:
    """One run: the variables of its cell, host seconds, and its numbers."""

    variables: Mapping[str, str]
    wall_s: float
    numbers: Mapping[str, float]


@dataclass(frozen=True)
class Stored:
    """The runs of a plan. `image` and `commit` made them; `declared` is the hash of what was declared then. `memory`:
    the kept curves, in the order of their declaration. `first`: the command of the first run."""

    image: str
    commit: str
    declared: str
    runs: Sequence[Run]
    memory: Sequence[Mapping[str, Any]] = ()
    first: str = ""
    failed: Sequence[str] = field(default_factory=tuple)

    @property
    def wall_s(self) -> float:
        """Seconds of the host for all runs, one after the other."""
        return sum(run.wall_s for run in self.runs)


def declared_as(sweep: Sweep) -> str:
    """A hash of everything that decides the numbers of a plan's runs."""
    said = json.dumps([sweep.text, sweep.numbers, sweep.trace, [vars(one) for one in sweep.memory]], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def matches(run: Run, chosen: Mapping[str, str]) -> bool:
    """Is it one of the chosen runs? A run in ideal memory must be asked for."""
    if IDEAL in run.variables and IDEAL not in chosen:
        return False
    return all(has(run.variables.get(name, ""), name, value) for name, value in chosen.items())


def has(there: str, name: str, wanted: str) -> bool:
    """Is a variable's value the wanted one? Of a workload, a part is enough unless the text begins with =."""
    if name != "workload":
        return there == wanted
    return there == wanted[1:] if wanted.startswith("=") else wanted in there


def replicate(run: Run) -> tuple[str, ...]:
    """What tells a run from others of its cell."""
    return tuple(str(run.variables.get(name, "")) for name in REPETITION)


def values(stored: Stored, sweep: Sweep, number: str, side: str, chosen: Mapping[str, str]) -> Values:
    """The values of a number by replicate. Raises LabError if no run has it, or two runs of one replicate have."""
    wanted = {**sweep.sides[side], **chosen}
    how = sweep.numbers[number]
    if kind := across.kind(how):
        runs = [run for run in stored.runs if how[kind] in run.numbers and matches(run, wanted)]
        return across.KINDS[kind]((run.variables[how["over"]], replicate(run), run.numbers[how[kind]]) for run in runs)
    found: Values = {}
    for run in stored.runs:
        if number in run.numbers and matches(run, wanted):
            key = replicate(run)
            if key in found:
                raise LabError(f"{number}({side}) is not one run for each replicate: choose more than {wanted}")
            found[key] = run.numbers[number]
    if not found:
        raise LabError(f"there is no run for {number}({side}), which is {wanted}")
    return found


def path_of(paper: Paper, name: str, folder: Path = RESULTS) -> Path:
    """The file of a plan's results."""
    return folder / paper.name / f"{name}.json"


def save(paper: Paper, sweep: Sweep, stored: Stored, folder: Path = RESULTS) -> None:
    """Write a plan's results: what all runs have in common once, then a line for each run."""
    names = list(dict.fromkeys(name for run in stored.runs for name in run.variables))
    every = [[run.variables.get(name, "") for name in names] for run in stored.runs]
    common = {name: column[0] for name, *column in zip(names, *every) if len(set(column)) == 1}
    columns = [name for name in names if name not in common]
    numbers = [name for name in sweep.numbers if any(name in run.numbers for run in stored.runs)]
    rows = [
        [*(run.variables.get(name, "") for name in columns), round(run.wall_s, 2), *(short(run, n) for n in numbers)]
        for run in stored.runs
    ]
    head = {"schema": SCHEMA, "image": stored.image, "commit": stored.commit, "declared": stored.declared}
    head |= {"first": stored.first, "failed": list(stored.failed), "common": common}
    head |= {"columns": columns, "numbers": numbers, "memory": list(stored.memory)}
    lines = [json.dumps({name: value})[1:-1] for name, value in head.items()]
    lines.append('"runs": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n]")
    path = path_of(paper, sweep.name, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "{" + ",\n".join(lines) + "}\n")


def short(run: Run, number: str) -> float | None:
    """A number with DIGITS digits; None if the run does not have it."""
    return float(f"{run.numbers[number]:.{DIGITS}g}") if number in run.numbers else None


def load(paper: Paper, name: str, folder: Path = RESULTS) -> Stored:
    """A plan's results. Raises LabError if there are none, or they cannot be read."""
    path = path_of(paper, name, folder)
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        if table["schema"] != SCHEMA:
            raise LabError(f"{path} has schema {table['schema']}, this program reads {SCHEMA}")
        nr, runs = len(table["columns"]), []
        for row in table["runs"]:
            variables = {**table["common"], **dict(zip(table["columns"], row[:nr]))}
            numbers = {n: x for n, x in zip(table["numbers"], row[nr + 1 :], strict=True) if x is not None}
            runs.append(Run({n: v for n, v in variables.items() if v != ""}, row[nr], numbers))
        return Stored(
            table["image"], table["commit"], table["declared"], runs, table["memory"], table["first"], table["failed"]
        )
    except FileNotFoundError:
        raise LabError(f"{paper.name}, plan {name}: there are no results yet") from None
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise LabError(f"{path} cannot be read: {error!r}") from None


def verdicts(paper: Paper, folder: Path = RESULTS) -> dict[str, str]:
    """The stored verdicts by figure; empty if there are none."""
    path = folder / paper.name / VERDICTS
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): str(verdict) for name, verdict in found.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise LabError(f"{path} cannot be read: {error}") from None
