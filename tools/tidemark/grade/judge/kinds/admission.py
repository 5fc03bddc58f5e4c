"""Kind `admission`: how many of several processes are at work at a time, when not all of them fit into memory.

A command starts processes that each need many pages, such as thrash. Who executes instructions when is seen from
outside. Who has less than a twentieth of a short time is not at work in it. Options:

    run, processes    the command, and how many processes it starts: those that execute most
    vm, frames, swap, set    as in the kind `faults`
    work              as in tidemark.grade.judge.work
    full, none        up to so many at a time, on average over the run, give all points, from so many on none
    hint              what to think about, for those who have not got them all
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tidemark.grade.judge import work
from tidemark.grade.model import Test, Verdict, scaled
from tidemark.grade.witness.boot import NO_REFS, Boot
from tidemark.grade.witness.evidence import READ, SWITCH, Evidence
from tidemark.grade.witness.machine import Machine
from tidemark.grade.witness.playback import obstacle

WINDOW = 4_000_000  # a short time: instructions of programs
AT_WORK = 0.05


def workers(evidence: Evidence, count: int) -> list[int]:
    """The spaces that executed most instructions, in order of appearance."""
    return sorted(np.argsort(evidence.user_instructions)[::-1][:count].tolist())


def turns(evidence: Evidence) -> list[tuple[int, int, int]]:
    """(space, from, to), in instructions of programs, for each time that a space ran."""
    switches = evidence.events[evidence.events["kind"] == SWITCH]
    begins = switches["user"].astype(np.int64)
    ends = np.append(begins[1:], int(evidence.events["user"][-1]))
    rows = zip(switches["space"].tolist(), begins.tolist(), ends.tolist())
    return [(space, begin, end) for space, begin, end in rows if end > begin]


def shares(evidence: Evidence, spaces: Sequence[int], window: int = WINDOW) -> np.ndarray:
    """f8[windows, spaces]: which part of each short time, so many instructions of programs, a space had."""
    made = np.zeros((int(evidence.events["user"][-1]) // window + 1, evidence.nr_spaces))
    for space, begin, end in turns(evidence):
        for at in range(begin // window, (end - 1) // window + 1):
            made[at, space] += min(end, (at + 1) * window) - max(begin, at * window)
    return made[:, spaces] / window


def at_once(evidence: Evidence, spaces: Sequence[int]) -> float:
    """How many of these spaces were at work at a time, on average over windows in which they had most of the time."""
    parts = shares(evidence, spaces)
    counted = parts[parts.sum(axis=1) > 0.5]
    return float((counted > AT_WORK).sum(axis=1).mean()) if len(counted) else 0.0


def ran(test: Test, machine: Machine) -> Boot:
    """The run of the test's command."""
    options = {name: test.options[name] for name in ("swap", "frames") if name in test.options}
    command = " ".join(["sample_ms=0", *test.options.get("set", ())])
    return machine.boot(str(test.options["run"]), vm=str(test.options["vm"]), cmdline=command, refs=NO_REFS, **options)


def judge(test: Test, machine: Machine) -> Verdict:
    """Run it, and measure."""
    boot = ran(test, machine)
    if stopped := obstacle(boot) or work.undone(test, machine, boot, lambda ours: ran(test, ours)):
        return stopped
    found = round(at_once(boot.evidence, workers(boot.evidence, int(test.options["processes"]))), 2)
    figures = {"swap_ins": int((boot.evidence.events["kind"] == READ).sum()), "at_once": found}
    what = "processes at work at a time, on average"
    made = scaled(found, float(test.options["full"]), float(test.options["none"]), what, figures=figures)
    if made.fraction < 1 and "hint" in test.options:
        return replace(made, message=f"{made.message}\n{test.options['hint']}")
    return made
