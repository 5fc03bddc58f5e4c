"""A lower bound of the time that one process needs with a given number of frames on a modelled disk, for any order of
evictions and requests. The bound is a theorem about this machine:

(A) One process makes references to pages, in an order that depends on nothing else. Its own instructions take C
    seconds. The kernel's instructions take more time, which the bound leaves out.
(B) At most F pages are in memory, and a reference needs its page in memory. The first reference to a page puts it into
    a frame without a read. From then on it comes into memory only by being read, and is in memory from the moment when
    that request begins.
(C) The disk serves one request after the other. A request reads pages of consecutive slots, or writes pages to
    consecutive slots. It takes latency + pages * transfer, and one move of the head more unless it begins at the slot
    after the last one of the request before.
(D) A page becomes dirty at each reference that writes, its first reference included, and stays dirty until it is
    written to a slot. A page can be evicted only while it is not dirty. It is read from the slot to which it was
    written last.

P is the number of pages, MIN(s) the number of faults of Belady's MIN with F frames on the string s. Quotients are
rounded up.

Lemma 1. At least r = MIN(all references) - P pages are read.
    Take a page and two consecutive references to it. Either the page stays in memory from the one to the other, or it
    is read between them. The pairs of a page do not overlap, so each pair of the second kind has a read of its own.
    Now consider demand paging that evicts a page right after each reference, unless the reference begins a pair that
    stays. It holds no page that the machine does not hold, so F frames are enough. Its faults are the first references
    and the ends of the pairs of the second kind. No demand paging has fewer faults than MIN (Belady 1966). The lemma
    says nothing about the moment of a read, so it holds for read-ahead, too, which moves reads and saves none.

Lemma 2. At least w = MIN(references that write, and the last one to each page) - P pages are written.
    Take two consecutive references of this string to one page. The page is dirty after the first one, which writes. If
    it does not stay in memory until the second one, it is written between them, by (D). The pairs of a page do not
    overlap, so each of these has a write of its own. As in lemma 1, the pairs that stay are at most the hits of MIN.

Lemma 3. The head moves at least h = r / P times.
    Some page is read at least h times. Before each of these reads its slot was used: the page was written there, or
    read the last time. While the head does not move, it passes each slot at most once, in ascending order. So it
    moves between the use of the slot and the read. These h spans of time do not overlap.

Lemma 4. If a request reads at most N pages, there are at least r / N requests that read, and at least w / F that write:
    each page of a request is in a frame of its own.

Theorem, any order. The time is at least max(C, D), where
        D = (r + w) * transfer + (r / F) * latency + (w / F) * latency + h * move.
    The processor needs C. The disk needs D, since it serves one request at a time, and all requests that the lemmas
    count end before the last reference. Both may work at the same time, and a request may fill all frames, so N = F.

Theorem, reads on demand. Let a read begin only when the process refers to a page that is not in memory, let it bring in
at most N pages, and let the process wait until it has ended. Then the time is at least R + max(C, W), where
        R = r * transfer + (r / N) * latency        W = w * transfer + (w / F) * latency + h * move.
    While the disk reads, the process executes nothing. Let x of the head's moves belong to reads. Then reads take at
    least R + x * move. The rest of the time contains C, and, since the disk serves one request at a time, the writes
    with their moves, which take at least W - x * move. So the time is at least R + x * move + max(C, W - x * move), and
    this is at least R + max(C, W).

This kernel has N = 32, which is 2^vm.page_cluster at most (kernel/mm/reclaim/swap_io.c). It always obeys the first
theorem. It obeys the second with every policy except `ws`, which reads pages back ahead of faults, without a guard, and
if the other processes only wait, since their faults could bring in pages of this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tidemark.errors import USAGE, LabError
from tidemark.machine import parameters, qemu
from tidemark.runs import results
from tidemark.runs.bound import Disk, disk_of
from tidemark.strings import compare, refstrings
from tidemark.trace.future import Space
from tidemark.trace.pack import SPACES
from tidemark.trace.record import Recording

MOST_PAGES = 1 << 5  # that a fault reads with one request: MAX_CLUSTER of kernel/include/mm/swap.h
AHEAD = ("ws",)  # policies that read pages before a process has referred to them: vm_prepage
NS = 1e-9  # seconds that an instruction takes in an exact run


@dataclass(frozen=True)
class LeastTime:
    """With this number of frames: pages that any order reads and writes, seconds of the process's own instructions,
    and the bounds of both theorems."""

    frames: int
    reads: int
    writes: int
    compute_s: float
    any_order_s: float
    on_demand_s: float


def min_faults(refs: np.ndarray, frames: int) -> int:
    """The faults of Belady's MIN."""
    if frames < 1:
        raise LabError("a lower bound needs at least one frame", USAGE)
    if not len(refs):
        raise LabError("the trace has no references to pages that can be evicted")
    return compare.bounds(refstrings.Given("", refs), [frames])[compare.MIN][0]


