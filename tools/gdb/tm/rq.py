"""struct fair_rq: the scheduler's red-black tree, drawn as it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .command import Command
from .machine import Machine
from .memory import View
from .tasks import title
from .walk import TreeNode, gather, tree_nodes

NS_PER_MS = 1e6


@dataclass(frozen=True)
class Queued:
    """A task in the tree, and its node."""

    node: TreeNode
    title: str
    vruntime: int
    weight: int


def queued(machine: Machine) -> Iterator[Queued]:
    """The tasks that wait for the processor, in order of vruntime. Raises Torn if the tree is inconsistent."""
    root = machine.variable("fair_rq")["tree.rb_node"]
    for node in tree_nodes(machine.memory.number, root):
        entity = machine.containing("struct sched_entity", "node", node.address)
        yield Queued(node, title(task_of_entity(machine, entity.address)), entity["vruntime"], entity["weight"])


def task_of_entity(machine: Machine, entity: int) -> View:
    """The task that contains the sched_entity at an address."""
    return machine.containing("struct task_struct", "se", entity)


def branches(nodes: Sequence[TreeNode]) -> Iterator[str]:
    """What to draw before each node of a tree given in order: the tree lies on its side, root to the left, left
    children above. A line `|` joins a node to its children above or below it."""
    row = {node.address: at for at, node in enumerate(nodes)}
    for at, node in enumerate(nodes):
        cells = [" "] * node.depth
        for child in nodes:
            parent = row.get(child.parent, -1)
            if (
                parent >= 0
                and child.depth <= node.depth
                and min(parent, row[child.address]) < at < max(parent, row[child.address])
            ):
                cells[child.depth - 1] = "|"
        if node.depth:
            cells[node.depth - 1] = "/" if node.side == "left" else "\\"
        yield "".join(cell + ("-- " if i == node.depth - 1 else "   ") for i, cell in enumerate(cells))


def milliseconds(ns: int) -> str:
    """`12.345 ms`, with a sign if it is negative."""
    return f"{ns / NS_PER_MS:,.3f} ms"


class RunQueue(Command):
    """The scheduler's tree of the tasks that wait for the processor.
    It is drawn on its side: the root is at the left, and the uppermost task runs next. The number in brackets is the
    distance of its vruntime from min_vruntime.

    (gdb) tm-rq
    6 runnable, load 93881, min_vruntime 3,887.384 ms
    on the processor: 4 (ksampled), vruntime 3,884.384 ms (-3.000), weight 88761
        /-- 9 (thrash)  black  vruntime 3,887.384 ms (+0.000), weight 1024
    /-- 7 (thrash)      red    vruntime 3,888.737 ms (+1.353), weight 1024
    |   \\-- 6 (thrash)  black  vruntime 3,890.195 ms (+2.810), weight 1024
    8 (thrash)          black  vruntime 3,891.373 ms (+3.989), weight 1024
    \\-- 11 (thrash)     black  vruntime 3,891.381 ms (+3.997), weight 1024"""

    name = "tm-rq"

    def lines(self, machine: Machine) -> Iterator[str]:
        """The queue's counts, the running task, and the tree."""
        rq = machine.variable("fair_rq")
        least = rq["min_vruntime"]
        yield f"{rq['nr_running']} runnable, load {rq['load']}, min_vruntime {milliseconds(least)}"
        if rq["curr"]:
            se, task = machine.view("struct sched_entity", rq["curr"]), task_of_entity(machine, rq["curr"])
            yield f"on the processor: {title(task)}, {key(se['vruntime'], least, se['weight'])}"
        else:
            yield "on the processor: idle"
        waiting, torn = gather(queued(machine))
        drawn = [before + q.title for before, q in zip(branches([q.node for q in waiting]), waiting)]
        wide = max(map(len, drawn), default=0)
        for q, text in zip(waiting, drawn):
            yield f"{text:{wide}}  {'black' if q.node.black else 'red':5}  {key(q.vruntime, least, q.weight)}"
        if not waiting and not torn:
            yield "the tree is empty"
        if torn:
            yield f"the tree is torn: {torn}"


def key(vruntime: int, least: int, weight: int) -> str:
    """A task's position in the order."""
    return f"vruntime {milliseconds(vruntime)} ({(vruntime - least) / NS_PER_MS:+,.3f}), weight {weight}"
