"""The declared papers: NAME.toml beside this file, and NAME-PART.toml if it is long, read and checked without running
anything.

title, authors, year, where, machine     what the work is, and on what it was measured; note: more for its page
[plans.NAME]        a sweep that figures share:
    plan            the text of a plan (tidemark.runs.plan)
    scale           the scale in space and time, and its reason
    seconds         expected on two idle cores
    quick           true: `make soak` runs it again
    needs           a file that must exist, and `how` to get it
    trace           names of address spaces: each run is recorded, and its numbers are those of the first space
                    that it has
    strings         true: a plan of strings of references, computed without a machine (tidemark.papers.on_strings)
    [plans.NAME.sides]      names for some of the cells: SIDE = { variable = value }; of a workload, a part of it, or
                            after = the whole
    [plans.NAME.numbers]    what is measured (tidemark.papers.numbers)
    [[plans.NAME.memory]]   processes whose memory over time is kept, of the first replicate: side, process, nth
[[figure]]          id, title, section and quote as published, or `statement`, a theorem or a rule in our words, and
    published       numbers: { what, value, source, ours = an expression }
    plan, claim     the plan of its runs, and what they must show
    exact           true: the claim must hold in each run, as a theorem does; == is equality
    shows           { label = expression }: drawn with its interval; with `along`, a curve over that variable; with
                    `boxes` as well, a box of the replicates for each of its values, and a fit of k / M^p + c
    because, without    why it differs, and the claim that holds when the cause is removed
    without_plan        the plan of the runs for `without`, if it is another
    nowhere         instead of a plan: why it cannot be here
[[errata]]          where, says, arithmetic
"""

from __future__ import annotations

import ast
import difflib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from tidemark.errors import USAGE, LabError
from tidemark.machine.qemu import ROOT
from tidemark.papers import on_strings, predicate
from tidemark.runs import plan as plans

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
PAPERS = ("mcmenamin", "tucek", "tpf", "classics")


@dataclass(frozen=True)
class Memory:
    """A process whose memory over time is drawn."""

    side: str
    process: str
    nth: int = 1
    title: str = ""


@dataclass(frozen=True)
class Sweep:
    """A plan of a paper; see above. `text` is the plan as declared."""

    name: str
    text: str
    plan: plans.Plan
    scale: str
    seconds: float
    sides: Mapping[str, Mapping[str, str]]
    numbers: Mapping[str, Any]
    quick: bool = False
    needs: str = ""
    how: str = ""
    trace: str = ""
    strings: bool = False
    memory: Sequence[Memory] = ()

    @property
    def not_run(self) -> str:
        """Why it cannot run here, and what to do; empty if it can."""
        there = not self.needs or (ROOT / self.needs).exists()
        return "" if there else f"not run: {self.needs} does not exist; {self.how}"


@dataclass(frozen=True)
class Published:
    """A number of the paper. `ours`: the expression for the same of our runs, if there is one."""

    what: str
    value: float
    source: str
    ours: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure, table or sentence of a paper; see above."""

    id: str
    title: str
    section: str
    quote: str = ""
    statement: str = ""
    published: Sequence[Published] = ()
    plan: str = ""
    claim: str = ""
    exact: bool = False
    shows: Mapping[str, str] = field(default_factory=dict)
    along: str = ""
    boxes: bool = False
    unit: str = ""
    because: str = ""
    without: str = ""
    without_plan: str = ""
    nowhere: str = ""
    memory: Sequence[str] = ()

    @property
    def plans(self) -> list[str]:
        """The plans whose runs it needs."""
        return [plan for plan in (self.plan, self.without_plan) if plan]


@dataclass(frozen=True)
class Erratum:
    """An error in the paper."""

    where: str
    says: str
    arithmetic: str


@dataclass(frozen=True)
class Paper:
    """A work, its plans and its figures."""

    name: str
    title: str
    authors: str
    year: int | str
    where: str
    machine: str
    plans: Mapping[str, Sweep]
    figures: Sequence[Figure]
    errata: Sequence[Erratum]
    note: str = ""

    def figure(self, name: str) -> Figure:
        """The figure of this id. Raises LabError, which lists what there is."""
        for one in self.figures:
            if one.id == name:
                return one
        ids = [one.id for one in self.figures]
        near = difflib.get_close_matches(name, ids, n=2)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise LabError(f"{self.name} has no figure {name}: {hint}there are {', '.join(ids)}", USAGE)


def made(kind: type[Any], table: Mapping[str, Any], what: str) -> Any:
    """A dataclass from a table. Raises LabError for keys that it does not have, or lacks."""
    names = [one.name for one in fields(kind)]
    unknown = [name for name in table if name not in names]
    if unknown:
        raise LabError(f"{what}: unknown key {', '.join(unknown)}; there are: {', '.join(names)}")
    try:
        return kind(**table)
    except TypeError as error:
        raise LabError(f"{what}: {str(error).replace('__init__() ', '')}") from None


def sweep_of(name: str, table: dict[str, Any], what: str) -> Sweep:
    """A plan's entry, checked as far as it can be without the image."""
    text = table.pop("plan", "")
    sides = {
        side: {key: str(value) for key, value in chosen.items()} for side, chosen in table.pop("sides", {}).items()
    }
    memory = tuple(made(Memory, one, f"{what}, memory") for one in table.pop("memory", []))
    try:
        chosen = parsed(text, table.get("needs", ""), table.get("strings", False))
    except (LabError, ValueError) as error:
        raise LabError(f"{what}: {error}") from None
    given = {"name": name, "text": text, "plan": chosen, "sides": sides, "memory": memory, **table}
    sweep: Sweep = made(Sweep, given, what)
    return sweep


