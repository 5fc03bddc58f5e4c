"""Object files that no compiler makes from plain C are refused, before anything is linked."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from grading import solution
from tidemark.grade.build import object_form, object_rules
from tidemark.grade.build.elf import Elf, place
from tidemark.grade.build.workspace import compiler
from tidemark.grade.intake import lab
from tidemark.machine import qemu

pytestmark = pytest.mark.graded

FIFO = "kernel/mm/policy/fifo.c"

FLAGS = (
    "-std=gnu11 -march=i686 -O2 -g -fno-pie -mregparm=3 -ffreestanding -fno-stack-protector -fno-omit-frame-pointer "
    "-fno-asynchronous-unwind-tables -fno-strict-aliasing -w -Ikernel/include -DVM_FILE=fifo"
)
FORMS = {
    "honest": ("", ""),
    "weak definition": ("__attribute__((weak)) u32 vm_frames(void) { return 1; }", "vm_frames is weak"),
    "weak reference": (
        "__attribute__((weak)) void machine_exit(int); void *exit_of(void) { return machine_exit; }",
        "machine_exit is weak",
    ),
    "common": ("int cap __attribute__((common));", "cap lies in no section"),
    "quoted name": (
        'static int injected __asm__("\\"x y\\"") = 1; int *at(void) { return &injected; }',
        "which is not a name in C",
    ),
    "function in data": (
        '__attribute__((section(".data#"))) void f(void) {}',
        "not an ordinary one|is a function in .data",
    ),
    "variable in text": (
        'static const u8 f[2] __attribute__((section(".text#"), used)) = { 0xC3, 0 };',
        "is a variable in .text",
    ),
    "call of data": ('u32 d; void (*g)(void); __asm__("call d");', "calls d, which is data|calls .bss"),
    "call of constants": (
        "static const u8 code[] = { 0xC3 }; static __attribute__((used)) void f(void) { ((void (*)(void))code)(); }",
        "calls .rodata, which is data",
    ),
    "section of its own": ('static int f __attribute__((section(".ktests"), used)) = 1;', "section '.ktests'"),
    "parameters": ('static int f __attribute__((section(".params"), used)) = 1;', "section '.params'"),
    "exceptions": ('__asm__(".pushsection __ex_table, \\"a\\"; .long 1, 2; .popsection");', "section '__ex_table'"),
    "code without a name": (
        '__asm__(".pushsection .text.x, \\"ax\\"; nop; .popsection");',
        "'.text.x' has code without a name",
    ),
    "writable code": ('__asm__(".pushsection .text.x, \\"awx\\"; y: nop; .popsection");', "not an ordinary one"),
    "constructor": ("__attribute__((constructor)) static void f(void) { vm_now(); }", "section '.init_array'"),
    "absolute": ('__asm__(".globl vm_frames; .set vm_frames, 0xC0100000");', "vm_frames lies in no section"),
    "ifunc": (
        'void *r(void) { return 0; } __asm__(".type f, @gnu_indirect_function; .globl f; .set f, r");',
        "f is neither a function nor a variable",
    ),
    "unique": ('__asm__(".data; .type u, @gnu_unique_object; u: .long 1; .text");', "u is weak, or of another binding"),
    "source's name": ('__asm__(".file \\"buddy.c\\"");', "use no directives"),
    "one more name": ("int cap = 1;", "it defines cap, which the assignment does not ask for"),
    "middle of a function": (
        'void f(void); __asm__("call vm_frames + 3");',
        "calls into the middle of vm_frames",
    ),
    "two policies": (
        'static const struct vm_policy other = { .name = "2q" }; VM_POLICY(other);',
        "it registers 2 policies or guards",
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_object_has_the_form_that_a_compiler_gives_it(name: str, tmp_path: Path) -> None:
    lines, said = FORMS[name]
    (tmp_path / "fifo.c").write_text(solution(FIFO) + "\n" + lines + "\n")
    words = [*compiler(), *FLAGS.split(), "-c", "-o", str(tmp_path / "fifo.o"), str(tmp_path / "fifo.c")]
    subprocess.run(words, cwd=qemu.ROOT, check=True)
    offences = object_form.offences(lab.load(qemu.ROOT, "clock"), FIFO, Elf(tmp_path / "fifo.o"))
    assert bool(offences) == bool(said) and re.search(said, "\n".join(offences)), offences


UNREADABLE = {
    "sections of types": ('.section .debug_x, "", @5', 1, "sections that no compiler makes"),
    "relocations": ('.section .rel.text, "", @9; .long 0, 0xFFFFFF01', 1, "tables that no compiler makes"),
    "ordinary sections": (r'.section .data.x\@, "aw"; .long 1', 40, "more than 32 ordinary sections"),
    "sections": (r'.section .data.x\@, "aw"', 300, "more than 200 sections"),
    "code": (".fill 1048577, 1, 0x90", 1, "more than 1,048,576 bytes of code"),
    "symbols": (r"x\@: nop", 70_000, "more than 1,048,576 bytes of symbols"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_object_can_be_looked_at(name: str, tmp_path: Path) -> None:
    """The plugin has room for a limited number of ranges, lists of code and symbols take memory, and their reader gives
    up at a limit: all these failures were once reported as ours."""
    line, count, said = UNREADABLE[name]
    (tmp_path / "fifo.S").write_text(f".macro one\n{line}\n.endm\n.rept {count}\none\n.endr\n")
    subprocess.run([*compiler(), "-m32", "-c", "-o", str(tmp_path / "fifo.o"), str(tmp_path / "fifo.S")], check=True)
    assert object_form.not_to_be_read(tmp_path / "fifo.o") == said
    assert not object_form.not_to_be_read(qemu.ROOT / "build/kernel/mm/policy/mglru.o")


def test_hooks_are_functions_of_the_files_own() -> None:
    """A hook at an address in the kernel would be called by the kernel, which would go undetected."""
    kernel = Elf(qemu.ROOT / qemu.KERNEL)
    entry = kernel.globals["vm_policy_in_fifo_fifo"]
    own = place(kernel, Elf(qemu.ROOT / "build/kernel/mm/policy/fifo.o"))
    assert list(object_form.foreign_hooks(kernel, "policy", entry, [own], qemu.ROOT)) == []
    others = list(object_form.foreign_hooks(kernel, "policy", entry, [replace(own, functions=())], qemu.ROOT))
    assert len(others) == solution(FIFO).split("struct vm_policy fifo")[1].count("= fifo_")


SANITIZERS = {"__asan_report_load4": 0, "__ubsan_handle_add_overflow_abort": 0, "__sanitizer_report_error_summary": 1}


@pytest.mark.parametrize("name", SANITIZERS)
def test_sanitizers_do_not_print_what_a_student_likes(name: str, tmp_path: Path) -> None:
    """On the host, the program's output says what its allocator or policy does."""
    (tmp_path / "fifo.S").write_text(f"call {name}\n")
    subprocess.run([*compiler(), "-m32", "-c", "-o", str(tmp_path / "fifo.o"), str(tmp_path / "fifo.S")], check=True)
    found = object_rules.symbol_offences(tmp_path, lab.load(qemu.ROOT, "clock"), "fifo.o")
    assert len(found) == SANITIZERS[name]


def test_quotient_with_remainder_is_allowed(tmp_path: Path) -> None:
    """The compiler makes one call for both, of a function that the kernel has."""
    lines = "u64 f(u64 n, u64 d, u64 *r) { *r = n % d; return n / d; } s64 g(s64 n, s64 d) { return n % d + n / d; }"
    (tmp_path / "fifo.c").write_text(f"{solution(FIFO)}{lines}\n")
    words = [*compiler(), *FLAGS.split(), "-c", "-o", str(tmp_path / "fifo.o"), str(tmp_path / "fifo.c")]
    subprocess.run(words, cwd=qemu.ROOT, check=True)
    assert "__udivmoddi4" in object_rules.symbols(tmp_path, "fifo.o")[1]
    assert object_rules.symbol_offences(tmp_path, lab.load(qemu.ROOT, "clock"), "fifo.o") == []
