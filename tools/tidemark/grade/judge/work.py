"""Checks that the programs of a run have done their work, and that memory was as short as intended.

The number of instructions of a program depends on the compiler and on the C library, so lab.toml holds no such number.
Instead the same command runs in a kernel of the same build with the lab's starter (witness.baseline), once per release,
and a run must reach a part of the starter's figures. Options of a test:

    work     the part of the starter's program instructions that must be executed
    reads    the part of the starter's pages read from the swap area that must be read
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from tidemark.errors import BAD_INPUT, LabError
from tidemark.grade.judge import budget
from tidemark.grade.model import Test, Verdict, wrong
from tidemark.grade.witness import baseline
from tidemark.grade.witness.boot import Boot
from tidemark.grade.witness.evidence import KILLED, READ
from tidemark.grade.witness.machine import Machine
from tidemark.machine import image

Runs = Callable[[Machine], Boot]  # the test's command on a machine


def done(run: Boot) -> tuple[int, int]:
    """(instructions of programs, pages read from the swap area) of a run."""
    return int(run.evidence.user_instructions.sum()), run.evidence.count(READ)


def with_starter(test: Test, machine: Machine, runs: Runs) -> tuple[int, int]:
    """As `done`, for the starter's run."""
    made_of = baseline.made_of(machine.release, machine.lab)
    key = json.dumps(["starter", made_of, image.qemu_version(), test.kind, dict(test.options)], sort_keys=True)

    def measure() -> tuple[int, int]:
        return done(budget.ended_well(test, runs(replace(baseline.machine(machine), keep=None))))

    work, reads = budget.once(machine.release, key, measure)
    return int(work), int(reads)


def undone(test: Test, machine: Machine, run: Boot, runs: Runs) -> Verdict | None:
    """The verdict on a run in which programs were killed, did not do their work, or had too much memory; None if all is
    well."""
    killed, (work, reads) = run.evidence.count(KILLED), done(run)
    if killed:
        return wrong(f"out of memory: the kernel killed {killed} of the programs")
    if "least_user" in test.options or "least_read" in test.options:
        said = "instead of least_user and least_read give work and reads, parts of what the starter's run comes to"
        raise LabError(f"{test.title}: {said}", BAD_INPUT)
    if not work:
        return wrong("programs executed no instructions")
    if not {"work", "reads"} & test.options.keys():
        return None
    starters_work, starters_reads = with_starter(test, machine, runs)
    least_work, least_reads = (
        int(float(test.options.get(name, 0)) * of) for name, of in (("work", starters_work), ("reads", starters_reads))
    )
    if work < least_work:
        return wrong(f"programs executed {work:,} instructions; their work needs {least_work:,}")
    if reads < least_reads:
        return wrong(
            f"{reads:,} pages were read from the swap area; with so little memory there must be {least_reads:,}"
        )
    return None
