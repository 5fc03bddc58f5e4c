"""The reference solution's run on a student's string, as far as questions need it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tidemark.grade.model import Quiz
from tidemark.strings import vmsim
from tidemark.strings.refstrings import Given


@dataclass(frozen=True)
class Step:
    """One reference: the page evicted for it, if any; the pages in memory before it; and those that the policy looked
    at, found used, and passed. If all pages are in use, these include the page that is taken in the second turn.
    """

    hit: bool
    victim: int | None
    before: frozenset[int]
    spared: tuple[int, ...]


@dataclass(frozen=True)
class Run:
    """A reference string, and the steps of the policy and of its rival on it. `below(n)` draws a number below n,
    `again` runs the policy on another string.
    """

    quiz: Quiz
    string: tuple[int, ...]
    below: Callable[[int], int]
    mine: Sequence[Step] = ()
    rival: Sequence[Step] = ()
    again: Callable[[Sequence[int]], list[Step]] = lambda string: []

    def window(self, at: int, tau: int) -> set[int]:
        """The pages of the last `tau` references, up to and including index `at`."""
        return set(self.string[max(0, at - tau + 1) : at + 1])

    def missing(self, tau: int) -> int:
        """References to a page that was not in the working set just before."""
        return sum(page not in self.window(at - 1, tau) for at, page in enumerate(self.string))

    def faults(self) -> int:
        """Faults of the policy, or of the definition of the working set."""
        return self.missing(self.quiz.tau) if self.quiz.tau else sum(not step.hit for step in self.mine)

    def differing(self) -> int:
        """The number of references at which the rival evicts another page, or none."""
        return sum(one.victim != other.victim for one, other in zip(self.mine, self.rival))

    def victims(self) -> list[int]:
        """The indices of references at which a page is evicted."""
        return [at for at, step in enumerate(self.mine) if step.victim is not None]

    def picks(self, indices: Sequence[int]) -> list[int]:
        """The indices in random order."""
        left, order = list(indices), []
        while left:
            order.append(left.pop(self.below(len(left))))
        return order


def simulate(program: Path, string: Sequence[int], frames: int) -> list[Step]:
    """The steps of a policy's simulator, a trusted program, on a string without repetitions in a row."""
    rows: list[dict[str, Any]] = []
    vmsim.run(program, Given("the string", np.array(string, np.uint32), 0), frames, (), rows.append)
    steps, before = [], frozenset[int]()
    for row in rows:
        victim = next((hook["gave"] for hook in row["hooks"] if hook.get("act") == "evict"), None)
        looked = [look for hook in row["hooks"] for look in hook.get("looked", ())]
        spared = tuple(page for page, used in looked if used)
        steps.append(Step(row["result"] != "fault", victim, before, spared))
        before = frozenset(page for page in row["frames"] if page is not None)
    return steps
