"""The model of 2Q, when it sees every use as the paper's cache does, misses where libcachesim's TwoQ does."""

from __future__ import annotations

import random

import libcachesim
import pytest
from soak import soak_but
from test_models import model_of


@pytest.mark.parametrize("seed", soak_but(range(12), *range(3)))
def test_model_that_sees_all_misses_as_libcachesim(seed: int) -> None:
    choose = random.Random(seed)
    pages, frames = choose.choice([12, 40, 90]), choose.choice([8, 11, 16, 32])
    model, judge = model_of("js2q").Model(frames, sees_all=True), libcachesim.TwoQ(frames)
    request = libcachesim.Request(obj_size=1)
    for at in range(1500):
        page = min(choose.randrange(pages), choose.randrange(pages))
        request.obj_id = page
        assert model.refer(page, 0)[0] == bool(judge.get(request)), at
