"""Kind `guard`: how long a run takes with the student's guard, as a part of its time without one; both are measured.

The run without one uses a kernel built from release files alone, with the starter's guard in place of the student's.

Time is QEMU's virtual clock at the end, so it counts no matter what the kernel says. That the programs did their
work shows in the instructions that each of them executed, which hardly depend on waiting; and the workloads
end with a status other than 0 if a byte of theirs is lost.

If a machine thrashes, a run may take several times as long after a small change in the kernel, or with another first
position of the disk (jitter=). One such run says little about a guard, so each side is run several times, and the
medians of the times are compared: one bad course of events in five does not move a median, as it would a sum.

Of five runs with the guard, three decide if they get full points or none: then the median does, too, and the others are
not made. What the runs without a guard came to is measured once per release. A run with the guard is ended if it takes
MOST times as many instructions as the one without it.

Options:
    run                     the command; vm, mem, swap: as for `make qemu`
    guard                   name of the guard (token)
    jitters                 the number of runs, with jitter=1 to this number: their medians count (default: one run)
    full, none              shares of the time without a guard: full points up to `full`, none from `none` on
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np

from tidemark.grade.judge import budget
from tidemark.grade.model import Outcome, Test, Verdict, scaled, wrong
from tidemark.grade.witness import baseline, boot_cache
from tidemark.grade.witness.boot import NO_REFS, Boot
from tidemark.grade.witness.evidence import READ, Evidence
from tidemark.grade.witness.machine import Machine, jitters, trouble
from tidemark.machine import image

BUDGET = 4_000_000_000
MOST = 4
SETTINGS = ("vm", "mem", "swap")
SMALL = 1_000_000  # instructions: programs that execute fewer do not count
TOLERANCE = 0.01  # an instruction that faults is started twice
POINTS = 60


@dataclass(frozen=True)
class Without:
    """What a run without a guard came to. `work`: as in the function `work`; `reads`: as in the function `reads`."""

    seconds: float
    instructions: int
    work: list[int]
    pages: int
    reads: list[list[float]]


class Failed(Exception):
    """A run without a guard did not end well."""

    def __init__(self, run: Boot) -> None:
        super().__init__(run.reason)
        self.run = run

    def verdict(self, how: str = "without a guard") -> Verdict:
        """The verdict on the test."""
        return failure(self.run, how) or wrong(f"{how}: {self.run.reason}")


def settings_of(test: Test) -> dict[str, Any]:
    """Options of a run that measures time. References are not recorded: there would be millions."""
    return {name: str(test.options[name]) for name in SETTINGS if name in test.options} | {
        "refs": NO_REFS,
        "budget": BUDGET,
    }


def without(test: Test, machine: Machine, run: str, jitter: str = "") -> Without:
    """A run without a guard, of a kernel built from release files alone; made once per release. Raises Failed."""
    settings = settings_of(test)
    made_of = baseline.made_of(machine.release, machine.lab)
    key = json.dumps(["no guard", made_of, image.qemu_version(), run, jitter, settings], sort_keys=True)

    def measure() -> dict[str, Any]:
        made = boot_cache.boot(baseline.machine(machine), run, cmdline=f"guard=none {jitter}", **settings)
        if made.outcome is not Outcome.RIGHT:
            raise Failed(made)
        seen = made.evidence
        found = Without(seen.virtual_ns / 1e9, seen.instructions, work(seen).tolist(), seen.count(READ), reads(seen))
        return asdict(found)

    return Without(**budget.once(machine.release, key, measure))


def with_guard(test: Test, machine: Machine, none: Without, jitter: str) -> Boot:
    """The run with the student's guard."""
    settings = settings_of(test) | {"budget": min(BUDGET, MOST * none.instructions)}
    command = f"guard={test.options.get('guard', 'token')} {jitter}"
    return boot_cache.boot(machine, str(test.options["run"]), cmdline=command, **settings)


def decided(shares: Sequence[float], total: int, full: float, none: float) -> bool:
    """Do these of `total` runs determine the points of the median?"""
    most = total // 2 + 1
    return sum(share <= full for share in shares) >= most or sum(share >= none for share in shares) >= most


def failure(run: Boot, how: str) -> Verdict | None:
    """The verdict on a run that did not end well; None if it did."""
    if run.outcome is Outcome.RIGHT:
        return None
    return trouble(run) or wrong(f"{how}: {run.reason}")


def work(evidence: Evidence) -> np.ndarray:
    """Instructions of each program that counts, in descending order."""
    done = np.sort(evidence.user_instructions)[::-1]
    return done[done >= SMALL].astype(np.int64)


def shirked(none: Without, mine: Evidence) -> str:
    """The work that was done in one run and not in the other, in words; empty if there is none."""
    expected, done = none.work, work(mine)
    if len(expected) != len(done):
        return f"with the guard {len(done)} processes computed, without it {len(expected)}"
    for rank, (most, got) in enumerate(zip(expected, done.tolist())):
        if abs(most - got) > TOLERANCE * most:
            return f"with the guard a process executed {got:,} instructions, without it {most:,} (number {rank + 1})"
    return ""


def reads(evidence: Evidence) -> list[list[float]]:
    """Pages read so far, in thousands, against the work that programs had done, in millions of instructions."""
    user = evidence.events["user"][evidence.events["kind"] == READ].astype(np.float64) / 1e6
    chosen: list[int] = np.unique(np.linspace(0, len(user) - 1, POINTS).astype(int)).tolist() if len(user) else []
    return [[round(float(user[k]), 2), round((k + 1) / 1000, 3)] for k in chosen]


def runs_of(test: Test, machine: Machine, none: Sequence[Without], usual: float) -> list[Evidence] | Verdict:
    """The runs with the guard, until they determine the points; or the verdict on one that did not end well, or left
    work undone. `usual`: the median seconds without a guard."""
    full, nothing, made = float(test.options["full"]), float(test.options["none"]), list[Evidence]()
    for jitter, one in zip(jitters(test), none):
        run = with_guard(test, machine, one, jitter)
        if failed := failure(run, "with the guard"):
            return failed
        if missing := shirked(one, run.evidence):
            return wrong(missing)
        made.append(run.evidence)
        if decided([round(each.virtual_ns / 1e9 / usual, 3) for each in made], len(none), full, nothing):
            break
    return made


def judge(test: Test, machine: Machine) -> Verdict:
    """Run the command without a guard and with the student's, and compare."""
    command = str(test.options["run"])
    try:
        none = [without(test, machine, command, jitter) for jitter in jitters(test)]
    except Failed as error:
        return error.verdict()
    usual = median(run.seconds for run in none)
    mine = runs_of(test, machine, none, usual)
    if isinstance(mine, Verdict):
        return mine
    seconds, pages = median(run.virtual_ns / 1e9 for run in mine), mine[0].count(READ)
    several = f" (medians of {len(none)} and {len(mine)} runs with other jitters)" if len(none) > 1 else ""
    said = f"`{command}`: {usual:.1f} s without a guard, {seconds:.1f} s with it{several}. Share of that time"
    plot = {
        "title": command,
        "x": "work done, million instructions",
        "y": "pages read, thousands",
        "lines": {"no guard": none[0].reads, "yours": reads(mine[0])},
    }
    figures = {"seconds without": round(usual, 3), "seconds": round(seconds, 3)}
    figures |= {"pages read without": none[0].pages, "pages read": pages}
    full, nothing = float(test.options["full"]), float(test.options["none"])
    return scaled(round(seconds / usual, 3), full, nothing, said, figures=figures, plot=plot)
