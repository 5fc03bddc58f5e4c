"""Questions about a policy's own run. No tool prints an answer: each needs a comparison of two runs, another string, or
the future.

Each kind is a function that asks about a run. It returns None if the question would have more than one answer, or if
the answer would be the page that is evicted anyway.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tidemark.grade.judge.quiz.runs import Run

EARLIEST = 8  # the first reference, as an index, that is asked about
FAR = 12  # largest number of references between a change and its effect
MOST_TRIED = 12


@dataclass(frozen=True)
class Question:
    """A question, and its only right answer."""

    name: str
    text: str
    key: int


def last_use(run: Run, page: int, at: int) -> int:
    """The index of the last reference to the page before `at`."""
    return max(index for index in range(at) if run.string[index] == page)


def next_use(run: Run, page: int, at: int) -> int:
    """The index of the next reference to the page after `at`; the length of the string if there is none."""
    return next((index for index in range(at + 1, len(run.string)) if run.string[index] == page), len(run.string))


def differ(run: Run) -> Question | None:
    """The first difference from the rival."""
    found = [at for at, (one, other) in enumerate(zip(run.mine, run.rival)) if one.victim != other.victim]
    if not found or found[0] < EARLIEST:
        return None
    text = (
        f"Run the string with {run.quiz.policy} and with {run.quiz.rival}. What is the number of the first reference "
        "at which they do not do the same: they evict different pages, or only one of them evicts a page?"
    )
    return Question("differ", text, found[0] + 1)


def oldest(run: Run) -> Question | None:
    """LRU's choice among the pages that the policy has in memory."""
    for at in run.picks([at for at in run.victims() if at >= EARLIEST]):
        step = run.mine[at]
        choice = min(step.before, key=lambda page: last_use(run, page, at))
        if choice != step.victim:
            text = (
                f"Reference {at + 1} evicts page {step.victim}. Of the pages that {run.quiz.policy} has in memory "
                "just before, which one was used longest ago, so that LRU would evict it?"
            )
            return Question("oldest", text, choice)
    return None


def farthest(run: Run) -> Question | None:
    """MIN's choice among the pages that the policy has in memory."""
    for at in run.picks([at for at in run.victims() if at >= EARLIEST]):
        step = run.mine[at]
        uses = sorted((next_use(run, page, at), page) for page in step.before)
        if uses[-1][1] != step.victim and uses[-1][0] > uses[-2][0]:
            text = (
                f"Reference {at + 1} evicts page {step.victim}. Of the pages that {run.quiz.policy} has in memory "
                "just before, which one would MIN evict, since its next use is farthest away, or never comes?"
            )
            return Question("farthest", text, uses[-1][1])
    return None


def once_more(run: Run) -> Question | None:
    """Which page is evicted if another page is used once more, some references earlier?"""
    later = [at for at in run.victims() if at >= EARLIEST]
    for at in run.picks(later)[:MOST_TRIED]:
        victim = run.mine[at].victim
        start = at - 1 - run.below(FAR - 1)
        if victim is None or start < 1 or victim not in run.mine[start].before or victim in run.string[start - 1 : at]:
            continue
        changed = run.again([*run.string[:start], victim, *run.string[start:]])[at + 1]
        if changed.victim not in (None, victim):
            text = (
                f"Insert one more reference, to page {victim}, between references {start} and {start + 1}; all others "
                f"stay. As it stands, reference {at + 1} of the string evicts page {victim}. Which page does this same "
                f"reference, to page {run.string[at]}, evict after the insertion?"
            )
            return Question("once-more", text, changed.victim or 0)
    return None


def spared(run: Run) -> Question | None:
    """How often a page was found used, and passed."""
    counts = Counter(page for step in run.mine for page in step.spared)
    some = sorted(page for page, count in counts.items() if count > 1)
    if not some:
        return None
    page = some[run.below(len(some))]
    text = (
        f"How many times, from the first reference to the last, does {run.quiz.policy} look at page {page}, find it "
        "used, and pass it, even if it comes back to it?"
    )
    return Question("spared", text, counts[page])


KINDS: dict[str, Callable[[Run], Question | None]] = {
    "differ": differ,
    "oldest": oldest,
    "farthest": farthest,
    "once-more": once_more,
    "spared": spared,
}
