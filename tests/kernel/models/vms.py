"""VAX/VMS: a resident set, first in, first out, with a limit. A page removed from it goes to the modified list if it
must be written, otherwise to the free list; a fault retrieves it from there without a read. The modified list is
written if it is too long, down to half its limit. Frames are taken from the head of the free list, else of the modified
list, else of the set (H. Levy, P. Lipman, Virtual memory management in the VAX/VMS operating system, IEEE Computer
15(3), 1982).

At most CLUSTER pages are written for one evicted page. They enter the free list after its eviction, in the order of
their slots in the swap area.
"""

from __future__ import annotations

from tidemark.strings.refstrings import LOADS

RELATIVE = "fifo"
DIFFERS = ("1-12 1 13 1 14 2 1 15 1 3 1 l4 l1 16 1 5 1 17 18 1", 12)
PERCENT, MODIFIED_PERCENT, CLUSTER, MINIMUM = 50, 20, 3, 6
PARAMETERS = (
    f"resident_percent={PERCENT}",
    f"modified_percent={MODIFIED_PERCENT}",
    f"cluster={CLUSTER}",
    f"min_pages={MINIMUM}",
)


class Model:
    """A memory of some frames, and one process."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.limit = max(frames * PERCENT // 100, MINIMUM)
        self.modified_limit = max(frames * MODIFIED_PERCENT // 100, 2)
        self.resident: list[int] = []  # all three lists: the next to be evicted first
        self.modified: list[int] = []
        self.free: list[int] = []
        self.dirty: set[int] = set()
        self.places: list[int] = []  # pages that have a slot in the swap area, in the order of the slots
        self.writing = False

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        gone = []
        found = page in self.resident + self.modified + self.free
        if not found and len(self.resident + self.modified + self.free) == self.frames:
            gone = [self.make_room()]
        if not kind & LOADS or (not found and page not in self.places):
            self.dirty.add(page)
        if page not in self.resident:
            for other in self.modified, self.free:
                if page in other:
                    other.remove(page)
            self.resident.append(page)
        if len(self.resident) > self.limit:
            oldest = self.resident.pop(0)
            (self.modified if oldest in self.dirty else self.free).append(oldest)
        return found, gone

    def make_room(self) -> int:
        """Writes modified pages, if there are too many, and takes a frame."""
        written: list[int] = []
        while self.must_write() and len(written) < CLUSTER:
            written.append(self.modified.pop(0))
            self.give_place(written[-1])
        victim = (self.free or self.modified or self.resident).pop(0)
        self.give_place(victim)
        self.dirty -= {victim, *written}
        self.free += sorted(written, key=self.places.index)
        return victim

    def must_write(self) -> bool:
        """Has the modified list become too long, and not yet short enough?"""
        if len(self.modified) > self.modified_limit:
            self.writing = True
        elif len(self.modified) <= self.modified_limit // 2:
            self.writing = False
        return self.writing

    def give_place(self, page: int) -> None:
        """A page that is written for the first time gets the next slot."""
        if page not in self.places:
            self.places.append(page)
