"""The guest's memory and the structures in it, independent of gdb: the creator of a Memory says how to fetch bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .defines import PAGE_SIZE
from .errors import Unreadable

TEXT_LIMIT = 256
WORD = 4


class Memory:
    """Memory by virtual address. It reads whole pages and caches them, which is correct only while the machine is
    stopped: so every command creates its own."""

    def __init__(self, fetch: Callable[[int, int], bytes]) -> None:
        """`fetch(address, length)` returns that number of bytes, or raises Unreadable."""
        self._fetch = fetch
        self._pages: dict[int, bytes] = {}

    def read(self, address: int, length: int) -> bytes:
        """Returns `length` bytes; raises Unreadable if some of them are not mapped."""
        if not 0 <= address <= (1 << 32) - length:
            raise Unreadable(address)
        parts = []
        while length:
            offset = address % PAGE_SIZE
            part = self._page(address - offset)[offset : offset + length]
            parts.append(part)
            address, length = address + len(part), length - len(part)
        return b"".join(parts)

    def _page(self, address: int) -> bytes:
        if address not in self._pages:
            self._pages[address] = self._fetch(address, PAGE_SIZE)
        return self._pages[address]

    def number(self, address: int, size: int = WORD, signed: bool = False) -> int:
        """The little-endian number of `size` bytes at an address."""
        return int.from_bytes(self.read(address, size), "little", signed=signed)

    def text(self, address: int, limit: int = TEXT_LIMIT) -> str:
        """The C string at an address, at most `limit` bytes of it; non-ASCII bytes become question marks."""
        found = bytearray()
        while len(found) < limit:
            byte = self.read(address + len(found), 1)
            if byte == b"\0":
                break
            found += byte
        return found.decode("ascii", "replace").replace("\ufffd", "?")


@dataclass(frozen=True)
class Field:
    """A member, or a variable: `count` elements of `size` bytes, beginning at `offset`. If its type is a structure,
    `tag` is that type's name and `inner` has its members. `names` are the constants of an enum. A bit field has `bits`
    bits (0: not a bit field), of which the lowest is bit `shift` of those bytes."""

    offset: int
    size: int
    count: int = 1
    signed: bool = False
    scalar: bool = True
    tag: str = ""
    inner: Layout | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    bits: int = 0
    shift: int = 0


@dataclass(frozen=True)
class Layout:
    """A structure's size in bytes and its members by name; members of an inner structure are also found as
    `outer.inner`."""

    size: int
    fields: Mapping[str, Field]


@dataclass(frozen=True)
class Struct:
    """A structure type that has a name."""

    tag: str
    layout: Layout


@dataclass(frozen=True)
class Variable:
    """A variable; its offset is 0."""

    name: str
    address: int
    field: Field


@dataclass(frozen=True)
class View:
    """A structure in memory; its members are read on access."""

    memory: Memory
    layout: Layout
    address: int

    def __getitem__(self, name: str) -> int:
        """The value of a member that is a number, a pointer, an enum or a bool."""
        place = self.layout.fields[name]
        value = self.memory.number(self.address + place.offset, place.size, place.signed)
        return value >> place.shift & (1 << place.bits) - 1 if place.bits else value

    def at(self, name: str, index: int = 0) -> int:
        """The address of a member, or of an element of it."""
        place = self.layout.fields[name]
        return self.address + place.offset + index * place.size

    def array(self, name: str) -> list[int]:
        """The elements of a member that is an array of numbers."""
        place = self.layout.fields[name]
        return [self.memory.number(self.at(name, i), place.size, place.signed) for i in range(place.count)]

    def text(self, name: str) -> str:
        """The string in a member that is an array of characters, or that a pointer member points to."""
        place = self.layout.fields[name]
        if place.count > 1:
            return self.memory.text(self.at(name), place.count)
        return self.memory.text(self[name])

    def scalars(self) -> str:
        """The members that are single numbers, as `name=value`, and enums by the name of their constant. Inner
        structures are omitted."""
        shown = []
        for name, place in self.layout.fields.items():
            if place.scalar and place.count == 1 and "." not in name:
                value = self[name]
                shown.append(f"{name}={place.names.get(value, value)}")
        return " ".join(shown)
