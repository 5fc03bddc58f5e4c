"""Working sets with random victims: a page outside the working set is drawn, and only if there is none, one of the set
(J. Tucek, Linux Virtual Memory Manager, 2007, section 2.4).

At a look, every quarter of tau, a page that has been used since the last one gets the current time, and a page whose
time is more than tau ago is outside. A page outside that is drawn, and has been used, is inside again. Pages that a
system call brought in form a set of their own. The random numbers are those of the policy, as for random: SplitMix64
over a counter, one for each bag.
"""

from __future__ import annotations

from tidemark.strings.refstrings import BY_CALL

RELATIVE = "random"
DIFFERS = ("1-6" + " 1-3" * 20 + " 7 1-3 8 1-3 9 1-3", 6)
MS = 1_000_000
MIXED = True
TAU_MS, STEP_NS, FIRST_TICK_NS = 60, 4 * MS, 50 * MS
PARAMETERS = (f"tau_ms={TAU_MS}",)
SEED, DRAWS = 1, 8
STEP = 0x9E3779B97F4A7C15
WORD = (1 << 64) - 1


def mix64(z: int) -> int:
    """The mixing function of SplitMix64 (Steele, Lea, Flood, 2014)."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & WORD
    return z ^ z >> 31


class Bag:
    """Pages with numbers; the last one fills the gap of one that leaves."""

    def __init__(self) -> None:
        self.pages: list[int] = []
        self.counter = 0

    def draw(self) -> int:
        """A page, all with the same probability."""
        self.counter = self.counter + STEP & WORD
        return self.pages[(mix64(self.counter + (SEED << 32) & WORD) >> 32) * len(self.pages) >> 32]

    def remove(self, page: int) -> None:
        """Takes the page out."""
        at = self.pages.index(page)
        self.pages[at] = self.pages[-1]
        self.pages.pop()


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.now, self.next_tick, self.last_look = 0, FIRST_TICK_NS, 0
        self.inside, self.outside = Bag(), Bag()
        self.looked_at: tuple[list[int], list[int]] = [], []  # the unowned pages, and those of the process
        self.stamp: dict[int, int] = {}
        self.used: set[int] = set()  # since the last look
        self.mapped: set[int] = set()

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        by_call = bool(kind & BY_CALL)
        found, gone = page in self.stamp, []
        if not found:
            if len(self.stamp) == self.frames:
                gone = [self.take()]
            self.inside.pages.append(page)
            self.stamp[page] = self.now >> 20
            self.looked_at[not by_call].append(page)
        elif by_call or page not in self.mapped:
            self.note_use(page)
            if not by_call:
                self.used.discard(page)
        else:
            self.used.add(page)
        if not by_call:
            self.mapped.add(page)
        self.pass_time(self.now + STEP_NS)
        return found, gone

    def note_use(self, page: int) -> None:
        """Records that the page has been used just now: it is inside."""
        self.stamp[page] = self.now >> 20
        if page in self.outside.pages:
            self.outside.remove(page)
            self.inside.pages.append(page)

    def take(self) -> int:
        """Evicts a page, and returns it."""
        page = self.find()
        (self.outside if page in self.outside.pages else self.inside).remove(page)
        del self.stamp[page]
        for pages in self.looked_at:
            if page in pages:
                pages.remove(page)
        self.mapped.discard(page)
        self.used.discard(page)
        return page

    def find(self) -> int:
        """A page outside that has not been used, or one of the set."""
        number = 0
        for tries in range(DRAWS + len(self.outside.pages)):
            pages = self.outside.pages
            if not pages:
                break
            number = pages.index(self.outside.draw()) if tries < DRAWS else number % len(pages)
            page = pages[number]
            if page not in self.used:
                return page
            self.used.remove(page)
            self.note_use(page)
        return self.inside.draw()

    def pass_time(self, until: int) -> None:
        """Makes the ticks that are due."""
        while self.next_tick <= until:
            self.now = self.next_tick
            self.next_tick += min(TAU_MS // 4, 50) * MS
            if self.now - self.last_look >= TAU_MS * MS // 4:
                self.last_look = self.now
                self.look()
        self.now = until

    def look(self) -> None:
        """Sees which pages have been used, and which have left the set."""
        for page in self.looked_at[0] + self.looked_at[1]:
            if page in self.used:
                self.used.remove(page)
                self.note_use(page)
            elif (self.now >> 20) - self.stamp[page] > TAU_MS * MS >> 20 and page in self.inside.pages:
                self.inside.remove(page)
                self.outside.pages.append(page)
