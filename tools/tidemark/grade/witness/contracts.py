"""The kernel functions' results for policies and guards, and rules on their arguments, for evidence/rights.c (plugin).

A function that is not listed returns nothing that may be accessed, and its arguments are not checked. If a lab's files
may use another function that returns memory, list it here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum

from tidemark.grade.build.elf import Elf


class Argument(IntEnum):
    """What an argument must be, as the plugin numbers it."""

    ANY = 0
    PROCESS = 1
    PROCESS_OR_NONE = 2
    PAGE = 3
    PAGE_OR_NONE = 4
    GIVEN_BACK = 5
    THE_HOOKS = 6  # what the hook was called with
    A_SCAN = 7
    A_RESULT = 8  # two words that the code may write to


class Gives(IntEnum):
    """What a function returns, as the plugin numbers it."""

    NOTHING = 0
    AS_ASKED = 1
    SO_MANY = 2


def code(first: int = 0, second: int = 0, gives: int = 0, size: int = 0) -> int:
    """A contract as a number."""
    return first | second << 4 | gives << 8 | size << 12


# Sizes in C: the compiler is asked for them, in this order, besides the layout of struct page.
SIZES = (
    "sizeof(struct mm_struct)",
    "sizeof(struct vm_scan)",
    "POLICY_MM_SIZE",
    "GUARD_MM_SIZE",
)
INCLUDES = '#include "mm/mm.h"\n#include "mm/policy.h"\n'

OF_PAGE = """
    page_referenced page_young page_dirty page_is_file page_is_mapped page_is_executable page_vpn page_trap page_mm
"""
OF_PROCESS = "mm_vtime mm_sleeps mm_rss mm_demand mm_touched mm_pid vm_prepage vm_prepage_some"
OF_FILE = "seq_puts seq_putc show_u64"
VARIADIC = 1 << 31  # all arguments are on the stack


def contracts(policy_mm: int, guard_mm: int) -> dict[str, int]:
    """The contracts by function. `policy_mm`, `guard_mm`: bytes of the memory that these functions return."""
    made = dict.fromkeys(OF_PAGE.split(), code(Argument.PAGE))
    made |= dict.fromkeys(OF_PROCESS.split(), code(Argument.PROCESS))
    made |= dict.fromkeys(OF_FILE.split(), code(Argument.THE_HOOKS))
    made["seq_printf"] = code(Argument.THE_HOOKS) | VARIADIC
    made |= dict.fromkeys(("kmalloc", "kzalloc"), code(gives=Gives.AS_ASKED))
    return made | {
        "page_id_of": code(Argument.A_RESULT, Argument.PAGE),  # the address for the structure that it returns
        "vm_eligible": code(Argument.A_SCAN, Argument.PAGE),
        "vm_next_mm": code(Argument.PROCESS_OR_NONE),
        "vm_next_page": code(Argument.PROCESS, Argument.PAGE_OR_NONE),
        "vm_hint": code(Argument.PAGE),
        "vm_demote": code(Argument.PAGE),
        "policy_mm": code(Argument.PROCESS, gives=Gives.SO_MANY, size=policy_mm),
        "guard_mm": code(Argument.PROCESS, gives=Gives.SO_MANY, size=guard_mm),
        "kfree": code(Argument.GIVEN_BACK),
    }


def options(kernel: Elf, sizes: list[int]) -> Mapping[str, str]:
    """The plugin's options. `sizes`: the values of SIZES."""
    process, scan, *given = sizes
    there = kernel.globals

    def words() -> Iterator[str]:
        for name, number in contracts(*given).items():
            if name in there:
                yield f"{there[name]:#x}-{number:#x}"

    return {
        "contracts": ":".join(words()),
        "births": f"{there['policy_call_mm_init']:#x}",
        "deaths": f"{there['policy_call_mm_exit']:#x}",
        "process": str(process),
        "scan": str(scan),
    }
