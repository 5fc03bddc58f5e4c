"""PFF: a fault more than T after the previous one makes the process lose the pages that it has not used since that
previous fault; after any other fault it only grows (W. Chu, H. Opderbeck, The page fault frequency replacement
algorithm, AFIPS FJCC 1972).

The pages are evicted at the first tick after the late fault. A page counts as used if the process used it after the
first tick at which it had run for half of T since the previous fault, or after that fault if there was no such tick. If
no frame is free, the hand of a clock gives one, with its own view of uses: a use seen by one observer is not hidden
from the other. A page that has just arrived counts as used until the next clearing, but not for the hand. Only the hand
considers pages that a system call brought in.
"""

from __future__ import annotations

from tidemark.strings.refstrings import BY_CALL

RELATIVE = "clock"
DIFFERS = ("1-6 1 2 1 2 1 2 1 2 1 2 1 2 7 1 2 1 2 1 2 3 4 5 8 9 6 7 1 2", 8)
MIXED = True
STEP_NS = 1_000_000
INTERVAL, TICK = 8, 5  # steps
PARAMETERS = (f"interval_ms={INTERVAL}",)


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.now = 0
        self.set: list[int] = []  # the process's resident pages, in the order in which they were brought in
        self.circle: list[int] = []  # all resident pages; the hand points to the first
        self.used_for_set: set[int] = set()
        self.used_for_hand: set[int] = set()
        self.last_fault = 0
        self.faulted = self.late = False

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it, and at the tick that may follow?"""
        found = page in self.circle
        gone = [] if found else self.fault(page, bool(kind & BY_CALL))
        if found:
            self.used_for_hand.add(page)
        self.used_for_set.add(page)
        self.now += 1
        settled = self.faulted and self.now - self.last_fault >= INTERVAL / 2
        if self.now % TICK == 0 and (self.late or settled):
            gone += self.examine()
        return found, gone

    def fault(self, page: int, by_call: bool) -> list[int]:
        """Brings a page in."""
        gone = [self.take()] if len(self.circle) == self.frames else []
        self.circle.append(page)
        if not by_call:
            self.set.append(page)
            self.late |= self.now - self.last_fault > INTERVAL
            self.faulted = True
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
        """Evicts the page."""
        self.circle.remove(page)
        if page in self.set:
            self.set.remove(page)

    def examine(self) -> list[int]:
        """Evicts the pages that have not been used, if a fault was late. From now on no page counts as used."""
        gone = [page for page in self.set if page not in self.used_for_set] if self.late else []
        for page in gone:
            self.drop(page)
            self.used_for_hand.discard(page)
        self.used_for_set = set()
        self.faulted = self.late = False
        return gone
