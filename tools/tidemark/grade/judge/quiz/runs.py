"""What the reference solution does on a student's string, as far as questions need it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tidemark import vmsim
from tidemark.grade.model import Quiz
from tidemark.strings import Given


@dataclass(frozen=True)
class Step:
    """One reference: the page that left for it, if one did; the pages in memory before it; those that were looked
    at for it, found used, and passed: when all are in use, also the one that is taken in the second turn.
    """

    hit: bool
    victim: int | None
    before: frozenset[int]
    spared: tuple[int, ...]


@dataclass(frozen=True)
class Run:
    """A string, and what the policy and its rival do on it; `below` draws a number, `again` runs the policy on another
    string.
    """

    quiz: Quiz
    string: tuple[int, ...]
    below: Callable[[int], int]
    mine: Sequence[Step] = ()
    rival: Sequence[Step] = ()
    again: Callable[[Sequence[int]], list[Step]] = lambda string: []

    def window(self, at: int, tau: int) -> set[int]:
        """The pages of the last `tau` references, that with the index `at` included."""
        return set(self.string[max(0, at - tau + 1) : at + 1])

    def missing(self, tau: int) -> int:
        """References to a page that was not in the working set just before."""
        return sum(page not in self.window(at - 1, tau) for at, page in enumerate(self.string))

    def faults(self) -> int:
        """Faults of the policy, or of the definition of the working set."""
        return self.missing(self.quiz.tau) if self.quiz.tau else sum(not step.hit for step in self.mine)

    def differing(self) -> int:
        """References at which another page leaves, or none, by the rival."""
        return sum(one.victim != other.victim for one, other in zip(self.mine, self.rival))

    def victims(self) -> list[int]:
        """The indices of references for which a page leaves."""
        return [at for at, step in enumerate(self.mine) if step.victim is not None]

    def picks(self, indices: Sequence[int]) -> list[int]:
        """The same in an order by chance."""
        left, order = list(indices), []
        while left:
            order.append(left.pop(self.below(len(left))))
        return order


def simulate(program: Path, string: Sequence[int], frames: int) -> list[Step]:
    """What a policy's simulator, a program that can be trusted, does on a string without repetitions in a row."""
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
