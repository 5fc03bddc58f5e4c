"""Half-life: a page is discarded when it has been in memory for some half-lives, used or not; if memory is short
before that, the oldest page is discarded (A. McMenamin, The binomial distribution, part 1, 2011).

Time is the process's own. Old pages are evicted at the next tick. Pages that a system call brought in are unowned, so
they have no such time, and only the lack of memory evicts them.
"""

from __future__ import annotations

from tidemark.strings.refstrings import BY_CALL

RELATIVE = "fifo"
DIFFERS = ("1 2" + " 3" * 30 + " 1 2", 3)
MS = 1_000_000
STEP_NS, TICK_NS = 7 * MS, 100 * MS
HALF_LIFE_MS, MULTIPLE = 45, 3
PARAMETERS = (f"half_life_ms={HALF_LIFE_MS}", f"multiple={MULTIPLE}")
MIXED = True


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.now = 0
        self.next_tick = TICK_NS
        self.entered: dict[int, int | None] = {}  # in the order of entry; None: unowned

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it, and at the tick that may follow?"""
        found = page in self.entered
        gone = [self.discard(next(iter(self.entered)))] if not found and len(self.entered) == self.frames else []
        if not found:
            self.entered[page] = None if kind & BY_CALL else self.now
        self.now += STEP_NS
        while self.next_tick <= self.now:
            gone += self.tick(self.next_tick)
            self.next_tick += TICK_NS
        return found, gone

    def discard(self, page: int) -> int:
        """Evicts the page."""
        del self.entered[page]
        return page

    def tick(self, now: int) -> list[int]:
        """Evicts the pages that are too old."""
        limit = HALF_LIFE_MS * MULTIPLE * MS
        old = [page for page, since in self.entered.items() if since is not None and now - since > limit]
        return [self.discard(page) for page in old]
