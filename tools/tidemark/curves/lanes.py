"""64 numbers at once, in the machine's vector instructions: numba has no name for these either.

Each function takes an i32 array and the place of the first of 64 neighbours in it, which must all be inside.
"""

from __future__ import annotations

from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 64
LAST = 2**31 - 1
I32 = ir.IntType(32)
PACK = cast(Any, cgutils.pack_array)
TWO = cast(Any, types.UniTuple)(types.int32, 2)
VECTOR = ir.VectorType(I32, LANES)
MOST = ir.Constant(VECTOR, [LAST] * LANES)
PLACES = ir.Constant(VECTOR, list(range(LANES)))


def _vector_at(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """A pointer to the numbers."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), VECTOR.as_pointer())


def _splat(builder: Any, number: Any) -> Any:
    """The same number in each lane."""
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), number, ir.Constant(I32, 0))
    return _from(builder, one, one, [0] * LANES)


def _from(builder: Any, first: Any, second: Any, lanes: list[int]) -> Any:
    """A vector of these lanes; LANES is the second's first."""
    return builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(I32, LANES), lanes))


def _less(builder: Any, one: Any, other: Any) -> Any:
    """The lesser of each lane."""
    return builder.select(builder.icmp_signed("<", one, other), one, other)


def _least_after(builder: Any, vector: Any) -> Any:
    """In each lane the least from there to the end."""
    for far in (1, 2, 4, 8, 16, 32):
        vector = _less(builder, vector, _from(builder, vector, MOST, [min(lane + far, LANES) for lane in range(LANES)]))
    return vector


def _arriving(builder: Any, least: Any, carried: Any) -> Any:
    """What is carried when it comes to each lane, by the least from each lane to the end."""
    later = _from(builder, least, MOST, [lane + 1 for lane in range(LANES)])
    return _less(builder, later, _splat(builder, carried))


def _least_of(builder: Any, vector: Any) -> Any:
    """The least of all, by halves."""
    half = LANES
    while half > 1:
        half //= 2
        mask = [ir.Constant(ir.VectorType(I32, half), list(range(at, at + half))) for at in (0, half)]
        vector = _less(builder, *(builder.shuffle_vector(vector, vector, one) for one in mask))
    return _first(builder, vector)


def _first(builder: Any, vector: Any) -> Any:
    return builder.extract_element(vector, ir.Constant(I32, 0))


def _load(builder: Any, pointer: Any) -> Any:
    return builder.load(pointer, align=4)


@intrinsic
def _lower(typing_context: Any, array: Any, at: Any, top: Any, carried: Any) -> Any:
    """Bit k is set if number k takes part when `carried` changes places with each lower number from number `top` (-1:
    none) down to number 0; uint64.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = _load(builder, _vector_at(context, builder, signature.args[0], args[0], args[1]))
        outside = builder.icmp_signed(">", PLACES, _splat(builder, args[2]))
        vector = builder.select(outside, MOST, vector)
        arriving = _arriving(builder, _least_after(builder, vector), args[3])
        return builder.bitcast(builder.icmp_signed("<", vector, arriving), ir.IntType(LANES))

    return types.uint64(array, types.uint64, types.int32, types.int32), generate


@intrinsic
def _least(typing_context: Any, array: Any, at: Any) -> Any:
    """The least of the numbers, int32."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = _load(builder, _vector_at(context, builder, signature.args[0], args[0], args[1]))
        return _least_of(builder, vector)

    return types.int32(array, types.uint64), generate


@intrinsic
def _carry(typing_context: Any, array: Any, at: Any, top: Any, carried: Any) -> Any:
    """Exchange `carried` with each lower number from number `top` down to number 0; what is carried then, and the least
    number afterwards, both int32.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _vector_at(context, builder, signature.args[0], args[0], args[1])
        old = _load(builder, pointer)
        outside = builder.icmp_signed(">", PLACES, _splat(builder, args[2]))
        least = _least_after(builder, builder.select(outside, MOST, old))
        arriving = _arriving(builder, least, args[3])
        greater = builder.select(builder.icmp_signed(">", old, arriving), old, arriving)
        new = builder.select(outside, old, greater)
        builder.store(new, pointer, align=4)
        leaving = _less_scalar(builder, args[3], _first(builder, least))
        return PACK(builder, [leaving, _least_of(builder, new)])

    return TWO(array, types.uint64, types.int32, types.int32), generate


def _less_scalar(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.icmp_signed("<", one, other), one, other)


lower, least, carry = cast(Any, _lower), cast(Any, _least), cast(Any, _carry)
