"""Linux 2.2: two clocks. One goes through the process in order of address and unmaps pages that were not used since it
came by; a dirty one is written. The other goes through all frames in order of number, and frees pages that no process
maps, unless a call used them. The second has its turn until it finds nothing, then the first for a few pages; if one of
these is written, the pass ends (mm/vmscan.c and mm/filemap.c of Linux 2.2.14). The kernel asks up to thirteen times,
and says each time how many pages may be looked at."""

from __future__ import annotations

from tidemark.strings.refstrings import BY_CALL, LOADS, OF_FILE

RELATIVE = "clock"
DIFFERS = ("3 2 1 4 3 2", 3)
MIXED = True
SELECTS = 128  # in one pass


class Model:
    """A memory of some frames, with one process."""

    def __init__(self, frames: int) -> None:
        self.frames: list[int | None] = [None] * frames  # the page in each
        self.own: set[int] = set()  # pages that a fault of the process brought in
        self.mapped: set[int] = set()  # of these
        self.used: set[int] = set()
        self.dirty: set[int] = set()
        self.stored: set[int] = set()  # anonymous pages with a slot in the swap area
        self.address, self.hand = (0, 0), 0  # the address: (is it a file's page?, number)
        self.to_unmap, self.looks = 0, 0
        self.to_write: int | None = None
        self.wrote = False  # since the first clock's turn began
        self.writing: set[int] = set()  # until the pass is over
        self.passed: int | None = None

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        gone: list[int] = []
        found = page in self.frames
        by_call = bool(kind & OF_FILE and kind & BY_CALL)
        if found:
            self.used.add(page)
        else:
            if None not in self.frames:
                gone = [self.take()]
            self.frames[self.frames.index(None)] = page
            if not by_call:
                self.own.add(page)
        if not by_call and page in self.own:
            self.mapped.add(page)
            self.to_write = None if self.to_write == page else self.to_write
        if not kind & LOADS or not (found or kind & OF_FILE or page in self.stored):
            self.dirty.add(page)
        return found, gone

    def take(self) -> int:
        """Evicts a page, and returns it."""
        for priority in range(12, -1, -1):
            for _ in range(SELECTS):
                self.looks = max(len(self.frames) >> priority, 32) if priority else 2 * max(len(self.frames), 32)
                self.passed = None
                page, act = self.asked(priority)
                if page is None:
                    break
                if page >= 0 and page not in self.stored:
                    self.stored.add(page)
                    self.dirty.add(page)
                if act == "evict":
                    self.frames[self.frames.index(page)] = None
                    for pages in (self.own, self.mapped, self.used, self.dirty):
                        pages.discard(page)
                    self.finish_writes()
                    return page
                if act == "write":
                    self.writing.add(page)
                else:
                    self.mapped.discard(page)
                    self.to_write = page if page in self.dirty else None
            self.finish_writes()
        raise AssertionError("no page leaves")

    def finish_writes(self) -> None:
        """The pass is over."""
        self.dirty -= self.writing
        self.writing.clear()

    def asked(self, priority: int) -> tuple[int | None, str]:
        """The page that is given, and what for."""
        if priority and self.to_write is not None:
            page, self.to_write, self.wrote = self.to_write, None, True
            return page, "write"
        if not priority or not (self.to_unmap or self.wrote):
            page = self.of_a_frame(2 * len(self.frames) >> priority // 4)
            self.to_unmap = 0 if page is not None else min(len(self.frames) // 64 + 1, 32)
            if page is not None:
                return page, "evict"
        if not priority:
            page = self.of_the_process()
            return (self.passed if page is None else page), "evict"
        page = self.of_the_process() if self.to_unmap else None
        self.to_unmap = 0 if page is None else self.to_unmap - 1
        self.wrote = self.wrote and page is not None
        return page, "unmap"

    def of_a_frame(self, frames: int) -> int | None:
        """Passes a number of frames; those that are mapped cost no look."""
        for _ in range(frames):
            page = self.frames[self.hand]
            if page is not None and page not in self.mapped and page not in self.writing:
                if not self.looks:
                    return None
                if not self.was_used(page):
                    self.hand = (self.hand + 1) % len(self.frames)
                    return page
            self.hand = (self.hand + 1) % len(self.frames)
        return None

    def of_the_process(self) -> int | None:
        """From the last position to the end, and again from the beginning, as long as looks are left."""
        while self.looks:
            ahead = [page for page in sorted(self.mapped, key=place) if place(page) >= self.address]
            for page in ahead:
                if not self.looks:
                    return None
                self.address = (place(page)[0], place(page)[1] + 1)
                if not self.was_used(page):
                    return page
            self.address = (0, 0)
            if not self.mapped:
                return None
        return None

    def was_used(self, page: int) -> bool:
        """Looks at a page. Was it used? Clears the mark."""
        self.looks -= 1
        if page not in self.used:
            return False
        self.used.remove(page)
        if self.passed is None:
            self.passed = page
        return True


def place(page: int) -> tuple[int, int]:
    """The position in the address space: the process's own pages come first."""
    return (0, page) if page >= 0 else (1, -1 - page)
