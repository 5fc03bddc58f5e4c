"""The family of cells: guards on many workloads and machines instead of one, with replicates, and against stated goals.

A cell is a workload on a machine (family.toml). Each side, a policy with or without a guard, runs it with the same
replicates (tidemark.runs.replicates), and every comparison is a claim about the pairs (tidemark.runs.claims). A second
family is drawn from a seed: no guard was tuned to it.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import inf
from pathlib import Path
from statistics import mean, median

from tidemark.errors import FAILED, LabError
from tidemark.runs import bound, claims, replicates

from figures.common import Outcome, digits, host, in_parallel, measure, spread, table
from figures.entries import ROOT, Figure, tomllib

FAMILY = ROOT / "tools/figures/family.toml"
REPLICATES = range(1, 11)
MACHINE = {"mem": "16M", "swap": "sim:hdd"}
JOBS = "thrash {jobs} {kib} 6 3000"
SIDES = {"none": ("2q", "none"), "ws": ("ws", "none"), "serialize": ("2q", "serialize")}  # policy and guard
GUARDS = ("ws", "serialize")
DRAWN_CELLS, DRAWN_SEED = 10, 20261126

BOUND = {"ws": (1.6, 2.5), "serialize": (1.4, 1.8)}  # time over the time by turns: median of any cell, worst replicate
HARM = 1.1  # time over that without a guard: upper end of the interval
APART = 2.0  # a cell whose runs without a guard differ by more than this factor does not count for HARM
SMALL = (1.2, 0.05)  # turnaround of a small job: factor of its time alone, and seconds added
WAKE_MS = 100.0  # of 100 interactive wakes 99 take at most this
FAIRNESS = 1.5  # worst turnaround of equal jobs over their mean


@dataclass(frozen=True)
class Cell:
    """One workload on one machine; family.toml says what the fields are."""

    name: str
    run: str
    machine: Mapping[str, str] = field(default_factory=dict)
    overload: bool = False
    equal: bool = False
    interactive: bool = False
    small: str = ""


@dataclass(frozen=True)
class Measured:
    """One run: seconds from power-on until all has ended; seconds from start to end of each process that used the
    processor for a millisecond; 99th of 100 interactive wakes, in ms; seconds of the small job. 0 if there is none."""

    total_s: float
    turnarounds_s: Sequence[float]
    wake_p99_ms: float
    small_s: float


Runs = dict[str, dict[int, Measured]]  # of one cell: by side and replicate
Found = Sequence[tuple[Cell, Runs]]


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


def run_of(run: str, machine: Mapping[str, str], side: tuple[str, str], replicate: int | None) -> Outcome:
    """A run of a command under a policy and a guard, with what the replicate draws, or as written."""
    policy, guard = side
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
    run = run_of(cell.run, cell.machine, SIDES[side], replicate)
    ends = turnarounds(run)
    wake = run.number(r"^R interactive_wake .* p99=([\d.]+)") / 1000 if cell.interactive else 0.0
    small = dict(ends)[cell.small.split()[0]] if cell.small else 0.0
    return Measured(run.named("total_s"), [s for _, s in ends], wake, small)


def batch_and_least(jobs: int, kib: int) -> tuple[bound.Batch, bound.Least]:
    """All jobs, from the run of one job alone on an empty machine, and the least time that they take together."""
    run = run_of(JOBS.format(jobs=1, kib=kib), {}, SIDES["none"], None)
    ((_, alone_s),) = turnarounds(run)
    fill_s = run.number(r"^P 0 fill_us=(\d+)") / 1e6
    batch = bound.Batch(jobs, kib // 4, fill_s, alone_s - fill_s)
    free_kib = run.number(r"^memory: .* (\d+) KiB free")
    return batch, bound.least(batch, int(free_kib) // 4, bound.disk_of(run.console))


@cache
def least_s(run: str) -> float:
    """The least time of an overload cell's jobs, `run`, if the disk and the processor take turns, in seconds."""
    _, jobs, kib, *_ = replicates.nominal(run).split()
    return batch_and_least(int(jobs), int(kib))[1].by_turns_s


def tried(case: tuple[Cell, str, int]) -> Measured | str:
    """A replicate, or the last line of the error if the run failed."""
    try:
        return measured(case)
    except LabError as error:
        if error.code != FAILED:
            raise
        return str(error).strip().splitlines()[-1]


def measure_all(family: Sequence[Cell]) -> tuple[Found, list[str]]:
    """Every replicate of each cell under each side; and which runs failed, with the reason. A cell of which a side has
    no run is left out."""
    cases = [(cell, side, replicate) for replicate in REPLICATES for cell in family for side in SIDES]
    found: dict[str, Runs] = {cell.name: {side: {} for side in SIDES} for cell in family}
    failed = []
    for (cell, side, replicate), one in zip(cases, in_parallel(tried, cases)):
        if isinstance(one, str):
            failed.append(f"{cell.name}, {side}, replicate {replicate}: {one}")
        else:
            found[cell.name][side][replicate] = one
    return [(cell, found[cell.name]) for cell in family if all(found[cell.name].values())], failed


def totals(runs: Runs, side: str) -> list[float]:
    """Seconds of each replicate of a side."""
    return [one.total_s for one in runs[side].values()]


def claim(runs: Runs, side: str) -> claims.Claim | None:
    """How many times as long as without a guard a side takes. None if no replicate of both was measured."""
    none, guarded = (
        {("", "", "", str(replicate)): one.total_s for replicate, one in runs[of].items()} for of in ("none", side)
    )
    return claims.of(none, guarded, sized=True)


