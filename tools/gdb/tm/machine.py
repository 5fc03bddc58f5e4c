"""The machine that gdb is attached to: the kernel's symbols, types and memory. Only this file asks gdb for them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import gdb

from .defines import CR0_PG
from .errors import TmError, Unreadable
from .memory import Field, Layout, Memory, Struct, Variable, View

WITH_MEMBERS = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)


class Machine:
    """The stopped machine, for the duration of one command. Raises TmError if it cannot be queried."""

    def __init__(self) -> None:
        self._kernel = kernel_symbols()
        if not gdb.selected_inferior().pid:
            raise TmError("no machine is attached: run `make qemu-gdb` in another terminal, then `connect 1234` here")
        self.memory = Memory(fetch)
        self._layouts: dict[str, Layout] = {}
        self._enums: dict[str, dict[int, str]] = {}
        self._sources: dict[int, Source] = {}
        self._scope = self._symbol("kernel_main").symtab.static_block()
        if not int(gdb.parse_and_eval("$cr0")) & CR0_PG:
            raise TmError("the kernel has not started: paging is still off; `break kernel_main` and `continue` first")

    def _symbol(self, name: str, beside: str = "") -> gdb.Symbol:
        """A global symbol, or a static symbol of the file that defines the global function `beside`."""
        if not beside:
            found = self._kernel.lookup_global_symbol(name)
        else:
            block = self._symbol(beside).symtab.static_block()
            found = next((symbol for symbol in block if symbol.name == name and symbol.is_variable), None)
        if not found:
            raise TmError(f"the kernel has no symbol {name}: is build/tidemark.elf the kernel that runs?")
        return found

    def address(self, name: str, beside: str = "") -> int:
        """The address of a variable. If it is static, `beside` names a global function of the same file."""
        place = self._symbol(name, beside).value().address
        if place is None:
            raise TmError(f"the compiler has removed the kernel's variable {name}")
        return int(place)

    def number(self, name: str, beside: str = "") -> int:
        """The value of a variable that is a number or a pointer."""
        kind = self._symbol(name, beside).type.strip_typedefs()
        return self.memory.number(self.address(name, beside), kind.sizeof)

    def variable(self, name: str, beside: str = "") -> View:
        """A variable that is a structure, or the first element of an array of them."""
        kind = self._symbol(name, beside).type.strip_typedefs()
        while kind.code == gdb.TYPE_CODE_ARRAY:
            kind = kind.target().strip_typedefs()
        return View(self.memory, layout_of(kind), self.address(name, beside))

    def layout(self, name: str) -> Layout:
        """The layout of a type, such as `struct page`."""
        if name not in self._layouts:
            self._layouts[name] = layout_of(gdb.lookup_type(name, self._scope))
        return self._layouts[name]

    def view(self, type_name: str, address: int) -> View:
        """The structure at an address."""
        return View(self.memory, self.layout(type_name), address)

    def containing(self, type_name: str, member: str, address: int) -> View:
        """The structure whose member lies at an address: container_of."""
        return self.view(type_name, address - self.layout(type_name).fields[member].offset)

    def enum(self, name: str) -> dict[int, str]:
        """The constants of an enum, by value."""
        if name not in self._enums:
            constants = gdb.lookup_type(f"enum {name}", self._scope).fields()
            self._enums[name] = {constant.enumval: constant.name for constant in constants}
        return self._enums[name]

    def source(self, function: int) -> Source:
        """The file that defines the function at an address."""
        if function not in self._sources:
            self._sources[function] = Source(function)
        return self._sources[function]


def kernel_symbols() -> gdb.Objfile:
    """The file with the kernel's symbols."""
    for objfile in gdb.objfiles():
        if objfile.lookup_global_symbol("kernel_main"):
            return objfile
    raise TmError("the kernel's symbols are not loaded: `file build/tidemark.elf`")


def fetch(address: int, length: int) -> bytes:
    """Bytes of the guest."""
    try:
        return bytes(gdb.selected_inferior().read_memory(address, length))
    except gdb.MemoryError:
        raise Unreadable(address) from None


def layout_of(kind: gdb.Type) -> Layout:
    """A type's members, including those of inner structures."""
    kind = kind.strip_typedefs()
    return Layout(kind.sizeof, dict(members(kind, "", 0)))


def members(kind: gdb.Type, prefix: str, base: int) -> Iterator[tuple[str, Field]]:
    """Name and place of each member; members of a nameless inner structure count as the outer one's."""
    for member in kind.fields():
        inner, offset = member.type.strip_typedefs(), base + member.bitpos // 8
        if member.name:
            place = field_of(inner, offset)
            yield prefix + member.name, bit_field(place, member) if member.bitsize else place
        if inner.code in WITH_MEMBERS:
            yield from members(inner, f"{prefix}{member.name}." if member.name else prefix, offset)


def bit_field(place: Field, member: gdb.Field) -> Field:
    """The place of a bit field, in the fewest bytes that hold it."""
    shift = member.bitpos % 8
    return replace(place, size=-(-(shift + member.bitsize) // 8), signed=False, bits=member.bitsize, shift=shift)


def field_of(kind: gdb.Type, offset: int = 0) -> Field:
    """The place of a member; for an array its elements, for one of several dimensions the innermost elements."""
    kind, whole = kind.strip_typedefs(), kind.sizeof
    while kind.code == gdb.TYPE_CODE_ARRAY:
        kind = kind.target().strip_typedefs()
    count = whole // kind.sizeof if kind.sizeof else 0
    if kind.code in WITH_MEMBERS:
        return Field(offset, kind.sizeof, count, False, False, kind.tag or "", layout_of(kind))
    names = {c.enumval: c.name for c in kind.fields()} if kind.code == gdb.TYPE_CODE_ENUM else {}
    return Field(offset, kind.sizeof, count, is_signed(kind), names=names)


def is_signed(kind: gdb.Type) -> bool:
    """Are its values signed numbers? (gdb's own answer, Type.is_signed, is newer than gdb 11.)"""
    return kind.code == gdb.TYPE_CODE_INT and int(gdb.Value(-1).cast(kind)) < 0


class Source:
    """A source file of the kernel: its variables, and the structures declared in it or in a header of the same folder,
    both in order of their lines."""

    def __init__(self, function: int) -> None:
        """The file that is compiled into the function at an address. (A function defined in a header has the header as
        its file, so the name is that of the .c file among the files of all symbols.)"""
        block = gdb.block_for_pc(function)
        if block is None:
            raise TmError(f"no source is known for the function at {function:#x}")
        symbols = sorted([*block.static_block, *block.global_block], key=lambda s: s.line)
        self.file: str = next(s.symtab.filename for s in symbols if s.symtab.filename.endswith(".c"))
        self.variables = [
            Variable(s.name, int(s.value().address), field_of(s.type))
            for s in symbols
            if s.is_variable and s.addr_class == gdb.SYMBOL_LOC_STATIC
        ]
        structs = [s for s in symbols if s.addr_class == gdb.SYMBOL_LOC_TYPEDEF and is_struct(s.type)]
        self.structs = [Struct(s.name, layout_of(s.type)) for s in structs if self._is_beside(s.symtab.filename)]

    def _is_beside(self, file: str) -> bool:
        return os.path.dirname(file) == os.path.dirname(self.file)


def is_struct(kind: gdb.Type) -> bool:
    """Is it a structure itself, not a typedef of one?"""
    return kind.code == gdb.TYPE_CODE_STRUCT
