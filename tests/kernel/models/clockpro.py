"""CLOCK-Pro (S. Jiang, F. Chen and X. Zhang, CLOCK-Pro: An effective improvement of the CLOCK replacement, USENIX ATC
2005): hot and cold pages, and cold pages evicted during their test period, on one clock with three hands.

Where the paper leaves a choice: while memory fills, every page is cold; the target number of cold pages
(mc) begins at 1, and stays between 1 and m - 1; a cold page that was used after its test begins a new one;
HANDhot runs if more than m - mc pages are hot, or if HANDcold finds no cold page.
"""

from __future__ import annotations

RELATIVE = "clock"
DIFFERS = ("1-8 1 2 9 1 2 10-30 1 2", 8)
MIXED = True


class Entry:
    """A page on the clock."""

    def __init__(self, page: int) -> None:
        self.page = page
        self.hot, self.in_test, self.resident, self.bit = False, True, True, False


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.m = frames
        self.mc = 1
        self.clock: list[Entry] = []  # HANDhot points to the first; the newest is last
        self.hand_cold: Entry | None = None  # a resident cold page; None: the first one
        self.hand_test: Entry | None = None  # any entry; None: the first

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        known = self.find(page)
        if known and known.resident:
            known.bit = True
            return True, []
        gone = [self.run_cold()] if sum(e.resident for e in self.clock) == self.m else []
        known = self.find(page)  # its test may just have ended
        if known:
            self.take_out(known)
            self.promote(Entry(page))
        else:
            self.clock.append(Entry(page))
        return False, gone

    def find(self, page: int) -> Entry | None:
        """The page's entry on the clock."""
        return next((e for e in self.clock if e.page == page), None)

    def following(self, entry: Entry, only_cold: bool) -> Entry | None:
        """The next entry on the clock, or the next resident cold page; None if there is no other."""
        at = self.clock.index(entry)
        others = self.clock[at + 1 :] + self.clock[:at]
        return next((e for e in others if not only_cold or (e.resident and not e.hot)), None)

    def take_out(self, entry: Entry) -> None:
        """Removes an entry from the clock; the hands that point to it advance."""
        self.leave(entry)
        if self.hand_test is entry:
            self.hand_test = self.following(entry, only_cold=False)
        self.clock.remove(entry)

    def leave(self, entry: Entry) -> None:
        """Advances HANDcold, if it points here."""
        if self.hand_cold is entry:
            self.hand_cold = self.following(entry, only_cold=True)

    def too_many_hot(self) -> bool:
        """Are more than m - mc pages hot?"""
        return sum(e.hot for e in self.clock) > self.m - self.mc

    def promote(self, entry: Entry) -> None:
        """The page was used during its test: it becomes hot, and the newest."""
        entry.hot, entry.in_test, entry.bit = True, False, False
        self.mc = min(self.mc + 1, self.m - 1)
        self.clock.append(entry)
        if self.too_many_hot():
            while self.too_many_hot() or not self.clock[0].hot:
                self.step_hot()

    def end_test(self, entry: Entry) -> None:
        """Ends the page's test, if there is one. A test without a use means one cold page too many."""
        if not entry.in_test:
            return
        entry.in_test = False
        if not entry.bit:
            self.mc = max(self.mc - 1, 1)
        if not entry.resident:
            self.take_out(entry)

    def step_hot(self) -> None:
        """HANDhot passes one entry."""
        entry = self.clock[0]
        if not entry.hot:
            self.end_test(entry)
        elif entry.bit:
            entry.bit = False
        else:
            entry.hot = False
        if entry in self.clock:
            self.clock.append(self.clock.pop(0))

    def run_test(self) -> None:
        """At most as many evicted pages may stay on the clock as there are frames."""
        while sum(not e.resident for e in self.clock) > self.m:
            entry = self.hand_test or self.clock[0]
            self.hand_test = self.following(entry, only_cold=False)
            self.end_test(entry)

    def run_cold(self) -> int:
        """Evicts a page, and returns it."""
        while not any(e.resident and not e.hot for e in self.clock):
            self.step_hot()
        while True:
            entry = self.hand_cold or next(e for e in self.clock if e.resident and not e.hot)
            self.hand_cold = entry
            if not entry.bit:
                break
            entry.bit = False
            self.take_out(entry)
            if entry.in_test:
                self.promote(entry)
            else:
                entry.in_test = True
                self.clock.append(entry)
            while not any(e.resident and not e.hot for e in self.clock):
                self.step_hot()
        if entry.in_test:
            self.leave(entry)
            entry.resident = False
            self.run_test()
        else:
            self.take_out(entry)
        return entry.page
