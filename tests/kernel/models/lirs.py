"""LIRS (S. Jiang and X. Zhang, SIGMETRICS 2002): the stack S holds LIR pages, HIR pages and ghosts by recency, and its
bottom is always LIR; the queue Q holds the resident HIR pages.

The kernel sees a use late: when its page is at the front of Q or at the bottom of S. The bottom is checked once for
each incoming page if LIR is full, and until an unused one is found if LIR has too many pages, which waits
until a frame is needed. `eager` is the paper's own, which sees each hit at once; `least` is the minimum size of HIR."""

from __future__ import annotations

RELATIVE = "clock"
DIFFERS = ("3 6 2 4 3 6", 3)
MIXED = True


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int, *, eager: bool = False, least: int = 2) -> None:
        self.frames, self.eager = frames, eager
        self.nr_lir = max(1, frames - max(least, frames // 100))
        self.stack: list[int] = []  # S, the bottom first
        self.queue: list[int] = []  # Q, the front first
        self.lir: set[int] = set()
        self.ghosts: list[int] = []  # the ghosts of S in the order of their evictions
        self.used: set[int] = set()

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        if page in self.lir or page in self.queue:
            if self.eager:
                self.hit(page)
                self.settle()
            else:
                self.used.add(page)
            return True, []
        known = self.eager and page in self.ghosts
        gone = [self.take()] if len(self.lir) + len(self.queue) == self.frames else []
        if not self.eager and len(self.lir) >= self.nr_lir and self.stack[0] in self.used:
            self.turn()
        known = known or page in self.ghosts
        if page in self.ghosts:
            self.ghosts.remove(page)
        if known or len(self.lir) < self.nr_lir:
            self.lir.add(page)
        else:
            self.queue.append(page)
        self.to_top(page)
        if self.eager:
            self.settle()
            while len(self.stack) > 2 * self.frames:
                self.stack.remove(self.ghosts.pop(0))
        return False, gone

    def to_top(self, page: int) -> None:
        """Moves a page to the top of S, from its old place there, if any."""
        if page in self.stack:
            self.stack.remove(page)
        self.stack.append(page)
        self.prune()

    def prune(self) -> None:
        """Removes HIR pages and ghosts below the lowest LIR page."""
        while self.stack and self.stack[0] not in self.lir:
            page = self.stack.pop(0)
            if page in self.ghosts:
                self.ghosts.remove(page)

    def hit(self, page: int) -> None:
        """A use is seen."""
        if page in self.queue:
            self.queue.remove(page)
            if page in self.stack:
                self.lir.add(page)
            else:
                self.queue.append(page)
        self.to_top(page)

    def turn(self) -> None:
        """Moves the used page at the bottom of S to the top."""
        self.used.remove(self.stack[0])
        self.hit(self.stack[0])

    def settle(self) -> None:
        """Turns LIR pages into HIR pages until at most nr_lir are LIR."""
        while len(self.lir) > self.nr_lir:
            while self.stack[0] in self.used:
                self.turn()
            page = self.stack[0]
            self.lir.remove(page)
            self.queue.append(page)
            self.prune()

    def take(self) -> int:
        """Evicts a page, and returns it; if it is in S, its ghost stays there."""
        while True:
            self.settle()
            page = self.queue[0]
            if page not in self.used:
                break
            self.used.remove(page)
            self.hit(page)
        self.queue.remove(page)
        if page in self.stack:
            self.ghosts.append(page)
        if not self.eager and len(self.ghosts) > self.frames:
            self.stack.remove(self.ghosts.pop(0))
        return page
