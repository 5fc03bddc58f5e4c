"""The simulator, compared with independent results: naive programs, MIN, its own other build."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from fixed import FixedSizes
from soak import soak_but
from tidemark.commands import sim
from tidemark.strings import compare, refstrings, vmsim
from tidemark.strings.refstrings import Given
from tidemark.trace.format import Writer


def naive_clock(pages: list[int], frames: int) -> int:
    """Second chance in a list, hand at its head; the access that faults does not count as a use."""
    circle: list[int] = []
    used: set[int] = set()
    faults = 0
    for page in pages:
        if page in circle:
            used.add(page)
            continue
        faults += 1
        while len(circle) == frames:
            first = circle.pop(0)
            if first in used:
                used.discard(first)
                circle.append(first)
        circle.append(page)
    return faults


@pytest.mark.parametrize("frames", [1, 2, 7, 30, 60])
def test_fifo_and_clock_count_what_a_naive_program_does(frames: int) -> None:
    pages = random.Random(frames).choices(range(60), k=3000)
    fifo = FixedSizes("fifo", np.array([frames]))
    for batch in compare.batches(Given("random", np.array(pages))):
        fifo.feed(batch)
    string = Given("random", np.array(pages, np.uint32))
    assert vmsim.run(vmsim.build("fifo"), string, frames).faults == fifo.faults()[0]
    assert vmsim.run(vmsim.build("clock"), string, frames).faults == naive_clock(pages, frames)


@pytest.mark.parametrize("policy", soak_but(vmsim.policies(), "2q"))
@pytest.mark.parametrize("frames", [1, 17, 400])
def test_fast_build_decides_as_the_checked_one(policy: str, frames: int) -> None:
    string = refstrings.find("phases:300,refs=4000")
    checked, fast = (vmsim.run(vmsim.build(policy, fast), string, frames) for fast in (False, True))
    assert checked == fast
    assert fast.references == fast.hits + fast.minor + fast.faults == 4000


def test_string_shorter_than_the_window_is_told(capsys: pytest.CaptureFixture) -> None:
    short, long = "loop:50,refs=1500", "loop:50,refs=2500"  # 150 and 250 ms; tau_ms is 200
    for string, set_, told in ((short, [], True), (long, [], False), (long, ["ws.tau_ms=300"], True)):
        sim.sim(string, vm="ws", frames="20", set_=set_, fast=True)
        said = capsys.readouterr().err
        assert ("less than ws's window" in said) == told, said
    sim.sim(short, vm="fifo", frames="20", fast=True)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("policy", soak_but(vmsim.policies(), "2q"))
def test_nobody_beats_min(policy: str) -> None:
    string = refstrings.find("correlated:200,refs=5000")
    frames = [1, 2, 5, 20, 100, 199, 200]
    least = compare.bounds(string, frames)[compare.MIN]
    misses = [vmsim.run(vmsim.build(policy), string, size).faults for size in frames]
    assert all(count >= low for count, low in zip(misses, least))


def test_run_of_references_is_many_references(tmp_path: Path) -> None:
    """A trace's runs, compared with the same references one by one."""
    rng = np.random.default_rng(4)
    pages, counts = rng.integers(0, 40, 500).astype(np.uint64), rng.integers(1, 5, 500).astype(np.uint32)
    trace = tmp_path / "some.tmt"
    with Writer(trace, {}) as writer:
        same_space = np.zeros(500, np.uint16)
        writer.append(same_space, pages, np.ones(500, np.uint8), counts, np.zeros(500, np.uint32))
        writer.close([{"space": 0, "name": "some"}])
    one_by_one = Given("same", np.repeat(pages, counts).astype(np.uint32), step_ns=0)
    for policy in ("fifo", "clock", "2q"):
        program = vmsim.build(policy)
        assert vmsim.run(program, refstrings.find(str(trace)), 20) == vmsim.run(program, one_by_one, 20)
