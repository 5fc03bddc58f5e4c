"""struct free_area: the free blocks of the buddy allocator, by order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .command import Command
from .defines import MAX_ORDER
from .machine import Machine
from .pt import frame_of
from .walk import gather, list_nodes
from .zones import zone_views

SHOWN = 4


@dataclass(frozen=True)
class FreeList:
    """The free blocks of one order: their first frames in list order, the zone's own count, and what is wrong with
    the list, if anything."""

    zone: str
    order: int
    frames: list[int]
    counted: int
    torn: str


def free_lists(machine: Machine) -> Iterator[FreeList]:
    """The lists of every zone that has frames, by order."""
    area = machine.layout("struct free_area")
    for zone in zone_views(machine):
        for order in range(MAX_ORDER if zone["managed"] else 0):
            place = machine.view("struct free_area", zone.at("free_area") + order * area.size)
            nodes, torn = gather(list_nodes(machine.memory.number, place.at("list")))
            pages = [machine.containing("struct page", "lru", node).address for node in nodes]
            frames = [frame_of(machine, page) for page in pages]
            yield FreeList(zone.text("name"), order, frames, place["nr_free"], torn)


def trouble(blocks: FreeList) -> str:
    """What is wrong with a list; empty if nothing is."""
    if blocks.torn:
        return f"torn: {blocks.torn}"
    unaligned = [frame for frame in blocks.frames if frame % (1 << blocks.order)]
    if unaligned:
        return f"frame {unaligned[0]:#x} is not a multiple of the block size"
    if len(blocks.frames) != blocks.counted:
        return f"the zone counts {blocks.counted}"
    return ""


class Buddy(Command):
    """Free blocks of the buddy allocator by order.
    The blocks are counted on the lists; the block that is allocated next comes first.

    (gdb) tm-buddy
    ZONE     ORDER  BLOCKS  FRAMES  FIRST FRAMES
    DMA          0      10      10  0xd9e 0xd99 0xd46 0xd75 ...
    DMA          7       1     128  0x780
    DMA        all             194"""

    name = "tm-buddy"

    def lines(self, machine: Machine) -> Iterator[str]:
        """A line for each order that has blocks, and a sum for each zone."""
        found = list(free_lists(machine))
        yield "ZONE     ORDER  BLOCKS  FRAMES  FIRST FRAMES"
        sums: dict[str, int] = {}
        for blocks in found:
            frames, wrong = len(blocks.frames) << blocks.order, trouble(blocks)
            sums[blocks.zone] = sums.get(blocks.zone, 0) + frames
            if not blocks.frames and not wrong:
                continue
            first = " ".join(f"{frame:#x}" for frame in blocks.frames[:SHOWN])
            more = " ..." if len(blocks.frames) > SHOWN else ""
            last = f"{first}{more}  {wrong}".rstrip()
            yield f"{blocks.zone:8} {blocks.order:5} {len(blocks.frames):7} {frames:7}  {last}"
        for zone, frames in sums.items():
            yield f"{zone:8} {'all':>5} {'':7} {frames:7}"
