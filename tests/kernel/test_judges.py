"""Models of policies (models/) hit and miss like libcachesim's caches, which serve as reference for the models.

arc, js2q: if the model sees every use, as in the papers' caches.
clock2q, s3fifo: in both the reference that misses does not count as a use. The model lists the differences: as_library.
    They need 20 frames. libcachesim's Clock2QPlus is its authors'; S3-FIFO has two bits, as in the paper.
sieve: in both the reference that misses does not count as a use, and both test one bit that each later use sets, so
    there is no difference.
lirs: if the model sees each use at once, with at least one HIR frame. Each string ends with the first use of a page
    that is in Q alone: version 0.3.5 then makes an LIR page HIR and evicts the page that was just hit, which LIRS does
    not.
"""

from __future__ import annotations

import random

import libcachesim
import pytest
from soak import soak_but
from test_models import model_of


def draw(choose: random.Random, pages: int, times: int) -> int:
    """A random page; lower numbers are more frequent."""
    return min(choose.randrange(pages) for _ in range(times))


def hits(judge: object, page: int) -> bool:
    """Returns whether the cache hits."""
    return bool(judge.get(libcachesim.Request(obj_size=1, obj_id=page)))  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", soak_but(range(12), *range(3)))
@pytest.mark.parametrize(("name", "cache"), [("arc", "ARC"), ("js2q", "TwoQ")])
def test_model_that_sees_all_equals_libcachesim(name: str, cache: str, seed: int) -> None:
    choose = random.Random(seed)
    pages, frames = choose.choice([12, 40, 90]), choose.choice([8, 11, 16, 32])
    model, judge = model_of(name).Model(frames, sees_all=True), getattr(libcachesim, cache)(frames)
    for at in range(1500):
        page = draw(choose, pages, 2)
        assert model.refer(page, 0)[0] == hits(judge, page), at


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize(
    ("name", "cache", "options"), [("clock2q", "Clock2QPlus", {}), ("s3fifo", "S3FIFO", {"bits": 2})]
)
def test_model_as_the_library_does_it(name: str, cache: str, options: dict[str, int], seed: int) -> None:
    choose = random.Random(seed)
    frames = choose.choice([20, 30, 50, 100])
    pages = frames * choose.choice([2, 4, 8])
    model, judge = model_of(name).Model(frames, as_library=True, **options), getattr(libcachesim, cache)(frames)
    for at in range(1500):
        page = draw(choose, pages, 3)
        assert model.refer(page, 0)[0] == hits(judge, page), at


@pytest.mark.soak
def test_sieve_equals_libcachesim() -> None:
    module = model_of("sieve")
    for seed in range(40):
        choose = random.Random(seed)
        pages, frames = choose.choice([6, 20, 60]), choose.randint(2, 30)
        model, judge = module.Model(frames), libcachesim.Sieve(frames)
        for _ in range(500):
            page = draw(choose, pages, 2)
            assert model.refer(page, 0)[0] == hits(judge, page), seed


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
            page = draw(choose, pages, 3)
            if page in model.queue and page not in model.stack:
                break
            assert model.refer(page, 0)[0] == hits(judge, page), (seed, at)
            compared += 1
    assert compared > 1_500
