"""The tables of the swap areas: the number of entries that name a slot, and whether a frame holds the same data."""

from __future__ import annotations

from .errors import TmError
from .machine import Machine
from .memory import View

AREA_SHIFT = 21  # of include/mm/swap.h: a slot number is the area's number, then the position in the area
COUNT_SIZE, POINTER_SIZE = 2, 4
FORBIDDEN = 1  # the cache's mark for a position that is never used


def exists(machine: Machine, slot: int) -> bool:
    """Is it a slot of an area, other than the area's first, which is never used?"""
    ends = machine.variable("swap_index").array("end")
    area, place = divmod(slot, 1 << AREA_SHIFT)
    return place > 0 and area < len(ends) and slot < ends[area]


def device_of(machine: Machine, slot: int) -> View:
    """The disk on which a slot lies."""
    size = machine.layout("struct swap_area").size
    area = machine.view("struct swap_area", machine.address("swap_areas") + (slot >> AREA_SHIFT) * size)
    return machine.view("struct block_device", area["bdev"])


def slot_count(machine: Machine, slot: int) -> int:
    """The number of page-table entries that name a slot. Raises TmError if there is no such slot."""
    check(machine, slot)
    table = machine.variable("swap_index").array("map")[slot >> AREA_SHIFT]
    return machine.memory.number(table + slot * COUNT_SIZE, COUNT_SIZE)


def cached_page(machine: Machine, slot: int) -> View | None:
    """The struct page in the swap cache for a slot, or None. Raises TmError if there is no such slot."""
    check(machine, slot)
    table = machine.variable("swap_index").array("cache")[slot >> AREA_SHIFT]
    page = machine.memory.number(table + slot * POINTER_SIZE)
    return machine.view("struct page", page) if page > FORBIDDEN else None


def check(machine: Machine, slot: int) -> None:
    """Raises TmError unless an area has the slot."""
    if not exists(machine, slot):
        raise TmError(f"there is no swap slot {slot}")


def slot_state(machine: Machine, slot: int) -> str:
    """Describes a slot in words."""
    if not exists(machine, slot):
        return f"slot {slot}, which does not exist"
    count = slot_count(machine, slot)
    named = "by one entry" if count == 1 else f"by {count} entries"
    return f"slot {slot}, named {named}, {'in' if cached_page(machine, slot) else 'not in'} the swap cache"
