"""What happened before now: the last write to something, and the life of a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import gdb

from .command import Command, evaluate
from .defines import KERNEL_BASE, PAGE_SHIFT, PAGE_SIZE, PTE_A, PTE_D
from .entry import NONE, PRESENT, SWAPPED, TRAPPED, Entry, walk
from .errors import TmError
from .machine import Machine
from .page import frame_at
from .pt import directory_of, is_zero_page
from .session import session
from .tasks import current, mm_of, task_of, title

WORD = 4
CALLS = ("policy_call_evicted", "policy_call_putback", "policy_call_remove", "policy_drop_isolated")


def physical(machine: Machine, address: int) -> int:
    """The physical address of an address of the kernel, or of the running process."""
    frame = walk(machine.memory, directory_of(machine, current(machine), address), address).frame
    if frame is None:
        raise TmError(f"{address:#010x} is not mapped now: no frame holds it")
    return frame << PAGE_SHIFT | address % PAGE_SIZE


def entry_of(machine: Machine, task: gdb.Value, address: int) -> int:
    """The physical address of the page-table entry of an address of a process."""
    walked = walk(machine.memory, mm_of(machine, task)["pgd"], address)
    if not walked.entry_at:
        raise TmError(f"{address:#010x} of {title(task)} has no page table now")
    return walked.entry_at - KERNEL_BASE


def function_at(pc: int) -> str:
    """The function of an instruction, and the line; if it is inlined, also the function that contains it. For a small
    function of a header, which is inlined everywhere, only the containing function."""
    names, block, line = [], gdb.block_for_pc(pc), gdb.find_pc_line(pc)
    while block and not (block.is_global or block.is_static):
        if block.function:
            names.append(block.function.name)
        block = block.superblock
    at = f"{line.symtab.filename}:{line.line}" if line.symtab else "?"
    if ".h:" in at and len(names) > 1:
        del names[0]
    return (" in ".join(dict.fromkeys([*names[:1], *names[-1:]])) or f"{pc:#010x}") + f" ({at})"


def block_of(name: str) -> gdb.Block:
    """The instructions of a function of the kernel."""
    return gdb.block_for_pc(int(gdb.lookup_global_symbol(name).value().address))


class When(Command):
    """Go to the last write to a variable, a frame, or a page-table entry.
    `&variable`, or another pointer, means what it points to; a number a whole frame, as for tm-page; `pte VA` the entry
    of an address of the running process. gdb then stands right before the instruction that writes. Repeat the command
    to go to the write before that one. The bits that the processor itself sets in an entry are not seen.

    (gdb) tm-when &current_task
    written by switch_to in schedule (kernel/sched/core.c:73): 0xc036f9b0 afterwards
    switch_to (next=0xc036f9b0, prev=0xc036fba0) at kernel/sched/core.c:73
    at 0.144659117 s"""

    name = "tm-when"
    arguments = "&VARIABLE|PFN|VA|pte VA"

    def answer(self, text: str) -> None:
        """Finds the write, and goes there."""
        low, high = self.range(Machine(), text.strip())
        now = session.now()
        events = session.past(now, write=f"{low}-{high}")
        if not events:
            raise TmError(f"nothing has written to physical {low:#010x} since the kernel began")
        _, place, pc, word = events[-1]
        print(f"written by {function_at(pc)}: {word:#x} afterwards" + (" in its first word" if high - low > 4 else ""))
        session.go(place)
        gdb.execute("backtrace 8")

    def range(self, machine: Machine, text: str) -> tuple[int, int]:
        """The physical addresses, from the first to the one after the last."""
        if not text:
            raise TmError("usage: tm-when &VARIABLE|PFN|VA|pte VA; `help tm-when` has an example")
        if text.split()[0] == "pte":
            process, va = current(machine), evaluate(text[3:])
            low = entry_of(machine, process, va)
            print(f"the entry of {va:#010x} in the page table of process {title(process)}, which is running")
            return low, low + WORD
        kind = gdb.parse_and_eval(text).type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_PTR and kind.target().strip_typedefs().code != gdb.TYPE_CODE_VOID:
            low = physical(machine, evaluate(text))
            return low, low + kind.target().sizeof
        frame = frame_at(machine, evaluate(text))
        return frame << PAGE_SHIFT, (frame + 1) << PAGE_SHIFT


@dataclass(frozen=True)
class Moment:
    """An event in a page's life."""

    place: int
    what: str
    pc: int


