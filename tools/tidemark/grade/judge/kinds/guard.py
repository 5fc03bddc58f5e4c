"""Kind `guard`: how long a run takes with the student's guard, as a part of what it takes without, both measured here.

The run without is made with a kernel of our files alone, which has the starter's guard in the place of the student's.

Time is QEMU's virtual clock at the end, so that it counts no matter what the kernel says. That the programs did their
work shows in the instructions that each of them executed, which hardly depend on who waits for whom; and the workloads
end with a status that is not 0 when a byte of theirs is lost.

Options:
    run                     what runs; vm, mem, swap: as for `make qemu`
    guard                   name of the guard (token)
    full, none              of the time without a guard: full points up to this share, none from this one on
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidemark.grade.model import Outcome, Test, Verdict, scaled, wrong
from tidemark.grade.witness import baseline, boot_cache
from tidemark.grade.witness.boot import Boot
from tidemark.grade.witness.evidence import READ, Evidence
from tidemark.grade.witness.machine import Machine, trouble

BUDGET = 4_000_000_000
SETTINGS = ("vm", "mem", "swap")
SMALL = 1_000_000  # instructions: who executes fewer is not what the run is about
TOLERANCE = 0.01  # an instruction that faults is begun twice
POINTS = 60


def settings_of(test: Test) -> dict[str, Any]:
    """Options of a run that measures time: references would be millions."""
    return {name: str(test.options[name]) for name in SETTINGS if name in test.options} | {
        "refs": False,
        "budget": BUDGET,
    }


def without(test: Test, machine: Machine, run: str) -> Boot:
    """A run without a guard, of a kernel that is ours alone."""
    return boot_cache.boot(baseline.machine(machine), run, cmdline="guard=none", **settings_of(test))


def both(test: Test, machine: Machine) -> tuple[Boot, Boot]:
    """The run without a guard and with the student's."""
    run, guard = str(test.options["run"]), str(test.options.get("guard", "token"))
    return without(test, machine, run), boot_cache.boot(machine, run, cmdline=f"guard={guard}", **settings_of(test))


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
    """Run it twice, and compare."""
    none, mine = both(test, machine)
    failed = failure(none, "without a guard") or failure(mine, "with the guard")
    if failed:
        return failed
    missing = shirked(none.evidence, mine.evidence)
    if missing:
        return wrong(missing)
    seconds = [run.evidence.virtual_ns / 1e9 for run in (none, mine)]
    said = (
        f"`{test.options['run']}`: {seconds[0]:.1f} s without a guard, {seconds[1]:.1f} s with it. Share of that time"
    )
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
