"""Would an address fault, and what would the kernel do? This repeats the decisions of mm/space/fault.c without
carrying them out: nothing in the machine changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .command import Command
from .defines import (
    KERNEL_BASE,
    PAGE_SHIFT,
    PAGE_SIZE,
    STACK_GUARD,
    STACK_LIMIT,
    VM_GROWSDOWN,
    VM_RAND_READ,
    VM_READ,
    VM_SHARED,
    VM_WRITE,
)
from .entry import NONE, PRESENT, SWAPPED, TRAPPED, Entry, walk
from .errors import TmError
from .machine import Machine
from .memory import View
from .page import flags, page_of
from .pt import is_zero_page, meaning
from .radix import find, is_pointer
from .swap import cached_page, device_of, exists, slot_count
from .tasks import current, mm_of, title
from .vma import path, rights, vma_name, vmas
from .walk import gather

NO_FAULT = "no fault"
AGAIN = "; then the write faults once more: copy on write"


@dataclass(frozen=True)
class Fault:
    """An access that may fault: the address, its region, and the current page-table entry."""

    machine: Machine
    address: int
    vma: View
    entry: Entry
    write: bool


def around(machine: Machine, mm: View, address: int) -> tuple[View | None, View | None]:
    """The region that contains an address or is the next above it, and the region before that."""
    before = None
    for vma in gather(vmas(machine, mm))[0]:
        if vma["end"] > address:
            return vma, before
        before = vma
    return None, before


def may_grow(vma: View, before: View | None, address: int) -> bool:
    """Would a stack that begins above the address grow down to it? (grow_stack in mm/space/fault.c)"""
    start = address & -PAGE_SIZE
    if not vma["flags"] & VM_GROWSDOWN or vma["end"] - start > STACK_LIMIT or start < STACK_GUARD:
        return False
    return not before or start - before["end"] >= STACK_GUARD


def frames_left(machine: Machine) -> int | None:
    """The number of frames that programs may still get under the cap frames=; None: there is no cap."""
    cap = machine.number("frames_cap")
    return max(cap - machine.number("frames_used"), 0) if cap else None


def new_frame(machine: Machine) -> str:
    """The source of a new frame for a program: frames_charge in frames.c, alloc_pages in page_alloc.c."""
    if frames_left(machine) == 0:
        return "the cap frames= is reached, so a page must be evicted first"
    marks = machine.enum("zone_index")
    first, best = (
        machine.variable("zones"),
        "every zone is at its min mark, so the process must reclaim for itself first",
    )
    for index in sorted((i for i, name in marks.items() if name != "MAX_ZONES"), reverse=True):
        zone = machine.view("struct zone", first.address + index * first.layout.size)
        least, low, _ = zone.array("watermark")
        if zone["nr_free"] > low:
            return f"a frame is free in zone {zone.text('name')}"
        if zone["nr_free"] > least and "kswapd" not in best:
            best = f"a frame is free in zone {zone.text('name')}, but kswapd is woken"
    return best


def read_ahead(slot: int, size: int, wanted: Callable[[int], bool]) -> tuple[int, int]:
    """The first and the last slot that one request reads: the neighbours inside the aligned group of `size`, up to the
    first one that is not wanted. (read_cluster in mm/reclaim/swap_io.c)"""
    first = low = high = slot
    first -= slot % size
    while low > first and wanted(low - 1):
        low -= 1
    while high + 1 < first + size and wanted(high + 1):
        high += 1
    return low, high


def swapped(f: Fault) -> str:
    """The entry names a slot."""
    machine, slot = f.machine, f.entry.slot
    if not exists(machine, slot) or not slot_count(machine, slot):
        return f"slot {slot} holds no page: the entry is broken"
    page = cached_page(machine, slot)
    exclusive = slot_count(machine, slot) == 1 and not (page and page["mapcount"])
    after = AGAIN if f.write and not exclusive else ""
    if page:
        frame = (page.address - machine.number("mem_map")) // page.layout.size
        wait = ", once it has been read" if "locked" in flags(machine, page) else ""
        return f"minor fault: frame {frame:#x} in the swap cache holds slot {slot}; it is mapped{wait}{after}"
    return f"major fault: {reading(f, slot)}; the process waits; {new_frame(machine)}{after}"


def reading(f: Fault, slot: int) -> str:
    """What is read from the swap area for a slot."""
    machine = f.machine
    device = device_of(machine, slot)
    left = frames_left(machine)  # the slot itself takes a frame, if necessary another page's
    alone = f.vma["flags"] & VM_RAND_READ or device["synchronous"] or (left is not None and left < 2)
    size = 1 if alone else 1 << machine.number("page_cluster")

    def wanted(near: int) -> bool:
        return exists(machine, near) and slot_count(machine, near) > 0 and not cached_page(machine, near)

    low, high = read_ahead(slot, size, wanted)
    if low == high:
        return f"slot {slot} is read, without neighbours"
    return f"slot {slot} is read, in one request with its neighbours {low} to {high} as long as frames are free"


def untouched(f: Fault) -> str:
    """The entry is empty."""
    if f.vma["ops"]:
        return untouched_file(f)
    if f.write:
        return f"minor fault: a new frame of zeros; {new_frame(f.machine)}"
    return "minor fault: the zero page is mapped, read-only"


def untouched_file(f: Fault) -> str:
    """The entry is empty, and the region maps a file."""
    inode = f.machine.view("struct inode", f.vma["inode"])
    index = f.vma["pgoff"] + ((f.address - f.vma["start"]) >> PAGE_SHIFT)
    name = path(f.machine, inode.address)
    if index << PAGE_SHIFT >= inode["size"]:
        return f"SIGBUS: page {index} is beyond the end of {name}"
    there = is_pointer(find(f.machine, inode.at("cache.pages"), index))
    if not there and inode["cache.ops"]:
        return f"major fault: page {index} of {name} is not in memory: it is read"
    what = f"page {index} of {name}" + ("" if there else ", a hole that becomes a page of zeros,")
    if f.write and not f.vma["flags"] & VM_SHARED:
        return f"minor fault: {what} is copied into a new frame; {new_frame(f.machine)}"
    return f"minor fault: {what} is mapped" + ("" if f.write else ", and what is cached of the 16 around it")


def trapped(f: Fault) -> str:
    """The entry holds a frame, but must fault once."""
    owned = "owned" in flags(f.machine, page_of(f.machine, f.entry.frame))
    told = "the policy is told of the use" if owned else "the policy is not told, because it does not own the page"
    after = AGAIN if f.write and not f.entry.writable else ""
    return f"minor fault: frame {f.entry.frame:#x} is trapped; {told}, and it is usable again{after}"


def present(f: Fault) -> str:
    """The entry holds a frame."""
    if not f.write or f.entry.writable:
        return f"{NO_FAULT}: frame {f.entry.frame:#x} is mapped{' writable' if f.write else ''}"
    if is_zero_page(f.machine, f.entry.frame):
        return f"minor fault: a new frame of zeros takes the zero page's place; {new_frame(f.machine)}"
    page = page_of(f.machine, f.entry.frame)
    if f.vma["flags"] & VM_SHARED or is_ours(f.machine, page):
        return f"minor fault: no other entry or slot refers to frame {f.entry.frame:#x}; it is made writable"
    return f"minor fault: copy on write into a new frame, for {sharing(page, f.entry.frame)}; {new_frame(f.machine)}"


def sharing(page: View, frame: int) -> str:
    """What else refers to a frame."""
    if page["mapcount"] > 1:
        return f"{page['mapcount']} entries map frame {frame:#x}"
    return f"frame {frame:#x} is also a page of a file, or of a swap slot that other entries name"


def is_ours(machine: Machine, page: View) -> bool:
    """Does nothing else refer to the frame, neither an entry nor a slot? (frame_is_ours in mm/space/anon.c)"""
    marks = flags(machine, page)
    if "anon" not in marks or page["mapcount"] != 1:
        return False
    return "swapcache" not in marks or not slot_count(machine, page["slot"])


KINDS = {NONE: untouched, SWAPPED: swapped, TRAPPED: trapped, PRESENT: present}


def outcome(f: Fault) -> str:
    """What the access would lead to."""
    if not f.vma["flags"] & (VM_WRITE if f.write else VM_READ):
        return f"SIGSEGV: the region is {rights(f.vma['flags'])}, which forbids {'writing' if f.write else 'reading'}"
    if f.entry.kind not in KINDS:
        return "the entry is not one that the kernel makes: it is broken"
    return KINDS[f.entry.kind](f)


def kernel_address(machine: Machine, address: int) -> Iterator[str]:
    """An address of the kernel's half."""
    found = walk(machine.memory, machine.number("kernel_pgd"), address)
    yield f"address {address:#010x} belongs to the kernel"
    yield "a program  SIGSEGV: programs may not access 0xc0000000 and above"
    if found.frame is None:
        yield "the kernel panic: nothing is mapped there (a guard below a kernel stack, or a wild pointer)"
    else:
        yield f"the kernel {NO_FAULT}: frame {found.frame:#x} is mapped"


