"""Machine instructions that numba has no name for."""

from __future__ import annotations

from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.extending import intrinsic


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:
    """How many bits of a uint64 are set, as int64."""
    if word != types.uint64:
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(word), generate


@intrinsic
def _highest_bit(typing_context: Any, number: Any) -> Any:
    """The place of the highest set bit of a positive number of 64 bits: floor(log2(number)), in the same type."""
    if number not in (types.int64, types.uint64):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))
        return builder.sub(ir.Constant(ir.IntType(64), 63), zeros)

    return number(number), generate


# To callers they are functions of the number alone.
popcount, highest_bit = cast(Any, _popcount), cast(Any, _highest_bit)
