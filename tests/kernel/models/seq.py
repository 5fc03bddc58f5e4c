"""SEQ (G. Glass and P. Cao, Adaptive page replacement based on memory reference behavior, SIGMETRICS 1997), with CLOCK
instead of LRU: long sequences of faults on neighboring pages give up the page some distance behind their heads.

A sequence is a range of pages, a direction, and the times of its faults. Here its pages in memory are all resident
pages of the range that faulted since the sequence began. The kernel's table has ENTRIES places: a new sequence takes
the place of the short one that was extended least recently, and half of the table at most are long."""

from __future__ import annotations

from tidemark.strings.refstrings import BY_CALL, OF_FILE

RELATIVE = "clock"
LENGTH, DISTANCE, FAULTS, ENTRIES = 4, 2, 3, 32
PARAMETERS = (f"length={LENGTH}", f"distance={DISTANCE}", f"faults={FAULTS}")
DIFFERS = ("1-9", 8)
MIXED = True


class Sequence:
    """Pages low to high of a file, or of the program."""

    def __init__(self, of_file: bool, number: int) -> None:
        self.of_file = of_file
        self.low = self.high = number
        self.direction = 0
        self.times: list[int] = []

    def head(self) -> int:
        """The page that faulted last."""
        return self.low if self.direction < 0 else self.high

    def long(self) -> bool:
        """Is it evicted from?"""
        return self.high - self.low + 1 >= LENGTH

    def includes(self, number: int) -> bool:
        """Is the page in the range?"""
        return self.low <= number <= self.high

    def goes_on_at(self, number: int) -> bool:
        """Does a fault on this page extend it?"""
        steps = [self.direction] if self.direction else [-1, 1]
        return number in [self.head() + step for step in steps]


class Model:
    """A memory of some frames, and one process."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.circle: list[int] = []  # the hand points to the first
        self.used: set[int] = set()
        self.member: dict[int, Sequence] = {}
        self.sequences: list[Sequence] = []  # the one that was extended, or cut, last is the first
        self.now = 0

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        if page in self.circle:
            self.used.add(page)
            return True, []
        gone = [self.take()] if len(self.circle) == self.frames else []
        self.circle.append(page)
        if not kind & BY_CALL:
            self.follow(page, bool(kind & OF_FILE))
        return False, gone

    def follow(self, page: int, of_file: bool) -> None:
        """A fault on this page."""
        number = -1 - page if of_file else page
        same = [one for one in self.sequences if one.of_file == of_file]
        candidates = [one for one in same if not one.includes(number) and one.goes_on_at(number)]
        found = next((one for one in candidates if one.long()), next(iter(candidates), None))
        for one in [one for one in same if one.includes(number) and not one.long()]:
            self.cut(one, number)
        for one in [one for one in same if one in self.sequences and one.includes(number)]:
            self.cut(one, number)
        if found is None:
            found = Sequence(of_file, number)
            if len(self.sequences) == ENTRIES:
                self.end([one for one in self.sequences if not one.long()][-1])
        else:
            found.direction = 1 if number > found.high else -1
            found.low, found.high = min(found.low, number), max(found.high, number)
            self.sequences.remove(found)
        self.sequences.insert(0, found)
        self.now += 1
        found.times.append(self.now)
        self.member[page] = found
        long = [one for one in self.sequences if one.long()]
        if len(long) > ENTRIES // 2:
            self.end(long[-1])

    def cut(self, one: Sequence, number: int) -> None:
        """The page, and those ahead of it, leave the sequence."""
        self.sequences.remove(one)
        if one.direction > 0:
            one.high = number - 1
        else:
            one.low = number + 1
        if one.low <= one.high and one.direction:
            self.sequences.insert(0, one)
        self.member = {page: of for page, of in self.member.items() if of is not one or one.includes(self.number(page))}

    def end(self, one: Sequence) -> None:
        """Forgets a sequence."""
        self.sequences.remove(one)
        self.member = {page: of for page, of in self.member.items() if of is not one}

    @staticmethod
    def number(page: int) -> int:
        """The number of a page in the program, or in the file."""
        return page if page >= 0 else -1 - page

    def take(self) -> int:
        """Evicts a page, and returns it."""
        chosen = self.of_sequence()
        page = self.of_circle() if chosen is None else chosen
        self.circle.remove(page)
        self.used.discard(page)
        self.member.pop(page, None)
        return page

    def of_circle(self) -> int:
        """The page to evict by CLOCK."""
        while (page := self.circle[0]) in self.used:
            self.used.remove(page)
            self.circle.append(self.circle.pop(0))
        return page

    def of_sequence(self) -> int | None:
        """The page to evict from a sequence, if there is one."""
        far: dict[Sequence, list[tuple[int, int]]] = {}
        for page, one in self.member.items():
            distance = abs(one.head() - self.number(page))
            if one.long() and distance >= DISTANCE:
                far.setdefault(one, []).append((distance, page))
        if not far:
            return None
        fastest = max(far, key=lambda one: one.times[-FAULTS] if len(one.times) >= FAULTS else 0)
        return min(far[fastest])[1]
