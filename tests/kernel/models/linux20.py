"""Linux 2.0: a page's age is 3 at first; a look adds 3, up to 20, if the page was used, otherwise it subtracts
1, and at 0 the page is evicted. The looks go through the process in order of address, or round the pages that only
system calls have read; from one to the other if nothing was found (mm/vmscan.c and mm/filemap.c of Linux 2.0).
The kernel asks up to thirteen times, and says each time how many pages may be looked at."""

from __future__ import annotations

from tidemark.strings.refstrings import BY_CALL, OF_FILE

RELATIVE = "linux22"
DIFFERS = ("6 3 1 2 5", 3)  # 2 is young, 3 is not
MIXED = True


class Model:
    """A memory of some frames, with one process."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.cached: list[int] = []  # brought in by calls; the hand points to the first
        self.mapped: set[int] = set()
        self.used: set[int] = set()
        self.ages: dict[int, int] = {}
        self.address = (0, 0)  # (is it a file's page?, number)
        self.in_process = False
        self.looks = 0
        self.oldest: int | None = None  # the oldest of the pages that were not evicted

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        if page in self.ages:
            self.used.add(page)
            return True, []
        gone = [self.take()] if len(self.ages) == self.frames else []
        self.ages[page] = 3
        if kind & OF_FILE and kind & BY_CALL:
            self.cached.append(page)
        else:
            self.mapped.add(page)
        return False, gone

    def take(self) -> int:
        """Evicts a page, and returns it."""
        for priority in range(12, -1, -1):
            self.looks = max(self.frames >> priority, 32) if priority else 2 * max(self.frames, 32)
            self.oldest = None
            page = self.asked()
            if page is None and priority == 0:
                page = self.oldest
            if page is not None:
                del self.ages[page]
                self.used.discard(page)
                self.mapped.discard(page)
                self.cached = [other for other in self.cached if other != page]
                return page
        raise AssertionError("no page leaves")

    def asked(self) -> int | None:
        """The page that is given, as long as looks are left."""
        while self.looks:
            page = self.in_the_process() if self.in_process else self.in_the_cache()
            if page is not None:
                return page
            if self.looks:
                self.in_process = not self.in_process
        return None

    def in_the_cache(self) -> int | None:
        """Once round the pages read by calls."""
        for page in list(self.cached):
            if not self.looks:
                break
            if self.goes(page):
                return page
            self.cached.remove(page)
            self.cached.append(page)
        return None

    def in_the_process(self) -> int | None:
        """From the last position to the end, and once from the beginning."""
        for _ in range(2):
            for page in sorted(self.mapped, key=place):
                if place(page) < self.address:
                    continue
                if not self.looks:
                    return None
                self.address = (place(page)[0], place(page)[1] + 1)
                if self.goes(page):
                    return page
            self.address = (0, 0)
            if not self.looks:
                return None
        return None

    def goes(self, page: int) -> bool:
        """Looks at a page. Is it to be evicted?"""
        self.looks -= 1
        if page in self.used:
            self.used.remove(page)
            self.ages[page] = min(self.ages[page] + 3, 20)
        else:
            self.ages[page] = max(self.ages[page] - 1, 0)
            if self.ages[page] == 0:
                return True
        if self.oldest is None or self.ages[page] < self.ages[self.oldest]:
            self.oldest = page
        return False


def place(page: int) -> tuple[int, int]:
    """The position in the address space: the process's own pages come first."""
    return (0, page) if page >= 0 else (1, -1 - page)
