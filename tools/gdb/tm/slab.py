"""struct kmem_cache: the slab allocator's caches, counted on their slabs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .command import Command
from .errors import TmError
from .machine import Machine
from .memory import View
from .walk import gather, list_nodes

LISTS = ("partial", "full", "empty")


@dataclass(frozen=True)
class Cache:
    """A cache: objects in use and slabs per list as counted on its slabs, the frames it holds, and any
    contradiction."""

    name: str
    size: int
    per_slab: int
    in_use: int
    slabs: dict[str, int]
    frames: int
    wrong: str


def caches(machine: Machine) -> Iterator[Cache]:
    """The caches, oldest first. Raises TmError before there are any, Torn if their list is inconsistent."""
    head = machine.address("slab_caches")
    if machine.memory.number(head) in (0, head):
        raise TmError("the slab allocator is not set up yet: `break policy_init` and `continue` first")
    for node in list_nodes(machine.memory.number, head):
        yield cache(machine, machine.containing("struct kmem_cache", "list", node))


def cache(machine: Machine, c: View) -> Cache:
    """One cache; walks its lists."""
    slabs, used, wrong = {}, 0, ""
    for name in LISTS:
        nodes, torn = gather(list_nodes(machine.memory.number, c.at(name)))
        slabs[name] = len(nodes)
        used += sum(machine.containing("struct slab", "list", node)["nr_used"] for node in nodes)
        wrong = wrong or (f"list {name} is torn: {torn}" if torn else "")
    if not wrong and (used, sum(slabs.values())) != (c["nr_in_use"], c["nr_slabs"]):
        wrong = f"the cache counts {c['nr_in_use']} objects in {c['nr_slabs']} slabs"
    frames = sum(slabs.values()) << c["order"]
    return Cache(c.text("name"), c["size"], c["nr_objects"], used, slabs, frames, wrong)


class Slab(Command):
    """The slab allocator's caches: objects in use, slabs by how full they are.

    (gdb) tm-slab
    CACHE              SIZE  IN SLAB  IN USE   TOTAL  PARTIAL  FULL  EMPTY  FRAMES
    vm_area_struct       48       81      49      81        1     0      0       1
    task_struct         464        8      11      16        1     1      0       2"""

    name = "tm-slab"

    def lines(self, machine: Machine) -> Iterator[str]:
        """A line for each cache."""
        found, torn = gather(caches(machine))
        yield "CACHE              SIZE  IN SLAB  IN USE   TOTAL  PARTIAL  FULL  EMPTY  FRAMES"
        for c in found:
            partial, full, empty = (c.slabs[name] for name in LISTS)
            total = (partial + full + empty) * c.per_slab
            yield (
                f"{c.name:16} {c.size:6} {c.per_slab:8} {c.in_use:7} {total:7} {partial:8} {full:5} {empty:6} "
                f"{c.frames:7}  {c.wrong}"
            ).rstrip()
        if torn:
            yield f"the list of caches is torn: {torn}"
