"""Rules on what a student's object files may contain, without which evidence taken from outside could not be trusted.

A policy decides which page to evict. It has no need to reach into the rest of the kernel, to use devices, or to
run before its hooks are called. These are checked in the object file, where no trick of the preprocessor counts:

    symbols       the file uses only what lab.toml's may_use lists, names or groups such as [policy], and its own files
    form          it defines only what lab.toml names, in ordinary sections (tidemark.grade.build.object_form)
    instructions  none that only the machine-dependent part of a kernel needs: ports, interrupts, control registers

The text from which the object of a policy or a guard was compiled has no assembly (tidemark.grade.build.plain_c).

The plugin watches at run time what a wild pointer can still do (tidemark.grade.witness.evidence: breaches).
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache, lru_cache, partial
from pathlib import Path

from tidemark.errors import BAD_INPUT, NO_TOOL, LabError
from tidemark.grade.build import object_form, plain_c
from tidemark.grade.build.elf import Elf, place
from tidemark.grade.build.object_form import not_to_be_read
from tidemark.grade.build.workspace import compiler
from tidemark.grade.model import Lab
from tidemark.machine import qemu

Offences = dict[str, list[str]]  # sentences by file


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


TREE = words("rb_insert_color rb_erase rb_first rb_last rb_next rb_prev rb_check")
ARITHMETIC = words("__divdi3 __moddi3 __divmoddi4 __udivdi3 __umoddi3 __udivmoddi4")
SAYING = words("printk snprintf scnprintf vsnprintf seq_printf seq_puts seq_putc show_u64 panic")
COPYING = words("memcpy memmove memset")  # the compiler calls them, too, even if no file does
COMPARING = words("memcmp strlen strcmp strncmp")
MEMORY = words("kmalloc kzalloc kfree")
DRAWING = words("mix64")
SEAM = words("""
    max_pfn mem_map page_referenced page_young page_dirty page_is_file page_is_mapped page_is_executable page_id_of
    page_vpn page_trap page_mm policy_mm vm_eligible vm_now mm_vtime mm_sleeps mm_demand mm_rss vm_frames vm_slots
    vm_future vm_next_mm vm_prepage vm_tick_after
""")
GHOSTS = words("ghosts_init ghosts_exit ghost_find ghost_add ghost_drop")
# Symbols that a compiler adds for the sanitizers, and in programs of the host, whose code can lie anywhere. Not all
# symbols of the sanitizers: some print any text, where the program itself prints the results of the student's code.
SANITIZERS = re.compile(
    r"__asan_(init|version_mismatch_check_v\d+|report_(load|store)\w+|(un)?register_(elf_)?globals|handle_no_return"
    r"|stack_(malloc|free)_\w+|(un)?poison_stack_memory|allocas?_(un)?poison|set_shadow_\w+"
    r"|option_detect_stack_use_after_return)"
    r"|__ubsan_handle_\w+|_GLOBAL_OFFSET_TABLE_|__(start|stop)_asan\w*"
)
# Sections with code that runs before or after main. Those of the sanitizers have one address each, of priority 99;
# older cross compilers of Ubuntu count priorities down from 65535.
STARTING = re.compile(r"\.(preinit_array|(init|fini)_array|ctors|dtors|init|fini)(\..*)?")
SANITIZERS_OWN = (".init_array.00099", ".fini_array.00099", ".ctors.65436", ".dtors.65436")
TWIN = "__odr_asan."  # before a global variable's name: a second symbol with which duplicates are detected
THUNKS = tuple(f"__x86.get_pc_thunk.{register}" for register in ("ax", "bx", "cx", "dx", "si", "di", "bp"))
GUARDS = words("""
    mm_touched mm_pid vm_idle vm_free vm_queued vm_next_page vm_hint vm_demote vm_prefetch vm_prepage_some vm_make_room
    guard_mm
""")
GROUPS = {
    "[library]": TREE | ARITHMETIC | SAYING | COPYING | COMPARING,
    "[policy]": TREE | ARITHMETIC | SAYING | COPYING | DRAWING | MEMORY | SEAM | GHOSTS,
    "[guard]": TREE | ARITHMETIC | SAYING | COPYING | DRAWING | MEMORY | SEAM | GHOSTS | GUARDS,
}
# Forbidden by the name of the instruction, and by the registers among its operands. Newer QEMUs do not report stores of
# the floating-point and vector units; in a program of the host, %fs and %gs lead to the system.
PREFIXES = words("""
    lock rep repe repz repne repnz data16 data32 addr16 addr32 cs ds es fs gs ss bnd notrack xacquire xrelease
