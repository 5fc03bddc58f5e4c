"""Clock2Q+ (Zhai et al., VLDB 2026): S3-FIFO with one bit, where uses in the newest half of the small queue, the
window, do not count, and with half as many ghosts as frames. Until the first eviction, pages for which the small queue
has no room go to the main queue. `as_library` selects libcachesim's differences: more ghosts, a page's ghost is looked
up before another page is evicted, and the small queue is scanned until one of its pages is evicted, even if main is
full."""

from __future__ import annotations

RELATIVE = "s3fifo"
DIFFERS = ("1 6 4 1 2 3 6", 3)
MIXED = True


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int, *, as_library: bool = False, ghost_percent: int = 50) -> None:
        self.frames, self.as_library = frames, as_library
        self.share = max(1, frames // 10)
        self.window = -(-self.share // 2)
        self.nr_ghosts = max(8, frames * 9 // 10 if as_library else frames * ghost_percent // 100)
        self.small: list[int] = []  # oldest first
        self.main: list[int] = []
        self.ghosts: list[int] = []
        self.used: set[int] = set()
        self.filling = True

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        if page in self.small or page in self.main:
            if page not in self.small[-self.window :]:
                self.used.add(page)
            return True, []
        known = self.as_library and self.known(page)
        gone = [self.take()] if len(self.small) + len(self.main) == self.frames else []
        known = known or self.known(page)
        full = self.filling and len(self.small) >= self.share
        (self.main if known or full else self.small).append(page)
        return False, gone

    def known(self, page: int) -> bool:
        """Does the page have a ghost? Removes the ghost."""
        if page not in self.ghosts:
            return False
        self.ghosts.remove(page)
        return True

    def take(self) -> int:
        """Evicts a page, and returns it."""
        self.filling = moved = False
        while True:
            if len(self.small) >= self.share or not self.main or (self.as_library and moved and self.small):
                page = self.small.pop(0)
                if page not in self.used:
                    self.ghosts = [*self.ghosts, page][-self.nr_ghosts :]
                    return page
                moved = True
            else:
                page = self.main.pop(0)
                if page not in self.used:
                    return page
            self.used.remove(page)
            self.main.append(page)
