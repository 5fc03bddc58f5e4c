"""Forbidden instructions and assembly are found in submissions, but not names that look like them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from grading import graded, messages, solution
from soak import soak_but
from tidemark.errors import LabError
from tidemark.grade.build import object_rules, plain_c
from tidemark.grade.build.workspace import compiler
from tidemark.grade.intake import lab
from tidemark.grade.model import Outcome
from tidemark.machine import qemu

pytestmark = pytest.mark.graded

FIFO = "kernel/mm/policy/fifo.c"
BELADY = "fifo: Belady's string with 3 frames"
FLAGS = (
    "-std=gnu11 -march=i686 -O2 -g -fno-pie -mregparm=3 -ffreestanding -fno-stack-protector -fno-omit-frame-pointer "
    "-fno-asynchronous-unwind-tables -fno-strict-aliasing -w -Ikernel/include -Ikernel/mm/space -Ikernel/sched"
)
SOURCES = [
    (name, file) for name in lab.names(qemu.ROOT) for file in lab.load(qemu.ROOT, name).files if file.endswith(".c")
]
NAMES = re.findall(
    r"\w+",
    """
    in inb inw inl out outb outw outl ins insb insl outs outsb outsl cli sti hlt lgdt sidt lldt ltr lmsw clts invlpg
    invd wbinvd wrmsr rdmsr into int3 icebp iret sysenter sysexit syscall popf ljmp lcall lret fld fnsave fxsave xsave
    """,
)
HELPERS = """
static u32 *at;
static __attribute__((noipa)) void {name}(void) {{ *at += 1; goto {name}; {name}: *at += 2; }}
static __attribute__((used)) void uses_{name}(void) {{ {name}(); *at = 3; {name}(); }}
"""
VARIABLES = """
static volatile u32 {name};
static __attribute__((used)) u32 uses_{name}(void) {{ {name}++; return {name}; }}
"""


def compiled(folder: Path, file: str, text: str) -> str:
    """Compiles a file of a lab with the kernel's flags; returns the object's name in the folder."""
    source = folder / file
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(text)
    words = [
        *compiler(),
        f"-I{Path(file).parent}",
        *FLAGS.split(),
        "-save-temps=obj",
        f"-DVM_FILE={source.stem}",
        "-c",
        "-o",
    ]
    subprocess.run([*words, folder / f"{source.stem}.o", source], cwd=qemu.ROOT, check=True)
    return f"{source.stem}.o"


@pytest.mark.parametrize("what", ["helpers", "variables"])
@pytest.mark.parametrize(("name", "file"), SOURCES)
def test_names_of_instructions_may_be_used(name: str, file: str, what: str, tmp_path: Path) -> None:
    pattern = HELPERS if what == "helpers" else VARIABLES
    lines = [line for each in NAMES for line in pattern.format(name=each).splitlines() if line]
    text = "\n".join([solution(file), *dict.fromkeys(lines), ""])
    assert object_rules.instruction_offences(tmp_path, file, compiled(tmp_path, file, text)) == []


def test_helper_called_out_costs_nothing(tmp_path: Path) -> None:
    helper = "static __attribute__((noipa)) void out(struct page *page)\n{\n\tpolicy_page(page);\n}\n\n"
    text = solution(FIFO)
    at = text.index("static void fifo_insert(")
    body = text[at:].replace("{\n", "{\n\tout(page);\n", 1)
    made = graded(tmp_path, "clock", {FIFO: text[:at] + helper + body}, titles=[BELADY])
    assert made.score == made.most, messages(made)


HIDDEN_WAYS = {
    "port": "outb %al, $0x80",
    "port behind prefixes": ".byte 0xF3, 0x2E, 0x66; insb",
    "locked": "lock; out %al, $0x80",
    "interrupt": "into",
    "system call": "call *%gs:0x10",
    "control register": "mov %eax, %cr0",
    "floating point": "fnsave (%eax)",
    "floating point with more": "fxsave (%eax)",
    "vectors": "movq %mm0, (%eax)",
}


@pytest.mark.parametrize("name", HIDDEN_WAYS)
def test_instruction_of_the_lower_parts_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "fifo.S").write_text(f".globl f\nf: {HIDDEN_WAYS[name]}\n")
    subprocess.run([*compiler(), "-m32", "-c", "-o", str(tmp_path / "fifo.o"), str(tmp_path / "fifo.S")], check=True)
    found = object_rules.instruction_offences(tmp_path, FIFO, "fifo.o")
    wanted = f"{FIFO}: f executes `.+`, which only the kernel's lower parts may do"
    assert len(found) == 1 and re.fullmatch(wanted, found[0])


def test_refused_instruction_is_told_with_its_line(tmp_path: Path) -> None:
    """Also in a function of a header, which the compiler inlines."""
    lines = '#include "arch/x86/io.h"\nvoid out(void);\nvoid out(void)\n{\n\tvm_now();\n\toutb(0x80, 0);\n}\n'
    text = solution(FIFO) + lines
    name = compiled(tmp_path, FIFO, text)
    at = text[: text.index("\toutb(")].count("\n") + 1
    (said,) = object_rules.instruction_offences(tmp_path, FIFO, name)
    assert re.match(rf"{FIFO}:{at}: out executes `out %al,\$0x80`", said), said


# --- assembly ---

OWN_INCLUDE = "own.inc"  # beside the source file
REFUSED = {
    "statement": ('void f(void) { asm("nop"); }', "asm", 1),
    "another spelling": ('void f(void) { __asm__ volatile("nop"); }', "__asm__", 1),
    "a third": ('void f(void)\n{\n\t__asm("nop");\n}', "__asm", 3),
    "without an instruction": ('void f(void) { asm(""); }', "asm", 1),
    "outside of functions": ('asm(".globl f; f: ret");', "asm", 1),
    "glued": ('#define X a##sm\nvoid f(void) { X("nop"); }', "asm", 2),
    "glued in two steps": (
        '#define G(a, b) a##b\n#define H(a, b) G(a, b)\n#define Y __as\nvoid f(void) { H(__as, m__)("nop"); }',
        "__asm__",
        4,
    ),
    "by an attribute and a macro": ('#define V(x) x\nvoid f(void) { V(__asm__)V((\n"nop")); }', "__asm__", 2),
    "within an expression": ('int f(void) { return ({ asm("nop"); 1; }); }', "asm", 1),
    "a variable in a register": ('void f(void) { register u32 at asm("ebx") = 1; vm_now(); (void)at; }', "asm", 1),
    "a name": ('static void f(void) asm("g");', "asm", 1),
    "in a file that is included": (f'#include "{OWN_INCLUDE}"', "asm", 1),
    "behind strings": ('const char *s = R"x(")x", *t = "\\"", q = \'"\';\nasm("nop");', "asm", 2),
    "as if a header's": ('#line 9 "kernel/include/arch/bits.h"\nvoid f(void) { asm("nop"); }', "asm", 9),
    "as if a header's, by a mark": ('# 7 "kernel/include/arch/bits.h" 1\nvoid f(void) { asm("nop"); }', "asm", 7),
    "as if a name of the system's": ('# 1 "/usr/include/stdio.h" 1 3\nvoid f(void) { if (1) asm("ret"); }', "asm", 1),
    "the same with digraphs": ('# 1 "/usr/include/stdio.h" 1 3\nvoid f(void) <% if (1) asm("ret"); %>', "asm", 1),
    "naked": ("__attribute__((naked)) void f(void) { }", "naked", 1),
    "naked among others": ("__attribute((unused, __naked__)) void f(void) { }", "__naked__", 1),
    "naked in brackets": ("[[gnu::naked]] void f(void) { }", "naked", 1),
    "naked in brackets of two": ("<:[gnu::__naked__]:> void f(void) { }", "__naked__", 1),
    "naked by a macro": ("#define N(x) __attribute__((x##ed))\nN(nak) void f(void) { }", "naked", 2),
}


def offences(folder: Path, lines: str) -> list[str]:
    """The messages about a file with these lines, preceded by a policy's header."""
    name = compiled(folder, FIFO, f'#include "mm/policy.h"\n#line 1\n{lines}\n')
    return plain_c.offences(qemu.ROOT, str(folder / name), (str(folder / FIFO),))


