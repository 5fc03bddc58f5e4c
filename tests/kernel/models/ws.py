"""The working set of one process (P. Denning, The working set model for program behavior, CACM 11(5), 1968).

A tick sees the pages used since the last one, and assumes times spread evenly between the two ticks. A page not used
for tau is evicted at the tick nearest to that time. If a frame is needed, the page not used for longest is
evicted, unless it has been used since the last look. Pages that read and write brought in are unowned: they are evicted
first while they are more than an eighth of memory. After LOOKS pages the search starts again.
"""

from __future__ import annotations

from tidemark.strings.refstrings import BY_CALL

MS = 1_000_000
TAU_MS, FIRST_TICK_NS, TICK_NS, LOOKS = 135, 57 * MS, 2 * 135 // 7 * MS, 32
GOLDEN = 0x9E3779B9
RELATIVE = "clock"
DIFFERS = ("1 2 3" + " 3" * 30 + " 4 1", 3)
PARAMETERS = (f"tau_ms={TAU_MS}",)
STEP_NS = 10 * MS
MIXED = True


class Model:
    """A memory of some frames; both lists begin with the page not used for longest."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.now, self.last_tick, self.next_tick = 0, 0, FIRST_TICK_NS
        self.spread = 0
        self.own: list[int] = []
        self.nobodys: list[int] = []
        self.last_use: dict[int, int] = {}
        self.used: set[int] = set()  # since the last look
        self.mapped: set[int] = set()

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it, or at the tick after it?"""
        by_call = bool(kind & BY_CALL)
        found, gone = page in self.own + self.nobodys, []
        if not found:
            if len(self.own + self.nobodys) == self.frames:
                gone.append(self.take())
            (self.nobodys if by_call else self.own).append(page)
            self.last_use[page] = self.now >> 10
        elif by_call or page not in self.mapped:
            self.renew(page)
            if not by_call:
                self.used.discard(page)
        else:
            self.used.add(page)
        if not by_call:
            self.mapped.add(page)
        self.now += STEP_NS
        while self.next_tick <= self.now:
            gone += self.tick(self.next_tick)
            self.next_tick += TICK_NS
        return found, gone

    def list_of(self, page: int) -> list[int]:
        """The list that contains the page."""
        return self.own if page in self.own else self.nobodys

    def renew(self, page: int) -> None:
        """Records that the page has been used just now."""
        pages = self.list_of(page)
        pages.remove(page)
        pages.append(page)
        self.last_use[page] = self.now >> 10

    def leave(self, page: int) -> int:
        """Evicts the page."""
        self.list_of(page).remove(page)
        self.mapped.discard(page)
        self.used.discard(page)
        return page

    def candidates(self) -> list[int]:
        """The candidates for eviction, in order."""
        many = len(self.nobodys) > self.frames // 8
        return (self.nobodys if many else []) + self.own

    def take(self) -> int:
        """Evicts a page for another, and returns it."""
        while True:
            for page in self.candidates()[:LOOKS]:
                if page not in self.used:
                    return self.leave(page)
                self.used.remove(page)
                self.renew(page)

    def time_between(self, last: int, now: int) -> int:
        """The assumed time of a use between two ticks; units of 1,024 ns."""
        self.spread = (self.spread + GOLDEN) % 2**32
        return last + ((now - last) * self.spread >> 32)

    def tick(self, now: int) -> list[int]:
        """Reads the accessed bits; returns the evicted pages."""
        last, now = self.last_tick, now >> 10
        self.last_tick = now
        for page in [page for page in self.own if page in self.used]:
            self.used.remove(page)
            self.own.remove(page)
            self.own.append(page)
            self.last_use[page] = self.time_between(last, now)
        limit = now + (now - last) // 2 - TAU_MS * 977
        return [self.leave(page) for page in self.own[:] if self.last_use[page] < limit]
