"""Radix trees (kernel/lib/radix.h): from a number to an entry."""

from __future__ import annotations

from .errors import TmError
from .machine import Machine
from .memory import View

SHIFT = 6  # RADIX_SHIFT: what each level decides of the number
LEVELS = 6  # of 32 bits


def find(machine: Machine, tree: int, index: int) -> int:
    """The entry of a number in the tree at an address; 0: there is none. TmError when the tree leads nowhere."""
    nodes = machine.layout("struct radix_node")
    address = machine.memory.number(tree)
    for _ in range(LEVELS):
        if not address:
            return 0
        node = View(machine.memory, nodes, address)
        place = index >> node["shift"]
        if place >= 1 << SHIFT and address == machine.memory.number(tree):
            return 0
        address = machine.memory.number(node.at("slot", place & (1 << SHIFT) - 1))
        if not node["shift"]:
            return address
    raise TmError(f"the tree at {tree:#010x} is higher than a number of 32 bits needs")


def is_pointer(entry: int) -> bool:
    """Is the entry a page? Others are what is left of one: a shadow, or a slot of the swap area."""
    return entry != 0 and not entry & 1
