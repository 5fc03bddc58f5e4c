"""The window of `ws`, seen from outside: how old is a page, in its process's own time, when it leaves memory?

The plugin counts the instructions of the process, and sees each use of a page and its end. Pages are used once each, at
times drawn from a seed, so that uses lie anywhere between two ticks.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from soak import soak_but
from tidemark import qemu
from tidemark.grade.build import object_rules
from tidemark.grade.build.sandbox import best
from tidemark.grade.intake import lab
from tidemark.grade.judge.kinds.residence import NS_PER_MS, stays_of
from tidemark.grade.witness.machine import Machine

PAGES, MOST_MS = 250, 80_000  # the plugin lets a run go on for no longer
SEED = 1
WINDOWS_MS = (20, 50, 130, 200, 333, 1000)


def ages_ms(machine: Machine, tau_ms: int, pages: int) -> list[float]:
    """Ages of evicted pages, in ms of the process's own time since their last use; `pages` are used once each."""
    draw = random.Random(SEED)
    steps = " ".join(f"{page} w{draw.randrange(tau_ms * 40)}" for page in range(1, pages + 1))
    command = f"sample_ms=0 ws.tau_ms={tau_ms}"
    made = machine.boot("pace @/string", {"string": steps.encode()}, vm="ws", swap="sim:ram", cmdline=command)
    stays, _ = stays_of(made.evidence, range(1, pages + 1))
    return [(stay.left - stay.uses[-1]) / NS_PER_MS for stay in stays if stay.left is not None]


@pytest.mark.parametrize("tau_ms", soak_but(WINDOWS_MS, 20, 200))
def test_pages_leave_tau_after_their_last_use_on_average(tau_ms: int, tmp_path: Path) -> None:
    assignment = lab.load(qemu.ROOT, "workingset")
    machine = Machine(assignment, qemu.ROOT, qemu.ROOT, tmp_path, best(), object_rules.objects(assignment))
    pages = min(PAGES, MOST_MS // tau_ms)
    ages = ages_ms(machine, tau_ms, pages)
    assert len(ages) > pages / 3
    assert sum(ages) / len(ages) == pytest.approx(tau_ms, rel=0.05)
