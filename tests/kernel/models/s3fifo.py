"""S3-FIFO (Yang et al., FIFO queues are all you need for cache eviction, SOSP 2023, algorithm 1): a small queue for new
pages, a main queue for pages used there, or that return while they have a ghost. The kernel's has one bit: one use
is enough. `bits=2` is the paper's own. `as_library` selects libcachesim's differences: the first pages fill the main
queue once the small one is full, a page's ghost is looked up before another page is evicted, and the small queue is
scanned until one of its pages is evicted, where the paper turns to a full main queue."""

from __future__ import annotations

RELATIVE = "clock"
DIFFERS = ("1 6 4 1 2 3 6", 3)
MIXED = True


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int, *, bits: int = 1, as_library: bool = False) -> None:
        self.frames, self.needed, self.most, self.as_library = frames, bits, 2**bits - 1, as_library
        self.share = max(1, frames // 10)
        self.small: list[int] = []  # oldest first
        self.main: list[int] = []
        self.ghosts: list[int] = []
        self.uses: dict[int, int] = {}
        self.filling = as_library

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        if page in self.uses:
            self.uses[page] = min(self.uses[page] + 1, self.most)
            return True, []
        known = self.as_library and self.known(page)
        gone = [self.take()] if len(self.uses) == self.frames else []
        known = known or self.known(page)
        self.uses[page] = 0
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
                moved = True
                page = self.small.pop(0)
                if self.uses[page] >= self.needed:
                    self.main.append(page)
                    self.uses[page] = 0
                    continue
                self.ghosts = [*self.ghosts, page][-max(self.frames - self.share, 8) :]
            else:
                page = self.main.pop(0)
                if self.uses[page]:
                    self.main.append(page)
                    self.uses[page] -= 1
                    continue
            del self.uses[page]
            return page
