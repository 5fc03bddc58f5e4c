"""LRU-K with K = 2 (E. O'Neil, P. O'Neil, G. Weikum, The LRU-K page replacement algorithm for database disk buffering,
SIGMOD 1993): evicts the page whose second last use is longest ago; pages with one known use first, by the last use.

The kernel sees a use late: when its page would be evicted. It then counts as a use of that moment. Calls that read and
write, and the first fault on a page that is not mapped, are seen at once. For PERIOD_MS after a counted use uses do not
count; more than an eighth of the frames are not in such a period. At most two periods end when another one begins.

`sees_all` is the paper's own: each use is seen at once, in an order instead of milliseconds, without a period.
"""

from __future__ import annotations

from tidemark.strings.refstrings import BY_CALL

RELATIVE = "clock"
DIFFERS = ("1 2 3 4 1 2 5 6 7 8 1 2 3 9 10 1 2", 4)
MIXED = True
STEP_NS = 300_000
K, PERIOD_MS, RETAINED_MS = 2, 2, 20
PARAMETERS = (f"k={K}", f"correlated_ms={PERIOD_MS}", f"retained_ms={RETAINED_MS}")


class Model:
    """A memory of some frames."""

    def __init__(
        self,
        frames: int,
        *,
        k: int = K,
        period_ms: int = PERIOD_MS,
        retained_ms: int = RETAINED_MS,
        sees_all: bool = False,
    ) -> None:
        self.frames, self.k, self.sees_all = frames, k, sees_all
        self.period, self.retained = (0, retained_ms) if sees_all else (period_ms, retained_ms)
        self.uses: dict[int, list[int]] = {}  # the times of the last two known uses of resident pages, last first
        self.settled: list[int] = []  # resident pages outside of a period, in the order in which their periods ended
        self.recent: list[int] = []  # resident pages in a period, in the order in which their periods began
        self.ghosts: dict[int, int] = {}  # last uses of evicted pages, in the order of their evictions
        self.bits: set[int] = set()
        self.mapped: set[int] = set()
        self.ns = 0

    @property
    def now(self) -> int:
        """The time, in units of 2^20 ns."""
        return self.ns if self.sees_all else self.ns >> 20

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        found, gone = page in self.uses, []
        by_call = bool(kind & BY_CALL)
        if not found:
            if len(self.uses) == self.frames:
                gone = [self.take()]
            self.uses[page] = [self.now, *self.recalled(page)]
            self.begin(page)
        elif self.sees_all or by_call or page not in self.mapped:
            if not by_call:
                self.bits.discard(page)
            if page in self.settled:
                self.count(page)
        else:
            self.bits.add(page)
        if not by_call:
            self.mapped.add(page)
        self.ns += 1 if self.sees_all else STEP_NS
        return found, gone

    def recalled(self, page: int) -> list[int]:
        """The last use of an evicted page, if it still counts."""
        last = self.ghosts.pop(page, None)
        return [last] if last is not None and self.now - last <= self.retained else []

    def count(self, page: int) -> None:
        """Counts a use of a page outside of a period."""
        self.settled.remove(page)
        self.uses[page] = [self.now, self.uses[page][0]]
        self.begin(page)

    def begin(self, page: int) -> None:
        """Begins the page's period."""
        (self.recent if self.period else self.settled).append(page)
        self.end_periods()

    def end_periods(self) -> None:
        """Ends up to two periods; uses in them are not seen."""
        for page in self.recent[:2]:
            if len(self.recent) <= self.frames // 8 and self.now - self.uses[page][0] < self.period:
                return
            self.recent.remove(page)
            self.settled.append(page)
            self.bits.discard(page)

    def distance(self, page: int) -> tuple[bool, int]:
        """Orders pages: those with fewer than K uses first (the list is in the order of their last uses)."""
        uses = self.uses[page]
        enough = self.k == 2 and len(uses) == 2
        return enough, uses[1] if enough else 0

    def take(self) -> int:
        """Evicts a page, and returns it."""
        while self.settled:
            page = min(self.settled, key=self.distance)
            if page not in self.bits:
                return self.evict(page)
            self.bits.discard(page)
            self.count(page)
        return self.evict(self.recent[0])

    def evict(self, page: int) -> int:
        """Evicts the page; its last use is remembered."""
        (self.settled if page in self.settled else self.recent).remove(page)
        self.mapped.discard(page)
        for ghost in list(self.ghosts)[:2]:
            if len(self.ghosts) == self.frames or self.now - self.ghosts[ghost] > self.retained:
                del self.ghosts[ghost]
        if self.retained:
            self.ghosts[page] = self.uses[page][0]
        del self.uses[page]
        return page
