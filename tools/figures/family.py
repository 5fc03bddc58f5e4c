"""The family of cells: guards on many workloads and machines instead of one, with replicates, and against stated goals.

A cell is a workload on a machine (family.toml). Each side, a policy with or without a guard, runs it with the same
replicates (tidemark.runs.replicates), and every comparison is a claim about the pairs (tidemark.runs.claims). The goals
were set before the guards were changed for them. A second family is drawn from a seed: no guard was tuned to it.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import mean, median

from tidemark.errors import FAILED, LabError
from tidemark.runs import bound, claims, replicates

from figures.common import Outcome, digits, host, in_parallel, measure, table
from figures.entries import ROOT, Figure, tomllib

FAMILY = ROOT / "tools/figures/family.toml"
REPLICATES = range(1, 7)  # the least number with which anything can be told apart
MACHINE = {"mem": "16M", "swap": "sim:hdd"}
JOB = "thrash {jobs} {kib} 6 3000"
SIDES = {"none": ("2q", "none"), "ws": ("ws", "none"), "serialize": ("2q", "serialize")}
GUARDS = ("ws", "serialize")
SPREAD = 2.0  # a cell whose runs without a guard differ by more than this factor is reported apart
DRAWN_CELLS, DRAWN_SEED = 5, 20261126

# For each goal what is asked of ws and of serialize, as measurement and text.
BOUND = {"ws": (1.6, 2.5), "serialize": (1.4, 1.8)}  # by-turns bound: the median of each cell, the worst replicate
HARM, SMALL, WAKE_MS, FAIRNESS = 1.1, (1.2, 50.0), 100.0, 1.5


@dataclass(frozen=True)
class Cell:
    """One workload on one machine; family.toml says what the fields are."""

    name: str
    run: str
    machine: Mapping[str, str] = field(default_factory=dict)
    bound: Mapping[str, int] = field(default_factory=dict)
    equal: bool = False
    interactive: bool = False
    small: str = ""


@dataclass(frozen=True)
class Measured:
    """One run: seconds until all has ended, seconds of each process, and of the interactive process in ms."""

    total_s: float
    ends_s: Sequence[float]
    wake_p99_ms: float
    small_s: float


def cells(file: Path) -> list[Cell]:
    """The cells of a table."""
    return [Cell(**entry) for entry in tomllib.loads(file.read_text())["cell"]]


def drawn(seed: int, number: int) -> list[Cell]:
    """`number` cells: equal jobs of any number, size, memory and disk; together they need 1.2 to 3 times the memory."""
    rng, found = random.Random(seed), []
    while len(found) < number:
        mem, jobs = rng.choice((12, 16, 20, 32)), rng.randint(2, 16)
        kib = int(mem * 1024 * rng.uniform(1.2, 3) / jobs)
        rounds, work = rng.randint(2, 12), rng.choice((1000, 3000, 10000))
        swap = rng.choice(("sim:hdd", "sim:hdd", "sim:ssd"))
        machine = {"mem": f"{mem}M", "swap": swap}
        name = f"{jobs} jobs of {kib / 1024:.1f} MiB, {rounds} rounds, work {work}, in {mem} MiB, {swap[4:]}"
        found.append(Cell(name, f"thrash {jobs} {{size:{kib}}} {rounds} {work}", machine, equal=True))
    return found


def run_of(run: str, machine: Mapping[str, str], side: str, replicate: int | None) -> Outcome:
    """A run of a command under one side, with what the replicate draws, or as written."""
    policy, guard = SIDES[side]
    drawn = {} if replicate is None else {replicates.REPLICATE: replicate}
    one = replicates.expanded({"workload": run, **drawn})
    words = [f"{name}={one[name]}" for name in replicates.DRAWN if name in one]
    command = str(one["workload"]).replace("{seed}", str(one.get("seed", 1)))
    cmdline = " ".join((f"guard={guard}", "sample_ms=1000", *words))
    return measure(command, telemetry=True, vm=policy, cmdline=cmdline, timeout=1800, **{**MACHINE, **machine})


def turnarounds(run: Outcome) -> list[tuple[str, float]]:
    """Name and seconds from start to end of each process that used the processor for a millisecond."""
    return [(one["comm"], one["turnaround_us"] / 1e6) for one in run.records("exit") if one["us"][0] > 1000]


def measured(case: tuple[Cell, str, int]) -> Measured:
    """One replicate of a cell under one side."""
    cell, side, replicate = case
    run = run_of(cell.run, cell.machine, side, replicate)
    ends = turnarounds(run)
    wake = run.number(r"^R interactive_wake .* p99=([\d.]+)") / 1000 if cell.interactive else 0.0
    small = max((s for name, s in ends if cell.small.startswith(name)), default=0.0) if cell.small else 0.0
    return Measured(run.named("total_s"), [s for _, s in ends], wake, small)


@cache
def least_s(jobs: int, kib: int) -> float:
    """The least time of `jobs` equal jobs in MACHINE if the disk and the processor take turns, in seconds."""
    return batch_and_least(jobs, kib)[1].by_turns_s


def batch_and_least(jobs: int, kib: int) -> tuple[bound.Batch, bound.Least]:
    """All jobs, from the run of one job alone on an empty machine, and the least time that they take together."""
    run = run_of(JOB.format(jobs=1, kib=kib), {}, "none", None)
    ((_, alone_s),) = turnarounds(run)
    fill_s = run.number(r"^P 0 fill_us=(\d+)") / 1e6
    batch = bound.Batch(jobs, kib // 4, fill_s, alone_s - fill_s)
    free_kib = run.number(r"^memory: .* (\d+) KiB free")
    return batch, bound.least(batch, int(free_kib) // 4, bound.disk_of(run.console))


Runs = dict[str, dict[int, Measured]]  # of one cell: by side and replicate


def tried(case: tuple[Cell, str, int]) -> Measured | str:
    """A replicate, or the last line of the error if the run failed."""
    try:
        return measured(case)
    except LabError as error:
        if error.code != FAILED:
            raise
        return str(error).strip().splitlines()[-1]


def measure_all(family: Sequence[Cell]) -> tuple[dict[str, Runs], list[str]]:
    """Every replicate of each cell under each side, by the cell's name; and which runs failed, with the reason."""
    cases = [(cell, side, replicate) for replicate in REPLICATES for cell in family for side in SIDES]
    found: dict[str, Runs] = {cell.name: {side: {} for side in SIDES} for cell in family}
    failed = []
    for (cell, side, replicate), one in zip(cases, in_parallel(tried, cases)):
        if isinstance(one, str):
            failed.append(f"{cell.name}, {side}, replicate {replicate}: {one}")
        else:
            found[cell.name][side][replicate] = one
    return {name: runs for name, runs in found.items() if all(runs.values())}, failed


