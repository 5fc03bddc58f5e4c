"""Fault counts and working-set sizes, compared with independent simulators and with the definitions.

libcachesim's ClockPro is not included: version 0.3.5 does not follow the published algorithm.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Sequence
from itertools import pairwise

import libcachesim
import numpy as np
import pytest
from fixed import FixedSizes
from soak import soak_but
from tidemark.curves.belady import MinDistances
from tidemark.curves.bits import highest_bit, lowest_bit, popcount
from tidemark.curves.lanes import LANES, carry, lane_of, least, lower
from tidemark.curves.lru import StackDistances
from tidemark.curves.pff import PageFaultFrequency
from tidemark.curves.refmap import MapBuilder
from tidemark.curves.runs import Batch, Choice, Selection
from tidemark.curves.timeline import Timeline
from tidemark.curves.working_set import NR_BINS, Intervals, _bin, bin_ends
from tidemark.jit import compiled
from tidemark.trace.convert import import_file
from tidemark.trace.format import Reader

BELADY = (1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5)
SILBERSCHATZ = (7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3, 2, 1, 2, 0, 1, 7, 0, 1)
LOAD = 1


def fresh_seed() -> int:
    """A seed, printed so that a failure can be repeated."""
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    return seed


def in_order(pages: Sequence[int]) -> np.ndarray:
    """The pages numbered by first appearance, i32."""
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(page, len(numbers)) for page in pages], np.int32)


def batches(pages: Sequence[int], counts: np.ndarray | None = None, insns: np.ndarray | None = None) -> list[Batch]:
    """Batches of 100 runs; without counts every run is one reference, without instructions time is in references."""
    numbers = in_order(pages)
    counts = np.ones(len(numbers), np.uint32) if counts is None else counts
    steps = counts if insns is None else insns
    starts = np.cumsum(steps, dtype=np.int64) - steps
    seen = np.maximum.accumulate(numbers) + 1
    kinds = np.full(len(numbers), LOAD, np.uint8)
    columns = (numbers, kinds, counts, starts, steps)
    cuts = range(0, len(numbers), 100)
    return [
        Batch(*(column[at : at + 100] for column in columns), int(seen[min(at + 100, len(numbers)) - 1])) for at in cuts
    ]


def fed(part: object, given: list[Batch]) -> object:
    """The part after it has received all batches."""
    for batch in given:
        part.feed(batch)
    return part


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


def reference_times(given: list[Batch]) -> list[tuple[int, int]]:
    """(time, page) of each reference, as runs.py defines it."""
    times = []
    for batch in given:
        for page, count, start, steps in zip(batch.pages, batch.counts, batch.starts, batch.steps, strict=True):
            times += [(max(1, int(start - (-k * int(steps)) // int(count))), int(page)) for k in range(1, count + 1)]
    return times


def brute_sizes(times: list[tuple[int, int]], theta: int, end: int) -> list[int]:
    """|W(t, theta)| for t = 1 ... end."""
    sizes, last, at = [], {}, 0
    for now in range(1, end + 1):
        while at < len(times) and times[at][0] == now:
            last[times[at][1]] = now
            at += 1
        sizes.append(sum(used > now - theta for used in last.values()))
    return sizes


def brute_faults(times: list[tuple[int, int]], theta: int) -> int:
    """References to pages last used more than theta ago, or never."""
    last: dict[int, int] = {}
    faults = 0
    for now, page in times:
        faults += page not in last or now - last[page] > theta
        last[page] = now
    return faults


def brute_vmin(times: list[tuple[int, int]], tau: int) -> int:
    """Page-time of VMIN: a page is resident when it is used, and until its next use if that is at most tau away."""
    there = set()
    for at, (now, page) in enumerate(times):
        later = next((then for then, other in times[at + 1 :] if other == page), None)
        until = later if later is not None and later - now <= tau else now + 1
        there |= {(page, moment) for moment in range(now, until)}
    return len(there)


def brute_pff(times: list[tuple[int, int]], tau: int, end: int) -> tuple[int, float]:
    """Faults and mean size of Chu and Opderbeck's policy."""
    resident: set[int] = set()
    used: set[int] = set()
    before, faults, page_time, since = -(10**9), 0, 0, 0
    for now, page in times:
        if page not in resident:
            faults += 1
            page_time += len(resident) * (now - since)
            resident = (resident & used if now - before > tau else resident) | {page}
            used, before, since = set(), now, now
        used.add(page)
    return faults, (page_time + len(resident) * (end + 1 - since)) / end


