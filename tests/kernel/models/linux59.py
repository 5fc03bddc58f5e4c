"""Linux 5.9's page replacement (mm/workingset.c, mm/vmscan.c, mm/swap.c), with MGLRU disabled, for less than 1 GiB.

Each kind of page, anonymous and file, has an active and an inactive list. A clock counts evictions and activations. A
page that is read back becomes active if the clock has since advanced by at most the number of pages on the other lists.
In Linux the access that faults sets the accessed bit in the page-table entry. This kernel does not, so the
policy keeps such a bit itself, and so does the model.
"""

from __future__ import annotations

from tidemark.strings.refstrings import BY_CALL, FETCHES, LOADS, OF_FILE

RELATIVE = "2q"
DIFFERS = ("1 2 3 4 1 2 3 4", 3)
MIXED = True
SWAPPINESS = 60
BATCH = 32
ANON, FILES = KINDS = 0, 1


class Page:
    """The state of a page, from its first use on."""

    def __init__(self, kind: int) -> None:
        self.kind = kind
        self.on_disk = kind == FILES
        self.bit = False  # the accessed bits, and the bit of the fault
        self.referenced = self.dirty = self.mapped = self.text = self.workingset = False
        self.evicted_at: int | None = None


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.pages: dict[int, Page] = {}
        self.inactive: list[list[int]] = [[], []]  # the oldest first
        self.active: list[list[int]] = [[], []]
        self.age = 0
        self.cost, self.refaults, self.seen = [0, 0], [0, 0], [0, 0]
        self.budget = self.priority = 0
        self.round: list[list[int]] = []  # [kind, active list?, pages left]
        self.batch = 0
        self.deactivate = [False, False]

    def refer(self, number: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        page = self.pages.setdefault(number, Page(FILES if kind & OF_FILE else ANON))
        page.text |= bool(kind & FETCHES)
        resident = any(number in one for one in self.inactive + self.active)
        in_place = resident and (page.mapped or kind & BY_CALL)
        if in_place and kind & BY_CALL:
            self.mark_page_accessed(number)
        elif in_place:
            page.bit = True
        elif resident:
            page.mapped = page.bit = True
        gone = [] if resident or self.total() < self.frames else [self.reclaim()]
        if not resident:
            self.bring_in(number, bool(kind & BY_CALL))
        page.dirty |= not kind & LOADS
        return resident, gone

    def size(self, kind: int) -> int:
        return len(self.inactive[kind]) + len(self.active[kind])

    def total(self) -> int:
        return self.size(ANON) + self.size(FILES)

    def bring_in(self, number: int, by_call: bool) -> None:
        page = self.pages[number]
        page.mapped = page.bit = not by_call
        page.referenced = by_call
        page.dirty = not page.on_disk
        was, page.workingset = page.workingset, False
        at, page.evicted_at = page.evicted_at, None
        in_time = at is not None and self.age - at <= self.total() - len(self.inactive[page.kind])
        if in_time:
            self.age += 1
            self.refaults[page.kind] += 1
            page.workingset = was
            if was:
                self.note_cost(page.kind)
        (self.active if in_time else self.inactive)[page.kind].append(number)

    def note_cost(self, kind: int) -> None:
        self.cost[kind] += 1
        if sum(self.cost) > self.total() // 4:
            self.cost = [one // 2 for one in self.cost]

    def mark_page_accessed(self, number: int) -> None:
        page = self.pages[number]
        if number in self.inactive[page.kind] and page.referenced:
            page.referenced = False
            self.inactive[page.kind].remove(number)
            self.active[page.kind].append(number)
            self.age += 1
        else:
            page.referenced = True

    # --- reclaim ---

    def reclaim(self) -> int:
        """Evicts a page, and returns it: passes become more and more urgent until one gives a page."""
        for self.priority in range(12, 0, -1):
            self.budget = max(self.total() >> self.priority, BATCH)
            number = self.shrink_lists()
            if number is not None:
                return self.leaves(number)
        lists = [self.inactive[FILES], self.inactive[ANON], self.active[FILES], self.active[ANON]]
        return self.leaves(next(one for one in lists if one).pop(0))

    def leaves(self, number: int) -> int:
        page = self.pages[number]
        page.on_disk = True
        page.bit = False
        page.evicted_at = self.age
        self.age += 1
        return number

    def shrink_lists(self) -> int | None:
        """Continues the round, or begins one if the last is over. Returns the page to evict, if one was found."""
        self.drop_done()
        if not self.round:
            self.begin_round()
            self.drop_done()
        while self.round and self.budget:
            self.budget -= 1
            self.batch -= 1
            self.round[0][2] -= 1
            kind, active, _ = self.round[0]
            if active:
                self.shrink_active(kind)
            else:
                number = self.inactive[kind].pop(0)
                if not self.stays(number):
                    return number
            self.drop_done()
        return None

    def drop_done(self) -> None:
        """Drops finished lists at the head of the round. The next list has its turn after 32 pages."""
        while self.round:
            kind, active, left = self.round[0]
            done = (
                left == 0
                or not (self.active if active else self.inactive)[kind]
                or (active and not self.deactivate[kind])
            )
            if not done and self.batch:
                return
            first = self.round.pop(0)
            if not done:
                self.round.append(first)
            self.batch = BATCH

    def is_low(self, kind: int) -> bool:
        """Is the inactive list too short?"""
        return len(self.inactive[kind]) < len(self.active[kind])

    def begin_round(self) -> None:
        """Says how many pages of each list to look at."""
        for _ in range(BATCH):
            if self.is_low(ANON) and self.budget:
                self.budget -= 1
                self.shrink_active(ANON)
        self.deactivate = [self.refaults[kind] != self.seen[kind] or self.is_low(kind) for kind in KINDS]
        self.seen = list(self.refaults)
        total = sum(self.cost)
        weights = [
            preference * (3 * total + 1) // (total + self.cost[kind] + 1)
            for kind, preference in ((ANON, SWAPPINESS), (FILES, 200 - SWAPPINESS))
        ]
        if len(self.inactive[FILES]) >> self.priority and not self.deactivate[FILES]:
            weights[ANON] = 0
        if not self.size(FILES):
            weights[FILES] = 0
        self.batch = BATCH
        self.round = [
            [kind, active, (len(lists[kind]) >> self.priority) * weights[kind] // max(sum(weights), 1)]
            for kind in KINDS
            for active, lists in ((False, self.inactive), (True, self.active))
        ]

    def use(self, page: Page) -> bool:
        """Was the page used since the last look?"""
        used, page.bit = page.bit, False
        return used

    def shrink_active(self, kind: int) -> None:
        """Looks at the oldest active page."""
        number = self.active[kind].pop(0)
        page = self.pages[number]
        if self.use(page) and kind == FILES and page.text:
            self.active[kind].append(number)
        else:
            page.workingset = True
            self.inactive[kind].append(number)

    def stays(self, number: int) -> bool:
        """folio_check_references of a page off the inactive list. A page that stays is put on a list."""
        page = self.pages[number]
        referenced, page.referenced = page.referenced, self.use(page)
        if not page.referenced:
            if page.dirty:
                self.note_cost(page.kind)
            return False
        activated = referenced or (page.text and page.kind == FILES)
        self.age += activated
        (self.active if activated else self.inactive)[page.kind].append(number)
        return True
