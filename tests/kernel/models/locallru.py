"""Local LRU: the pages of a process, and those of no process, each have a partition. The partition that exceeds its
quota by the most pages gives up the page whose last observed use is oldest (Silberschatz, Operating System Concepts,
"Allocation of Frames").

A page is observed when it arrives, at every read and write by a system call, at the fault that maps it, and with the
other pages of the process every 10 ms, if its accessed bit is set; then they count as used in the order of their
earlier uses. A page that would be evicted, but was used since it was last observed, is observed instead.

At the same times the quotas are set: at most UNOWNED percent of memory for pages that a system call brought in, and for
the process what they leave of it. Until the first time no partition has a quota.
"""

from __future__ import annotations

from tidemark.strings.refstrings import BY_CALL

RELATIVE = "clock"
DIFFERS = ("1-8 3-8 8 8 8 8 8 8 2 1 8 8 8 8 8 8 8 8 9", 8)
MIXED = True
STEP_NS = 1_000_000
TICK, UNOWNED = 10, 20  # steps; percent
NO_LIMIT = 1 << 30


class Model:
    """A memory of some frames, one process, and pages of no process."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.owned: dict[int, bool] = {}  # of the resident pages: does the process own it?
        self.observed: dict[int, int] = {}  # when each was: a counter
        self.used: set[int] = set()  # since then
        self.mapped: set[int] = set()
        self.quotas = {False: NO_LIMIT, True: NO_LIMIT}
        self.counter = self.now = 0

    def observe(self, page: int) -> None:
        """The page is now the one whose last use is the most recent."""
        self.counter += 1
        self.observed[page] = self.counter
        self.used.discard(page)

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        by_call = bool(kind & BY_CALL)
        found, gone = page in self.owned, []
        if not found:
            if len(self.owned) == self.frames:
                gone = [self.take()]
            self.owned[page] = not by_call
            self.observe(page)
        elif by_call or page not in self.mapped:
            self.observe(page)
        else:
            self.used.add(page)
        if not by_call:
            self.mapped.add(page)
        self.now += 1
        if self.now % TICK == 0:
            self.look()
        return found, gone

    def look(self) -> None:
        """Observes the uses of the process's own pages, and divides memory."""
        for page in sorted(self.used, key=lambda page: self.observed[page]):
            if self.owned[page]:
                self.observe(page)
        others = sum(not owned for owned in self.owned.values())
        self.quotas[False] = self.frames * UNOWNED // 100
        self.quotas[True] = max(8, self.frames - min(others, self.quotas[False]))

    def take(self) -> int:
        """Evicts a page, and returns it."""
        sizes = {who: sum(owned == who for owned in self.owned.values()) for who in (False, True)}
        pays = max((who for who in sizes if sizes[who]), key=lambda who: sizes[who] - self.quotas[who])
        pages = [page for page in self.owned if self.owned[page] == pays]
        while (oldest := min(pages, key=lambda page: self.observed[page])) in self.used:
            self.observe(oldest)
        del self.owned[oldest], self.observed[oldest]
        self.mapped.discard(oldest)
        return oldest
