"""PFF: a fault that comes more than T after the one before makes the process lose what it has not used since it last
lost something; after any other it only grows (W. Chu, H. Opderbeck, The page fault frequency replacement algorithm,
AFIPS FJCC 1972).

The pages leave at the first tick after the late fault. When no frame is free, the hand of a clock gives one, which
asks for uses by itself: that one observer has seen a use does not hide it from the other. A page that has just come
in counts as used when its process shrinks, not for the hand. Pages that a system call brought in are the hand's alone.
"""

from __future__ import annotations

from tidemark.strings import BY_CALL

RELATIVE = "clock"
DIFFERS = ("1-6 1 2 1 2 1 2 1 2 1 2 1 2 7 1 2 1 2 1 2 3 4 5 8 9 6 7 1 2", 8)
MIXED = True
STEP_NS = 1_000_000
INTERVAL, TICK = 3, 10  # steps
PARAMETERS = (f"interval_ms={INTERVAL}",)


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.now = 0
        self.set: list[int] = []  # the process's pages in memory, in the order in which they came
        self.circle: list[int] = []  # all pages in memory; the hand points to the first
        self.used_for_set: set[int] = set()
        self.used_for_hand: set[int] = set()
        self.last_fault = 0
        self.late = False

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was it in memory? And which pages leave for it, and at the tick that may follow."""
        found = page in self.circle
        gone = [] if found else self.fault(page, bool(kind & BY_CALL))
        if found:
            self.used_for_hand.add(page)
        self.used_for_set.add(page)
        self.now += 1
        if self.now % TICK == 0 and self.late:
            gone += self.shrink()
        return found, gone

    def fault(self, page: int, by_call: bool) -> list[int]:
        """Brings a page in."""
        gone = [self.take()] if len(self.circle) == self.frames else []
        self.circle.append(page)
        if not by_call:
            self.set.append(page)
            self.late |= self.now - self.last_fault > INTERVAL
            self.last_fault = self.now
        return gone

    def take(self) -> int:
        """The page that the hand gives."""
        while (page := self.circle[0]) in self.used_for_hand:
            self.used_for_hand.remove(page)
            self.circle.append(self.circle.pop(0))
        self.drop(page)
        return page

    def drop(self, page: int) -> None:
        """It leaves."""
        self.circle.remove(page)
        if page in self.set:
            self.set.remove(page)

    def shrink(self) -> list[int]:
        """The pages that have not been used leave."""
        gone = [page for page in self.set if page not in self.used_for_set]
        for page in gone:
            self.drop(page)
            self.used_for_hand.discard(page)
        self.used_for_set = set()
        self.late = False
        return gone
