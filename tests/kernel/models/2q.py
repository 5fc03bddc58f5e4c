"""Linux 3.0's page replacement (mm/vmscan.c, mm/swap.c) for one zone below 1 GiB.

Each kind of page, anonymous and file, has an active and an inactive list. In Linux, the access that faults sets the
accessed bit in the page-table entry. This kernel does not, so the policy keeps such a bit itself, and so does the
model.
"""

from __future__ import annotations

from tidemark.strings.refstrings import BY_CALL, FETCHES, LOADS, OF_FILE

RELATIVE = "useonce"
DIFFERS = ("1 2 3 1 2 4 1 2 3", 3)
MIXED = True
SWAPPINESS = 60
ANON, FILES = 0, 1


class Page:
    """The state of a page, from its first use on."""

    def __init__(self, kind: int) -> None:
        self.kind = kind
        self.on_disk = kind == FILES  # it has been written, so it can be read again
        self.bit = False  # the accessed bits, and the bit of the fault
        self.referenced = self.dirty = self.mapped = self.text = False


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.pages: dict[int, Page] = {}
        self.inactive: list[list[int]] = [[], []]  # the oldest first
        self.active: list[list[int]] = [[], []]
        self.scanned, self.rotated = [0, 0], [0, 0]
        self.saved = 0  # credit accumulated for scanning anonymous pages
        self.budget = 0

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
        gone = [] if resident or self.held() < self.frames else [self.reclaim()]
        if not resident:
            self.bring_in(number, kind)
        page.dirty |= not kind & LOADS
        return resident, gone

    def held(self) -> int:
        return sum(len(one) for one in self.inactive + self.active)

    def bring_in(self, number: int, kind: int) -> None:
        page = self.pages[number]
        by_call = bool(kind & BY_CALL)
        page.mapped = page.bit = not by_call
        page.referenced = by_call
        page.dirty = not page.on_disk
        new = page.kind == ANON and not page.on_disk
        (self.active if new else self.inactive)[page.kind].append(number)
        self.count(page.kind, new)

    def count(self, kind: int, in_use: bool) -> None:
        self.scanned[kind] += 1
        self.rotated[kind] += in_use

    def mark_page_accessed(self, number: int) -> None:
        page = self.pages[number]
        if number in self.inactive[page.kind] and page.referenced:
            page.referenced = False
            self.inactive[page.kind].remove(number)
            self.active[page.kind].append(number)
            self.count(page.kind, True)
        else:
            page.referenced = True

    # --- reclaim ---

    def reclaim(self) -> int:
        """Evicts a page, and returns it: passes become more and more urgent until one gives a page."""
        held = self.held()
        for priority in range(12, 0, -1):
            self.budget = max(held >> priority, 32)
            while self.spend():
                number = self.look()
                if number is not None:
                    return self.leaves(number)
        lists = [self.inactive[FILES], self.inactive[ANON], self.active[FILES], self.active[ANON]]
        return self.leaves(next(one for one in lists if one).pop(0))

    def leaves(self, number: int) -> int:
        self.pages[number].on_disk = True
        self.pages[number].bit = False
        return number

    def spend(self) -> bool:
        """Takes one page from a pass's budget; False if none is left."""
        self.budget -= 1
        return self.budget >= 0

    def look(self) -> int | None:
        """Looks at one inactive page, after its share of the active ones. Returns the page if it may be evicted."""
        for kind in ANON, FILES:
            self.shrink_active(kind)
        kind = self.get_scan_count()
        number = self.inactive[kind].pop(0) if self.inactive[kind] else None
        return number if number is not None and self.may_go(number) else None

    def shrink_active(self, kind: int) -> None:
        """The active list's share of the scan, while the active list is the longer one."""
        active, inactive = self.active[kind], self.inactive[kind]
        for _ in range(min(1 + len(active) // (len(inactive) + 1), 32)):
            if len(active) <= len(inactive) or not self.spend():
                return
            number = active.pop(0)
            page = self.pages[number]
            used, page.bit = page.bit, False
            self.count(kind, used)
            (active if used and kind == FILES and page.text else inactive).append(number)

    def get_scan_count(self) -> int:
        """Which kind is scanned next."""
        for kind in ANON, FILES:
            if self.scanned[kind] > (len(self.inactive[kind]) + len(self.active[kind])) // 4:
                self.scanned[kind] //= 2
                self.rotated[kind] //= 2
        if not self.inactive[ANON] or not self.inactive[FILES]:
            return FILES if self.inactive[FILES] else ANON
        weights = [
            len(self.inactive[kind]) * ((prio + 1) * (self.scanned[kind] + 1) // (self.rotated[kind] + 1))
            for kind, prio in ((ANON, SWAPPINESS), (FILES, 200 - SWAPPINESS))
        ]
        self.saved = min(self.saved, sum(weights)) + weights[ANON]
        if self.saved < sum(weights):
            return FILES
        self.saved -= sum(weights)
        return ANON

    def may_go(self, number: int) -> bool:
        """page_check_references of a page off the inactive list; if it stays, it is put on a list."""
        page = self.pages[number]
        used, page.bit = page.bit, False
        referenced, page.referenced = page.referenced, used and page.kind == FILES
        activated = used and (page.kind == ANON or referenced)
        kept = used or (page.kind == FILES and referenced and page.dirty)
        self.count(page.kind, activated)
        if kept:
            (self.active if activated else self.inactive)[page.kind].append(number)
        return not kept
