"""The model of S3-FIFO, with two bits as the paper has it, hits and misses as libcachesim's S3FIFO does. For both the
reference that misses is no use. The model says what is done otherwise there: as_library. It needs 20 frames."""

from __future__ import annotations

import random

import libcachesim
import pytest
from test_models import model_of


@pytest.mark.soak
@pytest.mark.parametrize("first", range(0, 40, 8))
def test_s3fifo_equals_libcachesim(first: int) -> None:
    module = model_of("s3fifo")
    for seed in range(first, first + 8):
        choose = random.Random(seed)
        frames = choose.choice([20, 30, 50, 100])
        pages = frames * choose.choice([2, 4, 8])
        model, judge = module.Model(frames, bits=2, as_library=True), libcachesim.S3FIFO(frames)
        for at in range(1500):
            page = min(choose.randrange(pages), choose.randrange(pages), choose.randrange(pages))
            assert model.refer(page, 0)[0] == judge.get(libcachesim.Request(obj_size=1, obj_id=page)), (seed, at)
