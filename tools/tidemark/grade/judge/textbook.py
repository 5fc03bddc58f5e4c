"""FIFO and second chance as textbooks describe them, for a string of references. Policies are compared with these if
no solution is at hand, as in a student's release.

They share nothing with the kernel or the simulator. The access that faults does not count as a use; every other access
does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from tidemark.grade.judge.expected import Decision


def fifo(pages: Sequence[int], frames: int) -> list[Decision]:
    """First in, first out (L. Belady, R. Nelson and G. Shedler, CACM 12(6), 1969). The queue begins with the oldest."""
    queue: deque[int] = deque()
    made = []
    for page in pages:
        hit, victim, before = page in queue, None, tuple(queue)
        if not hit:
            victim = queue.popleft() if len(queue) == frames else None
            queue.append(page)
        made.append(Decision(page, hit, victim, {"queue": before}))
    return made


def clock(pages: Sequence[int], frames: int) -> list[Decision]:
    """Second chance (F. Corbato, 1968), as in textbooks: an array, an accessed bit for each element, and a hand. The
    circle is listed from the hand on.
    """
    array: list[int] = []
    used: set[int] = set()
    hand = 0
    made = []
    for page in pages:
        hit, victim = page in array, None
        before, used_before = tuple(array[hand:] + array[:hand]), frozenset(used)
        if hit:
            used.add(page)
        elif len(array) < frames:
            array.append(page)
        else:
            while array[hand] in used:
                used.remove(array[hand])
                hand = (hand + 1) % frames
            victim, array[hand] = array[hand], page
            hand = (hand + 1) % frames
        made.append(Decision(page, hit, victim, {"circle": before}, used_before))
    return made


MODELS = {"fifo": fifo, "clock": clock}
