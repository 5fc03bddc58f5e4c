"""Kind `runs`: the kernel with the student's code runs a command, ends well, and does not take too long.

Whether it ended well is QEMU's own status. The instructions that a program executed show that it has done its work. Its
references show that frames were handed out soundly: a frame that is cleared or copied into for one program belongs
to that program alone, except for its later children, and until it is filled again, to one page.

Options:
    run                the command; vm, mem, swap, frames, cmdline: as for `make qemu`
    work, reads        as in tidemark.grade.judge.work
    times              of the kernel's instructions, as in tidemark.grade.judge.budget; without it only right or wrong
    budget             instructions after which the run counts as hung
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tidemark.errors import BAD_INPUT, LabError
from tidemark.grade.judge import budget, work
from tidemark.grade.model import Outcome, Test, Verdict, right, scaled, wrong
from tidemark.grade.witness.boot import Boot
from tidemark.grade.witness.evidence import BIRTH, COPY, FILE_READ, READ, REF, STORE, ZERO, Evidence
from tidemark.grade.witness.machine import Machine, trouble

BUDGET = 2_000_000_000
MILLION = 1_000_000
SETTINGS = ("vm", "mem", "swap", "frames", "cmdline")
RELEVANT = (REF, STORE, READ, ZERO, COPY, BIRTH, FILE_READ)


@dataclass
class Frame:
    """The state of a frame since it was filled: the event that filled it, its space (-1: read from swap, so several may
    share it), and the page as which a program has stored into it (-1: none has).
    """

    filled: int
    owner: int
    page: int = -1


def misuse(frame: Frame, space: int, page: int, born: dict[int, int]) -> str:
    """What is wrong with a reference to a frame, in words; empty if nothing is."""
    if frame.page not in (-1, page):
        return f"as page {frame.page:#x} and, by process {space}, as page {page:#x}"
    if frame.owner not in (-1, space) and born.get(space, 0) < frame.filled:
        return (
            f"by process {frame.owner}, for which it was filled, and by process {space}, which is not its later child"
        )
    return ""


def used_twice(evidence: Evidence) -> str:
    """The first frame that two pages have at the same time, in words; empty if there is none."""
    born: dict[int, int] = {}
    frames: dict[int, Frame] = {}
    at = np.flatnonzero(np.isin(evidence.events["kind"], RELEVANT))
    columns = (evidence.events[name][at].tolist() for name in ("kind", "space", "a", "b"))
    for index, kind, space, a, b in zip(at.tolist(), *columns):
        if kind == BIRTH:
            born[space] = index
        elif kind == FILE_READ:  # all processes may map it
            frames.pop(b, None)
        elif kind > STORE:
            frames[b] = Frame(index, -1 if kind == READ else space)
        elif b in frames:
            wrongly = misuse(frames[b], space, a, born)
            if wrongly:
                return f"frame {b} is used twice: {wrongly}"
            if kind == STORE:
                frames[b].page = a
    return ""


def ran(test: Test, machine: Machine) -> Boot:
    """The run of the test's command."""
    settings: dict[str, Any] = {name: str(test.options[name]) for name in SETTINGS if name in test.options}
    return machine.boot(str(test.options["run"]), budget=int(test.options.get("budget", BUDGET)), **settings)


def millions(run: Boot) -> float:
    """Instructions of the kernel, in millions."""
    return (run.evidence.instructions - int(run.evidence.user_instructions.sum())) / MILLION


def figure(test: Test, machine: Machine) -> float:
    """Instructions of the kernel with the reference solution, in millions."""
    return millions(budget.ended_well(test, ran(test, machine)))


def judge(test: Test, machine: Machine) -> Verdict:
    """Run the command, and judge what the plugin observed."""
    if "run" not in test.options:
        raise LabError(f"{test.title}: it needs run", BAD_INPUT)
    run = ran(test, machine)
    twice = used_twice(run.evidence)
    if twice:
        return wrong(twice, run.outcome if run.outcome is not Outcome.RIGHT else Outcome.WRONG)
    failed = trouble(run)
    if failed or run.outcome is not Outcome.RIGHT:
        return failed or wrong(f"`{test.options['run']}`: {run.reason}")
    if found := work.undone(test, machine, run, lambda ours: ran(test, ours)):
        return found
    user = int(run.evidence.user_instructions.sum())
    figures = {"kernel instructions": run.evidence.instructions - user, "program instructions": user}
    if not budget.is_relative(test):
        return right(f"`{test.options['run']}` did its work", figures=figures)
    full, none = (round(limit, 1) for limit in budget.limits(test, machine, figure))
    made = scaled(round(millions(run), 1), full, none, "millions of instructions of the kernel", figures=figures)
    other = budget.of_another_compiler(test, machine)
    return replace(made, message=f"{made.message}\n{other}") if other else made
