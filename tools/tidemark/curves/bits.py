"""Machine instructions that numba does not offer."""

from __future__ import annotations

from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:
    """The number of set bits of a uint64, as int64."""
    if word != types.uint64:
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(word), generate


@intrinsic
def _highest_bit(typing_context: Any, number: Any) -> Any:
    """The index of the highest set bit of a positive number of 64 bits: floor(log2(number)), in the same type."""
    if number not in (types.int64, types.uint64):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))
        return builder.sub(ir.Constant(ir.IntType(64), 63), zeros)

    return number(number), generate


@intrinsic
def _fetch_early(typing_context: Any, array: Any, at: Any) -> Any:
    """Prefetch element `at` of an array. `at` must be inside the array."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        byte = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [byte.type] + 3 * [ir.IntType(32)])
        prefetch = cast(Any, cgutils).get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(prefetch, [byte, *(ir.Constant(ir.IntType(32), how) for how in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


# For callers: the typing context is not one of their arguments.
popcount, highest_bit, fetch_early = cast(Any, _popcount), cast(Any, _highest_bit), cast(Any, _fetch_early)
