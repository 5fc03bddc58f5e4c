"""Local FIFO: the pages of a process, and those of no process, each have a partition. The partition that exceeds its
quota by the most pages gives up the page that it has had for longest (Silberschatz, Operating System Concepts,
"Allocation of Frames").

Every tick of 10 ms the quotas are set: at most UNOWNED percent of memory for pages that a system call brought in, and
for the process what they leave of it. Until the first tick no partition has a quota.
"""

from __future__ import annotations

from tidemark.strings.refstrings import BY_CALL

RELATIVE = "fifo"
DIFFERS = ("1-7 r1 r2 r3 8", 10)
MIXED = True
STEP_NS = 1_000_000
TICK, UNOWNED = 10, 20  # steps; percent
NO_LIMIT = 1 << 30
PROCESS, NONE = "process", "none"


class Model:
    """A memory of some frames, one process, and pages of no process."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.pages: dict[str, list[int]] = {NONE: [], PROCESS: []}  # the next to be evicted first
        self.quotas = {NONE: NO_LIMIT, PROCESS: NO_LIMIT}
        self.now = 0

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        found = page in self.pages[NONE] + self.pages[PROCESS]
        gone = []
        if not found:
            if sum(map(len, self.pages.values())) == self.frames:
                gone = [self.take()]
            self.pages[NONE if kind & BY_CALL else PROCESS].append(page)
        self.now += 1
        if self.now % TICK == 0:
            self.set_quotas()
        return found, gone

    def set_quotas(self) -> None:
        """Divides memory."""
        self.quotas[NONE] = self.frames * UNOWNED // 100
        self.quotas[PROCESS] = max(8, self.frames - min(len(self.pages[NONE]), self.quotas[NONE]))

    def take(self) -> int:
        """Evicts a page, and returns it."""
        return self.pages[self.who_pays()].pop(0)

    def who_pays(self) -> str:
        """The partition with the largest excess; among equals the pages of no process."""
        return max(
            (who for who in self.pages if self.pages[who]), key=lambda who: len(self.pages[who]) - self.quotas[who]
        )
