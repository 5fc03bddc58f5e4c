"""Numba, as all inner loops here are compiled with it.

For a type checker a compiled function takes and gives anything, and its numbers are Int: numba makes machine words of
`int`, `np.int64` and elements of arrays alike, which are three kinds of thing elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

Int = Any


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as machine code, which is kept on disk, and runs without Python's lock."""
    made: Callable[..., Any] = njit(cache=True, nogil=True)(function)
    return made
