"""Windows NT: a working set grows while memory is available. While it is low, a process above its maximum replaces its
own first page that was not used (LOOKS at most are passed), and once in a period it is trimmed: pages not used since
the last look leave. Pages that leave go to the standby or the modified list, and a fault rescues them from there (H.
Custer, Inside Windows NT, 1993; M. Russinovich, Inside memory management, Windows NT Magazine, 1998).

At most CLUSTER pages are written for one evicted page. They enter the standby list after its eviction, in the order of
their slots in the swap area. A page that is trimmed gets a slot, too. Without a page on the lists the set gives one.
"""

from __future__ import annotations

from tidemark.strings.refstrings import LOADS

RELATIVE = "vms"
DIFFERS = ("1-12 1 13 1 14 2 1 15 1 3 1 16 1 5 1 17 18 1", 12)
STEP_NS = 20_000_000
FIRST_TICK_MS, PERIOD_MS, LOOKS, CLUSTER = 1000, 300, 16, 16
MINIMUM, MAXIMUM, LOW, HIGH, FEW, MODIFIED = 6, 20, 15, 40, 2, 20
PARAMETERS = (
    f"min_pages={MINIMUM}",
    f"max_pages={MAXIMUM}",
    f"low_percent={LOW}",
    f"high_percent={HIGH}",
    f"few_faults={FEW}",
    f"modified_percent={MODIFIED}",
    f"period_ms={PERIOD_MS}",
)


class Model:
    """A memory of some frames, and one process."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.least = min(MINIMUM, frames // 4)
        self.first_maximum = self.maximum = min(MAXIMUM, frames // 2)
        self.set: list[int] = []  # all three lists: the next to leave first
        self.standby: list[int] = []
        self.modified: list[int] = []
        self.used: set[int] = set()
        self.dirty: set[int] = set()
        self.places: list[int] = []  # pages that have a slot in the swap area, in the order of the slots
        self.writing = False
        self.faults = self.rate = 0
        self.now, self.next_tick = 0, FIRST_TICK_MS * 1_000_000

    def share(self, percent: int) -> int:
        """A share of memory."""
        return max(1, self.frames * percent // 100)

    @property
    def available(self) -> int:
        """Frames that are free or on the standby list."""
        return self.frames - len(self.set) - len(self.modified)

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        gone = []
        found = page in self.set + self.standby + self.modified
        if not found and len(self.set + self.standby + self.modified) == self.frames:
            gone = [self.make_room()]
        if not kind & LOADS or (not found and page not in self.places):
            self.dirty.add(page)
        if page in self.set:
            self.used.add(page)
        else:
            self.fault(page)
        self.now += STEP_NS
        while self.next_tick <= self.now:
            self.tick()
            self.next_tick += PERIOD_MS * 1_000_000
        return found, gone

    def fault(self, page: int) -> None:
        """The page joins the set, perhaps in place of another."""
        self.faults += 1
        for other in self.standby, self.modified:
            if page in other:
                other.remove(page)
        if len(self.set) >= self.maximum and self.available < self.share(LOW):
            for _ in range(min(LOOKS, len(self.set))):
                if self.set[0] not in self.used:
                    break
                self.pass_first()
            self.leave(self.set[0])
        self.set.append(page)

    def pass_first(self) -> None:
        """The first page of the set was used: it becomes the last."""
        self.used.discard(self.set[0])
        self.set.append(self.set.pop(0))

    def leave(self, page: int) -> None:
        """The page goes to a list."""
        self.set.remove(page)
        self.used.discard(page)
        (self.modified if page in self.dirty else self.standby).append(page)

    def tick(self) -> None:
        """The balance set manager."""
        have, low, high = self.available, self.share(LOW), self.share(HIGH)
        if have >= high and self.faults > FEW and len(self.set) >= self.maximum:
            self.maximum += self.maximum // 4 + 1
        self.rate = self.rate // 2 + self.faults
        self.faults = 0
        if have < low:
            self.trim(high - have)

    def trim(self, need: int) -> None:
        """Takes pages that were not used, at most as many as the process offers for its rate of faults."""
        spare = max(0, len(self.set) - self.least)
        offered = 0
        if self.rate == 0:
            offered = spare
        elif self.rate <= FEW:
            offered = (spare + 1) // 2
        offered = min(need, offered)
        offered += min(need - offered, (spare - offered + 3) // 4)
        if offered:
            self.maximum = min(self.maximum, max(self.first_maximum, len(self.set) - offered))
        for _ in range(offered):
            for _ in range(len(self.set)):
                if self.set[0] not in self.used:
                    break
                self.pass_first()
            else:
                return
            self.give_place(self.set[0])
            self.leave(self.set[0])

    def make_room(self) -> int:
        """Writes modified pages, if there are too many, and takes a frame."""
        written: list[int] = []
        while self.must_write() and len(written) < CLUSTER:
            written.append(self.modified.pop(0))
            self.give_place(written[-1])
        if not self.standby and not self.modified:
            while self.set[0] in self.used:
                self.pass_first()
        victim = (self.standby or self.modified or self.set).pop(0)
        self.give_place(victim)
        self.dirty -= {victim, *written}
        self.standby += sorted(written, key=self.places.index)
        return victim

    def must_write(self) -> bool:
        """Has the modified list become too long, and not yet short enough?"""
        limit = max(self.share(MODIFIED), 2)
        if len(self.modified) > limit:
            self.writing = True
        elif len(self.modified) <= limit // 2:
            self.writing = False
        return self.writing

    def give_place(self, page: int) -> None:
        """A page that may be written for the first time gets the next slot."""
        if page not in self.places:
            self.places.append(page)
