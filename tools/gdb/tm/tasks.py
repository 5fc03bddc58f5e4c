"""Processes and address spaces, for several commands."""

from __future__ import annotations

from collections.abc import Iterator

from .defines import TF_KTHREAD
from .errors import TmError
from .machine import Machine
from .memory import View
from .walk import gather, list_nodes


def tasks(machine: Machine) -> Iterator[View]:
    """Every task, oldest first, without idle. Raises Torn if the list is inconsistent."""
    for node in list_nodes(machine.memory.number, machine.address("task_list")):
        yield machine.containing("struct task_struct", "all", node)


def mms(machine: Machine) -> Iterator[View]:
    """Every user address space, oldest first. Raises Torn if the list is inconsistent."""
    for node in list_nodes(machine.memory.number, machine.address("mm_list")):
        yield machine.containing("struct mm_struct", "all", node)


def current(machine: Machine) -> View:
    """The running task."""
    return machine.view("struct task_struct", machine.number("current_task"))


def title(task: View) -> str:
    """`8 (thrash)`"""
    return f"{task['pid']} ({task.text('comm')})"


def mm_title(machine: Machine, mm: int) -> str:
    """`pid 8 (thrash)`, for the address space at an address."""
    if not mm:
        return "no process"
    task = machine.view("struct mm_struct", mm)["task"]
    return f"pid {title(machine.view('struct task_struct', task))}" if task else "a process that is being created"


def task_of(machine: Machine, pid: int) -> View:
    """The task with a pid. Raises TmError if there is none."""
    everybody, torn = gather(tasks(machine))
    for task in everybody:
        if task["pid"] == pid:
            return task
    if torn:
        raise TmError(f"no process {pid} in what can be read of the list of tasks: {torn}")
    if not everybody:
        raise TmError(f"no process {pid}: the kernel has not made any task yet")
    raise TmError(f"no process {pid}; there are {' '.join(str(task['pid']) for task in everybody)}")


def mm_of(machine: Machine, task: View) -> View:
    """A task's address space. Raises TmError if it has none."""
    if task["mm"]:
        return machine.view("struct mm_struct", task["mm"])
    what = "is a kernel thread: it has no address space" if task["flags"] & TF_KTHREAD else "has no address space left"
    raise TmError(f"{title(task)} {what if task['pid'] else 'is the idle task: it has no address space'}")
