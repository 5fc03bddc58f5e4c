"""The full 2Q (T. Johnson and D. Shasha, 2Q: A low overhead high performance buffer management replacement algorithm,
VLDB 1994): the queue A1in, its ghosts A1out, the list Am, which is LRU there.

With `sees_all`, as in the paper: a use moves its page at once, and A1out is checked before a page is evicted. Without
it, as in a kernel: a use sets a bit, which is seen when the page is the oldest of Am; and the incoming page
is known only after another has been evicted. In both, calls that read and write are seen at once.
"""

from __future__ import annotations

from tidemark.strings.refstrings import BY_CALL

RELATIVE = "clock"
DIFFERS = ("1-8 1 2 9 1 2 10-30 1 2", 8)
MIXED = True
KIN, KOUT = 4, 2  # one in this number of frames


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int, sees_all: bool = False, kout: int = KOUT) -> None:
        self.frames, self.sees_all, self.kout = frames, sees_all, kout
        self.a1in: list[int] = []  # the newest first, as in the paper, here and below
        self.a1out: list[int] = []
        self.am: list[int] = []
        self.used: set[int] = set()
        self.mapped: set[int] = set()

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        by_call = bool(kind & BY_CALL)
        if page in self.a1in or page in self.am:
            seen = self.sees_all or by_call or page not in self.mapped
            if not by_call and page not in self.mapped:
                self.used.discard(page)
                self.mapped.add(page)
            if not seen:
                self.used.add(page)
            elif page in self.am:
                self.am.remove(page)
                self.am.insert(0, page)
            return True, []
        wanted = self.sees_all and self.take_ghost(page)
        gone = [self.reclaim()] if len(self.a1in) + len(self.am) == self.frames else []
        wanted = wanted or self.take_ghost(page)
        (self.am if wanted else self.a1in).insert(0, page)
        if not by_call:
            self.mapped.add(page)
        return False, gone

    def take_ghost(self, page: int) -> bool:
        """Is the page remembered? Forgets it."""
        remembered = page in self.a1out
        if remembered:
            self.a1out.remove(page)
        return remembered

    def reclaim(self) -> int:
        """Evicts a page, and returns it."""
        if len(self.a1in) > self.frames // KIN or not self.am:
            page = self.a1in.pop()
            self.a1out.insert(0, page)
            del self.a1out[self.frames // self.kout :]
        else:
            while (page := self.am.pop()) in self.used:
                self.used.remove(page)
                self.am.insert(0, page)
        self.used.discard(page)
        self.mapped.discard(page)
        return page
