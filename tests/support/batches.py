"""Strings of references as batches of runs, for tests of curves."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from tidemark.curves.runs import Batch

LOAD = 1


def fresh_seed() -> int:
    """A seed, printed so that a failure can be repeated."""
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    return seed


def in_order(pages: Sequence[int]) -> np.ndarray:
    """The pages numbered by first appearance, i32."""
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(page, len(numbers)) for page in pages], np.int32)


def batches(pages: Sequence[int], counts: np.ndarray | None = None, insns: np.ndarray | None = None) -> list[Batch]:
    """Batches of 100 runs; without counts every run is one reference, without instructions time is in references."""
    numbers = in_order(pages)
    counts = np.ones(len(numbers), np.uint32) if counts is None else counts
    steps = counts if insns is None else insns
    starts = np.cumsum(steps, dtype=np.int64) - steps
    seen = np.maximum.accumulate(numbers) + 1
    kinds = np.full(len(numbers), LOAD, np.uint8)
    columns = (numbers, kinds, counts, starts, steps)
    cuts = range(0, len(numbers), 100)
    return [
        Batch(*(column[at : at + 100] for column in columns), int(seen[min(at + 100, len(numbers)) - 1])) for at in cuts
    ]


def fed(part: object, given: list[Batch]) -> object:
    """The part after it has received all batches."""
    for batch in given:
        part.feed(batch)
    return part
