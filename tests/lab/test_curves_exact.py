"""Fault counts of LRU, MIN, FIFO and CLOCK, compared with independent simulators. Working sets: test_curves_windows.py.

libcachesim's ClockPro is not included: version 0.3.5 does not follow the published algorithm.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence

import libcachesim
import numpy as np
import pytest
from batches import batches, fed, fresh_seed, in_order
from fixed import FixedSizes
from soak import soak_but
from tidemark.curves.belady import MinDistances
from tidemark.curves.bits import highest_bit, lowest_bit, popcount
from tidemark.curves.lanes import LANES, carry, lane_of, least, lower
from tidemark.curves.lru import StackDistances
from tidemark.curves.runs import Batch, Choice, Selection
from tidemark.jit import compiled
from tidemark.trace.convert import import_file
from tidemark.trace.format import Reader

BELADY = (1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5)
SILBERSCHATZ = (7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3, 2, 1, 2, 0, 1, 7, 0, 1)


def faults_by_size(histogram: np.ndarray) -> list[int]:
    """Faults with 1, 2, ... frames."""
    return (histogram.sum() - np.cumsum(histogram[1:])).tolist()


def naive_lru(pages: Sequence[int], frames: int) -> int:
    """Faults of LRU, computed from its definition."""
    stack: list[int] = []
    faults = 0
    for page in pages:
        faults += page not in stack[-frames:]
        if page in stack:
            stack.remove(page)
        stack.append(page)
    return faults


def naive_min(pages: Sequence[int], frames: int) -> int:
    """Faults if the page whose next use is furthest away is evicted."""
    resident: set[int] = set()
    faults = 0
    for at, page in enumerate(pages):
        if page in resident:
            continue
        faults += 1
        if len(resident) == frames:
            later = list(pages[at + 1 :])
            resident.remove(max(resident, key=lambda one: later.index(one) if one in later else len(pages)))
        resident.add(page)
    return faults


def naive_fixed(policy: str, pages: Sequence[int], frames: int) -> int:
    """Faults of FIFO and CLOCK."""
    queue: list[int] = []
    used: dict[int, bool] = {}
    faults = 0
    for page in pages:
        if page not in used:
            faults += 1
            while len(queue) == frames:
                oldest = queue.pop(0)
                if policy == "clock" and used[oldest]:
                    used[oldest] = False
                    queue.append(oldest)
                else:
                    del used[oldest]
            queue.append(page)
        used[page] = True
    return faults


def random_strings(rng: np.random.Generator) -> list[list[int]]:
    """Small reference strings of several kinds."""
    uniform = rng.integers(0, rng.integers(1, 25), 400)
    skewed = np.minimum(rng.geometric(0.2, 400), 30)
    phases = np.concatenate([rng.integers(base, base + 6, 80) for base in rng.integers(0, 20, 5)])
    cycle = np.arange(400) % rng.integers(2, 20)
    return [string.tolist() for string in (uniform, skewed, phases, cycle)]


def test_lru_equals_naive_simulation_for_all_sizes() -> None:
    for string in random_strings(np.random.default_rng(fresh_seed())):
        found = faults_by_size(fed(StackDistances(), batches(string)).depths())
        assert found == [naive_lru(string, frames) for frames in range(1, len(set(string)) + 1)]


def test_min_equals_naive_simulation_for_all_sizes() -> None:
    for string in random_strings(np.random.default_rng(fresh_seed())):
        found = faults_by_size(fed(MinDistances(), batches(string)).capacities())
        assert found == [naive_min(string, frames) for frames in range(1, len(set(string)) + 1)]


@pytest.mark.parametrize("policy", ["fifo", "clock"])
def test_fixed_sizes_equal_naive_simulation(policy: str) -> None:
    for string in random_strings(np.random.default_rng(fresh_seed())):
        sizes = np.arange(1, len(set(string)) + 1)
        found = fed(FixedSizes(policy, sizes), batches(string)).faults().tolist()
        assert found == [naive_fixed(policy, string, frames) for frames in sizes]


def plainly(numbers: np.ndarray, top: int, carried: int) -> tuple[int, int, int]:
    """What `lower`, `carry` and `least` compute together, one number after the other, in place."""
    taking = 0
    for lane in range(top, -1, -1):
        taking |= int(numbers[lane] < carried) << lane
        numbers[lane], carried = max(numbers[lane], carried), min(numbers[lane], carried)
    return taking, carried, numbers.min()


@compiled
def _in_lanes(numbers: np.ndarray, in_rows: np.ndarray, at: int, top: int, carried: int) -> tuple:
    where, last, one = np.uint64(at), np.int32(top), np.int32(carried)
    taking, lowest_before = lower(numbers, where, last, one), least(numbers, where)
    return taking, lowest_before, carry(in_rows, where, last, one)


def test_sixty_four_numbers_at_once_are_one_after_the_other() -> None:
    rng = np.random.default_rng(fresh_seed())
    standing = np.array([lane_of(np.uint64(number)) for number in range(LANES)], np.int64)
    assert sorted(standing) == list(range(LANES))
    for _ in range(300):
        numbers = rng.integers(0, 100, 3 * LANES).astype(np.int32)
        at, top, carried = (int(rng.integers(*bounds)) for bounds in ((0, 2 * LANES), (-1, LANES), (0, 100)))
        expected = numbers.copy()
        taking, place, lowest = plainly(expected[at : at + LANES], top, carried)
        in_rows, before = numbers.copy(), numbers[at : at + LANES].min()
        in_rows[at + standing] = numbers[at : at + LANES]
        assert _in_lanes(numbers, in_rows, at, top, carried) == (taking, before, (place, lowest))
        in_rows[at : at + LANES] = in_rows[at + standing]
        assert np.array_equal(in_rows, expected)


def test_bits_of_words() -> None:
    rng = np.random.default_rng(fresh_seed())
    words = [1, 2**63, 2**64 - 1, *(int(rng.integers(1, 2**63)) >> int(rng.integers(63)) or 1 for _ in range(300))]
    for word in words:
        found = [count(np.uint64(word)) for count in (popcount, highest_bit, lowest_bit)]
        assert found == [bin(word).count("1"), word.bit_length() - 1, (word & -word).bit_length() - 1]


def test_lru_and_min_survive_many_renumberings() -> None:
    """40,000 references renumber LRU's row of 32,768 slots once and MIN's 4,096 several times."""
    rng = np.random.default_rng(fresh_seed())
    string = rng.integers(0, 200, 40_000).tolist()
    for part, histogram in ((StackDistances(), "depths"), (MinDistances(), "capacities")):
        found = faults_by_size(getattr(fed(part, batches(string)), histogram)())
        naive = naive_lru if histogram == "depths" else fast_min
        assert [found[frames - 1] for frames in (3, 150)] == [naive(string, frames) for frames in (3, 150)]


def fast_min(pages: Sequence[int], frames: int) -> int:
    """naive_min with the next uses computed beforehand."""
    next_use, soonest = [0] * len(pages), {}
    for at in range(len(pages) - 1, -1, -1):
        next_use[at] = soonest.get(pages[at], len(pages))
        soonest[pages[at]] = at
    resident: dict[int, int] = {}
    faults = 0
    for at, page in enumerate(pages):
        if page not in resident:
            faults += 1
            if len(resident) == frames:
                del resident[max(resident, key=resident.get)]
        resident[page] = next_use[at]
    return faults


def test_fifo_has_beladys_anomaly() -> None:
    found = fed(FixedSizes("fifo", np.array([3, 4])), batches(BELADY)).faults().tolist()
    assert found == [9, 10]


def test_lru_and_min_have_no_anomaly_on_beladys_string() -> None:
    assert faults_by_size(fed(StackDistances(), batches(BELADY)).depths()) == [12, 12, 10, 8, 5]
    assert faults_by_size(fed(MinDistances(), batches(BELADY)).capacities()) == [12, 9, 7, 6, 5]


def test_textbook_string_with_three_frames() -> None:
    """Silberschatz, Galvin, Gagne, Operating System Concepts, chapter on virtual memory: 15, 12 and 9 faults."""
    given = batches(SILBERSCHATZ)
    assert fed(FixedSizes("fifo", np.array([3])), given).faults().tolist() == [15]
    assert faults_by_size(fed(StackDistances(), given).depths())[2] == 12
    assert faults_by_size(fed(MinDistances(), given).capacities())[2] == 9


def test_min_of_many_pages_equals_a_simulation() -> None:
    """5,000 pages: the tree of minima has three levels."""
    rng = np.random.default_rng(fresh_seed())
    string = np.concatenate([np.arange(5000), rng.integers(0, 5000, 6000), rng.zipf(1.3, 6000) % 5000]).tolist()
    found = faults_by_size(fed(MinDistances(), batches(string)).capacities())
    for frames in (20, 700, 4200):
        assert found[frames - 1] == faults_of_libcachesim("min", in_order(string).tolist(), frames)


def test_long_runs_count_as_that_many_references() -> None:
    once = fed(StackDistances(), batches([1, 2, 1])).depths()
    many = fed(StackDistances(), batches([1, 2, 1], np.array([5, 1, 7], np.uint32))).depths()
    assert (many - once).tolist() == [0, 10, 0]


def faults_of_libcachesim(policy: str, pages: Sequence[int], frames: int) -> int:
    """Faults of libcachesim's LRU, FIFO, Clock or Belady with pages of one size, from an empty memory. A page without
    another use gets a next use after the end, because Belady would not admit it otherwise, which paging must.
    """
    make = {"lru": libcachesim.LRU, "fifo": libcachesim.FIFO, "min": libcachesim.Belady}
    # A page that has just been read counts as used, as after the access that faulted.
    cache = libcachesim.Clock(frames, init_freq=1) if policy == "clock" else make[policy](frames)
    request = libcachesim.Request(obj_size=1)
    faults = 0
    for page, soonest in zip(pages, next_uses(pages), strict=True):
        request.obj_id, request.next_access_vtime = page + 1, soonest
        faults += not cache.get(request)
    return faults


def next_uses(pages: Sequence[int]) -> list[int]:
    """For each reference the index of the next one to its page; beyond the end, and all different, if there is none."""
    found, soonest = [0] * len(pages), {}
    for at in range(len(pages) - 1, -1, -1):
        found[at] = soonest.get(pages[at], len(pages) + at)
        soonest[pages[at]] = at
    return found


def our_faults(policy: str, given: list[Batch], frames: int) -> int:
    """Faults of one policy and size."""
    if policy in ("fifo", "clock"):
        return int(fed(FixedSizes(policy, np.array([frames])), given).faults()[0])
    if policy == "lru":
        return faults_by_size(fed(StackDistances(), given).depths())[frames - 1]
    return faults_by_size(fed(MinDistances(), given).capacities())[frames - 1]


@pytest.mark.parametrize("policy", soak_but(["lru", "fifo", "clock", "min"], "clock", "min"))
def test_random_strings_equal_libcachesim(policy: str) -> None:
    rng = np.random.default_rng(fresh_seed())
    zipf = np.minimum(rng.zipf(1.2, 5000), 500)
    for string, sizes in ((zipf, (1, 2, 7, 60, 200)), (rng.integers(0, 3000, 30_000), (100, 2500))):
        numbers = in_order(string.tolist()).tolist()
        for frames in sizes:
            found = our_faults(policy, batches(numbers), frames)
            assert found == faults_of_libcachesim(policy, numbers, frames), frames


@pytest.fixture(scope="module")
def real_trace(tmp_path_factory: pytest.TempPathFactory) -> list[Batch]:
    """Every reference of /bin/true under Valgrind."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    place = tmp_path_factory.mktemp("real")
    log = place / "true.txt"
    subprocess.run(["valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-file={log}", "/bin/true"], check=True)
    import_file(str(log), place / "true.tmt")
    return list(Selection(Choice()).batches(iter(Reader(place / "true.tmt"))))


@pytest.mark.soak
@pytest.mark.parametrize("policy", ["lru", "fifo", "clock", "min"])
def test_a_real_trace_equals_libcachesim(policy: str, real_trace: list[Batch]) -> None:
    pages = np.concatenate([np.repeat(batch.pages, batch.counts) for batch in real_trace]).tolist()
    assert len(set(pages)) > 30
    for frames in (2, 10, 30):
        assert our_faults(policy, real_trace, frames) == faults_of_libcachesim(policy, pages, frames), frames
