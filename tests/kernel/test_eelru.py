"""What EELRU gains on a loop, and what accessed bits cost it: the table of docs/guide/policies/eelru.md."""

from __future__ import annotations

import random
import re
from pathlib import Path

import libcachesim
import numpy as np
import pytest
from soak import soak_but
from test_judges import draw, hits
from test_models import model_of
from tidemark.strings import compare, refstrings, vmsim

ROUNDS, FRAMES = 60, 100
PAGE = (Path(__file__).parents[2] / "docs/guide/policies/eelru.md").read_text()
ROW = re.compile(r"^\| (\d+) \|" + r" ([\d,]+) \|" * 5 + "$", re.MULTILINE)
ROWS = {int(row[0]): [int(cell.replace(",", "")) for cell in row[1:]] for row in ROW.findall(PAGE)}


@pytest.mark.parametrize("pages", soak_but(ROWS, 110))
def test_loop_has_the_misses_that_the_page_says(pages: int) -> None:
    string = refstrings.Given("loop", np.array([*range(pages)] * ROUNDS, np.uint32), 100_000)
    known = compare.bounds(string, [FRAMES])
    paper = model_of("eelru").Paper(FRAMES)
    misses = [
        known[compare.LRU][0],
        vmsim.run(vmsim.build("clock"), string, FRAMES).faults,
        vmsim.run(vmsim.build("eelru"), string, FRAMES).faults,
        sum(not paper.refer(page) for _ in range(ROUNDS) for page in range(pages)),
        known[compare.MIN][0],
    ]
    assert misses == ROWS[pages]


def test_page_has_rows() -> None:
    assert len(ROWS) >= 6


@pytest.mark.parametrize("seed", range(3))
def test_paper_without_early_eviction_is_lru(seed: int) -> None:
    """libcachesim has LRU, but not EELRU."""
    choose = random.Random(seed)
    frames = choose.choice([3, 10, 40])
    paper, judge = model_of("eelru").Paper(frames, pairs=False), libcachesim.LRU(frames)
    for at in range(1500):
        page = draw(choose, 3 * frames, 2)
        assert paper.refer(page) == hits(judge, page), at
