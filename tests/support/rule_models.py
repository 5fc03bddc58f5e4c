"""The rules of labs 4 and 5 that students draw, as their words say them, on a string of references. They share nothing
with the variants' solutions, which are compared with them.

As in tidemark.grade.judge.textbook, the access that faults does not count as a use. A call of select may look at 32
pages; if it finds none, it is called again, 12 times at most before priority 0, which these strings do not reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

LOOKS, CALLS = 32, 12


class Model(Protocol):
    """A rule."""

    def run(self, pages: Sequence[int], frames: int) -> list[int | None]:
        """The victim at each reference, None if there is none."""


class Clock:
    """Second chance with options: who is spared (counter, stays, twice, back6, back12), and how the hand moves."""

    def __init__(self, options: Sequence[str]) -> None:
        self.options = set(options)
        self.back = next((int(each[4:]) for each in options if each.startswith("back")), 0)
        self.circle: list[int] = []  # without `oldest`: from the hand on; with it: in the order of arrival
        self.used: set[int] = set()
        self.score: Counter[int] = Counter()
        self.evicted: list[int] = []

    def spares(self, page: int) -> bool:
        """Is the page passed? Reads and clears its bit, unless the rule does not look at it."""
        if "twice" in self.options:
            if self.score[page] >= 2 or page not in self.used:
                return False
            self.used.remove(page)
            self.score[page] += 1
            return True
        if page in self.used:
            self.used.remove(page)
            if "counter" in self.options and self.score[page] < 3:
                self.score[page] += 1
            if "stays" in self.options:
                self.score[page] = 2
            return True
        if self.score[page] > 0:
            self.score[page] -= 1
            return True
        return False

    def call(self) -> int | None:
        """One call of select: the page to evict, None if its looks are used up."""
        at = 0
        for _ in range(LOOKS):
            page = self.circle[at]
            if not self.spares(page):
                return self.circle.pop(at)
            if "oldest" in self.options:
                at = (at + 1) % len(self.circle)
                continue
            steps = 2 if "skip" in self.options else 1
            for _ in range(steps):
                self.circle.append(self.circle.pop(0))
        return None

    def run(self, pages: Sequence[int], frames: int) -> list[int | None]:
        """The victim at each reference, None if there is none."""
        made: list[int | None] = []
        for page in pages:
            victim = None
            if page in self.circle:
                self.used.add(page)
            else:
                if len(self.circle) == frames:
                    victim = next(found for _ in range(CALLS) if (found := self.call()) is not None)
                    self.used.discard(victim)
                    self.evicted.append(victim)
                came_back = self.back and page in self.evicted[-self.back :]
                self.score[page] = 1 if came_back else 0
                self.circle.append(page)
            made.append(victim)
        return made
