"""Numba, with which all inner loops here are compiled.

To a type checker a compiled function takes and returns anything, and its numbers are Int: numba turns
`int`, `np.int64` and elements of arrays into machine words, while they are three different types elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

Int = Any


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as machine code, which is cached on disk, and runs without Python's lock."""
    made: Callable[..., Any] = njit(cache=True, nogil=True)(function)
    return made
