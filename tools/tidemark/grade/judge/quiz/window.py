"""Questions about the working set of a string. W(t, tau), the pages used in the last tau references, is a definition,
so the answers do not depend on a policy's measurement.
"""

from __future__ import annotations

from collections.abc import Callable

from tidemark.grade.judge.quiz.questions import Question
from tidemark.grade.judge.quiz.runs import Run


def size(run: Run) -> Question | None:
    """The size of the working set at one moment."""
    tau = run.quiz.tau
    at = tau + run.below(len(run.string) - tau)
    text = f"How many pages are in the working set just after reference {at + 1}?"
    return Question("size", text, len(run.window(at, tau)))


def leaves(run: Run) -> Question | None:
    """The page that leaves the working set at a reference."""
    tau = run.quiz.tau
    for at in run.picks(range(2 * tau, len(run.string))):
        gone = run.window(at - 1, tau) - run.window(at, tau)
        if gone:
            return Question("leaves", f"Which page leaves the working set with reference {at + 1}?", gone.pop())
    return None


def largest(run: Run) -> Question | None:
    """The first moment at which the working set is largest."""
    sizes = [len(run.window(at, run.quiz.tau)) for at in range(len(run.string))]
    text = "After which reference, for the first time, has the working set as many pages as it ever has?"
    return Question("largest", text, sizes.index(max(sizes)) + 1)


def longer(run: Run) -> Question | None:
    """The number of misses that a longer window saves."""
    saved = run.missing(run.quiz.tau) - run.missing(run.quiz.tau + 2)
    text = (
        "A reference misses if its page is not in the working set just before it. How many references fewer would miss "
        f"if tau were {run.quiz.tau + 2} references instead of {run.quiz.tau}?"
    )
    return Question("longer", text, saved) if saved > 1 else None


KINDS: dict[str, Callable[[Run], Question | None]] = {
    "size": size,
    "leaves": leaves,
    "largest": largest,
    "longer": longer,
}