def apart(runs: Runs) -> bool:
    """Do the runs without a guard differ too much for a comparison?"""
    return max(totals(runs, "none")) > APART * min(totals(runs, "none"))


def ratio(runs: Runs, side: str) -> str:
    """The claim about a side in a cell of a table."""
    one = claim(runs, side)
    if one is None or one.too_few:
        return one.too_few if one else "no pair"
    return f"{digits(one.ratio)} ({digits(one.low)} to {digits(one.high)})" + (", turns" if one.turns else "")


def of_cells(found: Found) -> str:
    """The table of the cells: seconds of each side, and the ratios to no guard."""
    rows = []
    for cell, runs in found:
        columns = [part for side in GUARDS for part in (spread(totals(runs, side)), ratio(runs, side))]
        mark = ", apart" if apart(runs) else ""
        rows.append((cell.name + mark, f"`{replicates.nominal(cell.run)}`", spread(totals(runs, "none")), *columns))
    titles = ("cell", "workload", "no guard, s", *(f"{side}{what}" for side in GUARDS for what in (", s", " / none")))
    return table(titles, rows, text_columns=2)


def over_bound(found: Found, side: str) -> tuple[bool, str]:
    """The goal on overload cells: time over the least time by turns."""
    most, worst_asked = BOUND[side]
    ratios = [[s / least_s(cell.run) for s in totals(runs, side)] for cell, runs in found if cell.overload]
    medians, worst = list(map(median, ratios)), max(map(max, ratios))
    said = f"{', '.join(map(digits, medians))} (worst {digits(worst)}); asked {most} ({worst_asked})"
    return max(medians) <= most and worst <= worst_asked, said


def harm(found: Found, side: str) -> tuple[bool, str]:
    """The goal on every cell that is not apart: time over that without a guard."""
    said = {cell.name: claim(runs, side) for cell, runs in found if not apart(runs)}
    high = {name: one.high if one else inf for name, one in said.items()}
    over = [f"{name} {digits(value) if value < inf else 'no claim'}" for name, value in high.items() if value > HARM]
    return not over, f"{len(high) - len(over)} of {len(high)} cells{but(over)}"


def small_jobs(found: Found, side: str) -> tuple[bool, str]:
    """The goal on the turnaround of a small job."""
    met, said = True, []
    for cell, runs in found:
        if cell.small:
            ((_, alone_s),) = turnarounds(run_of(cell.small, {}, SIDES["none"], None))
            limit = SMALL[0] * alone_s + SMALL[1]
            values = [one.small_s for one in runs[side].values()]
            met = met and max(values) <= limit
            said.append(f"{spread(values)} s; asked {digits(limit)} s")
    return met, "; ".join(said)


def wakes(found: Found, side: str) -> tuple[bool, str]:
    """The goal on an interactive process."""
    values = {cell.name: [one.wake_p99_ms for one in runs[side].values()] for cell, runs in found if cell.interactive}
    met = all(max(some) <= WAKE_MS for some in values.values())
    return met, "; ".join(f"{name}: {spread(some)} ms" for name, some in values.items())


def fairness(found: Found, side: str) -> tuple[bool, str]:
    """The goal on equal jobs behind a barrier: the median of each cell."""
    values = {
        cell.name: median(max(one.turnarounds_s) / mean(one.turnarounds_s) for one in runs[side].values())
        for cell, runs in found
        if cell.equal
    }
    over = [f"{name} {digits(value)}" for name, value in values.items() if value > FAIRNESS]
    return not over, f"at most {digits(max(values.values()))}{but(over)}"


def but(over: Sequence[str]) -> str:
    """The cells that miss a goal, as the end of a sentence."""
    return f": not {'; '.join(over)}" if over else ""


GOALS = {
    "time over the time by turns, in the four overload cells": over_bound,
    f"at most {HARM} times the time without a guard, upper end": harm,
    f"turnaround of a small job: {SMALL[0]} × alone + {1000 * SMALL[1]:.0f} ms": small_jobs,
    f"99 of 100 interactive wakes within {WAKE_MS:.0f} ms": wakes,
    f"worst turnaround of equal jobs at most {FAIRNESS} × mean": fairness,
}


def goals(found: Found) -> str:
    """The table of the goals: whether each side meets them, and the numbers."""
    rows = []
    for name, goal in GOALS.items():
        results = [goal(found, side) for side in GUARDS]
        rows.append((name, *(f"{'met' if met else '**missed**'}: {said}" for met, said in results)))
    return table(("goal", *GUARDS), rows, text_columns=1 + len(GUARDS))


def make(figure: Figure, work: Path) -> dict[str, str]:
    family, second = cells(FAMILY), drawn(DRAWN_SEED, DRAWN_CELLS)
    (found, failed), (found_second, failed_second) = measure_all(family), measure_all(second)
    start = f"{len(REPLICATES)} replicates; 16 MiB and a hard disk unless stated; {host()}.\n\n"
    return {
        "family": start + of_cells(found) + not_counted(failed),
        "family-goals": goals(found),
        "family-second": f"Seed {DRAWN_SEED}.\n\n" + of_cells(found_second) + not_counted(failed_second),
    }


def not_counted(failed: Sequence[str]) -> str:
    """The runs that failed, as a paragraph."""
    return "\n\nNot counted, since they failed: " + "; ".join(failed) + "." if failed else ""
