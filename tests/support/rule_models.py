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
    """Second chance with options: how often a page is passed (counter, doubles, stays2, stays4, once, twice, back6,
    back12), and where the hand begins (oldest)."""

    def __init__(self, options: Sequence[str]) -> None:
        self.options = set(options)
        self.back = next((int(each[4:]) for each in options if each.startswith("back")), 0)
        self.limit = 1 if "once" in options else 2 if "twice" in options else 0
        self.circle: list[int] = []  # without `oldest`: from the hand on; with it: in the order of arrival
        self.used: set[int] = set()
        self.score: Counter[int] = Counter()
        self.evicted: list[int] = []

    def score_after_use(self, score: int) -> int:
        """The score of a page that was found used."""
        if "counter" in self.options:
            return min(score + 1, 3)
        if "doubles" in self.options:
            return min(score + 2, 4)
        return 2 if "stays2" in self.options else 4 if "stays4" in self.options else score

    def spares(self, page: int) -> bool:
        """Is the page passed? Reads and clears its bit, unless the rule does not look at it."""
        if self.limit:
            if self.score[page] >= self.limit or page not in self.used:
                return False
            self.used.remove(page)
            self.score[page] += 1
            return True
        if page in self.used:
            self.used.remove(page)
            self.score[page] = self.score_after_use(self.score[page])
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
            else:
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


class UseOnce:
    """Two lists with options: uses that make a page active (thrice), their lengths (third, double), and how a
    page gets old (tail, marked, second) or comes back (back12, back24)."""

    def __init__(self, options: Sequence[str]) -> None:
        self.options = set(options)
        self.back = next((int(each[4:]) for each in options if each.startswith("back")), 0)
        self.needed = 3 if "thrice" in self.options else 2
        self.active: list[int] = []  # both lists: the head first
        self.inactive: list[int] = []
        self.used: set[int] = set()
        self.flag: Counter[int] = Counter()
        self.unused: Counter[int] = Counter()
        self.evicted: list[int] = []

    def activate(self, page: int) -> None:
        """Put a page at the head of the active list."""
        self.flag[page] = self.unused[page] = 0
        self.active.insert(0, page)

    def too_long(self) -> bool:
        """Is the active list to be shrunk?"""
        active, inactive = len(self.active), len(self.inactive)
        if "third" in self.options:
            return active > 2 * inactive
        return 2 * active > inactive if "double" in self.options else active > inactive

    def look_at_active(self) -> None:
        """Look at the tail of the active list."""
        page = self.active.pop()
        used = page in self.used or self.flag[page] > 0
        self.used.discard(page)
        self.flag[page] = 0
        self.unused[page] = 0 if used else self.unused[page] + 1
        if self.unused[page] < (2 if "second" in self.options else 1):
            self.active.insert(0, page)
            return
        self.flag[page] = "marked" in self.options
        self.inactive.insert(len(self.inactive) if "tail" in self.options else 0, page)

    def look_at_inactive(self) -> int | None:
        """Look at the tail of the inactive list: the page if it is to be evicted."""
        page = self.inactive.pop()
        if page not in self.used:
            return page
        self.used.remove(page)
        self.flag[page] += 1
        if self.flag[page] == self.needed:
            self.activate(page)
        else:
            self.inactive.insert(0, page)
        return None

    def call(self) -> int | None:
        """One call of select: the page to evict, None if its looks are used up."""
        looks = LOOKS
        while looks:
            left = 32
            while left and looks and self.too_long():
                self.look_at_active()
                left, looks = left - 1, looks - 1
            while looks and self.inactive:
                looks -= 1
                if (victim := self.look_at_inactive()) is not None:
                    return victim
            if not self.active:
                return None
            looks = max(looks - 1, 0)
        return None

    def run(self, pages: Sequence[int], frames: int) -> list[int | None]:
        """The victim at each reference, None if there is none."""
        made: list[int | None] = []
        for page in pages:
            victim = None
            if page in self.active or page in self.inactive:
                self.used.add(page)
            else:
                if len(self.active) + len(self.inactive) == frames:
                    victim = next(found for _ in range(CALLS) if (found := self.call()) is not None)
                    self.evicted.append(victim)
                came_back = self.back and page in self.evicted[-self.back :]
                self.flag[page] = 0
                if came_back:
                    self.activate(page)
                else:
                    self.inactive.insert(0, page)
            made.append(victim)
        return made
