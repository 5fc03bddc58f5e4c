"""struct vm_area_struct: the regions of an address space, and the state of their pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from .command import Command
from .defines import PAGE_SHIFT, PAGE_SIZE, VM_EXEC, VM_GROWSDOWN, VM_LOCKED, VM_RAND_READ, VM_READ, VM_SHARED, VM_WRITE
from .entry import NONE, PRESENT, SWAPPED, TRAPPED, walk
from .machine import Machine
from .memory import View
from .pt import is_zero_page
from .tasks import mm_of, task_of, title
from .walk import gather, list_nodes

ZERO = "zero"
MOST_NAMES = 64  # the maximum number of directories above a file


@dataclass(frozen=True)
class Region:
    """A region; `pages` counts its pages by the state of their entries: present, trapped, zero, swapped, none."""

    start: int
    end: int
    flags: int
    rights: str
    name: str
    pages: Counter[str]


def vmas(machine: Machine, mm: View) -> Iterator[View]:
    """The regions in order of address. Raises Torn if their list is inconsistent."""
    for node in list_nodes(machine.memory.number, mm.at("vma_list")):
        yield machine.containing("struct vm_area_struct", "list", node)


def rights(flags: int) -> str:
    """The access rights as in /proc/PID/maps: `rw-p`."""
    letters = zip("rwx", (VM_READ, VM_WRITE, VM_EXEC))
    return "".join(c if flags & bit else "-" for c, bit in letters) + ("s" if flags & VM_SHARED else "p")


def path(machine: Machine, inode: int) -> str:
    """The path of a file, as in /proc/PID/maps."""
    names: list[str] = []
    if text := unnamed(machine, inode):
        return f"{text} (deleted)" if text.startswith("/") else text
    while inode != machine.number("vfs_root") and len(names) < MOST_NAMES:
        inode = covered(machine, inode)
        parent = machine.view("struct inode", inode)["parent"]
        if not parent:
            return "(deleted)"
        names.append(name_in(machine, parent, inode))
        inode = parent
    return "/" + "/".join(reversed(names))


def unnamed(machine: Machine, inode: int) -> str:
    """The name of a file that has no path, such as [vdso], or nothing."""
    view = machine.view("struct inode", inode)
    sb = machine.view("struct super_block", view["sb"]) if view["sb"] else None
    return machine.memory.text(view["private"]) if sb and sb["unnamed"] else ""


def covered(machine: Machine, inode: int) -> int:
    """The directory on which a file system is mounted, given the root inode of that file system; or the inode
    itself."""
    sb = machine.view("struct inode", inode)["sb"]
    over = machine.view("struct super_block", sb) if sb else None
    return covered(machine, over["mounted_on"]) if over and over["root"] == inode and over["mounted_on"] else inode


def name_in(machine: Machine, directory: int, inode: int) -> str:
    """The name of an inode in its directory."""
    head = machine.view("struct inode", directory).at("entries")
    entries, _ = gather(list_nodes(machine.memory.number, head))
    for entry in entries:
        dentry = machine.containing("struct dentry", "node", entry)
        if dentry["inode"] == inode:
            return machine.memory.text(dentry.at("name"))
    return "(deleted)"


def vma_name(machine: Machine, vma: View) -> str:
    """The file, [heap], [stack], or nothing."""
    mm = machine.view("struct mm_struct", vma["mm"])
    if vma["inode"]:
        return path(machine, vma["inode"])
    if vma["start"] <= mm["brk"] and vma["end"] >= mm["start_brk"]:
        return "[heap]"
    return "[stack]" if vma["flags"] & VM_GROWSDOWN else ""


def count_pages(machine: Machine, vma: View) -> Counter[str]:
    """Counts the pages of a region by the state of their entries."""
    pgd, counts = machine.view("struct mm_struct", vma["mm"])["pgd"], Counter()
    for address in range(vma["start"], vma["end"], PAGE_SIZE):
        entry = walk(machine.memory, pgd, address).entry
        kind = entry.kind if entry else NONE
        zero = entry and kind == PRESENT and is_zero_page(machine, entry.frame)
        counts[ZERO if zero else kind] += 1
    return counts


def regions(machine: Machine, mm: View) -> Iterator[Region]:
    """The regions in order of address. Raises Torn if their list is inconsistent."""
    for vma in vmas(machine, mm):
        flags = vma["flags"]
        name, pages = vma_name(machine, vma), count_pages(machine, vma)
        yield Region(vma["start"], vma["end"], flags, rights(flags), name, pages)


def remarks(flags: int) -> str:
    """What is special about a region."""
    names = {VM_GROWSDOWN: "grows down", VM_LOCKED: "locked", VM_RAND_READ: "no read-ahead"}
    return ", ".join(name for bit, name in names.items() if flags & bit)


class Vma(Command):
    """The regions of a process, and where their pages are.
    IN: pages in memory (of these, TRAP will fault at their next use). ZERO: pages that map the shared page of zeros.
    OUT: pages in the swap area. The rest of PAGES has not been touched.

    (gdb) tm-vma 9
    pid 9 (thrash), 6 regions
    START    END      RIGHTS  PAGES    IN  TRAP  ZERO   OUT  NAME
    08052000-08054000 rw-p        2     1     0     0     1  /bin/thrash
    b6c00000-b7000000 rw-p     1024   529     0     0   488
    bfff6000-bffff000 rw-p        9     1     0     0     0  [stack]  grows down"""

    name = "tm-vma"
    arguments = "PID"

    def lines(self, machine: Machine, pid: int) -> Iterator[str]:
        """A line for each region."""
        task = task_of(machine, pid)
        found, torn = gather(regions(machine, mm_of(machine, task)))
        yield f"pid {title(task)}, {len(found)} regions"
        yield "START    END      RIGHTS  PAGES    IN  TRAP  ZERO   OUT  NAME"
        for r in found:
            there = r.pages[PRESENT] + r.pages[TRAPPED]
            last = "  ".join(text for text in (r.name, remarks(r.flags)) if text)
            yield (
                f"{r.start:08x}-{r.end:08x} {r.rights:6} {(r.end - r.start) >> PAGE_SHIFT:6} {there:5} "
                f"{r.pages[TRAPPED]:5} {r.pages[ZERO]:5} {r.pages[SWAPPED]:5}  {last}"
            ).rstrip()
        if torn:
            yield f"the list of regions is torn: {torn}"
