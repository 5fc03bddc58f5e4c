"""Rules on the form of a student's object file, which guarantee that the kernel it is linked into is still ours.

The linker lets an object do more than define functions: take over a name (weak and common symbols, quoted names that
become code elsewhere), put bytes where others execute or read them (new sections, code among data), or
choose at run time (ifunc, constructors). A compiler makes none of this from plain C, so all of it is refused:

    sections     .text, .data, .bss and .rodata, each with the flags that a compiler gives it
    symbols      strong, with plain names, functions in .text; global ones only as named in lab.toml's `defines`,
                 and the entry of each file that `registers` names
    relocations  of code: calls go to the beginning of a function, in .text
    size         no more of anything than a file of a megabyte can need, since checks take time and memory

In the kernel, the name, the parameters and the hooks of a registered policy or guard are checked.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.enums import ENUM_RELOC_TYPE_i386 as RELOCATIONS

from tidemark.grade.build.elf import (
    ABSOLUTE,
    FILE,
    FUNCTION,
    GLOBAL,
    LOCAL,
    SECTION,
    UNDEFINED,
    Elf,
    Placed,
    Section,
    Symbol,
)
from tidemark.grade.model import Lab

T = TypeVar("T")
PLAIN = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
PLAIN_LOCAL = re.compile(r"[^\W0-9][\w.]*|\.[\w.]*")  # static names may have letters beyond ASCII
READ, WRITE, RUN = SH_FLAGS.SHF_ALLOC, SH_FLAGS.SHF_WRITE, SH_FLAGS.SHF_EXECINSTR
MERGED = SH_FLAGS.SHF_MERGE | SH_FLAGS.SHF_STRINGS
LOADED = {".text": READ | RUN, ".data": READ | WRITE, ".bss": READ | WRITE, ".rodata": READ}
TYPES = ("SHT_NULL", "SHT_PROGBITS", "SHT_NOBITS", "SHT_SYMTAB", "SHT_STRTAB", "SHT_REL")
TYPES_LOADED = ("SHT_PROGBITS", "SHT_NOBITS")
KINDS = ("STT_NOTYPE", "STT_OBJECT", FUNCTION, SECTION, FILE)
OTHERS = re.compile(r"\.(comment|note\.GNU-stack|debug_\w+|rel\.[\w.]+|symtab|strtab|shstrtab|eh_frame)|")
FOLDERS = {"kernel/mm/policy": "policy", "kernel/mm/guard": "guard"}
CALL, ADDRESS = (RELOCATIONS["R_386_PC32"], RELOCATIONS["R_386_PLT32"]), RELOCATIONS["R_386_32"]
# Layout of struct vm_param, and the offset of the pointer to an array of it in struct vm_policy and vm_guard.
WORD, PARAMS, PARAM_SIZE = 4, 12, 24
HOOK = re.compile(r"\(\*(\w+)\)\(")  # in the declaration of struct vm_policy and struct vm_guard
HOOKS = 16  # bytes before the first hook: name, summary, tick_ms, params
HEADER = struct.Struct("<48xH2x")  # of an ELF file: the number of its sections
MOST_BYTES = 64 << 20
MOST_SECTIONS, MOST_LOADED, MOST_CODE, MOST_SYMBOLS, MOST_RELOCATED = 200, 32, 1 << 20, 1 << 20, 4 << 20
MOST_SHOWN = 20  # offences of a kind
BACK = -4  # a call counts from the end of its four bytes


def entry_of(file: str) -> re.Pattern[str]:
    """The pattern of the symbol that VM_POLICY or VM_GUARD defines in a file."""
    path = Path(file)
    return re.compile(rf"vm_{FOLDERS.get(str(path.parent), '')}_in_{re.sub('[-.]', '_', path.stem)}_\w+")


def not_to_be_read(path: Path) -> str:
    """What is wrong with an object file, so that nothing else may read it: it is too large, or malformed; empty if
    nothing is."""
    if large := too_large(path):
        return large
    part = Elf(path)
    try:
        _ = part.symbols, part.relocations
        return ""
    except (ELFError, LookupError, ValueError, struct.error):
        return "tables that no compiler makes"


def too_large(path: Path) -> str:
    """What an object file has too much of; empty if nothing."""
    if path.stat().st_size > MOST_BYTES:
        return f"more than {MOST_BYTES >> 20} MiB: a static array in it is too large"
    header = path.read_bytes()[: HEADER.size]
    if len(header) == HEADER.size and not 0 < HEADER.unpack(header)[0] <= MOST_SECTIONS:
        return f"more than {MOST_SECTIONS} sections"
    try:
        sections = Elf(path).sections
    except (ELFError, LookupError, ValueError, struct.error):
        return "sections that no compiler makes"
    loaded = [section for section in sections if section.is_loaded and section.size]
    counts = {
        "ordinary sections": (len(loaded), MOST_LOADED),
        "bytes of code": (sum(section.size for section in loaded if section.is_code), MOST_CODE),
        "bytes of symbols": (sum(section.size for section in sections if section.name == ".symtab"), MOST_SYMBOLS),
        "bytes to be relocated": (sum(s.size for s in sections if s.name.startswith(".rel.")), MOST_RELOCATED),
    }
    return next((f"more than {most:,} {what}" for what, (count, most) in counts.items() if count > most), "")


def may_define(lab: Lab, file: str, name: str) -> bool:
    """May this file define this global name?"""
    return name in lab.defines or (file in lab.registers and bool(entry_of(file).fullmatch(name)))


def shown(found: Sequence[T], sentence: Callable[[T], str]) -> list[str]:
    """The sentences on the first findings, and how many more there are. To find a symbol's line takes a second."""
    more = len(found) - MOST_SHOWN
    return [*map(sentence, found[:MOST_SHOWN]), *([f"and {more:,} more"] if more > 0 else [])]