def totals(runs: Mapping[int, Measured]) -> list[float]:
    """Seconds of each replicate until everything has ended."""
    return [one.total_s for one in runs.values()]


def claim(runs: Runs, side: str) -> claims.Claim:
    """How many times as long as without a guard a side takes."""
    none, guarded = (
        {("", "", "", str(replicate)): one.total_s for replicate, one in runs[of].items()} for of in ("none", side)
    )
    found = claims.of(none, guarded, sized=True)
    assert found is not None  # seconds are positive, and both sides have the same replicates unless one failed
    return found


def bimodal(runs: Runs) -> bool:
    """Do the runs without a guard spread too far for a comparison?"""
    return max(totals(runs["none"])) > SPREAD * min(totals(runs["none"]))


def ratio(one: claims.Claim) -> str:
    """A claim in a cell of a table."""
    if one.too_few:
        return one.too_few
    return f"{digits(one.ratio)} ({digits(one.low)} to {digits(one.high)})" + (", turns" if one.turns else "")


def spread(values: Sequence[float]) -> str:
    """Median and range, also of equal values."""
    return f"{digits(median(values))} ({digits(min(values))} to {digits(max(values))})"


def of_cells(family: Sequence[Cell], found: Mapping[str, Runs]) -> str:
    """The table of the cells: seconds of each side, and the ratios to no guard."""
    rows = []
    for cell in family:
        if cell.name in found:
            runs = found[cell.name]
            columns = [part for side in GUARDS for part in (spread(totals(runs[side])), ratio(claim(runs, side)))]
            mark = ", apart" if bimodal(runs) else ""
            rows.append((cell.name + mark, f"`{replicates.nominal(cell.run)}`", spread(totals(runs["none"])), *columns))
    titles = ("cell", "workload", "no guard, s", *(f"{side}{what}" for side in GUARDS for what in (", s", " / none")))
    return table(titles, rows, text_columns=2)


