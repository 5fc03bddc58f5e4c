"""aging.lfu=1, NFU, makes the same decisions as a naive model."""

from __future__ import annotations

from functools import partial
from types import ModuleType

import pytest
from test_models import decided, expect_equal, model_of, trial
from tidemark.strings import refstrings

MODEL = model_of("aging")
NFU = ModuleType("model_nfu")
vars(NFU).update(Model=partial(MODEL.Model, nfu=True), PARAMETERS=("aging.lfu=1",))


@pytest.mark.soak
def test_nfu_decides_as_its_model() -> None:
    for seed in range(24):
        expect_equal("aging", NFU, *trial(seed, seed % 2 == 1, MODEL.STEP_NS))


def test_nfu_does_not_forget() -> None:
    """Pages of a finished phase stay resident; aging evicts them."""
    old = " ".join(["1-3"] * 12)
    string = refstrings.find(f"{old} " + "4-6 " * 40, step_ns=MODEL.STEP_NS)
    nfu, aging = decided("aging", string, 4, NFU.PARAMETERS), decided("aging", string, 4)
    assert {page for _, gone in nfu for page in gone} == {4, 5, 6}
    assert {page for _, gone in aging for page in gone} >= {1, 2}
    string = refstrings.find("1 " * 1000, step_ns=MODEL.STEP_NS)  # the counter reaches its maximum
    expect_equal("aging", NFU, string, 3)
