"""Curves over windows of time equal counts made directly from the definitions: working sets, VMIN, PFF, the map."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from batches import LOAD, batches, fed, fresh_seed
from tidemark.curves.pff import PageFaultFrequency
from tidemark.curves.refmap import MapBuilder
from tidemark.curves.runs import Batch
from tidemark.curves.timeline import Timeline
from tidemark.curves.working_set import NR_BINS, Intervals, _bin, bin_ends


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
