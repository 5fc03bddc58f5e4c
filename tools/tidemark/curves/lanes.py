"""64 numbers at once, with the machine's vector instructions, which numba does not offer.

This is LLVM's intermediate code, written by hand, because docs/reference/figures.md states how fast the curve of MIN is
computed ("MIN, all sizes"). With the plain loops that tests/lab/test_curves_exact.py compares it with (`plainly`), that
falls from 13.0 million references a second to 5.7 (a moving locality of 2,048 pages), from 10.1 to 3.7 (Zipf, 65,536
pages), and from 6.0 to 1.6 (uniform): measured one beside the other, on one core of an Intel Xeon. Groups of 8, 16 or
32 numbers instead of 64 do not help the loops.

Each function takes an i32 array and the index of the first of 64 neighbours in it, all of which must be inside. They
are in order, except for `carry`: there number k is stored at `lane_of(k)`, in four rows of 16, where a column has four
neighbours. A step from number to number then handles four rows at once, and only the columns are left to step through.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from tidemark.jit import Int, compiled

LANES, ROWS, COLUMNS = 64, 4, 16
LAST = 2**31 - 1
I32 = ir.IntType(32)
PACK = cast(Any, cgutils.pack_array)
TWO = cast(Any, types.UniTuple)(types.int32, 2)


@compiled
def lane_of(number: Int) -> Int:
    """The index at which `carry` expects a number, in consecutive blocks of 64; both are uint64."""
    column = (number >> np.uint64(2)) & np.uint64(15)
    return (number & ~np.uint64(63)) | ((number & np.uint64(3)) << np.uint64(4)) | column


def _vector(numbers: list[int]) -> Any:
    return ir.Constant(ir.VectorType(I32, len(numbers)), numbers)


def _vector_at(context: Any, builder: Any, kind: Any, array: Any, at: Any, lanes: int) -> Any:
    """A pointer to `lanes` numbers from index `at`."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), ir.VectorType(I32, lanes).as_pointer())


def _splat(builder: Any, number: Any, lanes: int) -> Any:
    """The same number in each lane."""
    one = builder.insert_element(ir.Constant(ir.VectorType(I32, lanes), ir.Undefined), number, ir.Constant(I32, 0))
    return builder.shuffle_vector(one, one, _vector([0] * lanes))


def _moved(builder: Any, vector: Any, far: int) -> Any:
    """Move each lane's number down by `far` lanes; LAST fills the end."""
    lanes = vector.type.count
    return builder.shuffle_vector(
        vector, _vector([LAST] * lanes), _vector([min(at + far, lanes) for at in range(lanes)])
    )


def _less(builder: Any, one: Any, other: Any) -> Any:
    """The lesser number of each lane."""
    return builder.select(builder.icmp_signed("<", one, other), one, other)


def _greater(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.icmp_signed(">", one, other), one, other)


def _least_after(builder: Any, vector: Any) -> Any:
    """In each lane, the least number from that lane to the end."""
    far = 1
    while far < vector.type.count:
        vector = _less(builder, vector, _moved(builder, vector, far))
        far *= 2
    return vector


def _arriving(builder: Any, least: Any, carried: Any) -> Any:
    """The number that is carried when the walk reaches each lane. `least`: as _least_after returns it."""
    return _less(builder, _moved(builder, least, 1), _splat(builder, carried, least.type.count))


def _least_of(builder: Any, vector: Any) -> Any:
    """The least number of all lanes, found by halving."""
    half = vector.type.count
    while half > 1:
        half //= 2
        masks = (_vector(list(range(at, at + half))) for at in (0, half))
        vector = _less(builder, *(builder.shuffle_vector(vector, vector, one) for one in masks))
    return _first(builder, vector)


def _least_row(builder: Any, rows: list[Any]) -> Any:
    """The least number of each column."""
    return _less(builder, _less(builder, rows[0], rows[1]), _less(builder, rows[2], rows[3]))


def _first(builder: Any, vector: Any) -> Any:
    return builder.extract_element(vector, ir.Constant(I32, 0))


@intrinsic
def _lower(typing_context: Any, array: Any, at: Any, top: Any, carried: Any) -> Any:
    """A mask (uint64) of the numbers that would change if `carried` went down from number `top` (-1: none) to number 0
    and were exchanged with each lower number: bit k is set if number k would be exchanged.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = builder.load(_vector_at(context, builder, signature.args[0], args[0], args[1], LANES), align=4)
        outside = builder.icmp_signed(">", _vector(list(range(LANES))), _splat(builder, args[2], LANES))
        vector = builder.select(outside, _vector([LAST] * LANES), vector)
        arriving = _arriving(builder, _least_after(builder, vector), args[3])
        return builder.bitcast(builder.icmp_signed("<", vector, arriving), ir.IntType(LANES))

    return types.uint64(array, types.uint64, types.int32, types.int32), generate


@intrinsic
def _least(typing_context: Any, array: Any, at: Any) -> Any:
    """The least of the 64 numbers, int32."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _vector_at(context, builder, signature.args[0], args[0], args[1], LANES)
        return _least_of(builder, builder.load(pointer, align=4))

    return types.int32(array, types.uint64), generate


def _down(builder: Any, old: list[Any], top: Any, carried: Any) -> tuple[list[Any], Any]:
    """The rows after carrying `carried` down from number `top`, and the number that is carried then."""
    last, tops = _vector([LAST] * COLUMNS), _splat(builder, top, COLUMNS)
    numbers = [_vector([ROWS * column + row for column in range(COLUMNS)]) for row in range(ROWS)]
    outside = [builder.icmp_signed(">", row, tops) for row in numbers]
    inside = [builder.select(out, last, row) for out, row in zip(outside, old)]
    least = _least_after(builder, _least_row(builder, inside))
    arriving = _arriving(builder, least, carried)
    new = list(old)
    for row in reversed(range(ROWS)):
        new[row] = builder.select(outside[row], old[row], _greater(builder, inside[row], arriving))
        arriving = _less(builder, arriving, inside[row])
    return new, _first(builder, arriving)


@intrinsic
def _carry(typing_context: Any, array: Any, at: Any, top: Any, carried: Any) -> Any:
    """Exchange `carried` with each lower number from number `top` down to number 0. Returns the number that is carried
    then, and the least number afterwards, both int32. Number k is stored at `lane_of(k)`.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _vector_at(context, builder, signature.args[0], args[0], args[1], COLUMNS)
        rows = [builder.gep(pointer, [ir.Constant(I32, row)]) for row in range(ROWS)]
        new, leaving = _down(builder, [builder.load(row, align=4) for row in rows], args[2], args[3])
        for row, vector in zip(rows, new):
            builder.store(vector, row, align=4)
        return PACK(builder, [leaving, _least_of(builder, _least_row(builder, new))])

    return TWO(array, types.uint64, types.int32, types.int32), generate


# For callers: the typing context is not one of their arguments.
lower, least, carry = cast(Any, _lower), cast(Any, _least), cast(Any, _carry)