def test_page_fault_frequency_equals_a_simulation() -> None:
    given, end = small_trace(fresh_seed())
    whole = [batch._replace(counts=np.ones_like(batch.counts)) for batch in given]  # a run counts as one use
    starts = [
        (max(int(start) + int(steps > 0), 1), int(page))
        for batch in whole
        for page, start, steps in zip(batch.pages, batch.starts, batch.steps)
    ]
    given = [batch._replace(steps=np.minimum(batch.steps, 1)) for batch in whole]
    taus = np.unique(np.geomspace(1, end, 12).astype(int))
    found = fed(PageFaultFrequency(taus, given[-1].nr_pages), given).result(end)
    for tau, fault, size in zip(taus.tolist(), *found, strict=True):
        assert (fault, size) == pytest.approx(brute_pff(starts, tau, end))


def small_trace(seed: int) -> tuple[list[Batch], int]:
    """Runs with counts and instructions, and their virtual time."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 6, 250).astype(np.uint32)
    insns = rng.integers(0, 5, 250).astype(np.uint32)
    insns[0] = 0  # an event before the first instruction
    return batches(rng.integers(0, 15, 250).tolist(), counts, insns), int(insns.sum())


@pytest.mark.parametrize("unit", ["instructions", "references"])
def test_working_set_curve_equals_brute_force(unit: str) -> None:
    given, end = small_trace(fresh_seed())
    if unit == "references":
        given = batches(np.random.default_rng(fresh_seed()).integers(0, 15, 500).tolist())
        end = 500
    times = reference_times(given)
    thetas, faults, sizes, least = fed(Intervals(), given).curve(end)
    for theta, fault, size, vmin in list(zip(thetas, faults, sizes, least, strict=True))[::7]:
        assert fault == brute_faults(times, theta)
        assert size == pytest.approx(sum(brute_sizes(times, theta, end)) / end)
        assert vmin == pytest.approx(brute_vmin(times, theta) / end)


def test_working_set_curve_ends_where_longer_windows_change_nothing() -> None:
    given, end = small_trace(fresh_seed())
    thetas, faults, sizes, _ = fed(Intervals(), given).curve(end)
    times = reference_times(given)
    assert faults[-1] == brute_faults(times, end)
    assert sizes[-1] == pytest.approx(sum(brute_sizes(times, end, end)) / end)
    assert thetas[0] == 1


def test_bins_meet_without_gaps_and_hold_what_they_say() -> None:
    ends = bin_ends()
    assert len(ends) == NR_BINS
    for interval in (0, 1, 127, 128, 129, 255, 256, 10**6, 2**40 + 5):
        at = _bin(np.int64(interval))
        assert ends[at - 1] < interval <= ends[at] if at else interval == 0


def test_size_over_time_and_its_distribution_equal_brute_force() -> None:
    given, end = small_trace(fresh_seed())
    pages = given[-1].nr_pages
    clipped = [batch._replace(steps=np.minimum(batch.steps, batch.counts)) for batch in given]
    times, thetas, slices = reference_times(clipped), (1, 7, 60), 13
    found = fed(Timeline(np.array(thetas), end, pages, slices), clipped).result()
    for theta, means, shares in zip(thetas, found.means, found.shares, strict=True):
        sizes = brute_sizes(times, theta, end)
        cuts = [0, *found.times.tolist()]
        assert means == pytest.approx([np.mean(sizes[a:b]) for a, b in pairwise(cuts)])
        assert shares == pytest.approx(np.bincount(sizes, minlength=pages + 1) / end)


def test_mean_of_the_timeline_is_the_curves_size() -> None:
    given, end = small_trace(fresh_seed())
    thetas, _, sizes, _ = fed(Intervals(), given).curve(end)
    found = fed(Timeline(thetas[[2, 20]], end, given[-1].nr_pages), given).result()
    steps = np.diff(found.times, prepend=0)
    assert (found.means @ steps / end) == pytest.approx(sizes[[2, 20]], rel=0.01)


def test_map_has_every_reference_in_its_slice() -> None:
    given, end = small_trace(fresh_seed())
    pages = np.arange(100, 100 + given[-1].nr_pages, dtype=np.uint64)[::-1]
    found = fed(MapBuilder(np.zeros(len(pages), np.uint16), pages, end), given).result()
    assert found.pages.tolist() == sorted(pages.tolist())
    expected = np.zeros((len(pages), len(found.times)), np.int64)
    for time, page in reference_times(given):
        expected[len(pages) - 1 - page, np.searchsorted(found.times, time)] += 1
    assert np.array_equal(found.counts[..., LOAD], expected)
    assert found.counts.sum() == expected.sum()


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
