"""Kind `admission`: how many processes are at work at a time, if not all of them fit into memory.

A command starts processes that each need many pages, such as thrash. The plugin shows from outside which process
executes instructions at what time. A process with less than a twentieth of a short time is not at work in it. Options:

    run, processes    the command, and the number of its processes: those that execute most
    vm, frames, swap, set, budget    as in the kind `faults`
    work              as in tidemark.grade.judge.work
    full, none        processes at a time, on average over the run: all points up to `full`, none from `none` on
    hint              a hint for students without all points
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

WINDOW = 4_000_000  # the short time, in instructions of programs
AT_WORK = 0.05


def workers(evidence: Evidence, count: int) -> list[int]:
    """The `count` spaces that executed most instructions, in order of appearance."""
    return sorted(np.argsort(evidence.user_instructions)[::-1][:count].tolist())


def turns(evidence: Evidence) -> list[tuple[int, int, int]]:
    """(space, from, to), in instructions of programs, for each time that a space ran."""
    switches = evidence.events[evidence.events["kind"] == SWITCH]
    begins = switches["user"].astype(np.int64)
    ends = np.append(begins[1:], int(evidence.events["user"][-1]))
    rows = zip(switches["space"].tolist(), begins.tolist(), ends.tolist())
    return [(space, begin, end) for space, begin, end in rows if end > begin]


def shares(evidence: Evidence, spaces: Sequence[int], window: int = WINDOW) -> np.ndarray:
    """f8[windows, spaces]: the part of each `window` (in instructions of programs) that a space had."""
    made = np.zeros((int(evidence.events["user"][-1]) // window + 1, evidence.nr_spaces))
    for space, begin, end in turns(evidence):
        for at in range(begin // window, (end - 1) // window + 1):
            made[at, space] += min(end, (at + 1) * window) - max(begin, at * window)
    return made[:, spaces] / window


def at_once(evidence: Evidence, spaces: Sequence[int]) -> float:
    """The number of spaces at work at a time, on average over windows in which the spaces had most of the time."""
    parts = shares(evidence, spaces)
    counted = parts[parts.sum(axis=1) > 0.5]
    return float((counted > AT_WORK).sum(axis=1).mean()) if len(counted) else 0.0


def ran(test: Test, machine: Machine) -> Boot:
    """The run of the test's command."""
    options = {name: test.options[name] for name in ("swap", "frames", "budget") if name in test.options}
    command = " ".join(["sample_ms=0", *test.options.get("set", ())])
    return machine.boot(str(test.options["run"]), vm=str(test.options["vm"]), cmdline=command, refs=NO_REFS, **options)


def judge(test: Test, machine: Machine) -> Verdict:
    """Run the command, and measure."""
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
