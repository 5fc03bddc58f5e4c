"""SIEVE: a queue in order of arrival, and a hand that moves from the oldest to the newest; a visited page loses its
mark and keeps its place, the first unvisited page is evicted (Zhang et al., SIEVE is simpler than LRU, NSDI 2024)."""

from __future__ import annotations

RELATIVE = "clock"
DIFFERS = ("1 2 3 1 4 5 6 1", 3)
MIXED = True


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.queue: list[int] = []  # oldest first
        self.hand: int | None = None  # the page to look at next; None: the oldest
        self.visited: set[int] = set()

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        if page in self.queue:
            self.visited.add(page)
            return True, []
        gone = [self.take()] if len(self.queue) == self.frames else []
        self.queue.append(page)
        return False, gone

    def newer(self, page: int) -> int | None:
        """The page that arrived next after it."""
        after = self.queue.index(page) + 1
        return self.queue[after] if after < len(self.queue) else None

    def take(self) -> int:
        """Evicts a page, and returns it."""
        page = self.hand if self.hand is not None else self.queue[0]
        while page in self.visited:
            self.visited.remove(page)
            following = self.newer(page)
            page = following if following is not None else self.queue[0]
        self.hand = self.newer(page)
        self.queue.remove(page)
        return page
