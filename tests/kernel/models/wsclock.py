"""WSClock: one circle, the time of the last use of each page, and a hand that evicts clean pages older than tau, starts
writes of old dirty ones, and continues (R. Carr, J. Hennessy, WSCLOCK, SOSP 1981).

Where the paper leaves a choice: at most BATCH writes are started for one evicted page. After a whole turn without an
old page, a clean one is evicted, and after a whole turn without one of them, any unused page. Writes finish when a page
has been found or LOOKS pages have been passed in vain; the pages are then inserted behind the hand, in the order of
their slots in the swap area.
"""

from __future__ import annotations

from tidemark.strings.refstrings import LOADS

RELATIVE = "clock"
DIFFERS = ("1 2 3 1 2 3 1 2 3 4 5 1 2 6 7 l4 l5 2 2 l6 2 2 l7 l3 2 l4 1 2 3", 4)
STEP_NS = 100_000
TAU_STEPS, BATCH, LOOKS = 20, 4, 32
PARAMETERS = ("tau_ms=2", f"batch={BATCH}")


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.now = 0  # references so far: the process's own time
        self.circle: list[int] = []  # the hand points to the first
        self.writing: list[int] = []
        self.accessed: set[int] = set()
        self.dirty: set[int] = set()
        self.last_use: dict[int, int] = {}
        self.places: list[int] = []  # pages in the order of their slots in the swap area
        self.since_old = self.since_clean = self.begun = 0

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        found, gone = page in self.circle, []
        if found:
            self.accessed.add(page)
        else:
            if len(self.circle) == self.frames:
                gone = [self.make_room()]
            self.circle.append(page)
            self.last_use[page] = self.now
        if not kind & LOADS or (not found and page not in self.places):
            self.dirty.add(page)
        self.now += 1
        return found, gone

    def make_room(self) -> int:
        """Searches until a page that can be evicted is found."""
        victim = None
        while victim is None:
            victim = self.one_pass()
            self.writing.sort(key=self.places.index)
            self.circle += self.writing
            self.dirty -= set(self.writing)
            self.writing = []
        self.begun = 0
        self.dirty.discard(victim)
        return victim

    def one_pass(self) -> int | None:
        """Returns a page that can be evicted, or None after LOOKS pages in vain."""
        looks = LOOKS
        while self.circle and looks:
            page = self.circle[0]
            looks -= 1
            action = self.judge(page)
            self.circle.pop(0)
            if action == "pass":
                self.circle.append(page)
                self.since_old += 1
                self.since_clean += 1
                continue
            if page not in self.places:
                self.places.append(page)
            if action == "take":
                return page
            self.writing.append(page)
            self.begun += 1
            looks = LOOKS
        return None

    def judge(self, page: int) -> str:
        """What the hand does with a page."""
        if page in self.accessed:
            self.accessed.remove(page)
            self.last_use[page] = self.now
            return "pass"
        if self.now - self.last_use[page] > TAU_STEPS:
            self.since_old = 0
            return "write" if page in self.dirty and self.begun < BATCH else "take"
        turn, clean_turn = self.since_old >= len(self.circle), self.since_clean >= len(self.circle)
        if page not in self.dirty:
            self.since_clean = 0
            return "take" if turn else "pass"
        return "take" if turn and clean_turn else "pass"
