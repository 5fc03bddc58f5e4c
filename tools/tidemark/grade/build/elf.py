"""Where the parts of an object file lie in the kernel that it was linked into.

The linker keeps an object's local symbols together and in their order, and global names occur once. So an object's
symbols are found again in the kernel, and one symbol tells where the section that holds it begins. How long a section
is, the object says itself: unlike a symbol's size, the code in it has no say in that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from tidemark.errors import BAD_INPUT, LabError

SYMTAB = 2  # a section's type
WRITABLE, ALLOCATED, CODE = 1, 2, 4  # its flags
LOCAL, GLOBAL = 0, 1  # a symbol's binding
SECTION, FILE, FUNCTION = 3, 4, 2  # its type
ABSOLUTE, UNDEFINED = 0xFFF1, 0

SECTION_WORDS = ("name", "type", "flags", "address", "offset", "size", "link", "info", "align", "entry")
SECTIONS = np.dtype([(word, "<u4") for word in SECTION_WORDS])
SYMBOLS = np.dtype(
    [("name", "<u4"), ("value", "<u4"), ("size", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2")]
)


@dataclass(frozen=True)
class Symbol:
    """`value`: an address in the kernel, an offset in an object's section, which is numbered `section`."""

    name: str
    value: int
    size: int
    kind: int
    binding: int
    section: int

    @property
    def placed(self) -> bool:
        """Does it name a place in a section?"""
        return self.section not in (UNDEFINED, ABSOLUTE) and self.kind not in (SECTION, FILE)


class Elf:
    """A file in the form ELF32, little-endian: a kernel or an object of it. LabError when it is something else."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._bytes = path.read_bytes()
        except OSError as error:
            raise LabError(f"{path}: {error.strerror}; `make` builds it", BAD_INPUT) from None
        if self._bytes[:6] != b"\x7fELF\1\1":
            raise LabError(f"{path} is no object file for i386", BAD_INPUT)
        start, number = (int.from_bytes(self._bytes[at : at + size], "little") for at, size in ((32, 4), (48, 2)))
        self.sections = np.frombuffer(self._bytes, SECTIONS, number, start)

    def text(self, offset: int) -> str:
        """The string that begins there in the file."""
        return self._bytes[offset : self._bytes.index(0, offset)].decode("utf-8", "replace")

    @cached_property
    def symbols(self) -> list[Symbol]:
        """All symbols, in order: the local ones first."""
        found = []
        for table in self.sections[self.sections["type"] == SYMTAB]:
            names = int(self.sections["offset"][table["link"]])
            rows = np.frombuffer(self._bytes, SYMBOLS, table["size"] // SYMBOLS.itemsize, table["offset"])
            for name, value, size, info, _, section in rows.tolist():
                found.append(Symbol(self.text(names + name), value, size, info & 15, info >> 4, section))
        return found

    def locals(self) -> list[Symbol]:
        """Local symbols that the linker keeps: names of places and, before an object's, of its source file."""
        local = [
            symbol for symbol in self.symbols if symbol.binding == LOCAL and (symbol.placed or symbol.kind == FILE)
        ]
        return [symbol for symbol in local if not symbol.name.startswith(".L")]

    @cached_property
    def globals(self) -> dict[str, int]:
        """The values of global symbols."""
        return {s.name: s.value for s in self.symbols if s.binding == GLOBAL and s.section != UNDEFINED}

    def string_at(self, address: int) -> str:
        """A string in memory, by its address; empty where the file holds nothing for it."""
        for section in self.sections:
            within = address - int(section["address"])
            if section["flags"] & ALLOCATED and 0 <= within < section["size"]:
                return self.text(int(section["offset"]) + within)
        return ""


def shape(symbols: list[Symbol]) -> list[tuple[str, int, int]]:
    """What of symbols is the same before and after linking."""
    return [(symbol.name, symbol.size, symbol.kind) for symbol in symbols]


def anchors(kernel: Elf, part: Elf) -> list[tuple[Symbol, int]]:
    """Symbols of an object with the addresses that the kernel gives them. LabError when they are not there."""
    own, all_locals = part.locals(), kernel.locals()
    wanted, there = shape(own), [*shape(all_locals), ("", 0, FILE)]
    found = []
    if any(symbol.placed for symbol in own):
        ends = [at for at, symbol in enumerate(there) if symbol[2] == FILE]
        starts = [at - len(own) for at in ends if at >= len(own) and there[at - len(own) : at] == wanted]
        if len(starts) != 1:
            raise LabError(f"{part.path} is not in {kernel.path} once, but {len(starts)} times: run `make`", BAD_INPUT)
        found = [(symbol, all_locals[starts[0] + at].value) for at, symbol in enumerate(own) if symbol.placed]
    for symbol in part.symbols:
        if symbol.placed and symbol.binding == GLOBAL and symbol.name in kernel.globals:
            found.append((symbol, kernel.globals[symbol.name]))
    return found


@dataclass(frozen=True)
class Placed:
    """An object in the kernel: ranges of addresses (the second is the first one behind) of its code and of the data
    that it may write; its functions by address, and the addresses of all its symbols.
    """

    code: tuple[tuple[int, int], ...]
    data: tuple[tuple[int, int], ...]
    functions: tuple[tuple[int, str], ...]
    addresses: dict[str, int]


def place(kernel: Elf, part: Elf) -> Placed:
    """Find an object in the kernel. LabError when it is not there, or has code that no symbol names."""
    found = anchors(kernel, part)
    starts = {symbol.section: address - symbol.value for symbol, address in found}
    code, data = [], []
    for number, section in enumerate(part.sections):
        if not section["flags"] & ALLOCATED or not section["size"] or not section["flags"] & (CODE | WRITABLE):
            continue
        if number in starts:
            ranges = code if section["flags"] & CODE else data
            ranges.append((starts[number], starts[number] + int(section["size"])))
        elif section["flags"] & CODE:
            raise LabError(f"{part.path} has code without a name, so that it cannot be watched", BAD_INPUT)
    functions = sorted((address, symbol.name) for symbol, address in found if symbol.kind == FUNCTION)
    return Placed(tuple(code), tuple(data), tuple(functions), {symbol.name: address for symbol, address in found})
