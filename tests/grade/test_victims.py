"""Strings of references and victims, computed from records that no machine made."""

from __future__ import annotations

import numpy as np
import pytest
from tidemark.grade.witness import evidence

pytestmark = pytest.mark.graded


def events(*rows: tuple[int, int, int]) -> evidence.Evidence:
    """Evidence of one space: rows of kind, a, b."""
    made = np.zeros(len(rows), evidence.EVENT)
    made["space"] = 1
    made["kind"], made["a"], made["b"] = zip(*rows)
    return evidence.Evidence(made, [], 0, 0, False, True)


def test_page_that_is_written_but_stays_is_no_victim() -> None:
    """Laundered; evicted, and read into the same frame; evicted, and its frame reused; evicted, and never used
    again."""
    a, b, own = 0xB6000, 0xB6001, 0x08050
    store = evidence.STORE
    laundered = events((store, a, 5), (evidence.WRITE, 1, 5), (store, own, 9), (store, a, 5)).string(1)
    assert laundered.victims == [] and laundered.pages.tolist() == [0, 0]
    back = events((store, a, 5), (evidence.WRITE, 1, 5), (evidence.READ, 1, 5), (store, own, 9), (store, a, 5)).string(
        1
    )
    assert back.victims == [(1, 0)] and back.swapped_in.tolist() == [False, True]
    reused = events((store, a, 5), (evidence.WRITE, 1, 5), (evidence.ZERO, 0, 5), (store, b, 5)).string(1)
    assert reused.victims == [(1, 0)] and reused.swapped_in.tolist() == [False, False]
    assert events((store, a, 5), (store, own, 9), (evidence.WRITE, 1, 5)).string(1).victims == [(1, 0)]


def test_array_is_told_from_what_was_mapped_before() -> None:
    """A page above the array that was used before it, and one of the array first used after another space's page."""
    old, low, high, own = 0xB6010, 0xB6000, 0xB6001, 0x08050
    pages = events(
        *((evidence.REF, page, at) for at, page in enumerate([old, own, low, own, high, own, old, own, low]))
    )
    assert pages.string(1).pages.tolist() == [0, 1, 0]
    assert pages.main_space() == 1 and pages.string(0).pages.tolist() == []
