"""The parts of gdb's tm- commands that work without gdb: walks over lists, trees and page tables, and their
messages."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

import gdbtools  # noqa: F401  (makes tm importable)
import pytest
from tidemark.machine import qemu
from tm import defines, entry, rq, walk, why, zones
from tm.errors import Torn, Unreadable
from tm.memory import Field, Layout, Memory, View


def words(memory: dict[int, int]) -> Callable[[int], int]:
    """A reader of memory that exists only at some addresses."""

    def read(address: int) -> int:
        if address not in memory:
            raise Unreadable(address)
        return memory[address]

    return read


def ring(*nodes: int) -> dict[int, int]:
    """The words of a list_head ring; the first node is the head."""
    memory = {}
    for at, node in enumerate(nodes):
        memory[node], memory[node + 4] = nodes[(at + 1) % len(nodes)], nodes[at - 1]
    return memory


def test_list_is_walked_in_order() -> None:
    assert walk.gather(walk.list_nodes(words(ring(0x100, 0x300, 0x200)), 0x100)) == ([0x300, 0x200], "")
    assert walk.gather(walk.list_nodes(words(ring(0x100)), 0x100)) == ([], "")


@pytest.mark.parametrize(
    ("changes", "nodes", "torn"),
    [
        ({0x300: 0x200}, [0x200, 0x300], "0x300 links to 0x200 again: a cycle after 2 entries"),
        ({0x200: 0}, [0x200], "0x200 links to 0"),
        ({0x200: 0x5000}, [0x200], "0x200 links to 0x5000, where no memory is"),
        ({0x304: 0x700}, [0x200, 0x300, 0x400], "0x300 links back to 0x700 instead of 0x200"),
        ({0x104: 0x300}, [0x200, 0x300, 0x400], "0x100 links back to 0x300 instead of 0x400"),
        ({0x100: 0}, [], "not initialised"),
    ],
)
def test_torn_list_gives_what_can_be_reached(changes: dict[int, int], nodes: list[int], torn: str) -> None:
    found, said = walk.gather(walk.list_nodes(words(ring(0x100, 0x200, 0x300, 0x400) | changes), 0x100))
    assert found == nodes and torn in said


def test_list_without_end_is_cut() -> None:
    with pytest.raises(Torn, match="more than 9 entries"):
        list(walk.list_nodes(lambda address: address + 8 if address % 8 == 0 else address - 12, 0x100, limit=9))


TREE = {  # 0x50 black, with 0x20 red (which has 0x30 black on its right) and 0x80 black
    **{0x50: 1, 0x54: 0x20, 0x58: 0x80},
    **{0x20: 0x50, 0x24: 0, 0x28: 0x30},
    **{0x30: 0x21, 0x34: 0, 0x38: 0},
    **{0x80: 0x51, 0x84: 0, 0x88: 0},
}


def test_tree_is_walked_in_order_with_depth_side_and_colour() -> None:
    nodes = list(walk.tree_nodes(words(TREE), 0x50))
    assert [(n.address, n.depth, n.side, n.black) for n in nodes] == [
        (0x20, 1, "left", False),
        (0x30, 2, "right", True),
        (0x50, 0, "", True),
        (0x80, 1, "right", True),
    ]
    assert list(rq.branches(nodes)) == ["/-- ", "|   \\-- ", "", "\\-- "]


@pytest.mark.parametrize(
    ("changes", "count", "torn"),
    [({0x38: 0x20}, 2, "cycle"), ({0x80: 0x31}, 4, "hangs from 0x50, but says 0x30"), ({0x24: 0x900}, 0, "no memory")],
)
def test_torn_tree_gives_what_can_be_reached(changes: dict[int, int], count: int, torn: str) -> None:
    found, said = walk.gather(walk.tree_nodes(words(TREE | changes), 0x50))
    assert len(found) == count and torn in said


@pytest.mark.parametrize(
    ("value", "kind", "bits"),
    [
        (0, entry.NONE, ""),
        (0x281067, entry.PRESENT, "P RW US A D"),
        (0x281025, entry.PRESENT, "P US A"),
        (0x2810C6, entry.TRAPPED, "NOACCESS RW US D"),
        (0x28702, entry.SWAPPED, ""),
        (0x40, entry.UNKNOWN, "D"),
    ],
)
def test_entry_is_decoded(value: int, kind: str, bits: str) -> None:
    found = entry.Entry(value)
    assert (found.kind, found.bits()) == (kind, bits)
    assert (found.frame, found.slot) == (value >> 12, value >> 8)


def test_walk_over_both_levels() -> None:
    memory = {0xC0005000 + 4 * 32: 0x7027, 0xC0007000 + 4 * 0x53: 0x281067, 0xC0005000 + 4 * 768: 0x1E3}
    memory |= {0xC0005000 + 4 * 500: 0x8000E7, 0xC0005000 + 4 * 501: 0xC000E4}  # 4 MiB pages; PROT_NONE

    def fetch(address: int, length: int) -> bytes:
        return b"".join(memory.get(address + at, 0).to_bytes(4, "little") for at in range(0, length, 4))

    assert entry.walk(Memory(fetch), 0xC0005000, 0x8053ABC).frame == 0x281
    assert entry.walk(Memory(fetch), 0xC0005000, 0x8054000).frame is None
    assert entry.walk(Memory(fetch), 0xC0005000, 0x9000000).entry is None
    assert entry.walk(Memory(fetch), 0xC0005000, 0xC0123456).frame == 0x123
    assert entry.walk(Memory(fetch), 0xC0005000, 500 << 22 | 0x5678).frame == 0x805
    closed = entry.walk(Memory(fetch), 0xC0005000, 501 << 22 | 0x5678)
    assert closed.frame == 0xC05 and closed.large and entry.Entry(closed.directory).bits() == "NOACCESS US A D"


def test_structure_is_read_across_a_page_border() -> None:
    memory = Memory(lambda address, length: bytes((address + at) % 251 for at in range(length)))
    view = View(memory, Layout(8, {"a": Field(0, 4), "b": Field(4, 2, 2)}), 0x1FFE)
    assert view["a"] == int.from_bytes(bytes(at % 251 for at in range(0x1FFE, 0x2002)), "little")
    assert view.array("b")[1] == int.from_bytes(bytes(at % 251 for at in range(0x2004, 0x2006)), "little")
    with pytest.raises(Unreadable):
        memory.number(0xFFFFFFFE)


def test_read_ahead_stays_in_its_group_and_stops_at_a_gap() -> None:
    assert why.read_ahead(13, 8, lambda slot: True) == (8, 15)
    assert why.read_ahead(13, 8, lambda slot: slot not in (10, 15)) == (11, 14)
    assert why.read_ahead(13, 1, lambda slot: True) == (13, 13)


@pytest.mark.parametrize(
    ("free", "says"),
    [(9, zones.BELOW_MIN), (10, zones.BELOW_LOW), (12, zones.BELOW_HIGH), (15, zones.ABOVE)],
)
def test_free_frames_against_the_marks(free: int, says: str) -> None:
    assert zones.standing(free, [10, 12, 15]) == says


def test_defines_are_the_kernels() -> None:
    """Every constant that debug information does not hold has the value defined in a header, or in fault.c."""
    text = "\n".join(path.read_text() for path in qemu.ROOT.glob("kernel/**/*.[ch]"))
    found = dict(re.findall(r"^#define (\w+) (\S.*?)(?:\s*/\*.*)?$", text, re.MULTILINE))
    found |= dict(re.findall(r"^\s+(TF_KTHREAD) = (\d+),", text, re.MULTILINE))
    found |= {"LIST_POISON_NEXT": "0x100", "CR0_PG": "1 << 31"}
    assert "#define LIST_POISON_NEXT ((struct list_head *)0x100)" in text

    def value(expression: str) -> int:
        plain = re.sub(r"\b(0x[0-9A-Fa-f]+|\d+)u\b", r"\1", expression)
        plain = re.sub(r"\b[A-Z][A-Z_]+\b", lambda name: str(value(found[name[0]])), plain)
        return eval(compile(ast.parse(plain, mode="eval"), "define", "eval"), {})

    for name, have in vars(defines).items():
        if name.isupper():
            assert value(found[name]) == have, name