def dirtying(refs: np.ndarray, writes: np.ndarray) -> np.ndarray:
    """The string of lemma 2: the references that write, and the last one to each page."""
    last = np.zeros(len(refs), bool)
    last[len(refs) - 1 - np.unique(refs[::-1], return_index=True)[1]] = True
    return refs[writes | last]


def rounded_up(pages: int, at_once: int) -> int:
    return -(-pages // at_once)


def least_time(
    refs: Sequence[int] | np.ndarray,
    writes: Sequence[bool] | np.ndarray,
    frames: int,
    disk: Disk,
    compute_s: float,
    most: int = MOST_PAGES,
) -> LeastTime:
    """The bounds for a string: `refs` are page numbers, `writes` says which references write (first ones do), `most` is
    N. Raises LabError if there is no reference, or no frame.
    """
    string = np.asarray(refs, np.uint32)
    pages, faults = len(np.unique(string)), min_faults(string, frames)
    reads = faults - pages
    written = min_faults(dirtying(string, np.asarray(writes, bool)), frames) - pages
    moves_s = rounded_up(reads, pages) * disk.move_s
    writes_s = written * disk.page_s + rounded_up(written, frames) * disk.latency_s + moves_s

    def reads_s(at_once: int) -> float:
        return reads * disk.page_s + rounded_up(reads, at_once) * disk.latency_s

    return LeastTime(
        frames=frames,
        reads=reads,
        writes=written,
        compute_s=compute_s,
        any_order_s=max(compute_s, reads_s(frames) + writes_s),
        on_demand_s=reads_s(min(most, frames)) + max(compute_s, writes_s),
    )


def compute_s(recording: Recording, number: int) -> float:
    """Seconds that any run spends on the program's own instructions, from a recording. `number`: the address space in
    order of creation. The instruction that faults is recorded twice, so the process's faults are subtracted.
    """
    key = [note.key for note in recording.notes if note.tag == SPACES][number]
    row = next(row for row in recording.spaces if row["space"] == recording.numbers[key])
    ends = [end for end in recording.result.telemetry().exits if end["pid"] == row.get("pid")]
    faults = sum(end["minflt"] + end["majflt"] for end in ends)
    return max(0, int(row["instructions"]) - faults) * NS


def frames_of(result: results.Result) -> int:
    """The frames that a run's processes could use: the cap, or what was free when the machine had started."""
    return int(result.settings().frames or result.telemetry().start["free"])


def disk_of_run(result: results.Result) -> Disk:
    """The modelled disk of a run's swap area. Raises LabError if it had none."""
    return disk_of(result.console_path.read_text("ascii", "replace"))


def of_recording(recording: Recording, number: int, space: Space, frames: int, disk: Disk) -> LeastTime:
    """The bounds for a recorded address space, which is the one with this number in order of creation. References to
    pages of files are left out: they do not use the swap area's disk, and leaving them out makes no bound larger.
    """
    own = ~space.of_file()[space.refs]
    return least_time(space.refs[own], space.writes[own], frames, disk, compute_s(recording, number))


def on_demand(settings: qemu.Settings, alone: bool) -> bool:
    """Does the second theorem hold for a run with these settings, and for one process, if it is `alone`?"""
    guard = parameters.split(settings.cmdline)[0].get("guard", "none")
    return alone and settings.vm not in AHEAD and guard == "none"


def seconds(least: LeastTime, settings: qemu.Settings, alone: bool = True) -> float:
    """The larger bound of those that hold for a run with these settings."""
    return max(least.any_order_s, least.on_demand_s if on_demand(settings, alone) else 0.0)
