"""A first difference is shown by the shortest possible string."""

from __future__ import annotations

import random

import pytest
from tidemark.grade.judge.shortest import MOST_TRIES, Tries, shortest
from tidemark.grade.judge.textbook import clock, fifo

pytestmark = pytest.mark.unbuilt


def fifo_is_not_clock(pages: list[int], frames: int) -> bool:
    return [each.victim for each in fifo(pages, frames)] != [each.victim for each in clock(pages, frames)]


@pytest.mark.parametrize("seed", range(5))
def test_five_references_show_that_a_queue_is_no_clock(seed: int) -> None:
    draw = random.Random(seed)
    pages = [draw.randrange(40) for _ in range(200)]
    assert shortest(pages, 12, fifo_is_not_clock) in (([1, 2, 3, 1, 4], 3), ([1, 2, 1, 3, 4], 3), ([1, 1, 2, 3, 4], 3))


def test_nothing_can_be_left_out_of_it() -> None:
    found = shortest([7, 1, 2, 3, 9, 1, 2, 4, 4, 5, 1, 6, 1, 2, 7, 1, 8], 3, fifo_is_not_clock)
    assert found
    pages, frames = found
    assert not any(fifo_is_not_clock(pages[:at] + pages[at + 1 :], frames) for at in range(len(pages)))


def test_where_nothing_is_wrong_there_is_none_and_tries_are_bounded() -> None:
    assert shortest([1, 2, 3, 4], 3, fifo_is_not_clock) is None
    asked: list[int] = []
    shortest(list(range(5000)), 100, lambda pages, frames: not asked.append(1) and len(pages) > 4900)
    assert len(asked) <= MOST_TRIES + 1
    assert not Tries(lambda pages, frames: True, most=0)([1], 3)
