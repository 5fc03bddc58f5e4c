"""Prints the lists of the replacement policy in order; policy.py finds them."""

from __future__ import annotations

from collections.abc import Iterator

from .command import Command
from .defines import PAGE_SHIFT
from .entry import walk
from .errors import TmError
from .machine import Machine
from .memory import View
from .page import flags, of_file
from .policy import PolicyList, element_data, mm_data, page_data, page_of_node, policy_lists, policy_view
from .pt import frame_of
from .tasks import mm_title

SHOWN = 8
EMPTY_TOGETHER = 12
MOST = 1 << 20


def used_and_dirty(machine: Machine, page: View) -> str:
    """The bits of the owner's page-table entry, which page_young and page_dirty check first."""
    if not page["owner"]:
        return "its owner is gone"
    entry = walk(
        machine.memory, machine.view("struct mm_struct", page["owner"])["pgd"], page["index"] << PAGE_SHIFT
    ).entry
    if not entry or not entry.maps:
        return "not mapped by its owner"
    return entry.bits()


def entry_line(machine: Machine, node: int) -> str:
    """One entry of a list: the page, its owner, its accessed and dirty bits, and the policy's data in it."""
    page = page_of_node(machine, node)
    if not page:
        variables = machine.source(policy_view(machine)["insert"]).variables
        return element_data(variables, machine.memory, node)
    data = page_data(machine, page.address, node)
    if "anon" not in flags(machine, page):
        what = of_file(machine, page)
    elif page["family"]:
        what = f"{mm_title(machine, page['owner'])} page {page['index']:#07x}  {used_and_dirty(machine, page)}"
    else:
        what = f"read ahead from slot {page['slot']}"
    return f"frame {frame_of(machine, page.address):#07x}  {what}  {data}".rstrip()


def chosen(length: int, count: int) -> list[int | None]:
    """The indexes of `count` entries from either end of a list of `length` entries; None marks omitted ones."""
    if length <= 2 * count:
        return list(range(length))
    return [*range(count), None, *range(length - count, length)]


def list_lines(machine: Machine, found: PolicyList, count: int) -> Iterator[str]:
    """A list, with `count` entries from either end."""
    owner = f"{mm_title(machine, found.head.mm)} " if found.head.mm else ""
    kept = f"  ({data})" if found.head.mm and (data := mm_data(machine, found.head.mm)) else ""
    yield f"{owner}{found.head.name}: {len(found.nodes)}{kept}"
    for at in chosen(len(found.nodes), count):
        yield "   ..." if at is None else f"{at:6}  {entry_line(machine, found.nodes[at])}"
    if found.torn:
        yield f"        torn: {found.torn}"


class Lists(Command):
    """The lists of the replacement policy, from first to last.
    This works for every policy: the lists are found in the variables of its file and in its part of each mm_struct.
    COUNT entries are shown from either end (default 8). The policy decides from which end it evicts. A and D are the
    accessed and the dirty bit.

    (gdb) tm-lists 1
    policy 2q, kernel/mm/policy/2q.c
    zone[0].kind[0].list[0]: 3131
         0  frame 0x00d6f  pid 10 (thrash) page 0xb6fed  P RW US A  kind=ANON list=INACTIVE referenced=0 young=0
       ...
      3130  frame 0x00db6  pid 9 (thrash) page 0xb6c6e  P RW US D  kind=ANON list=INACTIVE referenced=0 young=1"""

    name = "tm-lists"
    arguments = "COUNT"
    optional = True

    def lines(self, machine: Machine, count: int = SHOWN) -> Iterator[str]:
        """The policy, and its lists."""
        if count > MOST:
            raise TmError(f"COUNT is the number of entries to show from either end, 0 to {MOST}")
        policy = policy_view(machine)
        yield f"policy {policy.text('name')}, {machine.source(policy['insert']).file}"
        empty = []
        for found in policy_lists(machine):
            if not found.nodes and not found.torn and not found.head.mm:
                empty.append(found.head.name)
                continue
            yield from list_lines(machine, found, count)
        if empty:
            more = f" and {len(empty) - EMPTY_TOGETHER} more" if len(empty) > EMPTY_TOGETHER else ""
            yield f"empty: {' '.join(empty[:EMPTY_TOGETHER])}{more}"
