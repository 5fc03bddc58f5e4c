"""Cases that only `make soak` runs: `make check` runs the cases of each kind that are most likely to fail."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def soak_but(cases: Iterable[Any], *kept: Any) -> list[Any]:
    """Cases for parametrize, of which `make check` runs only those in `kept`."""
    soak = pytest.mark.soak
    return [
        case if case in kept else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=soak)
        for case in cases
    ]
