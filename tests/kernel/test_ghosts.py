"""With as many ghosts as frames, the maximum of the tables, policies make the same decisions as their models."""

from __future__ import annotations

from functools import partial
from types import ModuleType

import pytest
from soak import soak_but
from test_models import expect_equal, model_of, trial


@pytest.mark.parametrize(
    ("policy", "parameter", "options"),
    [
        ("js2q", "kout=100", {"kout": 1}),
        pytest.param("clock2q", "ghost_percent=100", {"ghost_percent": 100}, marks=pytest.mark.soak),
    ],
)
@pytest.mark.parametrize("first", soak_but((0, 10, 20), 0))
def test_oldest_ghost_goes_when_the_table_is_full(
    first: int, policy: str, parameter: str, options: dict[str, int]
) -> None:
    module = ModuleType("full")
    module.Model = partial(model_of(policy).Model, **options)  # type: ignore[attr-defined]
    module.PARAMETERS = (f"{policy}.{parameter}",)  # type: ignore[attr-defined]
    for seed in range(first, first + 10):
        expect_equal(policy, module, *trial(seed, seed % 2 == 1, 100_000))
