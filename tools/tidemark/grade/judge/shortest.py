"""The shortest string, with the fewest frames, on which a policy goes wrong.

Delta debugging (A. Zeller and R. Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE Transactions on
Software Engineering 28(2), 2002): pieces are left out as long as the policy still goes wrong, large ones first. The
question goes to a simulator, which is quick; whether the kernel does the same is checked afterwards. The number of
questions, not the time, is limited, so that the same files always get the same message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

MOST_TRIES = 120
FEW_FRAMES = (3, 4, 6, 8, 12)  # tried instead of the test's number; the kernel needs at least 3

AT_ONCE = 8  # cases prepared together; the first that goes wrong is taken

Case = tuple[Sequence[int], int]  # a string, and frames
GoesWrong = Callable[[Sequence[int], int], bool]
Ahead = Callable[[Sequence[Case]], None]


def without_preparing(cases: Sequence[Case]) -> None:
    """Do nothing: each case is computed when it is asked about."""


class Tries:
    """Asks and counts. After too many questions the answer is always that nothing goes wrong."""

    def __init__(self, goes_wrong: GoesWrong, ahead: Ahead = without_preparing, most: int = MOST_TRIES) -> None:
        self.goes_wrong, self.ahead, self.left = goes_wrong, ahead, most

    def __call__(self, pages: Sequence[int], frames: int) -> bool:
        if not pages or self.left <= 0:
            return False
        self.left -= 1
        return self.goes_wrong(pages, frames)

    def first(self, cases: Sequence[Case]) -> int | None:
        """The index of the first case that goes wrong."""
        for at, case in enumerate(cases):
            if at % AT_ONCE == 0:
                self.ahead([each for each in cases[at : at + AT_ONCE] if each[0]][: self.left])
            if self(*case):
                return at
        return None


def renumbered(pages: Sequence[int]) -> list[int]:
    """The string with its pages renamed 1, 2, 3, ... in the order of their first references."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(page, len(numbers) + 1) for page in pages]


def without_pieces(pages: list[int], frames: int, tries: Tries) -> list[int]:
    """Leave out pieces of the string, half as large each time, until no single reference can be left out."""
    size = max(1, len(pages) // 2)
    while True:
        at, left = 0, len(pages)
        while at < len(pages):
            shorter = [pages[:begin] + pages[begin + size :] for begin in range(at, len(pages), size)]
            found = tries.first([(each, frames) for each in shorter])
            if found is None:
                break
            pages = shorter[found]
            at += found * size
        if size > 1:
            size //= 2
        elif len(pages) == left:
            return pages


def without_whole_pages(pages: list[int], frames: int, tries: Tries) -> list[int]:
    """Leave out all references to a page, for each page for which that is possible."""
    left = sorted(set(pages), key=pages.count)
    while left:
        shorter = [[each for each in pages if each != page] for page in left]
        found = tries.first([(each, frames) for each in shorter])
        if found is None:
            break
        pages, left = shorter[found], left[found + 1 :]
    return pages


def with_fewer_frames(pages: Sequence[int], frames: int, tries: Tries) -> int:
    """The least number of FEW_FRAMES with which the policy goes wrong, or `frames`."""
    fewer = [few for few in FEW_FRAMES if few < frames]
    found = tries.first([(pages, few) for few in fewer])
    return frames if found is None else fewer[found]


def shortest(
    pages: Sequence[int], frames: int, goes_wrong: GoesWrong, ahead: Ahead = without_preparing
) -> tuple[list[int], int] | None:
    """A string from which no reference can be left out, and frames; None if the simulator finds nothing wrong with it.
    `ahead` is told which cases `goes_wrong` is about to be asked about, up to the first that does."""
    tries = Tries(goes_wrong, ahead)
    if not tries(pages, frames):
        return None
    frames = with_fewer_frames(pages, frames, tries)
    short = without_pieces(list(pages), frames, tries)
    short = without_pieces(without_whole_pages(short, frames, tries), frames, tries)
    few = with_fewer_frames(short, frames, tries)
    if few < frames:
        short = without_pieces(short, few, tries)
    again = renumbered(short)
    return (again, few) if goes_wrong(again, few) else (short, few)
