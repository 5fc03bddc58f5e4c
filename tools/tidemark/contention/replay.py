"""n processors that share one lock, replayed from the sections of one.

Each processor executes the recorded sections: it thinks, waits for the lock, holds it, and thinks again. Processor k
starts at section k·len/n of the recording and returns to the first section after the last, until it has executed as
many sections as there are. So every processor does the same work, but not at the same moment. The lock is fair: it is
given in order of arrival, as a ticket lock is. A processor that waits executes nothing else (it spins).

With n = 1 nothing waits. With exponential times this is the machine-repairman model, M/M/1//n, whose closed form the
tests compare.

What the replay does not have: the transfer of the lock's cache line, which makes real holds longer the more processors
want the lock; different programs; memory that the processors share, so that one's allocations change another's;
processors that stop early and leave the lock to the others; the locks of the policies' lists.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from tidemark.contention.record import Sections
from tidemark.errors import USAGE, LabError


@dataclass(frozen=True)
class Waiting:
    """The result for n `processors`, in instructions, sums over all of them: `waited`, and `worked`, everything else.
    `sections` is the number of times that the lock was taken."""

    processors: int
    sections: int
    waited: int
    worked: int

    @property
    def per_section(self) -> float:
        """The mean wait for the lock."""
        return self.waited / self.sections

    @property
    def share(self) -> float:
        """The share of all processors' time that is spent waiting."""
        return self.waited / (self.waited + self.worked)


def replay(recorded: Sections, processors: int) -> Waiting:
    """Replay the sections on n processors. Raises LabError if there is no processor."""
    if processors < 1:
        raise LabError(f"{processors} processors: a machine has at least one", USAGE)
    thinks, holds, nr = recorded.thinks.tolist(), recorded.holds.tolist(), len(recorded.holds)
    places = [k * nr // processors for k in range(processors)]
    arrivals = [(thinks[place], k, 0) for k, place in enumerate(places)]
    heapq.heapify(arrivals)
    free_at = waited = 0
    while arrivals:
        now, k, done = arrivals[0]
        begin = max(now, free_at)
        waited += begin - now
        free_at = begin + holds[(places[k] + done) % nr]
        if done + 1 < nr:
            following = free_at + thinks[(places[k] + done + 1) % nr]
            heapq.heapreplace(arrivals, (following, k, done + 1))
        else:
            heapq.heappop(arrivals)
    worked = processors * (sum(thinks) + sum(holds))
    return Waiting(processors, processors * nr, waited, worked)
