"""The model of SIEVE hits and misses as libcachesim's Sieve does. Both take the reference that misses for no use, and
both look at one bit that each later use sets, so nothing has to be allowed for."""

from __future__ import annotations

import random

import libcachesim
import pytest
from test_models import model_of


@pytest.mark.soak
def test_sieve_equals_libcachesim() -> None:
    module = model_of("sieve")
    for seed in range(40):
        choose = random.Random(seed)
        pages, frames = choose.choice([6, 20, 60]), choose.randint(2, 30)
        model, judge = module.Model(frames), libcachesim.Sieve(frames)
        for _ in range(500):
            page = min(choose.randrange(pages), choose.randrange(pages))
            assert model.refer(page, 0)[0] == judge.get(libcachesim.Request(obj_size=1, obj_id=page)), seed
