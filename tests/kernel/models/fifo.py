"""FIFO: the page that arrived first is evicted first."""

from __future__ import annotations

RELATIVE = "clock"
DIFFERS = ("1 2 3 1 4 2 1", 3)


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.queue: list[int] = []

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        if page in self.queue:
            return True, []
        gone = [self.queue.pop(0)] if len(self.queue) == self.frames else []
        self.queue.append(page)
        return False, gone
