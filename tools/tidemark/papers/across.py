"""Numbers that several runs of a plan give together.

    { exponent = "time", over = "mem" }   p of T = k / M^p + c, by least squares (tidemark.report.fit): one for each
                                          replicate, from its runs in all sizes of memory
    { spread = "time", over = "mem" }     the greatest over the least of all replicates: one for each size

They stand beside the numbers of single runs in a plan, and are computed from them whenever a claim asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from tidemark.errors import LabError
from tidemark.machine import qemu
from tidemark.report import fit

Key = tuple[str, ...]
Row = tuple[str, Key, float]  # the value of the variable, the replicate, the number


def place(text: str) -> float:
    """A variable's value as a number: a size in MiB, or the number itself."""
    return qemu.size_bytes(text, "mem") / (1 << 20) if re.fullmatch(r"\d+[KMG]", text) else float(text)


def exponents(rows: Iterable[Row]) -> dict[Key, float]:
    """The exponent of each replicate. Raises LabError if it has too few sizes."""
    found: dict[Key, dict[float, float]] = {}
    for at, key, number in rows:
        found.setdefault(key, {})[place(at)] = number
    try:
        return {
            key: fit.free(np.array(sorted(line)), np.array([line[at] for at in sorted(line)])).exponent
            for key, line in found.items()
        }
    except ValueError as error:
        raise LabError(str(error)) from None


def spreads(rows: Iterable[Row]) -> dict[Key, float]:
    """The greatest number over the least, by the value of the variable."""
    found: dict[str, list[float]] = {}
    for at, _, number in rows:
        found.setdefault(at, []).append(number)
    return {(at,): max(some) / min(some) for at, some in found.items()}


KINDS: dict[str, Callable[[Iterable[Row]], dict[Key, float]]] = {"exponent": exponents, "spread": spreads}


def kind(how: Any) -> str:
    """Which of KINDS a declared number is; empty if a single run gives it."""
    return next((name for name in KINDS if name in how), "") if isinstance(how, Mapping) else ""
