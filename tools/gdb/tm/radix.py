"""Radix trees (kernel/include/lib/radix.h), which map a number to an entry."""

from __future__ import annotations

from .errors import TmError
from .machine import Machine
from .memory import View

SHIFT = 6  # RADIX_SHIFT: bits of the number that each level decides
LEVELS = 6  # of 32 bits


def find(machine: Machine, tree: int, index: int) -> int:
    """The entry of a number in the tree at an address, or 0. Raises TmError if the tree is broken."""
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
    """Is the entry a page? Other entries remain after an eviction: a shadow, or a slot of the swap area."""
    return entry != 0 and not entry & 1
