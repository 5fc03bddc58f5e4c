"""The place of an object file's parts in the kernel that it was linked into.

The linker keeps an object's local symbols together and in their order, and global names occur once. So an object's
symbols can be found in the kernel, and one symbol tells where its section begins. The length of a section comes from
the object's headers: unlike a symbol's size, the code in it cannot influence that.
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.enums import ENUM_ST_INFO_BIND, ENUM_ST_INFO_TYPE, ENUM_ST_SHNDX
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from tidemark.errors import BAD_INPUT, LabError

# Names in pyelftools of a symbol's binding, of its type, and of the section of a symbol without one.
LOCAL, GLOBAL = "STB_LOCAL", "STB_GLOBAL"
SECTION, FILE, FUNCTION = "STT_SECTION", "STT_FILE", "STT_FUNC"
UNDEFINED, ABSOLUTE = "SHN_UNDEF", "SHN_ABS"
ENTRY = struct.Struct("<IIIBBH")  # an entry of a symbol table
FIRST_RESERVED = 0xFF00  # section numbers from here on have special meanings
TYPES = {number: name for name, number in ENUM_ST_INFO_TYPE.items()}
BINDINGS = {number: name for name, number in ENUM_ST_INFO_BIND.items()}
SECTIONS = {number: name for name, number in ENUM_ST_SHNDX.items()}


@dataclass(frozen=True)
class Section:
    """A section: its name, type and flags, its place in memory and in the file; `in_file`: the file holds
    its bytes."""

    name: str
    kind: str
    flags: int
    address: int
    offset: int
    size: int
    in_file: bool

    @property
    def is_loaded(self) -> bool:
        """Does the section take room in memory?"""
        return bool(self.flags & SH_FLAGS.SHF_ALLOC)

    @property
    def is_code(self) -> bool:
        """Can the section be executed?"""
        return bool(self.flags & SH_FLAGS.SHF_EXECINSTR)

    @property
    def is_writable(self) -> bool:
        """Can the section be written to?"""
        return bool(self.flags & SH_FLAGS.SHF_WRITE)


@dataclass(frozen=True)
class Symbol:
    """A symbol. `value`: an address in the kernel, or an offset in an object's section number `section` (or UNDEFINED,
    ABSOLUTE)."""

    name: str
    value: int
    size: int
    kind: str
    binding: str
    section: int | str

    @property
    def placed(self) -> bool:
        """Does the symbol name a place in a section?"""
        return self.section not in (UNDEFINED, ABSOLUTE) and self.kind not in (SECTION, FILE)


def symbol_of(names: bytes, name: int, value: int, size: int, info: int, other: int, section: int) -> Symbol:
    """The symbol of an entry of a symbol table. pyelftools reads them, too, but takes three times as long."""
    text = names[name : names.find(0, name)].decode("utf-8", "replace")
    place = section if 0 < section < FIRST_RESERVED else SECTIONS.get(section, f"section {section:#x}")
    return Symbol(text, value, size, TYPES.get(info & 15, f"type {info & 15}"), BINDINGS.get(info >> 4, ""), place)


@dataclass(frozen=True)
class Relocation:
    """A place (offset `at` in section number `section`) that the linker fills in with the address of `symbol` plus
    `addend`; `kind` says how (R_386_32 is 1)."""

    section: int
    at: int
    kind: int
    symbol: Symbol
    addend: int


class Elf:
    """A little-endian ELF32 file: a kernel or one of its objects. Raises LabError if it is something else."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._bytes = path.read_bytes()
        except OSError as error:
            raise LabError(f"{path}: {error.strerror}; `make` builds it", BAD_INPUT) from None
        try:
            self._file = ELFFile(io.BytesIO(self._bytes))
        except ELFError:
            raise self._not_ours() from None
        if self._file.elfclass != 32 or not self._file.little_endian:
            raise self._not_ours()

    def _not_ours(self) -> LabError:
        return LabError(f"{self.path} is not an object file for i386", BAD_INPUT)

    @cached_property
    def sections(self) -> list[Section]:
        """All sections, by their numbers."""
        return [
            Section(
                each.name,
                str(each["sh_type"]),
                each["sh_flags"],
                each["sh_addr"],
                each["sh_offset"],
                each["sh_size"],
                each["sh_type"] != "SHT_NOBITS",
            )
            for each in self._file.iter_sections()
        ]

    @cached_property
    def symbols(self) -> list[Symbol]:
        """All symbols, in order: the local ones first."""
        found = []
        for table in self._file.iter_sections():
            if isinstance(table, SymbolTableSection):
                data, names = table.data(), table.stringtable.data()
                found += [symbol_of(names, *each) for each in ENTRY.iter_unpack(data[: len(data) & -ENTRY.size])]
        return found

    def locals(self) -> list[Symbol]:
        """Local symbols that the linker keeps: names of places, and before each object's its source file."""
        local = [
            symbol for symbol in self.symbols if symbol.binding == LOCAL and (symbol.placed or symbol.kind == FILE)
        ]
        return [symbol for symbol in local if not symbol.name.startswith(".L")]

    @cached_property
    def globals(self) -> dict[str, int]:
        """The values of global symbols."""
        return {s.name: s.value for s in self.symbols if s.binding == GLOBAL and s.section != UNDEFINED}

    @cached_property
    def relocations(self) -> list[Relocation]:
        """The relocations of an object in loaded sections."""
        found = []
        for table in self._file.iter_sections():
            if not isinstance(table, RelocationSection) or not self.sections[table["sh_info"]].is_loaded:
                continue
            base = self.sections[table["sh_info"]].offset
            for each in table.iter_relocations():
                at = base + each["r_offset"]
                addend = int.from_bytes(self._bytes[at : at + 4], "little", signed=True)
                symbol = self.symbols[each["r_info_sym"]]
                found.append(Relocation(table["sh_info"], each["r_offset"], each["r_info_type"], symbol, addend))
        return found

    def section_at(self, address: int) -> Section | None:
        """The section of a kernel that holds an address; None unless the file holds bytes for it."""
        inside = (s for s in self.sections if s.is_loaded and s.in_file and 0 <= address - s.address < s.size)
        return next(inside, None)

    def word_at(self, address: int) -> int:
        """A word in memory, by its address; 0 if the file holds no bytes for it."""
        section = self.section_at(address)
        start = section.offset + address - section.address if section else len(self._bytes)
        return int.from_bytes(self._bytes[start : start + 4], "little")

    def string_at(self, address: int) -> str:
        """A string in memory, by its address; empty if the file holds no bytes for it."""
        section = self.section_at(address)
        if not section:
            return ""
        start = section.offset + address - section.address
        return self._bytes[start : self._bytes.index(0, start)].decode("utf-8", "replace")


