"""Page-table and directory entries of 32-bit paging, as in kernel/include/arch/x86/pte.h, and the walk over both
levels."""

from __future__ import annotations

from dataclasses import dataclass

from .defines import (
    KERNEL_BASE,
    PAGE_SHIFT,
    PAGE_SIZE,
    PTE_A,
    PTE_D,
    PTE_G,
    PTE_NOACCESS,
    PTE_P,
    PTE_PS,
    PTE_RW,
    PTE_SWAP,
    PTE_SWAP_SHIFT,
    PTE_TAKEN,
    PTE_US,
    PTRS_PER_PGD,
)
from .memory import Memory

BITS = {PTE_P: "P", PTE_RW: "RW", PTE_US: "US", PTE_A: "A", PTE_D: "D", PTE_PS: "PS", PTE_G: "G", PTE_TAKEN: "TAKEN"}
NONE, PRESENT, TRAPPED, SWAPPED, UNKNOWN = "none", "present", "trapped", "swapped", "unknown"


@dataclass(frozen=True)
class Entry:
    """One entry of a page table."""

    value: int

    @property
    def kind(self) -> str:
        """NONE, PRESENT, TRAPPED (holds a frame, but the next use will fault), SWAPPED, or UNKNOWN."""
        if not self.value:
            return NONE
        if self.value & PTE_P:
            return PRESENT
        if self.value & PTE_NOACCESS:
            return TRAPPED
        return SWAPPED if self.value & PTE_SWAP else UNKNOWN

    @property
    def maps(self) -> bool:
        """Does it hold a frame?"""
        return self.kind in (PRESENT, TRAPPED)

    @property
    def frame(self) -> int:
        """The frame of an entry that holds one."""
        return self.value >> PAGE_SHIFT

    @property
    def slot(self) -> int:
        """The swap slot of a swapped entry."""
        return self.value >> PTE_SWAP_SHIFT

    @property
    def writable(self) -> bool:
        """Does the entry permit writes?"""
        return bool(self.value & PTE_RW)

    def bits(self) -> str:
        """The bits by name: `P RW US A D`. In a trapped entry bit 7 is the trap, not PS. A swapped entry shows none."""
        if self.kind == SWAPPED:
            return ""
        names = [name for bit, name in BITS.items() if self.value & bit]
        if self.kind == TRAPPED:
            names = ["NOACCESS", *(name for name in names if name != "PS")]
        return " ".join(names)


@dataclass(frozen=True)
class Walked:
    """The result of the CPU's walk of an address. `entry` is None if the directory entry has no table: then `directory`
    is 0, or maps 4 MiB."""

    address: int
    pgd: int  # address of the directory
    directory: int  # its entry's value
    entry_at: int  # address of the table's entry; 0: no table
    entry: Entry | None

    @property
    def large(self) -> bool:
        """Is the address part of a 4 MiB page? It may be one that permits no access (without PTE_P)."""
        return bool(self.directory & PTE_PS)

    @property
    def frame(self) -> int | None:
        """The frame that the address is mapped to, or None. A trapped page counts as mapped."""
        if self.large:
            return (self.directory >> PAGE_SHIFT) + (self.address >> PAGE_SHIFT & (PTRS_PER_PGD - 1))
        return self.entry.frame if self.entry and self.entry.maps else None


def walk(memory: Memory, pgd: int, address: int) -> Walked:
    """Looks an address up in the page directory at `pgd`. Page tables lie in low memory, so the direct map covers
    them."""
    directory = memory.number(pgd + 4 * (address >> 22))
    if directory & (PTE_P | PTE_PS) != PTE_P:
        return Walked(address, pgd, directory, 0, None)
    table = (directory & -PAGE_SIZE) + KERNEL_BASE
    at = table + 4 * (address >> PAGE_SHIFT & (PTRS_PER_PGD - 1))
    return Walked(address, pgd, directory, at, Entry(memory.number(at)))
