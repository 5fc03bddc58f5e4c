"""The swap area's tables: how many entries name a slot, and whether a frame holds the same data."""

from __future__ import annotations

from .errors import TmError
from .machine import Machine
from .memory import View

BESIDE = "swap_alloc"  # a global function of mm/reclaim/swap.c, whose tables are static
COUNT_SIZE, POINTER_SIZE = 2, 4


def slots(machine: Machine) -> int:
    """How many there are; 0: no swap area."""
    return machine.number("swap_nr_slots") if machine.number("swap_bdev") else 0


def slot_count(machine: Machine, slot: int) -> int:
    """How many page-table entries name a slot. TmError: there is no such slot."""
    check(machine, slot)
    return machine.memory.number(machine.number("map", BESIDE) + slot * COUNT_SIZE, COUNT_SIZE)


def cached_page(machine: Machine, slot: int) -> View | None:
    """The struct page in the swap cache for a slot, if there is one. TmError: there is no such slot."""
    check(machine, slot)
    page = machine.memory.number(machine.number("cache", BESIDE) + slot * POINTER_SIZE)
    return machine.view("struct page", page) if page else None


def check(machine: Machine, slot: int) -> None:
    """TmError unless the swap area has the slot."""
    if not 0 < slot < slots(machine):
        raise TmError(f"there is no swap slot {slot}: the area has {slots(machine)}")


def slot_state(machine: Machine, slot: int) -> str:
    """A slot in words."""
    if not 0 < slot < slots(machine):
        return f"slot {slot}, which does not exist: the area has {slots(machine)}"
    count = slot_count(machine, slot)
    named = "by one entry" if count == 1 else f"by {count} entries"
    return f"slot {slot}, named {named}, {'in' if cached_page(machine, slot) else 'not in'} the swap cache"
