"""struct page: the use of a frame, its user, and the entries that map it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .command import Command
from .defines import KERNEL_BASE, KERNEL_STACK_SIZE, MAX_ORDER, PAGE_SHIFT, VMALLOC_END, VMALLOC_START
from .entry import SWAPPED, Entry, walk
from .errors import TmError
from .machine import Machine
from .memory import View
from .policy import page_data
from .pt import directory_of, frame_of, is_zero_page
from .radix import find
from .swap import slot_state
from .tasks import current, mm_title, mms, tasks, title
from .vma import path, vmas
from .walk import gather, list_nodes

ZONE_SHIFT = "PG_zone_shift"


@dataclass(frozen=True)
class Mapping:
    """An entry that maps a frame."""

    mm: int
    address: int
    entry: Entry


def page_of(machine: Machine, frame: int) -> View:
    """The struct page of a frame. Raises TmError if there is none."""
    if not machine.number("mem_map"):
        raise TmError("memory is not set up yet: `break policy_init` and `continue` first")
    if frame >= machine.number("max_pfn"):
        raise TmError(
            f"frame {frame:#x} has no struct page: the kernel manages frames below {machine.number('max_pfn'):#x}"
        )
    return machine.view("struct page", machine.number("mem_map") + frame * machine.layout("struct page").size)


def flags(machine: Machine, page: View) -> list[str]:
    """The flags that are set, by name without PG_."""
    names = machine.enum("page_flags")
    return [name[3:] for bit, name in sorted(names.items()) if name != ZONE_SHIFT and page["flags"] >> bit & 1]


def zone_name(machine: Machine, page: View) -> str:
    """The name of a frame's zone."""
    shift = next(bit for bit, name in machine.enum("page_flags").items() if name == ZONE_SHIFT)
    zones = machine.variable("zones")
    return machine.view("struct zone", zones.address + (page["flags"] >> shift & 3) * zones.layout.size).text("name")


def frame_at(machine: Machine, number: int) -> int:
    """Converts a number to a frame: a number below the count of frames is a frame number; an address in mem_map means
    the frame of the struct page there; any other address, of the kernel or of the running process, the frame that it is
    mapped to. Raises TmError if there is none."""
    frames, first = machine.number("max_pfn"), machine.number("mem_map")
    if number < frames:
        return number
    if first <= number < first + frames * machine.layout("struct page").size:
        return frame_of(machine, number)
    task = current(machine)
    if number < KERNEL_BASE and not task["mm"]:
        raise TmError(
            f"{number:#x} is not a frame, and cannot be an address: {title(task)} has no address space; "
            "`tm-pt PID VA` finds the frame of another process's page"
        )
    found = walk(machine.memory, directory_of(machine, task, number), number)
    if found.frame is None:
        out = found.entry and found.entry.kind == SWAPPED
        state = f"swapped out to slot {found.entry.slot}" if out else "not mapped"
        raise TmError(f"address {number:#010x} is {state} for {title(task)}: no frame holds it")
    return found.frame


def is_file_page(machine: Machine, page: View, frame: int) -> bool:
    """Does the file that the page names have this page in its cache? (There is no flag for it, and the name may be
    stale.)"""
    if page["inode"] < KERNEL_BASE or page["inode"] % 4:
        return False
    inode = machine.view("struct inode", page["inode"])
    try:
        return find(machine, inode.at("cache.pages"), page["file_index"]) == page.address
    except TmError:
        return False


def enclosing_block(machine: Machine, frame: int) -> tuple[int, int] | None:
    """(first frame, order) of the free block that a frame lies in."""
    shift = {name: bit for bit, name in machine.enum("page_flags").items()}["PG_buddy"]
    for order in range(MAX_ORDER):
        first = frame & -(1 << order)
        page = page_of(machine, first)
        if page["flags"] >> shift & 1 and page["order"] >= order and frame < first + (1 << page["order"]):
            return first, page["order"]
    return None


def kernel_use(machine: Machine, frame: int) -> str:
    """The use of an allocated frame without a flag, if it can be found: the kernel does not mark these uses."""
    for mm in gather(mms(machine))[0]:
        if mm["pgd"] == (frame << PAGE_SHIFT) + KERNEL_BASE:
            return f"the page directory of {mm_title(machine, mm.address)}"
        for index in range(KERNEL_BASE >> 22):
            if Entry(machine.memory.number(mm["pgd"] + 4 * index)).value >> PAGE_SHIFT == frame:
                return f"the page table of {mm_title(machine, mm.address)} for {index << 22:#010x} and the next 4 MiB"
    for task in gather(tasks(machine))[0]:
        for address in range(task["stack"], task["stack"] + KERNEL_STACK_SIZE, 1 << PAGE_SHIFT):
            in_area = VMALLOC_START <= address < VMALLOC_END
            if in_area and walk(machine.memory, machine.number("kernel_pgd"), address).frame == frame:
                return f"the kernel stack of pid {title(task)}"
    return "allocated, without a mark: the kernel's own, or on its way to its user"


