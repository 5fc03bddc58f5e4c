"""The model of ARC, when it sees every use as the paper's cache does, misses where libcachesim's ARC does."""

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
    model, judge = model_of("arc").Model(frames, sees_all=True), libcachesim.ARC(frames)
    request = libcachesim.Request(obj_size=1)
    for at in range(1500):
        page = min(choose.randrange(pages), choose.randrange(pages))
        request.obj_id = page
        assert model.refer(page, 0)[0] == bool(judge.get(request)), at