""")
FORBIDDEN = re.compile(
    r"in[bwl]?|out[bwl]?|(ins|outs)[bwl]?|cli|sti|hlt|[ls][gi]dt[lw]?|lldt|ltr|lmsw|clts|invlpg|invd|wbinvd|wrmsr|rdmsr"
    r"|int3?|into|icebp|iret[lw]?|sysenter|sysexit|syscall|popf[lw]?|l(jmp|call|ret)[lw]?|f[a-z0-9]+|xsave\w*|xrstor\w*"
)
REGISTERS = re.compile(r"%(cr|db|dr)\d|%[xy]?mm\d|%[fg]s\b")
TOOL_S, TOOL_BYTES = 60, 1 << 30  # of nm and objdump: processor time, memory
SECTION_LINE = re.compile(r"Disassembly of section (.+):")
FUNCTION_LINE = re.compile(r"[0-9a-f]+ <(.+)>:")
SOURCE_LINE = re.compile(r"(?:inlined by )?(.+?):(\d+)(?: \(.*\))?")


@cache
def binutils(name: str) -> str:
    """The program nm or objdump of the kernel's compiler, or this machine's. Raises LabError if there is none."""
    asked = [*compiler(), f"-print-prog-name={name}"]
    found = subprocess.run(asked, cwd=qemu.ROOT, capture_output=True, text=True).stdout.strip()
    path = shutil.which(found)
    if not path:
        raise LabError(f"grading reads code by {name}, which is not installed: install binutils", NO_TOOL)
    return path


def listed(*command: str, tree: Path) -> list[str]:
    """The lines that a tool prints about an object, the last word; it is asked once for each version of the object."""
    status = (tree / command[-1]).stat()
    return list(listed_once(command, tree, (status.st_mtime_ns, status.st_ino)))


@lru_cache(maxsize=64)
def listed_once(command: Sequence[str], tree: Path, version: tuple[int, int]) -> tuple[str, ...]:
    """As listed, for the object's version: its date and inode. Limits hold, since debug information can be odd, too."""
    limited = ["prlimit", f"--cpu={TOOL_S}", f"--data={TOOL_BYTES}", *command]
    made = subprocess.run(limited, cwd=tree, capture_output=True, text=True, errors="replace")
    return tuple(made.stdout.splitlines())


def objects(lab: Lab) -> tuple[str, ...]:
    """The object files of the student's sources, relative to the tree."""
    return tuple("build/" + str(Path(file).with_suffix(".o")) for file in lab.files if file.endswith((".c", ".S")))


def symbols_allowed(lab: Lab) -> set[str]:
    """All symbols that may_use allows."""
    allowed: set[str] = set()
    for word in lab.may_use:
        if word.startswith("[") and word not in GROUPS:
            raise LabError(f"{lab.folder}: may_use: no group {word}; there are {', '.join(GROUPS)}", BAD_INPUT)
        allowed |= GROUPS.get(word, {word})
    return allowed


def offences(tree: Path, lab: Lab) -> Offences:
    """The rules that the student's objects violate, as sentences, by file; empty if none."""
    files = {name: source_of(lab, name) for name in objects(lab)}
    if large := {file: [f"{file} has {said}"] for name, file in files.items() if (said := not_to_be_read(tree / name))}:
        return large
    found = {
        file: [
            *symbol_offences(tree, lab, name, objects(lab)),
            *assembly_offences(tree, lab, name),
            *object_form.offences(lab, file, Elf(tree / name), partial(line_of_symbol, tree, file, name)),
            *instruction_offences(tree, file, name),
        ]
        for name, file in files.items()
    }
    return {file: said for file, said in found.items() if said}


def kernel_offences(tree: Path, lab: Lab) -> Offences:
    """Violations in the linked kernel, by file: forbidden registrations, or a part of a student's object that cannot be
    found there."""
    kernel = Elf(tree / qemu.KERNEL)
    own, lost = {}, {}
    for name in objects(lab):
        try:
            own[source_of(lab, name)] = place(kernel, Elf(tree / name))
        except LabError as error:
            lost[source_of(lab, name)] = [str(error)]
    return lost or object_form.registration_offences(tree, lab, kernel, own)


