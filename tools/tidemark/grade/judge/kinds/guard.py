"""Kind `guard`: how long a run takes with the student's guard, as a part of what it takes without, both measured here.

The run without is made with a kernel of our files alone, which has the starter's guard in the place of the student's.

Time is QEMU's virtual clock at the end, so that it counts no matter what the kernel says. That the programs did their
work shows in the instructions that each of them executed, which hardly depend on who waits for whom; and the workloads
end with a status that is not 0 when a byte of theirs is lost.

Where a machine thrashes, a run may take several times as long when anything in the kernel is a little different, or the
disk stands elsewhere when it begins (jitter=). One such run says little about a guard: the times of several are added.

Options:
    run                     what runs; vm, mem, swap: as for `make qemu`
    guard                   name of the guard (token)
    jitters                 with jitter=1 to so many, and the sum of their times (once, without any)
    full, none              of the time without a guard: full points up to this share, none from this one on
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tidemark.grade.model import Outcome, Test, Verdict, scaled, wrong
from tidemark.grade.witness import baseline, boot_cache
from tidemark.grade.witness.boot import NO_REFS, Boot
from tidemark.grade.witness.evidence import READ, Evidence
from tidemark.grade.witness.machine import Machine, jitters, trouble

BUDGET = 4_000_000_000
SETTINGS = ("vm", "mem", "swap")
SMALL = 1_000_000  # instructions: who executes fewer is not what the run is about
TOLERANCE = 0.01  # an instruction that faults is begun twice
POINTS = 60


def settings_of(test: Test) -> dict[str, Any]:
    """Options of a run that measures time: references would be millions."""
    return {name: str(test.options[name]) for name in SETTINGS if name in test.options} | {
        "refs": NO_REFS,
        "budget": BUDGET,
    }


def without(test: Test, machine: Machine, run: str, jitter: str = "") -> Boot:
    """A run without a guard, of a kernel that is ours alone."""
    return boot_cache.boot(baseline.machine(machine), run, cmdline=f"guard=none {jitter}", **settings_of(test))


def both(test: Test, machine: Machine) -> list[tuple[Boot, Boot]]:
    """The runs without a guard and with the student's, for each jitter."""
    run, guard, settings = str(test.options["run"]), str(test.options.get("guard", "token")), settings_of(test)
    return [
        (without(test, machine, run, each), boot_cache.boot(machine, run, cmdline=f"guard={guard} {each}", **settings))
        for each in jitters(test)
    ]


def failures(runs: Sequence[tuple[Boot, Boot]]) -> Verdict | None:
    """The verdict on runs of which one did not end well; None: they did."""
    said = (failure(none, "without a guard") or failure(mine, "with the guard") for none, mine in runs)
    return next(filter(None, said), None)


def sums(runs: Sequence[tuple[Boot, Boot]]) -> tuple[float, float]:
    """Seconds that they took without a guard, and with the student's."""
    none, mine = (sum(run.evidence.virtual_ns for run in side) / 1e9 for side in zip(*runs))
    return none, mine


def failure(run: Boot, how: str) -> Verdict | None:
    """The verdict on a run that did not end well; None: it did."""
    if run.outcome is Outcome.RIGHT:
        return None
    return trouble(run) or wrong(f"{how}: {run.reason}")


def work(evidence: Evidence) -> np.ndarray:
    """Instructions of each program that counts, the most first."""
    done = np.sort(evidence.user_instructions)[::-1]
    return done[done >= SMALL].astype(np.int64)


def shirked(none: Evidence, mine: Evidence) -> str:
    """What work was done in one run and not in the other, in words; empty: all of it."""
    expected, done = work(none), work(mine)
    if len(expected) != len(done):
        return f"with the guard {len(done)} processes computed, without it {len(expected)}"
    for rank, (most, got) in enumerate(zip(expected.tolist(), done.tolist())):
        if abs(most - got) > TOLERANCE * most:
            return f"with the guard a process executed {got:,} instructions, without it {most:,} (number {rank + 1})"
    return ""


def reads(evidence: Evidence) -> list[list[float]]:
    """Pages read so far, in thousands, against the work that programs had done, in millions of instructions."""
    user = evidence.events["user"][evidence.events["kind"] == READ].astype(np.float64) / 1e6
    chosen: list[int] = np.unique(np.linspace(0, len(user) - 1, POINTS).astype(int)).tolist() if len(user) else []
    return [[round(float(user[k]), 2), round((k + 1) / 1000, 3)] for k in chosen]


def judge(test: Test, machine: Machine) -> Verdict:
    """Run it without and with, and compare."""
    runs = both(test, machine)
    failed = failures(runs)
    if failed:
        return failed
    missing = next(filter(None, (shirked(none.evidence, mine.evidence) for none, mine in runs)), "")
    if missing:
        return wrong(missing)
    (none, mine), seconds = runs[0], sums(runs)
    several = f", in {len(runs)} runs with other jitters" if len(runs) > 1 else ""
    said = f"`{test.options['run']}`: {seconds[0]:.1f} s without a guard, {seconds[1]:.1f} s with it{several}"
    said += ". Share of that time"
    pages = [run.evidence.count(READ) for run in (none, mine)]
    plot = {
        "title": str(test.options["run"]),
        "x": "work done, million instructions",
        "y": "pages read, thousands",
        "lines": {"no guard": reads(none.evidence), "yours": reads(mine.evidence)},
    }
    figures = {"seconds without": round(seconds[0], 3), "seconds": round(seconds[1], 3)}
    figures |= {"pages read without": pages[0], "pages read": pages[1]}
    full, nothing = float(test.options["full"]), float(test.options["none"])
    return scaled(round(seconds[1] / seconds[0], 3), full, nothing, said, figures=figures, plot=plot)
