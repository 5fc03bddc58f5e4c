"""Finds what a replacement policy keeps, without knowing the policy.

A policy is one C file. Its lists are rings of struct list_head. Their heads are the policy's own variables, or lie in
the 64 bytes that it has in every mm_struct. Their entries lie in the 24 bytes that it has in every struct page or, for
ghosts of evicted pages, in variables again. The debug information has the variables and their types. A list_head that
is an entry of another list is not a head. Which of the file's structures lies in a page and which in an mm_struct is
not recorded; it is inferred from their sizes, from the offsets of their list_heads, and last from their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .defines import POLICY_MM_SIZE
from .errors import TmError
from .machine import Machine
from .memory import Field, Layout, Memory, Struct, Variable, View
from .tasks import mms
from .walk import gather, list_nodes

LIST_HEAD, POINTER = "list_head", 4
POINTER_LEAST = 0x1000  # below are NULL and the poison of entries removed from a list


@dataclass(frozen=True)
class Head:
    """A list's head: its owner (0: the policy; otherwise an mm_struct), and its name in the file."""

    name: str
    address: int
    mm: int = 0


@dataclass(frozen=True)
class PolicyList:
    """A list: the addresses of its nodes in order, and what is wrong with it, if anything."""

    head: Head
    nodes: list[int]
    torn: str


def policy_view(machine: Machine) -> View:
    """The active policy. Raises TmError if there is none yet."""
    policy = machine.number("vm_policy")
    if not policy:
        raise TmError("no policy is switched on yet: `break sched_init` and `continue` first")
    return machine.view("struct vm_policy", policy)


def list_heads(layout: Layout) -> dict[str, int]:
    """The members of a structure that are list_heads, with their offsets."""
    fields = layout.fields.items()
    return {name: place.offset for name, place in fields if place.tag == LIST_HEAD and place.count == 1}


def heads_in(place: Field, address: int, name: str) -> Iterator[Head]:
    """Every list_head in a variable, with the path to it: `zone[0].list[1]`."""
    for index in range(place.count if place.inner else 0):
        at = address + index * place.size
        path = f"{name}[{index}]" if place.count > 1 else name
        if place.tag == LIST_HEAD:
            yield Head(path, at)
            continue
        for member, inner in place.inner.fields.items():
            if "." not in member:
                yield from heads_in(inner, at + inner.offset, f"{path}.{member}")


def lists_of(machine: Machine, heads: Sequence[Head]) -> Iterator[PolicyList]:
    """The lists of those heads that are not entries of another list; uninitialised heads only if they stand alone."""
    entries: set[int] = set()
    for head in heads:
        after = machine.memory.number(head.address)
        if head.address in entries or (after < POINTER_LEAST and "[" in head.name):
            continue
        nodes, torn = gather(list_nodes(machine.memory.number, head.address))
        entries.update(nodes)
        yield PolicyList(head, nodes, torn)


def own_lists(machine: Machine, variables: Sequence[Variable]) -> Iterator[PolicyList]:
    """The lists whose heads are variables. Variables with few list_heads first: heads, rather than a pool of
    entries."""
    per_variable = [list(heads_in(v.field, v.address, v.name)) for v in variables]
    heads = [head for found in sorted(per_variable, key=len) for head in found]
    yield from lists_of(machine, heads)


def mm_type(structs: Sequence[Struct]) -> Struct | None:
    """The structure that a policy keeps in an mm_struct, as far as it can be inferred."""
    fit = [s for s in structs if s.layout.size <= POLICY_MM_SIZE and list_heads(s.layout)]
    named = [s for s in fit if s.tag.endswith("_mm")]
    return named[0] if named else None


def page_type(structs: Sequence[Struct], room: int, offset: int | None) -> Struct | None:
    """The structure that a policy keeps in a page: at most `room` bytes, with a list node, at `offset` if that is
    known."""
    fit = [s for s in structs if s.layout.size <= room and list_heads(s.layout)]
    fit = [s for s in fit if offset is None or offset in list_heads(s.layout).values()]
    named = [s for s in fit if s.tag.endswith("_page")]
    return (named or fit or [None])[0]


def is_ring(machine: Machine, address: int) -> bool:
    """Is this the head of a ring whose neighbours link back to it?"""
    word = machine.memory.number
    try:
        return (
            word(address) >= POINTER_LEAST
            and word(word(address) + POINTER) == address
            and word(word(address + POINTER)) == address
        )
    except TmError:
        return False


def mm_lists(machine: Machine, structs: Sequence[Struct]) -> Iterator[PolicyList]:
    """The lists whose heads lie in the policy's data of an address space: by the structure's members if its name
    identifies it, and otherwise wherever two words are the head of a ring."""
    known = mm_type(structs)
    for mm in gather(mms(machine))[0]:
        base = mm.at("policy")
        if known:
            heads = [
                Head(f"{known.tag}.{name}", base + at, mm.address) for name, at in list_heads(known.layout).items()
            ]
        else:
            offsets = [at for at in range(0, POLICY_MM_SIZE - POINTER, POINTER) if is_ring(machine, base + at)]
            heads = [Head(f"policy+{at}", base + at, mm.address) for at in offsets]
        yield from lists_of(machine, heads)


def policy_lists(machine: Machine) -> Iterator[PolicyList]:
    """Every list of the active policy."""
    source = machine.source(policy_view(machine)["insert"])
    yield from own_lists(machine, source.variables)
    yield from mm_lists(machine, source.structs)


def page_of_node(machine: Machine, node: int) -> View | None:
    """The struct page that contains a list node in its policy data."""
    first, size = machine.number("mem_map"), machine.layout("struct page").size
    inside = (node - first) % size
    place = machine.layout("struct page").fields["policy"]
    if not 0 <= node - first < machine.number("max_pfn") * size or not place.offset <= inside < size:
        return None
    return machine.view("struct page", node - inside)


def page_data(machine: Machine, page: int, node: int = 0) -> str:
    """What the policy keeps in the struct page at an address, besides its links; `node` is the address of the link."""
    view = machine.view("struct page", page)
    place = view.layout.fields["policy"]
    policy = policy_view(machine)
    offset = node - view.at("policy") if node else None
    known = page_type(machine.source(policy["insert"]).structs, place.size * place.count, offset)
    shown = View(machine.memory, known.layout, view.at("policy")).scalars() if known else ""
    return shown if node else f"{policy.text('name')} {shown}".strip()


def mm_data(machine: Machine, mm: int) -> str:
    """What the policy keeps in an address space, besides its lists; empty if that cannot be inferred."""
    known = mm_type(machine.source(policy_view(machine)["insert"]).structs)
    return (
        View(machine.memory, known.layout, machine.view("struct mm_struct", mm).at("policy")).scalars() if known else ""
    )


def element_data(variables: Sequence[Variable], memory: Memory, node: int) -> str:
    """The element of a variable that contains a list node: `ghosts[3] slot=7`; the bare address if none does."""
    for v in variables:
        if v.address <= node < v.address + v.field.size * v.field.count:
            index = (node - v.address) // v.field.size
            name = f"{v.name}[{index}]" if v.field.count > 1 else v.name
            inner = v.field.inner
            shown = View(memory, inner, v.address + index * v.field.size).scalars() if inner else ""
            return f"{name} {shown}".strip()
    return f"{node:#010x}"