def parsed(text: str, needs: str, strings: bool) -> plans.Plan:
    """The plan, in which a needed file has its whole path; without that file, or of strings, a plan without cells."""
    if strings:
        on_strings.cells(text)
        return plans.Plan(text, {}, [])
    if needs and not (ROOT / needs).exists():
        return plans.Plan(text, {}, [])
    return plans.parse(text.replace(f'"{needs}"', f'"{ROOT / needs}"') if needs else text)


def check_figure(figure: Figure, sweeps: Mapping[str, Sweep], what: str) -> None:
    """Raises LabError if a figure has neither runs nor a reason, or names something that is not declared."""
    if bool(figure.plan) == bool(figure.nowhere) or bool(figure.plan) != bool(figure.claim):
        raise LabError(f"{what}: give plan and claim, or nowhere: why it cannot be measured here")
    if bool(figure.quote) == bool(figure.statement):
        raise LabError(f"{what}: give quote, the words of the work, or statement, ours")
    if figure.without and not figure.because:
        raise LabError(f"{what}: `without` removes a cause: say in `because` which")
    if not figure.plan:
        return
    for plan in figure.plans:
        if plan not in sweeps:
            raise LabError(f"{what}: there is no plan {plan}, only {', '.join(sweeps)}")
    values = sides_of(figure.claim)
    for text in (*figure.shows.values(), *(one.ours for one in figure.published if one.ours)):
        values.append(predicate.tree(text))
        predicate.check(values[-1])
    check_names(values, sweeps[figure.plan], what)
    if figure.without:
        check_names(sides_of(figure.without), sweeps[figure.without_plan or figure.plan], what)


def sides_of(claim: str) -> list[ast.expr]:
    """Both sides of each comparison of a claim."""
    return [side for one in predicate.comparisons(claim) for side in (one.left, one.right)]


def check_names(values: Sequence[ast.expr], sweep: Sweep, what: str) -> None:
    """Raises LabError if a value has a number or a side that the plan does not declare."""
    for number, side, _ in (call for node in values for call in predicate.calls(node)):
        for name, there in ((number, sweep.numbers), (side, sweep.sides)):
            if name not in there:
                raise LabError(f"{what}: {name} is not declared in plans.{sweep.name}: {', '.join(there)}")


def joined(texts: Mapping[str, str]) -> dict[str, Any]:
    """The tables of a paper's files, by name, as one. Raises LabError if one is not TOML, or two declare one plan."""
    table: dict[str, Any] = {"plans": {}, "figure": [], "errata": []}
    for file, text in texts.items():
        try:
            part = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise LabError(f"{file} is not valid TOML: {error}") from None
        twice = table["plans"].keys() & part.get("plans", {}).keys()
        if twice:
            raise LabError(f"{file} declares the plan {', '.join(sorted(twice))} again")
        table["plans"] |= part.pop("plans", {})
        table["figure"] += part.pop("figure", [])
        table["errata"] += part.pop("errata", [])
        table |= part
    return table


def parse(name: str, *parts: str) -> Paper:
    """The paper in the texts of its files. Raises LabError, which says what is wrong."""
    table = joined({f"{name}.toml" if not at else f"{name}, part {at + 1}": text for at, text in enumerate(parts)})
    sweeps = {one: sweep_of(one, dict(entry), f"{name}.toml, plans.{one}") for one, entry in table.pop("plans").items()}
    figures = []
    for entry in table.pop("figure"):
        what = f"{name}.toml, figure {entry.get('id', '?')}"
        points = tuple(made(Published, point, f"{what}, published") for point in entry.pop("published", []))
        figures.append(made(Figure, {**entry, "published": points}, what))
        check_figure(figures[-1], sweeps, what)
    ids = [one.id for one in figures]
    twice = sorted({one for one in ids if ids.count(one) > 1})
    if twice:
        raise LabError(f"{name}.toml has {', '.join(twice)} twice")
    errata = tuple(made(Erratum, one, f"{name}.toml, errata") for one in table.pop("errata"))
    paper: Paper = made(
        Paper, {"name": name, "plans": sweeps, "figures": tuple(figures), "errata": errata, **table}, f"{name}.toml"
    )
    return paper


@cache
def paper(name: str) -> Paper:
    """A paper of this tree. Raises LabError, which lists what there is."""
    if name not in PAPERS:
        raise LabError(f"there is no paper {name}, only {', '.join(PAPERS)}", USAGE)
    files = [HERE / f"{name}.toml", *sorted(HERE.glob(f"{name}-*.toml"))]
    return parse(name, *(file.read_text(encoding="utf-8") for file in files))
