"""Linux 2.2: the pages of the process on a clock in order of address, whose hand stays in place when pages arrive and
leave; before it, a clock of the pages that only system calls have read (mm/vmscan.c and mm/filemap.c of Linux 2.2.14).
The kernel asks up to thirteen times, and says each time how many pages may be looked at."""

from __future__ import annotations

from tidemark.strings.refstrings import BY_CALL, OF_FILE

RELATIVE = "clock"
DIFFERS = ("3 2 1 4 3 2", 3)
MIXED = True


class Model:
    """A memory of some frames, with one process."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.cached: list[int] = []  # brought in by calls; the hand points to the first
        self.mapped: set[int] = set()
        self.used: set[int] = set()
        self.address = (0, 0)  # (is it a file's page?, number)
        self.passed: int | None = None

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        if page in self.mapped or page in self.cached:
            self.used.add(page)
            return True, []
        gone = [self.take()] if len(self.mapped) + len(self.cached) == self.frames else []
        if kind & OF_FILE and kind & BY_CALL:
            self.cached.append(page)
        else:
            self.mapped.add(page)
        return False, gone

    def take(self) -> int:
        """Evicts a page, and returns it."""
        for priority in range(12, -1, -1):
            looks = max(self.frames >> priority, 32) if priority else 2 * max(self.frames, 32)
            self.passed = None
            page = self.asked(looks)
            page = self.passed if page is None and priority == 0 else page
            if page is not None:
                self.mapped.discard(page)
                self.cached = [other for other in self.cached if other != page]
                return page
        raise AssertionError("no page leaves")

    def asked(self, looks: int) -> int | None:
        """The page that is given if `looks` pages may be looked at."""
        for page in list(self.cached)[:looks]:
            looks -= 1
            if not self.was_used(page):
                return page
            self.cached.remove(page)
            self.cached.append(page)
        while looks and self.mapped:
            ahead = sorted((where, page) for page in self.mapped if (where := place(page)) >= self.address)
            for where, page in ahead[:looks]:
                looks -= 1
                self.address = (where[0], where[1] + 1)
                if not self.was_used(page):
                    return page
            if looks or not ahead:
                self.address = (0, 0)
        return None

    def was_used(self, page: int) -> bool:
        """Was the page used? Clears the mark."""
        if page not in self.used:
            return False
        self.used.remove(page)
        if self.passed is None:
            self.passed = page
        return True


def place(page: int) -> tuple[int, int]:
    """The position in the address space: the process's own pages come first."""
    return (0, page) if page >= 0 else (1, -1 - page)
