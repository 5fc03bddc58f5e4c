"""MGLRU: generations of anonymous and of file pages. A page brought in by a fault belongs to the youngest, one read by
a call to the oldest; a walk moves used pages to the youngest and begins a new one; eviction takes the first of the
oldest, and spares the two youngest (Linux 6.1, Documentation/mm/multigen_lru.rst and mm/vmscan.c). Pages used twice by
calls are in tier 1, used up to four times in tier 2, others in tier 3. A tier is spared for one generation if its pages
are read back, soon after their eviction, more than twice as often as those of tier 0. A walk advances by 64 pages each
time a page is wanted, and further when it is due. It skips areas in which, since the last walk began, fewer than eight
pages were found used, or fewer than one in eight of those that the walk checked. Strings are so short that there are
two areas: the process and the file. The kernel asks up to thirteen times, and says each time how many pages may be
looked at."""

from __future__ import annotations

from tidemark.strings.refstrings import BY_CALL, OF_FILE

RELATIVE = "2q"
DIFFERS = ("4 1 3 5 4 4 3 4 3 5 2 5 2 3 2 1", 3)
MIXED = True
SWAPPINESS = 60
ANON, FILES = 0, 1


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.order: list[tuple[int, int]] = []  # (page, its generation): in order of arrival in its generation
        self.in_use = [True, True]
        self.asked = [0, 0]
        self.found_used = [0, 0]
        self.walks = 0
        self.lists: list[tuple[int, int]] = []  # (generation, kind) lists that the walk is in, and has yet to visit
        self.reached: set[int] = set()  # pages that the walk has passed
        self.calls: dict[int, int] = {}
        self.used: set[int] = set()
        self.youngest = 3
        self.oldest = [0, 0]  # generations of ANON, FILES
        self.looks = 0
        self.shadows: dict[int, tuple[int, int]] = {}  # (the oldest generation then, tier) of evicted pages
        self.now = [[[0, 0] for _ in range(4)] for _ in range(2)]  # [kind][tier]: refaults; pages evicted or spared
        self.past = [[[0, 0] for _ in range(4)] for _ in range(2)]

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        called = bool(kind & BY_CALL)
        if page in self.calls:
            if called:
                self.calls[page] += 1
            else:
                self.used.add(page)
            return True, []
        gone = [self.take()] if len(self.order) == self.frames else []
        self.calls[page] = int(called)
        since, tier = self.shadows.pop(page, (-1, 0))
        if since == self.oldest[page < 0]:
            self.now[page < 0][tier][0] += 1
            self.calls[page] = 1 if called else 2
        self.order.append((page, self.oldest[FILES] if kind & OF_FILE and called else self.youngest))
        return False, gone

    def take(self) -> int:
        """Evicts a page, and returns it."""
        for priority in range(12, -1, -1):
            self.looks = max(self.frames >> priority, 32) if priority else 2 * max(self.frames, 32)
            page = self.found(0 if priority else self.frames)
            if page is None and priority == 0:
                page = next(page for page, _ in sorted(self.order, key=lambda entry: (entry[1], entry[0] < 0)))
            if page is not None:
                self.order = [entry for entry in self.order if entry[0] != page]
                self.reached.discard(page)
                self.used.discard(page)
                tier = self.tier_of(self.calls.pop(page))
                self.shadows[page] = self.oldest[page < 0], tier
                self.now[page < 0][tier][1] += 1
                if len(self.shadows) > self.frames:
                    self.shadows.pop(next(iter(self.shadows)))
                return page
        raise AssertionError("no page leaves")

    def found(self, reserve: int) -> int | None:
        """The page that may be evicted, with more looks left than the reserve."""
        self.drop_empty()
        if self.lists or self.time_to_walk():
            self.begin()
            self.walk(64)
        while self.looks > reserve:
            self.drop_empty()
            first, spared = self.choose()
            choices = (first, spared), (1 - first, self.first_spared(1 - first, 2, 1 - first, 1))
            kind, limit = next((choice for choice in choices if self.gives(choice[0])), (None, 0))
            if kind is None:
                self.begin()
                self.walk(self.looks - reserve)
                continue
            self.looks -= 1
            page = self.members(kind, self.oldest[kind])[0]
            if self.tier_of(self.calls[page]) >= limit:
                self.now[kind][self.tier_of(self.calls[page])][1] += 1
                self.move(page, self.oldest[kind] + 1)
            elif page in self.used:
                self.used.remove(page)
                self.promote(page)
                self.found_used[page < 0] += 1
            else:
                return page
        return None

    def gives(self, kind: int) -> bool:
        """Has the oldest generation pages, and is it not one of the two youngest?"""
        return bool(self.members(kind, self.oldest[kind])) and self.youngest - self.oldest[kind] >= 2

    @staticmethod
    def tier_of(uses: int) -> int:
        """The tier of a page used so often by calls."""
        return 0 if uses < 2 else 1 if uses == 2 else 2 if uses <= 4 else 3

    def sums(self, kind: int, tier: int) -> tuple[int, int]:
        """Refaults and evictions, older ones count less."""
        refaults, total = zip(self.now[kind][tier], self.past[kind][tier], strict=True)
        return sum(refaults), sum(total)

    def no_worse(self, kind: int, tier: int, gain: int, other: int, other_gain: int) -> bool:
        """Do pages of the tier come back no more often than those of tier 0 of the other kind, with these weights?"""
        refaults, total = self.sums(kind, tier)
        base_refaults, base_total = self.sums(other, 0)
        return refaults < 32 or refaults * (base_total + 32) * other_gain <= (base_refaults + 1) * total * gain

    def first_spared(self, kind: int, gain: int, other: int, other_gain: int) -> int:
        """The first tier that is spared, 4 if none is."""
        worse = (tier for tier in (1, 2, 3) if not self.no_worse(kind, tier, gain, other, other_gain))
        return next(worse, 4)

    def choose(self) -> tuple[int, int]:
        """The kind that gives up a page, and its first tier that is spared."""
        if self.oldest[ANON] < self.oldest[FILES]:
            return ANON, self.first_spared(ANON, 2, ANON, 1)
        gain = SWAPPINESS, 200 - SWAPPINESS
        kind = FILES if self.no_worse(FILES, 0, gain[FILES], ANON, gain[ANON]) else ANON
        return kind, self.first_spared(kind, gain[kind], 1 - kind, gain[1 - kind])

    def members(self, kind: int, generation: int) -> list[int]:
        """The pages, in order of arrival."""
        return [page for page, its in self.order if its == generation and (page < 0) == (kind == FILES)]

    def move(self, page: int, generation: int) -> None:
        """Moves a page to the end of another generation."""
        self.order = [entry for entry in self.order if entry[0] != page] + [(page, generation)]
        self.calls[page] = 0

    def drop_empty(self) -> None:
        """Ends old generations without pages, except two."""
        before = list(self.oldest)
        for kind in (ANON, FILES):
            while self.youngest - self.oldest[kind] >= 2 and not self.members(kind, self.oldest[kind]):
                self.oldest[kind] += 1
        self.oldest[ANON] = min(self.oldest)
        for kind in (ANON, FILES):
            if self.oldest[kind] != before[kind]:
                for now, past in zip(self.now[kind], self.past[kind], strict=True):
                    past[:] = [(new + old) // 2 for new, old in zip(now, past, strict=True)]
                    now[:] = [0, 0]

    def time_to_walk(self) -> bool:
        """Three generations are left, and the pages are not spread evenly over them."""
        young = sum(its == self.youngest for _, its in self.order)
        old = sum(its == self.youngest - 2 for _, its in self.order)
        return self.youngest - self.oldest[ANON] <= 2 and (young * 2 > len(self.order) or old * 4 < len(self.order))

    def begin(self) -> None:
        """Begins a walk, unless one is in progress."""
        if self.lists:
            return
        if self.walks:
            self.in_use = [8 <= used >= asked / 8 for used, asked in zip(self.found_used, self.asked, strict=True)]
            self.asked, self.found_used = [0, 0], [0, 0]
        self.reached.clear()
        self.lists = [(its, kind) for its in range(self.youngest, -1, -1) for kind in (ANON, FILES)]
        if not any(self.in_use):
            self.end()

    def end(self) -> None:
        """Ends the walk: a generation begins."""
        self.lists = []
        self.walks += 1
        self.youngest += 1

    def walk(self, pages: int) -> None:
        """Continues the walk by this number of pages."""
        while self.lists:
            generation, kind = self.lists[0]
            left = [page for page in self.members(kind, generation) if page not in self.reached]
            if not left:
                self.lists.pop(0)
                if not self.lists or self.lists[0][0] < self.oldest[ANON]:
                    self.end()
                continue
            if not (pages and self.looks):
                return
            pages, self.looks = pages - 1, self.looks - 1
            self.reached.add(left[0])
            if not self.in_use[kind]:
                continue
            self.asked[kind] += 1
            if left[0] in self.used:
                self.used.remove(left[0])
                self.found_used[kind] += 1
                self.promote(left[0])

    def promote(self, page: int) -> None:
        """Moves a page to the youngest generation."""
        if dict(self.order)[page] != self.youngest:
            self.move(page, self.youngest)