@pytest.mark.parametrize("name", REFUSED)
def test_assembly_is_refused(name: str, tmp_path: Path) -> None:
    lines, word, at = REFUSED[name]
    (tmp_path / FIFO).parent.mkdir(parents=True)
    (tmp_path / FIFO).with_name(OWN_INCLUDE).write_text('static void f(void) { asm("nop"); }\n')
    (said,) = offences(tmp_path, lines)
    assert f":{at}: `{word}` is refused: a policy or a guard is plain C" in said


HONEST = {
    "words": '/* asm("nop") */ const char *s = "asm(", *t = R"(asm())"; // asm',
    "left out": '#if 0\nasm("nop"); it\'s\n#endif\n#define X asm("nop")',
    "names": "int naked(int asm_, int __naked__) { int asmlinkage = asm_; return asmlinkage + __naked__; }\n"
    "int array[3]; int g(int naked) { return array[array[naked]]; }",
    "attributes": "__attribute__((noinline, aligned(16))) int f(int x) { return x; }",
    "the tree's headers": '#include "arch/string.h"\nvoid f(struct page *p, void *a) '
    "{ page_set(p, PG_dirty); page_clear(p, PG_dirty); barrier(); memset(a, 0, 100); }",
    "the system's headers": "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <limits.h>",
}


