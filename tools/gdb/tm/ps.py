"""struct task_struct: the tasks, their state, and their memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .command import Command
from .defines import PAGE_SIZE
from .machine import Machine
from .memory import View
from .tasks import current, tasks
from .walk import gather

KIB = PAGE_SIZE // 1024
STATES = {
    "TASK_RUNNING": "R",
    "TASK_INTERRUPTIBLE": "S",
    "TASK_UNINTERRUPTIBLE": "D",
    "TASK_ZOMBIE": "Z",
    "TASK_DEAD": "X",
}


@dataclass(frozen=True)
class Process:
    """A task; sizes are in pages, `account` is the account that its time currently goes to."""

    pid: int
    parent: int
    state: str
    account: str
    nice: int
    total: int
    resident: int
    swapped: int
    minor: int
    major: int
    comm: str
    current: bool


def process(machine: Machine, task: View, runs: int) -> Process:
    """Reads a task_struct; `runs` is the address of the running task."""
    mm = machine.view("struct mm_struct", task["mm"]) if task["mm"] else None
    parent = machine.view("struct task_struct", task["parent"])["pid"] if task["parent"] else 0
    return Process(
        task["pid"],
        parent,
        STATES.get(machine.enum("task_state").get(task["state"], ""), "?"),
        machine.enum("acct").get(task["acct.now"], "ACCT_?")[5:].lower(),
        task["nice"],
        mm["count.total_vm"] if mm else 0,
        mm["count.anon"] + mm["count.file"] if mm else 0,
        mm["count.swapents"] if mm else 0,
        task["nr_minflt"],
        task["nr_majflt"],
        task.text("comm"),
        task.address == runs,
    )


def processes(machine: Machine) -> Iterator[Process]:
    """Every task, oldest first; idle only while it runs. Raises Torn if the list of tasks is inconsistent."""
    runs = current(machine)
    if not runs["pid"]:
        yield process(machine, runs, runs.address)
    for task in tasks(machine):
        yield process(machine, task, runs.address)


class Ps(Command):
    """All tasks; > marks the running one.
    STATE and WHERE are the kernel's task state and time account; sizes are in KiB, as in the guest's own ps.

    (gdb) tm-ps
        PID  PPID STATE WHERE       NI    VSZ    RSS   SWAP  MINFLT  MAJFLT COMMAND
          1     0 S     sleep        0    112     60     16      28       0 init
          8     5 S     sleep        0   4180   2124   2024    1027       0 thrash
    >     9     5 R     kernel       0   4180   2164   1956    1019       0 thrash"""

    name = "tm-ps"

    def lines(self, machine: Machine) -> Iterator[str]:
        """A line for each task."""
        everybody, torn = gather(processes(machine))
        yield "    PID  PPID STATE WHERE       NI    VSZ    RSS   SWAP  MINFLT  MAJFLT COMMAND"
        for p in everybody:
            sizes = f"{p.total * KIB:6} {p.resident * KIB:6} {p.swapped * KIB:6} {p.minor:7} {p.major:7}"
            mark = ">" if p.current else " "
            yield f"{mark} {p.pid:5} {p.parent:5} {p.state:5} {p.account:8} {p.nice:5} {sizes} {p.comm}"
        if torn:
            yield f"the list of tasks is torn: {torn}"
        if not [p for p in everybody if p.pid]:
            yield "no task has been made yet: the boot code is running, which becomes the idle task"
