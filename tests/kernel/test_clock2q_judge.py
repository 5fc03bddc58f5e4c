"""The model of Clock2Q+ hits and misses as libcachesim's Clock2QPlus does, which is its authors'. For both the
reference that misses is no use. The model says what is done otherwise there: as_library. It needs 20 frames."""

from __future__ import annotations

import random

import libcachesim
import pytest
from test_models import model_of


@pytest.mark.soak
@pytest.mark.parametrize("first", range(0, 40, 8))
def test_clock2q_equals_libcachesim(first: int) -> None:
    module = model_of("clock2q")
    for seed in range(first, first + 8):
        choose = random.Random(seed)
        frames = choose.choice([20, 30, 50, 100])
        pages = frames * choose.choice([2, 4, 8])
        model, judge = module.Model(frames, as_library=True), libcachesim.Clock2QPlus(frames)
        for at in range(1500):
            page = min(choose.randrange(pages), choose.randrange(pages), choose.randrange(pages))
            assert model.refer(page, 0)[0] == judge.get(libcachesim.Request(obj_size=1, obj_id=page)), (seed, at)