def use(machine: Machine, page: View, frame: int) -> str:
    """What a frame is for, in words."""
    marks = flags(machine, page)
    if "reserved" in marks:
        return "reserved: the kernel's image, allocated at boot, or a hole without memory"
    if "slab" in marks:
        cache = machine.view("struct kmem_cache", page["cache"])
        return f"slab {page['slab']:#010x} of the cache {cache.text('name')}, objects of {cache['size']} bytes"
    if is_zero_page(machine, frame):
        return "the zero page: mapped wherever anonymous memory has only been read"
    if "anon" in marks:
        return anonymous(machine, page)
    block = None if page["count"] else enclosing_block(machine, frame)
    if block:
        where = "first frame" if block[0] == frame else f"inside, from frame {block[0]:#x} on,"
        return f"free: {where} of a block of order {block[1]}"
    if not page["count"]:
        return "no reference: inside a larger allocation, or just being allocated or freed"
    if is_file_page(machine, page, frame):
        return of_file(machine, page)
    return kernel_use(machine, frame)


def of_file(machine: Machine, page: View) -> str:
    """Describes a page of a file's cache."""
    if not page["inode"]:
        return f"page {page['file_index']} of a file that has been truncated"
    what = "shared memory" if "shmem" in flags(machine, page) else "the file"
    return f"page {page['file_index']} of {what} {path(machine, page['inode'])}"


def anonymous(machine: Machine, page: View) -> str:
    """The owner of an anonymous page."""
    if not page["family"]:
        return "anonymous, read ahead: not used yet"
    return f"anonymous, page {page['index']:#07x}; faulted in by {mm_title(machine, page['owner'])}"


def sharers(machine: Machine, page: View, frame: int) -> Iterator[tuple[View, int]]:
    """The address spaces, with the address in each, where a page may be mapped: for an anonymous page those of its
    family (mm/rmap.h), for a page of a file those that map the file."""
    if "anon" in flags(machine, page):
        if page["family"]:
            head = machine.view("struct anon_family", page["family"]).at("mms")
            for node in list_nodes(machine.memory.number, head):
                mm = machine.containing("struct mm_struct", "family_node", node)
                yield mm, page["index"] << PAGE_SHIFT
                for vma in vmas(machine, mm):
                    address = page["index"] + vma["moved"] << PAGE_SHIFT & 0xFFFFFFFF
                    if vma["moved"] and vma["start"] <= address < vma["end"]:
                        yield mm, address
    elif is_file_page(machine, page, frame):
        for mm in mms(machine):
            for vma in vmas(machine, mm):
                address = vma["start"] + ((page["file_index"] - vma["pgoff"]) << PAGE_SHIFT)
                if vma["inode"] == page["inode"] and vma["start"] <= address < vma["end"]:
                    yield mm, address


def mappings(machine: Machine, page: View, frame: int) -> Iterator[Mapping]:
    """The entries that map a frame. Raises Torn if a list on the way is inconsistent."""
    for mm, address in sharers(machine, page, frame):
        entry = walk(machine.memory, mm["pgd"], address).entry
        if entry and entry.maps and entry.frame == frame:
            yield Mapping(mm.address, address, entry)


def described(machine: Machine, frame: int) -> Iterator[str]:
    """Everything known about a frame."""
    page = page_of(machine, frame)
    marks = flags(machine, page)
    place = f"zone {zone_name(machine, page)}, struct page at {page.address:#010x}"
    yield f"frame {frame:#x}, physical {frame << PAGE_SHIFT:#010x}, {place}"
    yield f"use         {use(machine, page, frame)}"
    yield f"flags       {' '.join(marks) or 'none'}"
    yield f"references  {page['count']}, of them {page['mapcount']} from entries that map it"
    if "swapcache" in marks:
        yield f"swap cache  {slot_state(machine, page['slot'])}"
    if "owned" in marks:
        yield f"policy      {page_data(machine, page.address)}"
    found, torn = gather(mappings(machine, page, frame))
    for m in found:
        yield f"mapped by   {mm_title(machine, m.mm)} at {m.address:#010x}: {m.entry.kind}, {m.entry.bits()}"
    if torn:
        yield f"mapped by   cannot be told: {torn}"
    elif page["mapcount"] != len(found) and "slab" not in marks and page["count"]:
        yield f"mapped by   {page['mapcount']} entries by its own count: it is being changed"


class Page(Command):
    """A frame: flags, use, references, owner, mappings.
    The argument is a frame number, an address (of the kernel, or of the running process), or a pointer to a struct page
    or into one, such as a link of a policy's list. A number below the count of frames is taken as a frame number.

    (gdb) tm-page 0x281
    frame 0x281, physical 0x00281000, zone DMA, struct page at 0xc02b4040
    use         anonymous, page 0xb6fa2; faulted in by pid 9 (thrash)
    flags       uptodate anon owned young
    references  1, of them 1 from entries that map it
    policy      2q kind=ANON list=INACTIVE referenced=0 young=0
    mapped by   pid 9 (thrash) at 0xb6fa2000: present, P RW US D"""

    name = "tm-page"
    arguments = "PFN|VA"

    def lines(self, machine: Machine, number: int) -> Iterator[str]:
        """A line for each known fact."""
        yield from described(machine, frame_at(machine, number))