def line_with(tree: Path, file: str, pattern: str) -> str:
    """FILE:LINE of the first line with a pattern in a file of the tree; FILE if no line has it."""
    lines = (tree / file).read_text(errors="replace").splitlines() if (tree / file).is_file() else []
    found = next((number for number, line in enumerate(lines, 1) if re.search(pattern, line)), None)
    return f"{file}:{found}" if found else file


def offences(lab: Lab, file: str, part: Elf, place_of: Callable[[str], str] | None = None) -> list[str]:
    """What is wrong with the form of the object of a file, in sentences; empty if nothing is. `place_of`: gives
    FILE:LINE of a symbol."""
    found = [("", text) for text in of_sections(part)]
    found += of_symbols(lab, file, part)
    found += [("", text) for text in of_relocations(part)]
    return shown(
        list(dict.fromkeys(found)),
        lambda each: f"{place_of(each[0]) if each[0] and place_of else file}: {each[1]}",
    )


def of_sections(part: Elf) -> Iterator[str]:
    """Sections that a compiler does not make."""
    named = {symbol.section for symbol in part.symbols if symbol.placed}
    for number, section in enumerate(part.sections):
        kind = "." + section.name.split(".")[1] if section.name.startswith(".") else ""
        if not section.is_loaded:
            if section.kind not in TYPES:
                yield f"it has a section {section.name!r} of a type that no compiler makes ({section.kind})"
            elif not OTHERS.fullmatch(section.name):
                yield f"it has a section {section.name!r}; use no attributes that name sections"
        elif (
            kind not in LOADED
            or section.kind not in TYPES_LOADED
            or section.flags & ~(MERGED if kind == ".rodata" else 0) != LOADED[kind]
        ):
            yield f"it has a section {section.name!r} that is not an ordinary one; use no attributes that name sections"
        elif section.is_code and section.size and number not in named:
            yield f"its section {section.name!r} has code without a name"


def of_symbols(lab: Lab, file: str, part: Elf) -> Iterator[tuple[str, str]]:
    """(symbol, what is wrong): symbols that are weak, common, out of place, oddly named, or not the lab's."""
    files = [symbol.name for symbol in part.symbols if symbol.kind == FILE]
    if files != [Path(file).name]:
        yield "", f"its symbols name {', '.join(files) or 'nothing'} as its source; use no directives of the assembler"
    for symbol in part.symbols:
        if symbol.kind in (FILE, SECTION) or not symbol.name:
            continue
        plain = PLAIN_LOCAL if symbol.binding == LOCAL else PLAIN
        if not plain.fullmatch(symbol.name):
            yield "", f"it has a symbol {symbol.name!r}, which is not a name in C"
        elif symbol.binding not in (LOCAL, GLOBAL):
            yield symbol.name, f"{symbol.name} is weak, or of another binding; a definition must be an ordinary one"
        elif symbol.section == UNDEFINED:
            continue
        elif out_of_place(symbol, part):
            yield symbol.name, f"{symbol.name} {out_of_place(symbol, part)}"
        elif symbol.binding == LOCAL and symbol.name in lab.may_store:
            yield symbol.name, f"{symbol.name} is a name of the kernel's; choose another"
        elif symbol.binding == GLOBAL and not may_define(lab, file, symbol.name):
            yield symbol.name, f"it defines {symbol.name}, which the assignment does not ask for: make it static"
    entries = sum(bool(entry_of(file).fullmatch(s.name)) for s in part.symbols if s.section != UNDEFINED)
    if file in lab.registers and entries != 1:
        yield "", f"it registers {entries} policies or guards, not one"


