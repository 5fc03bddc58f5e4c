"""A breakpoint at one process's faults on one page."""

from __future__ import annotations

import gdb

from .command import Command
from .defines import KERNEL_BASE, PAGE_SHIFT
from .errors import TmError
from .machine import Machine, kernel_symbols
from .tasks import task_of, title


def condition(pid: int, page: int) -> str:
    """The condition for stopping in do_page_fault(regs, addr, fault)."""
    return f"current_task->pid == {pid} && addr >> {PAGE_SHIFT} == {page:#x}"


def who(pid: int) -> str:
    """Names the process as it is now. A process that does not exist yet is allowed, because pids repeat in exact
    runs."""
    try:
        return f"pid {title(task_of(Machine(), pid))}"
    except TmError:
        return f"pid {pid}, which does not exist now,"


class BreakFault(Command):
    """Stop when a process faults on a page.
    VPN is the page's number: its address without the last three hexadecimal digits (address >> 12). The process need
    not exist yet: in an exact run the pids are the same every time.

    (gdb) tm-break-fault 8 0xb6c10
    Breakpoint 2 at 0xc0117e60: file kernel/mm/space/fault.c, line 323.
    stops when pid 8 (thrash) faults on page 0xb6c10"""

    name = "tm-break-fault"
    arguments = "PID VPN"

    def answer(self, text: str) -> None:
        """Sets the breakpoint. The machine need not have started, so it is not queried."""
        kernel_symbols()
        pid, page = self.numbers(text)
        if page >= KERNEL_BASE >> PAGE_SHIFT:
            raise TmError(
                f"{page:#x} is not a page of a program; the page of address {page:#010x} is {page >> PAGE_SHIFT:#x}"
            )
        breakpoint = gdb.Breakpoint("do_page_fault")
        breakpoint.condition = condition(pid, page)
        print(f"stops when {who(pid)} faults on page {page:#07x}")
