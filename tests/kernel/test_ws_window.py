"""The window of `ws`, measured from outside: the age of a page, in its process's own time, when it is evicted.

The plugin counts the instructions of the process, and sees each use of a page and its eviction. Pages are used once
each, at random times, so that uses lie anywhere between two ticks.
"""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest
from confined import NEEDS_WAY_IN
from soak import soak_but
from tidemark.grade.build import object_rules
from tidemark.grade.build.sandbox import best
from tidemark.grade.intake import lab
from tidemark.grade.judge.kinds.residence import NS_PER_MS, Stay, stays_of
from tidemark.grade.witness.machine import Machine
from tidemark.machine import qemu

pytestmark = NEEDS_WAY_IN
PAGES, MOST_MS = 250, 80_000  # the plugin lets no run continue longer than that
SEED = 1
WINDOWS_MS = (20, 50, 130, 200, 333, 1000)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with this tree's kernel and programs."""
    assignment = lab.load(qemu.ROOT, "workingset")
    return Machine(assignment, qemu.ROOT, qemu.ROOT, tmp_path, best(), object_rules.objects(assignment))


def stays(machine: Machine, tau_ms: int, steps: str, pages: int) -> list[Stay]:
    """The stays in memory of pace's pages, which are 1 to `pages`."""
    command = f"sample_ms=0 ws.tau_ms={tau_ms}"
    made = machine.boot("pace @/string", {"string": steps.encode()}, vm="ws", swap="sim:ram", cmdline=command)
    return stays_of(made.evidence, range(1, pages + 1))[0]


def ages_ms(machine: Machine, tau_ms: int, pages: int) -> list[float]:
    """Ages of evicted pages, in ms of the process's own time since their last use; `pages` pages are used once each."""
    draw = random.Random(SEED)
    steps = " ".join(f"{page} w{draw.randrange(tau_ms * 40)}" for page in range(1, pages + 1))
    made = stays(machine, tau_ms, steps, pages)
    return [(stay.left - stay.uses[-1]) / NS_PER_MS for stay in made if stay.left is not None]


# Earlier it worked until getrusage said so; that counts the kernel's own entry: up to 7 % too short, by the compiler.
def test_pace_works_for_as_long_as_it_is_told(machine: Machine) -> None:
    [stay] = stays(machine, 1000, "1 w1000 1 w1000 1 w300 1", 1)
    worked = [(after - before) / NS_PER_MS for before, after in pairwise(stay.uses)]
    assert worked == pytest.approx([1, 1, 0.3], rel=0.001)


@pytest.mark.parametrize("tau_ms", soak_but(WINDOWS_MS, 20, 200))
def test_pages_leave_tau_after_their_last_use_on_average(tau_ms: int, machine: Machine) -> None:
    pages = min(PAGES, MOST_MS // tau_ms)
    ages = ages_ms(machine, tau_ms, pages)
    assert len(ages) > pages / 3
    assert sum(ages) / len(ages) == pytest.approx(tau_ms, rel=0.05)
