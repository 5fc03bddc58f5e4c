"""struct zone: free frames against the watermarks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .command import Command
from .errors import TmError
from .machine import Machine
from .memory import View

# The meaning of a zone's free frames, by the highest watermark that they do not reach.
ABOVE = "above high: kswapd rests"
BELOW_HIGH = "below high: kswapd, once woken, goes on"
BELOW_LOW = "below low: kswapd is woken"
BELOW_MIN = "below min: the allocating task must reclaim"


@dataclass(frozen=True)
class Zone:
    """A zone, in frames; `says` is the meaning of its free frames against its watermarks."""

    name: str
    start: int
    end: int
    managed: int
    free: int
    min: int
    low: int
    high: int
    owned: int
    says: str


def zone_views(machine: Machine) -> Iterator[View]:
    """The zones, including empty ones. Raises TmError before there are any."""
    if not machine.number("mem_map"):
        raise TmError("memory is not set up yet: `break policy_init` and `continue` first")
    first = machine.variable("zones")
    for index in machine.enum("zone_index"):
        if machine.enum("zone_index")[index] != "MAX_ZONES":
            yield machine.view("struct zone", first.address + index * first.layout.size)


def standing(free: int, marks: list[int]) -> str:
    """The meaning of `free` frames against the marks min, low, high."""
    least, low, high = marks
    if free < least:
        return BELOW_MIN
    if free < low:
        return BELOW_LOW
    return BELOW_HIGH if free < high else ABOVE


def zones(machine: Machine) -> Iterator[Zone]:
    """The zones, from DMA up."""
    for zone in zone_views(machine):
        marks = zone.array("watermark")
        says = standing(zone["nr_free"], marks) if zone["managed"] else "empty"
        bounds = zone["start_pfn"], zone["end_pfn"], zone["managed"], zone["nr_free"]
        yield Zone(zone.text("name"), *bounds, *marks, zone["nr_owned"], says)


class Zones(Command):
    """Free frames of each zone against its watermarks.
    POLICY is the number of frames that the replacement policy owns.

    (gdb) tm-zones
    ZONE       FIRST     END MANAGED    FREE     MIN     LOW    HIGH  POLICY
    DMA            0    4096    3758     194     117     146     175    3137  above high: kswapd rests
    Normal      4096    4096       0       0       0       0       0       0  empty"""

    name = "tm-zones"

    def lines(self, machine: Machine) -> Iterator[str]:
        """A line for each zone."""
        found = list(zones(machine))
        columns = ("FIRST", "END", "MANAGED", "FREE", "MIN", "LOW", "HIGH", "POLICY")
        yield f"{'ZONE':8}" + "".join(f"{name:>8}" for name in columns)
        for z in found:
            numbers = (z.start, z.end, z.managed, z.free, z.min, z.low, z.high, z.owned)
            yield f"{z.name:8}" + "".join(f"{number:8}" for number in numbers) + f"  {z.says}"
