"""Use-once: two lists and a flag. A new page is inactive and unreferenced. If it was used when it is looked at, it
becomes referenced and goes round once more; if it was referenced already, it becomes active. The active list is
scanned, 32 pages at a time, only while it is the longer one: a page neither used nor referenced becomes inactive, any
other loses its flag and goes round (Linux from 2.4.10 on, mm/swap.c: mark_page_accessed; inactive_file_is_low)."""

from __future__ import annotations

RELATIVE = "2q"
DIFFERS = ("1 2 3 1 2 4 1 2 3", 3)
BATCH = 32


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.inactive: list[int] = []  # oldest first
        self.active: list[int] = []
        self.used: set[int] = set()
        self.referenced: set[int] = set()

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        if page in self.inactive or page in self.active:
            self.used.add(page)
            return True, []
        gone = [self.take()] if len(self.inactive) + len(self.active) == self.frames else []
        self.inactive.append(page)
        return False, gone

    def forget_use(self, page: int) -> bool:
        """Was the page used since the last look? Clears the mark."""
        was = page in self.used
        self.used.discard(page)
        return was

    def shrink_active(self) -> None:
        """The oldest active pages become inactive, if there are too many active ones."""
        for _ in range(BATCH):
            if len(self.active) <= len(self.inactive):
                return
            page = self.active.pop(0)
            stays = self.forget_use(page) or page in self.referenced
            self.referenced.discard(page)
            (self.active if stays else self.inactive).append(page)

    def take(self) -> int:
        """Evicts a page, and returns it."""
        self.shrink_active()
        while self.inactive:
            page = self.inactive.pop(0)
            if not self.forget_use(page):
                self.referenced.discard(page)
                return page
            activated = page in self.referenced
            self.referenced.symmetric_difference_update([page])
            (self.active if activated else self.inactive).append(page)
        return self.take()
