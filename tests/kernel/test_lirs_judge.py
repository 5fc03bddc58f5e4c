"""The model of LIRS that sees each use at once hits and misses as libcachesim's LIRS does, with one HIR frame at least.

Each string ends with the first use of a page that is in Q alone: version 0.3.5 then makes an LIR page HIR and evicts
the page that was just hit, which LIRS does not."""

from __future__ import annotations

import random

import libcachesim
import pytest
from test_models import model_of


@pytest.mark.soak
@pytest.mark.parametrize("first", range(0, 24, 8))
def test_lirs_equals_libcachesim(first: int) -> None:
    module, compared = model_of("lirs"), 0
    for seed in range(first, first + 8):
        choose = random.Random(seed)
        frames = choose.choice([3, 10, 30, 100, 250])
        pages = frames * choose.choice([2, 4, 8])
        model, judge = module.Model(frames, eager=True, least=1), libcachesim.LIRS(frames)
        for at in range(2500):
            page = min(choose.randrange(pages), choose.randrange(pages), choose.randrange(pages))
            if page in model.queue and page not in model.stack:
                break
            assert model.refer(page, 0)[0] == judge.get(libcachesim.Request(obj_size=1, obj_id=page)), (seed, at)
            compared += 1
    assert compared > 2_000