def hole(vma: View | None, before: View | None) -> str:
    """Says why an address is outside all regions, by naming its neighbours."""
    below = f"the last region below ends at {before['end']:#010x}" if before else "there is no region below"
    above = f"the next above begins at {vma['start']:#010x}" if vma else "there is none above"
    stack = ", a stack that may not grow so far" if vma and vma["flags"] & VM_GROWSDOWN else ""
    return f"SIGSEGV: no region is here; {below}, {above}{stack}"


def why(machine: Machine, task: View, address: int) -> Iterator[str]:
    """What a read and a write at an address of a program would do."""
    mm = mm_of(machine, task)
    vma, before = around(machine, mm, address)
    yield f"pid {title(task)}, address {address:#010x}"
    if not vma or (vma["start"] > address and not may_grow(vma, before, address)):
        yield hole(vma, before)
        return
    grows = f"; it would first grow down to {address & -PAGE_SIZE:#010x}" if vma["start"] > address else ""
    what = f"{rights(vma['flags'])} {vma_name(machine, vma)}{grows}".rstrip()
    yield f"region   {vma['start']:08x}-{vma['end']:08x} {what}"
    entry = walk(machine.memory, mm["pgd"], address).entry
    table = f"{entry.value:#010x}, {meaning(machine, entry)}" if entry else "there is no page table here yet"
    yield f"entry    {table}"
    for verb, write in (("reading", False), ("writing", True)):
        yield f"{verb}  {outcome(Fault(machine, address, vma, entry or Entry(0), write))}"


class Why(Command):
    """Would the running process fault here, and what would the kernel do?
    Nothing is changed: the command tells what mm/space/fault.c would decide now, for reading and for writing. While a
    process waits for a frame or the disk, other tasks may change the situation.

    (gdb) tm-why 0xb6ff9000
    pid 9 (thrash), address 0xb6ff9000
    region   b6c00000-b7000000 rw-p
    entry    0x00000000, none: nothing has been here yet
    reading  minor fault: the zero page is mapped, read-only
    writing  minor fault: a new frame of zeros; a frame is free in zone DMA"""

    name = "tm-why"
    arguments = "VA"

    def lines(self, machine: Machine, address: int) -> Iterator[str]:
        """The region, the entry, and the outcome of either access."""
        if address >= KERNEL_BASE:
            yield from kernel_address(machine, address)
            return
        task = current(machine)
        if not task["mm"]:
            raise TmError(
                f"{title(task)} runs, and has no address space; stop in a process (user-break, tm-break-fault), "
                "or look with tm-pt PID VA"
            )
        yield from why(machine, task, address)
