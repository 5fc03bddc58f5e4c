"""The page tables: the walk of an address over both levels, with every bit decoded."""

from __future__ import annotations

from collections.abc import Iterator

from .command import Command
from .defines import KERNEL_BASE, PAGE_SHIFT, PAGE_SIZE, PTRS_PER_PGD
from .entry import NONE, PRESENT, SWAPPED, TRAPPED, Entry, Walked, walk
from .machine import Machine
from .memory import View
from .swap import slot_state
from .tasks import mm_of, task_of, title


def directory_of(machine: Machine, task: View, address: int) -> int:
    """The page directory in which a task looks up an address; all directories share the kernel's half."""
    if address >= KERNEL_BASE and not task["mm"]:
        return machine.number("kernel_pgd")
    return mm_of(machine, task)["pgd"]


def meaning(machine: Machine, entry: Entry) -> str:
    """What an entry says, in words."""
    if entry.kind == NONE:
        return "none: nothing has been here yet"
    if entry.kind == SWAPPED:
        return f"swapped out, {slot_state(machine, entry.slot)}"
    if entry.kind not in (PRESENT, TRAPPED):
        return "not an entry that the kernel makes"
    what = f"{entry.kind}: frame {entry.frame:#x}, {entry.bits()}"
    if is_zero_page(machine, entry.frame):
        what += "; the shared zero page"
    elif entry.kind == TRAPPED:
        what += "; in memory, but its next use will fault"
    return what


def is_zero_page(machine: Machine, frame: int) -> bool:
    """Is it the zero page, which is mapped for anonymous pages that have only been read?"""
    zero = machine.number("zero_page")
    return bool(zero) and frame_of(machine, zero) == frame


def frame_of(machine: Machine, page: int) -> int:
    """The frame number of the struct page at an address."""
    return (page - machine.number("mem_map")) // machine.layout("struct page").size


def walked(machine: Machine, step: Walked) -> Iterator[str]:
    """The two levels, a line each."""
    index = step.address >> 22
    yield f"directory at {step.pgd:#010x}, entry {index:4}: {step.directory:#010x}  {directory_meaning(step)}"
    if step.entry:
        index = step.address >> PAGE_SHIFT & (PTRS_PER_PGD - 1)
        table = step.entry_at & -PAGE_SIZE
        yield f"table at     {table:#010x}, entry {index:4}: {step.entry.value:#010x}  {meaning(machine, step.entry)}"
    if step.frame is not None:
        physical = step.frame << PAGE_SHIFT | step.address % PAGE_SIZE
        yield f"physical address {physical:#010x}"


def directory_meaning(step: Walked) -> str:
    """What the directory's entry says, in words."""
    entry = Entry(step.directory)
    if step.large:
        return f"a 4 MiB page: {entry.bits()}"
    if step.entry:
        return f"a table in frame {entry.frame:#x}, {entry.bits()}"
    return "none: these 4 MiB have no page table"


class PageTable(Command):
    """An address in the page tables of a process: both levels, decoded.
    Present, trapped (in memory, but the next use will fault), swapped out, the zero page, or none.

    (gdb) tm-pt 9 0xb6c00000
    pid 9 (thrash), address 0xb6c00000
    directory at 0xc0294000, entry  731: 0x0016f027  a table in frame 0x16f, P RW US A
    table at     0xc016f000, entry    0: 0x00000502  swapped out, slot 5, named by one entry, not in the swap cache"""

    name = "tm-pt"
    arguments = "PID VA"

    def lines(self, machine: Machine, pid: int, address: int) -> Iterator[str]:
        """The entries of both levels."""
        task = task_of(machine, pid)
        pgd = directory_of(machine, task, address)
        yield f"pid {title(task)}, address {address:#010x}"
        yield from walked(machine, walk(machine.memory, pgd, address))