def shape(symbols: list[Symbol]) -> list[tuple[str, int, str]]:
    """The properties of symbols that linking does not change."""
    return [(symbol.name, symbol.size, symbol.kind) for symbol in symbols]


def anchors(kernel: Elf, part: Elf) -> list[tuple[Symbol, int]]:
    """The placed symbols of the object `part`, each with its address in `kernel`. Raises LabError if the kernel does
    not contain the object exactly once."""
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
    """An object in the kernel: address ranges [begin, end) of its code and of its writable data; its functions by
    address, and the addresses of all its symbols.
    """

    code: tuple[tuple[int, int], ...]
    data: tuple[tuple[int, int], ...]
    functions: tuple[tuple[int, str], ...]
    addresses: dict[str, int]


def place(kernel: Elf, part: Elf) -> Placed:
    """Find an object in the kernel. Raises LabError if it is missing, or has code that no symbol names."""
    found = anchors(kernel, part)
    starts = {symbol.section: address - symbol.value for symbol, address in found}
    code: list[tuple[int, int]] = []
    data: list[tuple[int, int]] = []
    for number, section in enumerate(part.sections):
        if not section.is_loaded or not section.size or not (section.is_code or section.is_writable):
            continue
        if number in starts:
            ranges = code if section.is_code else data
            ranges.append((starts[number], starts[number] + section.size))
        elif section.is_code:
            raise LabError(f"{part.path} has code without a name, which cannot be watched", BAD_INPUT)
    functions = sorted((address, symbol.name) for symbol, address in found if symbol.kind == FUNCTION)
    return Placed(tuple(code), tuple(data), tuple(functions), {symbol.name: address for symbol, address in found})
