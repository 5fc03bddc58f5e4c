"""Verdicts: what the runs say about a figure of a paper.

agrees          each comparison of the claim holds, with the interval of the ratio on the claimed side of 1; of an
                exact claim, in each run
differs         one holds the other way round
cannot be told  an interval contains 1, or there are too few replicates
not here        it cannot be measured on this machine, or its claim is not at hand, and why
not run         it could be, but there are no results
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tidemark.errors import LabError
from tidemark.papers import predicate, stored
from tidemark.papers.declared import Figure, Paper
from tidemark.papers.predicate import AGREES, DIFFERS, OPEN, Outcome, Values
from tidemark.papers.stored import Stored
from tidemark.runs import claims

NOT_HERE, NOT_RUN = "not here", "not run"
AFTER_RUNS = (AGREES, DIFFERS, OPEN)
VERDICTS = (*AFTER_RUNS, NOT_HERE, NOT_RUN)


@dataclass(frozen=True)
class Judged:
    """A figure's verdict. `outcomes` are those of its comparisons, `without` the verdict once the cause is removed,
    with its outcomes. `why` says why there is none."""

    figure: Figure
    verdict: str
    outcomes: Sequence[Outcome] = ()
    without: str = ""
    without_outcomes: Sequence[Outcome] = ()
    why: str = ""


@dataclass(frozen=True)
class Estimate:
    """The median of an expression over the replicates and its interval, which is None if there are too few."""

    middle: float
    low: float | None
    high: float | None


def look_in(found: Stored, paper: Paper, plan: str, more: Mapping[str, str] | None = None) -> predicate.Look:
    """The values of calls in stored results; `more` chooses further in each call."""
    sweep = paper.plans[plan]
    return lambda number, side, chosen: stored.values(found, sweep, number, side, {**(more or {}), **chosen})


def estimate(values: Values | float) -> Estimate:
    """Median and interval of the sign test."""
    if isinstance(values, float):
        return Estimate(values, values, values)
    ascending = np.sort(list(values.values()))
    if not len(ascending):
        raise LabError("no replicate has all of these numbers")
    at = claims.rank(len(ascending), 1)
    low, high = (float(ascending[at - 1]), float(ascending[-at])) if at else (None, None)
    return Estimate(float(np.median(ascending)), low, high)


def expression(text: str, look: predicate.Look) -> Estimate:
    """The estimate of an expression."""
    return estimate(predicate.value(predicate.tree(text), look))


def missing(paper: Paper, plan: str, folder: Path) -> str:
    """Why there are no results of a plan; empty if there are."""
    sweep = paper.plans[plan]
    if not stored.path_of(paper, plan, folder).exists():
        return f"{sweep.not_run}. With it, " if sweep.not_run else f"the plan {plan} has no results; "
    if stored.load(paper, plan, folder).declared != stored.declared_as(sweep):
        return f"the plan {plan} has changed since its results were made; "
    return ""


def judge(paper: Paper, figure: Figure, folder: Path = stored.RESULTS) -> Judged:
    """The verdict on a figure, from stored results. Results of another declaration do not count. Raises LabError if the
    claim needs a run that they do not have."""
    if not figure.plan:
        return Judged(figure, NOT_HERE, why=figure.nowhere)
    for plan in figure.plans:
        if why := missing(paper, plan, folder):
            return Judged(figure, NOT_RUN, why=f"{why}`tidemark paper {paper.name} {figure.id}` runs it")
    look, other = (
        look_in(stored.load(paper, plan, folder), paper, plan)
        for plan in (figure.plan, figure.without_plan or figure.plan)
    )
    try:
        verdict, outcomes = predicate.judged(figure.claim, look, figure.exact)
        without, more = predicate.judged(figure.without, other, figure.exact) if figure.without else ("", [])
    except LabError as error:
        raise LabError(f"{paper.name}, figure {figure.id}: {error}") from None
    return Judged(figure, verdict, outcomes, without, more)


def ledger(judged: Sequence[Judged]) -> dict[str, int]:
    """How many figures have each verdict."""
    return {name: sum(one.verdict == name for one in judged) for name in VERDICTS}


def changed(paper: Paper, judged: Sequence[Judged], folder: Path = stored.RESULTS) -> list[str]:
    """Sentences on the verdicts that differ from the stored ones."""
    before = stored.verdicts(paper, folder)
    now = {one.figure.id: one.verdict for one in judged}
    return [
        f"{paper.name} {name}: stored {before.get(name, 'nothing')}, computed {now.get(name, 'nothing')}"
        for name in dict.fromkeys([*before, *now])
        if before.get(name) != now.get(name)
    ]
