"""The least time of a string on a modelled disk, against every order of evictions and requests on tiny strings."""

from __future__ import annotations

import heapq
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from soak import soak_but
from tidemark.errors import LabError
from tidemark.runs.bound import Disk
from tidemark.strings.least_time import AHEAD, MOST_PAGES, LeastTime, least_time
from tidemark.trace.policy_strings import joined

pytestmark = pytest.mark.unbuilt

ROOT = Path(__file__).resolve().parents[2]
PAGE, MOVE, LATENCY, STEP = 2, 7, 3, 1  # units of time: of a page, of a move, of a request, and between references


@dataclass(frozen=True)
class Request:
    """What the disk does: `left` units more. `reads`: pages that arrive then. `writes`: (page, slot) that are then on
    the disk, unless the process has written to the page meanwhile."""

    left: int
    reads: tuple[int, ...] = ()
    writes: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class State:
    """`at`: the next reference; `work`: units until the process makes it. `memory`: pages in frames, those that are
    being read included; `dirty`: those without a copy on the disk; `slots`: slot of each page's copy."""

    at: int
    work: int
    memory: frozenset[int]
    dirty: frozenset[int]
    slots: tuple[tuple[int, int], ...]
    head: int
    request: Request | None


@dataclass(frozen=True)
class Machine:
    """A string, with `writes` as in least_time, on a machine with `frames` frames and as many slots as `slots`.
    `on_demand`: a read needs a reference to a page that is not in memory; `most`: pages of a read."""

    refs: tuple[int, ...]
    writes: tuple[bool, ...]
    frames: int
    slots: int
    on_demand: bool
    most: int

    def following(self, s: State) -> Iterator[tuple[int, State]]:
        """(units of time, state) after each thing that can happen next."""
        arriving = frozenset(s.request.reads if s.request else ())
        if not s.request:
            yield from self.requests(s)
        writing = {page for page, _ in s.request.writes} if s.request else set()
        for page in s.memory - s.dirty - arriving - writing:
            yield 0, replace(s, memory=s.memory - {page})
        waits = bool(self.on_demand and arriving)
        if not waits and s.work == 0 and self.can_refer(s, arriving):
            yield 0, self.referred(s)
        elif s.request or (s.work and not waits):
            yield 1, self.later(s, waits)

    def can_refer(self, s: State, arriving: frozenset[int]) -> bool:
        page = self.refs[s.at]
        first = page not in self.refs[: s.at]
        return page in s.memory - arriving or (first and len(s.memory) < self.frames)

    def referred(self, s: State) -> State:
        page = self.refs[s.at]
        dirty = s.dirty | {page} if self.writes[s.at] else s.dirty
        slots = tuple(pair for pair in s.slots if pair[0] != page) if self.writes[s.at] else s.slots
        request = s.request
        if request and self.writes[s.at]:  # what is being written is old already
            request = replace(request, writes=tuple(pair for pair in request.writes if pair[0] != page))
        return replace(s, at=s.at + 1, work=STEP, memory=s.memory | {page}, dirty=dirty, slots=slots, request=request)

    def later(self, s: State, waits: bool) -> State:
        """One unit of time later."""
        work = s.work if waits else max(0, s.work - 1)
        if not s.request or s.request.left > 1:
            return replace(s, work=work, request=s.request and replace(s.request, left=s.request.left - 1))
        written = dict(s.request.writes)
        kept = tuple(pair for pair in s.slots if pair[0] not in written)
        slots = tuple(sorted((*kept, *written.items())))
        return replace(s, work=work, request=None, dirty=s.dirty - set(written), slots=slots)

    def requests(self, s: State) -> Iterator[tuple[int, State]]:
        """Every read of consecutive slots that hold pages, and every write to consecutive free slots."""
        place = {slot: page for page, slot in s.slots}
        wanted = self.refs[s.at]
        for first in range(self.slots):
            for nr in range(1, self.slots - first + 1):
                span = range(first, first + nr)
                if all(slot not in place for slot in span):
                    for pages in permutations(sorted(s.dirty), nr):
                        yield 0, self.begun(s, span, Request(0, writes=tuple(zip(pages, span))))
                pages = tuple(place.get(slot, -1) for slot in span)
                fits = nr <= self.most and nr + len(s.memory) <= self.frames
                wants = not self.on_demand or (s.work == 0 and wanted in pages)
                if fits and wants and -1 not in pages and not s.memory & set(pages):
                    read = replace(s, memory=s.memory | set(pages))
                    yield 0, self.begun(read, span, Request(0, reads=pages))

    def begun(self, s: State, span: range, request: Request) -> State:
        units = LATENCY + len(span) * PAGE + (MOVE if span[0] != s.head else 0)
        return replace(s, head=span[-1] + 1, request=replace(request, left=units))

    def fastest(self) -> int:
        """The least time, by Dijkstra's algorithm over all states."""
        start = State(0, STEP, frozenset(), frozenset(), (), 0, None)
        times, queue, number = {start: 0}, [(0, 0, start)], 0
        while queue:
            time, _, state = heapq.heappop(queue)
            if time > times[state]:
                continue
            for units, new in () if state.at == len(self.refs) else self.following(state):
                if time + units < times.get(new, 1 << 30):
                    times[new] = time + units
                    number += 1
                    heapq.heappush(queue, (time + units, number, new))
            if state.at == len(self.refs):
                return time
        raise AssertionError("the string cannot be done")


