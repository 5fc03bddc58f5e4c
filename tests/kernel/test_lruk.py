"""LRU-K: libcachesim's LRU-K, the paper's two pools, and the policy that remains if all of its parameters are off."""

from __future__ import annotations

import random

import libcachesim
import numpy as np
import pytest
from soak import soak_but
from test_models import decided, model_of, trial
from tidemark.strings import compare, refstrings, vmsim

BARE = ("lruk.correlated_ms=0", "lruk.retained_ms=0")


def hits(k: int, frames: int, pages: list[int]) -> list[bool]:
    """Was each reference a hit in libcachesim's LRU-K? It forgets evicted pages."""
    judge = libcachesim.LRUK(frames, k=k)
    return [bool(judge.get(libcachesim.Request(obj_size=1, obj_id=page))) for page in pages]


def drawn(seed: int) -> tuple[list[int], int]:
    """A string, lower pages more often, and a number of frames."""
    choose = random.Random(seed)
    frames = choose.choice([3, 8, 20])
    pages = frames * choose.choice([2, 4])
    return [min(choose.randrange(pages), choose.randrange(pages)) for _ in range(600)], frames


@pytest.mark.parametrize("k", [1, 2])
def test_lruk_that_sees_every_use_equals_libcachesim(k: int) -> None:
    """Calls of read are seen at once; they are two milliseconds apart. The policy's file itself is compared."""
    for seed in range(6):
        pages, frames = drawn(seed)
        string = refstrings.find(" ".join(f"r{page}" for page in pages), step_ns=2_000_000)
        found = decided("lruk", string, frames, (f"lruk.k={k}", *BARE))
        assert [hit for hit, _ in found] == hits(k, frames, pages), seed


@pytest.mark.parametrize("k", [1, 2])
def test_model_that_sees_all_equals_libcachesim(k: int) -> None:
    for seed in range(20):
        pages, frames = drawn(seed)
        model = model_of("lruk").Model(frames, k=k, retained_ms=0, sees_all=True)
        assert [model.refer(page, 0)[0] for page in pages] == hits(k, frames, pages), seed


def test_lruk_of_one_use_without_a_period_is_clock() -> None:
    for seed in range(8):
        string, frames = trial(seed, False, 100_000)
        assert decided("lruk", string, frames, ("lruk.k=1", "lruk.correlated_ms=0")) == decided("clock", string, frames)


@pytest.mark.parametrize("frames", soak_but((60, 100, 140), 100))
def test_two_pools(frames: int) -> None:
    """Section 4.1 of the paper: 100 pages of an index and 10,000 of records in turn. LRU-2 keeps the index. The best
    possible without the future is to keep index pages only; the policy gets 85 % of that, LRU less than 61 %.
    """
    choose = np.random.default_rng(1)
    pages = np.column_stack([choose.integers(0, 100, 40_000), choose.integers(100, 10_100, 40_000)]).ravel()
    string = refstrings.Given("pools", pages.astype(np.uint32))
    cells = compare.cells_of(string, [frames], {"lruk": vmsim.build("lruk", fast=True)}, {})
    ratio = {cell.policy: 1 - cell.misses / len(pages) for cell in cells}
    best = min(frames, 100) / 200
    assert ratio["lruk"] > 0.85 * best > 1.4 * ratio[compare.LRU]