def out_of_place(symbol: Symbol, part: Elf) -> str:
    """What is wrong with a symbol's place, or with its kind; empty if nothing is."""
    if symbol.section == ABSOLUTE or not isinstance(symbol.section, int):
        return "lies in no section: it is a common variable or a number; compile with the tree's own Makefile"
    section: Section = part.sections[symbol.section]
    if symbol.kind not in KINDS:
        return "is neither a function nor a variable that a compiler makes from plain C"
    if symbol.kind == FUNCTION and not section.is_code:
        return f"is a function in {section.name}"
    if symbol.kind == "STT_OBJECT" and section.is_code:
        return f"is a variable in {section.name}"
    return ""


def of_relocations(part: Elf) -> Iterator[str]:
    """Places that the linker would fill with something other than an address, or calls that miss a function's start."""
    for each in part.relocations:
        code, symbol = part.sections[each.section].is_code, each.symbol
        home = part.sections[symbol.section] if isinstance(symbol.section, int) else None
        if each.kind not in (*CALL, ADDRESS) or (each.kind in CALL and not code):
            yield f"its {part.sections[each.section].name} asks the linker for more than an address (kind {each.kind})"
        elif each.kind in CALL and home is not None and not home.is_code:
            yield f"its code calls {symbol.name or home.name}, which is data"
        elif each.kind in CALL and symbol.section == UNDEFINED and each.addend != BACK:
            yield f"its code calls into the middle of {symbol.name}"


def repeated(names: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def foreign_parameters(kernel: Elf, entry: int, own: Placed) -> Iterator[str]:
    """The parameters of a registered policy or guard whose values are not the file's own variables."""
    at = kernel.word_at(kernel.word_at(entry) + PARAMS)
    while at and kernel.word_at(at):
        value = kernel.word_at(at + WORD)
        if not any(low <= value <= high - WORD for low, high in own.data):
            yield kernel.string_at(kernel.word_at(at))
        at += PARAM_SIZE


def foreign_hooks(
    kernel: Elf, kind: str, entry: int, own: Iterable[Placed], tree: Path, without: Collection[str] = ()
) -> Iterator[tuple[str, str]]:
    """(hook, sentence) for hooks of a registered policy or guard that are not functions of the lab's files, which the
    kernel would call unwatched, and for hooks among the names `without`."""
    text = (tree / f"kernel/include/mm/{kind}.h").read_text().split(f"struct vm_{kind} {{")[1].split("\n};")[0]
    functions = {address for part in own for address, _ in part.functions}
    for number, name in enumerate(HOOK.findall(text)):
        hook = kernel.word_at(kernel.word_at(entry) + HOOKS + WORD * number)
        if hook and hook not in functions:
            yield name, f"its hook {name} is not a function of its own"
        if hook and name in without:
            yield name, f"it has the hook {name}, which this assignment is not about"


def registered_names(kernel: Elf) -> list[tuple[str, str]]:
    """(kind, name) of every policy and guard in a kernel."""
    kinds = ((re.match(r"vm_(policy|guard)_in_", name), address) for name, address in kernel.globals.items())
    return [(kind[1], kernel.string_at(kernel.word_at(kernel.word_at(address)))) for kind, address in kinds if kind]


def registration_offences(tree: Path, lab: Lab, kernel: Elf, own: Mapping[str, Placed]) -> dict[str, list[str]]:
    """By file, sentences on what it registers in the linked kernel, if that differs from the lab's names. Every policy
    and guard must exist once. `own`: places of the files' code and data; `tree`: the tree that built the kernel."""
    found: dict[str, list[str]] = {file: [] for file in lab.registers}
    twice = repeated(registered_names(kernel))
    for file, wanted in lab.registers.items():
        kind, at = FOLDERS[str(Path(file).parent)], partial(line_with, tree, file)
        (entry,) = (value for name, value in kernel.globals.items() if entry_of(file).fullmatch(name))
        said = kernel.string_at(kernel.word_at(kernel.word_at(entry)))
        if said != wanted:
            found[file].append(f"{at(r'[.]name')}: it registers {said!r}; the assignment asks for {wanted!r}")
        if said != wanted and (kind, said) in twice:
            found[file].append(f"{at(r'[.]name')}: {kind} {said!r} is registered twice")
        section = kernel.section_at(kernel.word_at(entry))
        if section is None or section.is_writable:
            changes = "what it registers can be changed while it runs: make the struct const"
            found[file].append(f"{at(rf'struct vm_{kind}')}: {changes}")
        hooks = foreign_hooks(kernel, kind, entry, own.values(), tree, lab.without)
        found[file] += [f"{at(rf'[.]{hook}')}: {text}" for hook, text in hooks]
        for name in foreign_parameters(kernel, entry, own[file]):
            found[file].append(f"{at(re.escape(name))}: its parameter {name} is not a variable of its own")
    return {file: texts for file, texts in found.items() if texts}