@pytest.mark.parametrize("name", HONEST)
def test_plain_c_is_not_refused(name: str, tmp_path: Path) -> None:
    assert offences(tmp_path, HONEST[name]) == []


def test_headers_of_the_tree_may_be_included(tmp_path: Path) -> None:
    paths = sorted(path for path in (qemu.ROOT / "kernel/include").rglob("*.h") if "__asm__" in path.read_text())
    assert len(paths) > 5
    included = "".join(f'#include "{path.relative_to(qemu.ROOT / "kernel/include")}"\n' for path in paths)
    assert offences(tmp_path, included) == []


def test_text_that_nobody_can_read_is_refused(tmp_path: Path) -> None:
    """Few long words, which the compiler reads sooner than many short ones."""
    doubled = "".join(f"#define A{n + 1} A{n} A{n}\n" for n in range(12))
    (said,) = offences(tmp_path, f'#define A0 "{1024 * "x"}"\n{doubled}const char text[] = A12;')
    assert "after the preprocessor it has more than 4 MiB" in said


def test_object_without_its_text_is_not_judged(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="has not left the text that it compiled"):
        plain_c.offences(tmp_path, "fifo.o", (FIFO,))


POLICIES = {
    "clock": FIFO,
    "twoq": "kernel/mm/policy/useonce.c",
    "workingset": "kernel/mm/policy/ws.c",
    "thrashing": "kernel/mm/guard/token.c",
}


@pytest.mark.parametrize("name", soak_but(POLICIES, "thrashing"))
def test_assembly_brings_nothing_and_is_told(name: str, tmp_path: Path) -> None:
    file = POLICIES[name]
    text = solution(file) + '__attribute__((unused, naked)) static void lifted(void)\n{\n\t__asm__("ret");\n}\n'
    at = text[: text.index("__asm__(")].count("\n") + 1
    assignment = lab.load(qemu.ROOT, name)
    titles = [test.title for test in assignment.tests if file in assignment.files_of(test)]
    made = graded(tmp_path, name, {file: text}, titles=titles)
    assert made.score == 0 and all(one.verdict.outcome is Outcome.BROKE_RULE for one in made.tests)
    assert f"{file}:{at}: `__asm__` is refused" in messages(made) and f"{file}:{at - 2}: `naked`" in messages(made)


def test_assembly_for_the_simulator_alone_is_refused(tmp_path: Path) -> None:
    lines = '#ifdef __SANITIZE_ADDRESS__\n__asm__("speaks: ret");\n#endif\n'
    title = "fifo: a page that comes back queues again"
    made = graded(tmp_path, "clock", {FIFO: f"{solution(FIFO)}{lines}"}, titles=[BELADY, title])
    assert [one.verdict.outcome for one in made.tests] == [Outcome.RIGHT, Outcome.BROKE_RULE]
    assert "`__asm__` is refused" in messages(made)
