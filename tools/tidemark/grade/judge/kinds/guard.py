"""Kind `guard`: how long a run takes with the student's guard, as a part of its time without one; both are measured.

The run without one uses a kernel built from release files alone, with the starter's guard in place of the student's.

Time is QEMU's virtual clock at the end, so it counts no matter what the kernel says. That the programs did their
work shows in the instructions that each of them executed, which hardly depend on waiting; and the workloads
end with a status other than 0 if a byte of theirs is lost.

If a machine thrashes, a run may take several times as long after a small change in the kernel, or with another first
position of the disk (jitter=). One such run says little about a guard, so each side is run several times, and the
medians of the times are compared: one bad course of events in five does not move a median, as it would a sum.

Options:
    run                     the command; vm, mem, swap: as for `make qemu`
    guard                   name of the guard (token)
    jitters                 the number of runs, with jitter=1 to this number: their medians count (default: one run)
    full, none              shares of the time without a guard: full points up to `full`, none from `none` on
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np

from tidemark.grade.model import Outcome, Test, Verdict, scaled, wrong
from tidemark.grade.witness import baseline, boot_cache
from tidemark.grade.witness.boot import NO_REFS, Boot
from tidemark.grade.witness.evidence import READ, Evidence
from tidemark.grade.witness.machine import Machine, jitters, trouble

BUDGET = 4_000_000_000
SETTINGS = ("vm", "mem", "swap")
SMALL = 1_000_000  # instructions: programs that execute fewer do not count
TOLERANCE = 0.01  # an instruction that faults is started twice
POINTS = 60


def settings_of(test: Test) -> dict[str, Any]:
    """Options of a run that measures time. References are not recorded: there would be millions."""
    return {name: str(test.options[name]) for name in SETTINGS if name in test.options} | {
        "refs": NO_REFS,
        "budget": BUDGET,
    }


def without(test: Test, machine: Machine, run: str, jitter: str = "") -> Boot:
    """A run without a guard, of a kernel built from release files alone."""
    return boot_cache.boot(baseline.machine(machine), run, cmdline=f"guard=none {jitter}", **settings_of(test))


def both(test: Test, machine: Machine) -> list[tuple[Boot, Boot]]:
    """The runs without a guard and with the student's, for each jitter."""
    run, guard, settings = str(test.options["run"]), str(test.options.get("guard", "token")), settings_of(test)
    return [
        (without(test, machine, run, each), boot_cache.boot(machine, run, cmdline=f"guard={guard} {each}", **settings))
        for each in jitters(test)
    ]


def failures(runs: Sequence[tuple[Boot, Boot]]) -> Verdict | None:
    """The verdict on the first run that did not end well; None if all did."""
    said = (failure(none, "without a guard") or failure(mine, "with the guard") for none, mine in runs)
    return next(filter(None, said), None)


def medians(runs: Sequence[tuple[Boot, Boot]]) -> tuple[float, float]:
    """(median seconds of the runs without a guard, of those with the student's)."""
    none, mine = (median(run.evidence.virtual_ns for run in side) / 1e9 for side in zip(*runs))
    return none, mine


def failure(run: Boot, how: str) -> Verdict | None:
    """The verdict on a run that did not end well; None if it did."""
    if run.outcome is Outcome.RIGHT:
        return None
    return trouble(run) or wrong(f"{how}: {run.reason}")


def work(evidence: Evidence) -> np.ndarray:
    """Instructions of each program that counts, in descending order."""
    done = np.sort(evidence.user_instructions)[::-1]
    return done[done >= SMALL].astype(np.int64)


def shirked(none: Evidence, mine: Evidence) -> str:
    """The work that was done in one run and not in the other, in words; empty if there is none."""
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
    """Run the command without a guard and with the student's, and compare."""
    runs = both(test, machine)
    failed = failures(runs)
    if failed:
        return failed
    missing = next(filter(None, (shirked(none.evidence, mine.evidence) for none, mine in runs)), "")
    if missing:
        return wrong(missing)
    (none, mine), seconds = runs[0], medians(runs)
    several = f" (medians of {len(runs)} runs with other jitters)" if len(runs) > 1 else ""
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
