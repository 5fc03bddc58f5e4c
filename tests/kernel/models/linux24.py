"""Linux 2.4 before 2.4.10: active pages have ages: 2 at first, 3 more (at most 64) after a look that finds them used,
half after any other; at 0 they become inactive. Dirty inactive pages are written in batches, clean ones evicted; those
used meanwhile become active again (R. van Riel, Page replacement in Linux 2.4 memory management, FREENIX 2001). The
kernel asks up to thirteen times, and says each time how many pages may be looked at; at the end of each of these passes
the written pages become clean, in the order of their slots in the swap area."""

from __future__ import annotations

from tidemark.strings.refstrings import LOADS, OF_FILE

RELATIVE = "linux20"
DIFFERS = ("5 6 1 2", 3)  # 5 arrived first, 1 has the lowest address
MIXED = True
STEP_NS = 20_000_000
SECOND_NS = 1_000_000_000


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.active: list[int] = []  # all three lists: oldest first
        self.unclean: list[int] = []
        self.clean: list[int] = []
        self.ages: dict[int, int] = {}
        self.used: set[int] = set()
        self.dirty: set[int] = set()
        self.slots: dict[int, int] = {}
        self.last_slot = 0  # of the last evicted page; for a file's page that of its frame
        self.pressure = self.now = self.laundered = self.looks = self.priority = 0
        self.oldest: int | None = None  # of the pages that stayed

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        gone: list[int] = []
        found = page in self.ages
        if found:
            self.used.add(page)
        else:
            if len(self.ages) == self.frames:
                gone = [self.take()]
            if kind & OF_FILE:
                self.slots[page] = self.last_slot
            self.ages[page] = 2
            self.active.append(page)
            self.pressure += 1
        if not kind & LOADS or not (found or kind & OF_FILE or page in self.slots):
            self.dirty.add(page)
        self.now += STEP_NS
        if self.now % SECOND_NS == 0:
            self.pressure -= self.pressure // 64
            for _ in range(len(self.active) // 64):
                self.age(self.active[0])
        return found, gone

    def take(self) -> int:
        """Evicts a page, and returns it, after passes of increasing priority."""
        for self.priority in range(12, -1, -1):
            written: list[int] = []
            while (page := self.selected()) is not None:
                if page not in self.slots:
                    self.slots[page] = 1 + max((s for p, s in self.slots.items() if p >= 0), default=0)
                if page not in self.dirty or self.priority == 0:
                    break
                written.append(page)
            for other in sorted(written, key=lambda one: self.slots[one]):
                self.dirty.discard(other)
                self.clean.append(other)
            if page is not None:
                del self.ages[page]
                self.used.discard(page)
                self.dirty.discard(page)
                self.last_slot = self.slots[page]
                return page
        raise AssertionError("no page leaves")

    def selected(self) -> int | None:
        """A page to evict, or to write if it is dirty."""
        self.looks = max(self.frames >> self.priority, 32) if self.priority else 2 * max(self.frames, 32)
        self.oldest = None
        page = self.chosen()
        if page is None and self.priority == 0:
            page = self.oldest
        if page is not None:
            self.list_of(page).remove(page)
        return page

    def chosen(self) -> int | None:
        """A clean page, otherwise a dirty one; active pages become inactive as needed."""
        target = min(self.pressure // 64, self.frames // 4)
        self.refill(target - len(self.clean) - len(self.unclean))
        while True:
            while (page := self.unused(self.clean)) is not None and page in self.dirty:
                self.clean.remove(page)
                self.unclean.append(page)
                self.stays(page)
            if page is None and (self.laundered < 32 or self.priority == 0):
                page = self.unused(self.unclean)
                self.laundered += page in self.dirty and self.priority > 0
            if page is not None:
                return page
            if self.laundered and self.priority:
                self.laundered = 0
                return None
            if not self.refill(1):
                return None

    def unused(self, pages: list[int]) -> int | None:
        """The first unused page; pages before it become active."""
        while pages and self.looks:
            self.looks -= 1
            page = pages[0]
            if page not in self.used:
                return page
            self.used.remove(page)
            pages.remove(page)
            self.active.append(page)
            self.ages[page] = 3
            self.stays(page)
        return None

    def refill(self, wanted: int) -> int:
        """Makes this number of pages inactive, or as many as one round finds."""
        found = 0
        for page in list(self.active):
            if found >= wanted or not self.looks:
                break
            self.looks -= 1
            found += self.age(page)
            self.stays(page)
        return found

    def age(self, page: int) -> bool:
        """Looks at an active page: has it become inactive?"""
        self.active.remove(page)
        self.ages[page] = min(self.ages[page] + 3, 64) if page in self.used else self.ages[page] // 2
        self.used.discard(page)
        inactive = self.unclean if page in self.dirty else self.clean
        (self.active if self.ages[page] else inactive).append(page)
        return self.ages[page] == 0

    def stays(self, page: int) -> None:
        """The page was looked at, and stays."""
        if self.oldest is None or self.ages[page] < self.ages[self.oldest]:
            self.oldest = page

    def list_of(self, page: int) -> list[int]:
        """The list it is on."""
        return next(pages for pages in (self.active, self.unclean, self.clean) if page in pages)
