"""Sampled LRU equals LRU if it sees every use and its sample surely contains the oldest page: pages of a file that are
read by system calls, a millisecond apart, in three frames, with 32 draws. libcachesim's LRU is the reference."""

from __future__ import annotations

import random

import libcachesim
from test_models import decided
from tidemark.strings import refstrings


def test_lru_that_sees_every_use_equals_libcachesim() -> None:
    for seed in range(6):
        choose = random.Random(seed)
        pages = [min(choose.randrange(8), choose.randrange(8)) for _ in range(300)]
        judge = libcachesim.LRU(3)
        wanted = [judge.get(libcachesim.Request(obj_size=1, obj_id=page)) for page in pages]
        string = refstrings.find(" ".join(f"r{page}" for page in pages), step_ns=1_000_000)
        found = decided("lru", string, 3, ("lru.sample=32",))
        assert [hit for hit, _ in found] == wanted, seed