def with_first(refs: tuple[int, ...], writes: tuple[bool, ...]) -> tuple[bool, ...]:
    """A first reference counts as one that writes."""
    return tuple(write or page not in refs[:at] for at, (page, write) in enumerate(zip(refs, writes)))


def bound(refs: tuple[int, ...], writes: tuple[bool, ...], frames: int, most: int) -> LeastTime:
    return least_time(refs, writes, frames, Disk(PAGE, MOVE, LATENCY), STEP * len(refs), most)


def drawn(seed: int) -> tuple[tuple[int, ...], tuple[bool, ...], int, int]:
    """A string over three or four pages, its writes, frames, and pages of a read."""
    dice = random.Random(seed)
    pages, frames = dice.choice([(3, 2), (3, 2), (4, 2), (4, 3)])
    refs = tuple(dice.randrange(pages) for _ in range(dice.randrange(5, 8)))
    writes = tuple(dice.random() < 0.4 for _ in refs)
    return refs, with_first(refs, writes), frames, dice.choice([1, 2])


def check_against_every_order(seed: int) -> tuple[bool, bool]:
    """Is the bound below every order, and equal to the best one: (any order, on demand)?"""
    refs, writes, frames, most = drawn(seed)
    found = bound(refs, writes, frames, most)
    slots = len(set(refs)) + 1
    best = Machine(refs, writes, frames, slots, False, frames).fastest()
    demand = Machine(refs, writes, frames, slots, True, most).fastest()
    said = f"seed {seed}: {refs} {writes} {frames} frames, {most} a read: {best}, {demand}, {found}"
    assert found.any_order_s <= best <= demand, said
    assert found.on_demand_s <= demand, said
    return found.any_order_s == best, found.on_demand_s == demand


# refs, writes as letters (w), frames, pages of a read -> reads, writes, any order, on demand; computed by hand.
BY_HAND = (
    # All fits: only the four references take time.
    ((0, 1, 0, 1), "ww..", 2, 1, 0, 0, 4, 4),
    # MIN keeps 0 and 2, so it reads 1, which was written after its first use; before the read the head moves.
    # D = 2 pages * 2 + 2 requests * 3 + a move, 7. On demand 2 + 3, then the longer of 6 references and 2 + 3 + 7.
    ((0, 1, 2, 0, 1, 2), "www...", 2, 1, 1, 1, 17, 17),
    # One frame: 0, 1 and 0 are read. Only the writes and the last references count for lemma 2: 0 1 1 0, one write.
    # D = 4 * 2 + (3 + 1) * 3 + 2 * 7, because 3 reads of 2 pages are 2 of one of them. On demand 3 * 5 + (2 + 3 + 14).
    ((0, 1, 0, 1, 0), "ww...", 1, 1, 3, 1, 34, 34),
    # The same, and each reference writes: three writes, since the last reference needs what the one before wrote.
    ((0, 1, 0, 1, 0), "wwwww", 1, 1, 3, 3, 44, 44),
    # Three pages in turn, two frames: MIN misses every second time, and one write is certain: 0 1 2 0 1 2.
    # D = 4 * 2 + (2 + 1) * 3 + 7; a read has one page, 3 * 2 + 3 * 3 + 12, or two, 3 * 2 + 2 * 3 + 12.
    ((0, 1, 2, 0, 1, 2, 0, 1, 2), "www......", 2, 1, 3, 1, 24, 27),
    ((0, 1, 2, 0, 1, 2, 0, 1, 2), "www......", 2, 2, 3, 1, 24, 24),
    # The processor is the limit: it makes 22 references, while the disk works for 17 as in the second case.
    ((0, 1, 2, 0, 1, 2, *8 * (1, 2)), "www..." + 16 * ".", 2, 1, 1, 1, 22, 27),
)