def over_bound(family: Sequence[Cell], found: Mapping[str, Runs], side: str) -> tuple[bool, str]:
    """The goal on the time over the least time: the greatest median of a cell, and the worst replicate of any."""
    asked_median, asked_worst = BOUND[side]
    ratios = {
        cell.name: [s / least_s(**cell.bound) for s in totals(found[cell.name][side])]
        for cell in family
        if cell.bound and cell.name in found
    }
    medians = {name: median(values) for name, values in ratios.items()}
    worst = max(max(values) for values in ratios.values())
    met = max(medians.values()) <= asked_median and worst <= asked_worst
    listed = ", ".join(f"{digits(value)}" for value in medians.values())
    return met, f"{listed} (worst {digits(worst)}); asked {asked_median} ({asked_worst})"


def harm(family: Sequence[Cell], found: Mapping[str, Runs], side: str) -> tuple[bool, str]:
    """The goal on every cell: the upper end of the interval of the ratio to no guard. Cells apart do not count."""
    said = {cell.name: claim(found[cell.name], side) for cell in family if cell.name in found}
    counted = {name: one for name, one in said.items() if not bimodal(found[name])}
    over = [f"{name} {one.too_few or digits(one.high)}" for name, one in counted.items() if one.high > HARM]
    return not over, f"{len(counted) - len(over)} of {len(counted)} cells" + (
        ": not " + "; ".join(over) if over else ""
    )


def small_jobs(family: Sequence[Cell], found: Mapping[str, Runs], side: str) -> tuple[bool, str]:
    """The goal on the turnaround of a small job: its time alone by a factor, and a constant; median and worst."""
    met, said = True, []
    for cell in family:
        if cell.small and cell.name in found:
            alone = max(s for _, s in turnarounds(run_of(cell.small, {}, "none", None)))
            limit = SMALL[0] * alone + SMALL[1] / 1000
            values = [one.small_s for one in found[cell.name][side].values()]
            met = met and max(values) <= limit
            said.append(f"{spread(values)} s; asked {digits(limit)} s")
    return met, "; ".join(said)


def wakes(family: Sequence[Cell], found: Mapping[str, Runs], side: str) -> tuple[bool, str]:
    """The goal on an interactive process: the 99th of 100 wakes, in ms; median and worst of the replicates."""
    values = {
        cell.name: [one.wake_p99_ms for one in found[cell.name][side].values()]
        for cell in family
        if cell.interactive and cell.name in found
    }
    met = all(max(some) <= WAKE_MS for some in values.values())
    return met, "; ".join(f"{name}: {spread(some)} ms" for name, some in values.items())


def fairness(family: Sequence[Cell], found: Mapping[str, Runs], side: str) -> tuple[bool, str]:
    """The goal on equal jobs: the worst turnaround over the mean, the median of each cell."""
    values = {
        cell.name: median(max(one.ends_s) / mean(one.ends_s) for one in found[cell.name][side].values())
        for cell in family
        if cell.equal and cell.name in found
    }
    over = [f"{name} {digits(value)}" for name, value in values.items() if value > FAIRNESS]
    return not over, f"at most {digits(max(values.values()))}" + (": not " + "; ".join(over) if over else "")


GOALS = {
    "time over the time by turns, in the four overload cells": over_bound,
    f"at most {HARM} times the time without a guard, upper end": harm,
    f"turnaround of a small job: {SMALL[0]} × alone + {SMALL[1]:.0f} ms": small_jobs,
    f"99 of 100 interactive wakes within {WAKE_MS:.0f} ms": wakes,
    f"worst turnaround of equal jobs at most {FAIRNESS} × mean": fairness,
}


def goals(family: Sequence[Cell], found: Mapping[str, Runs]) -> str:
    """The table of the goals: whether each side meets them, and the numbers."""
    rows = []
    for name, goal in GOALS.items():
        results = [goal(family, found, side) for side in GUARDS]
        rows.append((name, *(f"{'met' if met else '**missed**'}: {said}" for met, said in results)))
    return table(("goal", *GUARDS), rows, text_columns=1 + len(GUARDS))


def said_of(failed: Sequence[str]) -> str:
    """The runs that failed, as a paragraph."""
    return "\n\nNot counted, since they failed: " + "; ".join(failed) + "." if failed else ""


def make(figure: Figure, work: Path) -> dict[str, str]:
    family, second = cells(FAMILY), drawn(DRAWN_SEED, DRAWN_CELLS)
    found, failed = measure_all([*family, *second])
    start = f"{len(REPLICATES)} replicates; 16 MiB and a hard disk unless stated; {host()}.\n\n"
    return {
        "family": start + of_cells(family, found) + said_of(failed),
        "family-goals": goals(family, found),
        "family-second": f"Seed {DRAWN_SEED}.\n\n" + of_cells(second, found),
    }