def change(machine: Machine, old: Entry, new: Entry) -> str:
    """What a change of a page's entry means."""
    if new.kind == SWAPPED:
        return f"taken from the process, to slot {new.slot}"
    if new.kind == NONE:
        return "unmapped for good"
    if new.kind == TRAPPED:
        return "trapped: the next use will fault"
    if new.kind != PRESENT:
        return f"entry {new.value:#010x}"
    if is_zero_page(machine, new.frame):
        return "read for the first time: the zero page"
    if old.kind == SWAPPED:
        return f"back: frame {new.frame:#x}"
    if old.kind == TRAPPED:
        return "used: the trap is off"
    if old.kind == NONE or old.frame != new.frame:
        return f"faulted in: frame {new.frame:#x}"
    return present_change(old, new)


def present_change(old: Entry, new: Entry) -> str:
    """Describes a change of an entry that keeps its frame. The processor sets A and D unseen, so only their clearing
    shows."""
    if not new.value & PTE_A:
        return "looked at: accessed bit cleared"
    if old.value & ~new.value & PTE_D or not new.value & PTE_D:
        return "written to the store: dirty bit cleared"
    return f"entry changed: {new.bits()}"


def called(machine: Machine, name: str, why: int) -> str:
    """What a call of the policy interface means for the page."""
    reasons = {"policy_call_putback": "vm_put", "policy_call_remove": "vm_out"}
    reason = machine.enum(reasons[name]).get(why, "") if name in reasons else ""
    return {
        "policy_call_evicted": "evicted: its frame becomes free",
        "policy_call_putback": f"given back to the policy, {reason}",
        "policy_call_remove": f"removed from the policy, {reason}",
        "policy_drop_isolated": "dropped: its last user died while it was being evicted",
    }[name]


class History(Command):
    """The life of a page of a process, up to now: with N, go to its Nth moment.
    Faulted in, looked at, trapped, taken from the process, evicted, back; each with time and function. A detached page
    is taken from the process and given back to the policy; an evicted page leaves memory.

    (gdb) tm-history 6 0xb6e01000
      1    0.036331760 s  faulted in: frame 0x461               map_anon in map_new_anon (pte.h:76)
      2    0.144718962 s  taken from the process, to slot 1128  unmap_entry (pte.h:121)
      3    0.160777966 s  evicted: its frame becomes free       policy_call_evicted (kernel/mm/seam/rules.c:336)"""

    name = "tm-history"
    arguments = "PID VA [N]"

    def answer(self, text: str) -> None:
        """Prints the page's life, or goes to an event of it."""
        words = text.split()
        if len(words) not in (2, 3):
            raise TmError("usage: tm-history PID VA [N]; `help tm-history` has an example")
        pid, address, *nth = map(evaluate, words)
        now = session.now()
        life = list(self.moments(Machine(), pid, address, now))
        if nth and not 0 < nth[0] <= len(life):
            raise TmError(f"there are {len(life)} events before now")
        for at, moment in enumerate(life, 1):
            if not nth or nth[0] == at:
                print(f"{at:3}  {moment.place / 1e9:13.9f} s  {moment.what:<37} {function_at(moment.pc)}")
        if nth:
            session.go(life[nth[0] - 1].place)

    def moments(self, machine: Machine, pid: int, address: int, now: int) -> Iterator[Moment]:
        """The page's life, earliest event first."""
        task, page = task_of(machine, pid), machine.layout("struct page").fields
        entry = entry_of(machine, task, address)
        calls = {machine.address(name): name for name in CALLS}
        watched = f"{page['index'].offset}:{address >> PAGE_SHIFT}:{page['owner'].offset}:{task['mm']}"
        events = session.past(now, write=f"{entry}-{entry + WORD}", pcs=":".join(map(str, calls)), page=watched)
        old, begin = Entry(0), block_of("clear_page")
        cleared = [at for at, event in enumerate(events) if begin.start <= event[2] < begin.end]
        del events[: cleared[-1] + 1 if cleared else 0]  # earlier writes are of the frame's previous use
        for kind, place, pc, *words in events:
            if kind == ord("x"):
                yield Moment(place, called(machine, calls[pc], words[1]), pc)
            elif words[0] != old.value:
                new = Entry(words[0])
                yield Moment(place, change(machine, old, new), pc)
                old = new
