"""2q compared with its predecessor useonce: pages of a finished phase, and files that are read once."""

from __future__ import annotations

import random

from tidemark.strings import refstrings, vmsim


def faults(policy: str, string: str, frames: int) -> int:
    return vmsim.run(vmsim.build(policy), refstrings.find(string), frames).faults


def two_phases() -> str:
    """40 pages in use while others are used once, and then 90 others, used cyclically, which fit into 100 frames."""
    choose = random.Random(1)
    first = [page for new in range(1000) for page in (choose.randrange(40), choose.randrange(40), 1000 + new)]
    second = [5000 + at % 90 for at in range(8000)]
    return " ".join(map(str, first + second))


def test_pages_of_a_phase_that_is_over_leave() -> None:
    """As long as its inactive list is the longer one, useonce keeps them for ever."""
    string = two_phases()
    found = {policy: faults(policy, string, 100) for policy in ("2q", "useonce", "fifo")}
    assert found["2q"] < found["fifo"] < found["useonce"], found


def test_file_that_is_read_once_pushes_out_nothing() -> None:
    """30 pages of a file are read again and again, and 3,000 once."""
    used, at = range(1, 31), iter(range(1000, 4000))
    string = " ".join(
        " ".join([*(f"r{page}" for page in used), *(f"r{next(at)}" for _ in range(30))]) for _ in range(100)
    )
    assert faults("2q", string, 100) == 30 + 3000
    assert faults("clock", string, 50) > 30 + 3000