@pytest.mark.parametrize(("refs", "writes", "frames", "most", "reads", "written", "any_order", "on_demand"), BY_HAND)
def test_bound_is_the_one_computed_by_hand(
    refs: tuple[int, ...], writes: str, frames: int, most: int, reads: int, written: int, any_order: int, on_demand: int
) -> None:
    found = bound(refs, tuple(letter == "w" for letter in writes), frames, most)
    assert (found.reads, found.writes) == (reads, written)
    assert (found.any_order_s, found.on_demand_s) == (any_order, on_demand)


@pytest.mark.parametrize("first", soak_but(range(0, 400, 20), 0))
def test_no_order_of_evictions_and_requests_takes_less(first: int) -> None:
    """All orders of twenty random strings. For some of them the bound is exact, so that it could not be larger."""
    exact = [check_against_every_order(seed) for seed in range(first, first + 20)]
    assert any(any_order for any_order, _ in exact) and any(on_demand for _, on_demand in exact)


def test_search_finds_the_best_order() -> None:
    """One frame, page 0, then 1, then 0 again. 0 is written to slot 0 without a move, in 5, after its first use at 1;
    then 1 is used, at 6; it is clean only if it is written, too, at 11, to slot 1; then 0 is read, with a move, in 12.
    But after 1 has been used it is not needed, and can only be evicted if it is not dirty."""
    assert Machine((0, 1, 0), (True, True, False), 1, 2, True, 1).fastest() == 6 + 5 + 12
    assert Machine((0, 1), (True, True), 2, 3, True, 1).fastest() == 2


def test_what_has_no_bound_is_refused_in_a_sentence() -> None:
    with pytest.raises(LabError, match=r"^the trace has no references to pages that can be evicted$"):
        bound((), (), 2, 1)
    with pytest.raises(LabError, match=r"^a lower bound needs at least one frame$"):
        bound((0, 1), (True, True), 0, 1)


def test_largest_read_is_the_kernels() -> None:
    text = (ROOT / "kernel/include/mm/swap.h").read_text()
    found = re.search(r"^#define MAX_CLUSTER (\d+)$", text, re.MULTILINE)
    assert found and 1 << int(found[1]) == MOST_PAGES


def test_policies_that_read_ahead_are_the_kernels() -> None:
    """Those that call vm_prepage; the second theorem does not hold for them."""
    policies = (ROOT / "kernel/mm/policy").glob("*.c")
    assert {path.stem for path in policies if re.search(r"\bvm_prep|\bvm_prefetch", path.read_text())} == set(AHEAD)


def test_repetitions_write_if_one_of_them_does() -> None:
    """Of two spaces: the pages of the first are 5, 5, 6, 5."""
    spaces = np.array([1, 1, 2, 1, 2, 1], np.uint16)
    pages = np.array([5, 5, 5, 6, 5, 5], np.uint32)
    writes = np.array([0, 1, 0, 0, 1, 0], bool)
    found = joined((spaces, pages, np.arange(6, dtype=np.uint64), writes))
    assert [column.tolist() for column in found] == [
        [1, 2, 1, 1],
        [5, 5, 6, 5],
        [0, 2, 3, 5],
        [True, True, False, False],
    ]