def host_offences(tree: Path, lab: Lab, name: str) -> list[str]:
    """As `offences`, for an object of a program on the host, which is built with the sanitizers; these add code and
    symbols of their own. The object must not be able to print the program's results itself: it may define only names of
    the lab, and nothing in it may run before it is called.
    """
    if large := not_to_be_read(tree / name):
        return [f"{source_of(lab, name)} has {large}"]
    found = assembly_offences(tree, lab, name) + symbol_offences(tree, lab, name)
    file = source_of(lab, name)
    more = [
        symbol
        for symbol in sorted(symbols(tree, name)[0])
        if not object_form.may_define(lab, file, symbol.removeprefix(TWIN)) and symbol not in THUNKS
    ]
    found += object_form.shown(more, lambda symbol: f"{file} defines {symbol}, which the assignment does not ask for")
    for section in Elf(tree / name).sections:
        if STARTING.fullmatch(section.name) and not (section.name in SANITIZERS_OWN and section.size == 4):
            found.append(f"{source_of(lab, name)} has code that runs without a call: a section {section.name!r}")
    return found + instruction_offences(tree, source_of(lab, name), name)


def assembly_offences(tree: Path, lab: Lab, name: str) -> list[str]:
    """Assembly in the text from which a policy's or a guard's object was compiled."""
    return plain_c.offences(tree, name, lab.files) if source_of(lab, name) in lab.registers else []


def symbol_offences(tree: Path, lab: Lab, name: str, linked: Sequence[str] = ()) -> list[str]:
    """Symbols that an object uses, but may not. It may use what the objects `linked` define."""
    known = symbols_allowed(lab).union(*(symbols(tree, each)[0] for each in linked))
    unknown = [symbol for symbol in sorted(symbols(tree, name)[1] - known) if not SANITIZERS.fullmatch(symbol)]
    return object_form.shown(
        unknown,
        lambda symbol: (
            f"{line_of_symbol(tree, source_of(lab, name), name, symbol)} uses {symbol}, "
            "which is not among what this assignment may use"
        ),
    )


def source_of(lab: Lab, name: str) -> str:
    """The file that an object is made from."""
    return next(file for file in lab.files if Path(file).stem == Path(name).stem)


def symbols(tree: Path, name: str) -> tuple[set[str], set[str]]:
    """(defined, undefined) global symbols of an object file."""
    lines = [line.split() for line in listed(binutils("nm"), "-g", name, tree=tree)]
    undefined = {words[-1] for words in lines if len(words) > 1 and words[-2] in "Uvw"}
    return {words[-1] for words in lines if words} - undefined, undefined


def line_of_symbol(tree: Path, file: str, name: str, symbol: str) -> str:
    """FILE:LINE at which a student's file first uses a symbol, or defines it; FILE if no line is known."""
    for line in listed(binutils("nm"), "-l", name, tree=tree):
        words, _, where = line.partition("\t")
        path, _, number = where.rpartition(":")
        if words.split()[-1:] == [symbol] and path.endswith(file) and number.isdigit():
            return f"{file}:{number}"
    return object_form.line_with(tree, file, rf"\b{re.escape(symbol)}\b")


def disassembled(tree: Path, name: str, *options: str) -> list[str]:
    """The lines of objdump for the code of an object."""
    return listed(binutils("objdump"), "-d", "--no-show-raw-insn", *options, name, tree=tree)


def mnemonic(instruction: str) -> str:
    """The name of an instruction, without its prefixes and operands."""
    return next((word for word in instruction.split() if word not in PREFIXES), "")


def is_forbidden(instruction: str) -> bool:
    """Is the instruction for the kernel's lower parts only? Names of the student, shown as <name>, do not count."""
    return bool(FORBIDDEN.fullmatch(mnemonic(instruction)) or REGISTERS.search(instruction.partition("<")[0]))


def line_of(tree: Path, file: str, name: str, section: str, address: str) -> str:
    """FILE:LINE of an instruction in a student's file, even within inlined code; FILE if no line is known."""
    stop = f"--stop-address={int(address, 16) + 1:#x}"
    lines = disassembled(tree, name, "-l", "--inlines", "-j", section, f"--start-address=0x{address}", stop)
    places = filter(None, map(SOURCE_LINE.fullmatch, lines))
    return next((f"{file}:{place[2]}" for place in places if place[1].endswith(file)), file)


def instruction_offences(tree: Path, file: str, name: str) -> list[str]:
    """Each kind of forbidden instruction in the object of a file once, with its function and its line."""
    found: dict[str, str] = {}
    section = function = "?"
    for line in disassembled(tree, name):
        if place := SECTION_LINE.fullmatch(line):
            section = place[1]
        elif place := FUNCTION_LINE.fullmatch(line):
            function = place[1]
        address, _, instruction = line.strip().partition(":\t")
        if is_forbidden(instruction) and mnemonic(instruction) not in found:
            where = line_of(tree, file, name, section, address)
            found[mnemonic(instruction)] = f"{where}: {function} executes `{' '.join(instruction.split())}`"
    return [f"{text}, which only the kernel's lower parts may do" for text in found.values()]
