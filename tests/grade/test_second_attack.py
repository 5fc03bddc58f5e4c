"""Findings of a second attack on the grader: a test for each hole that was closed."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest
from grading import graded, messages, solution, starter
from tidemark.errors import LabError
from tidemark.grade.build import object_form, object_rules, plain_c
from tidemark.grade.build.elf import Elf, place
from tidemark.grade.build.solutions import places
from tidemark.grade.build.workspace import HostRun, check_release, compiler
from tidemark.grade.hand_back import written
from tidemark.grade.intake import lab
from tidemark.grade.judge.kinds import buddy
from tidemark.grade.model import Outcome
from tidemark.grade.witness import kernel_map
from tidemark.machine import qemu

pytestmark = pytest.mark.graded

FIFO, TOKEN = "kernel/mm/policy/fifo.c", "kernel/mm/guard/token.c"


def test_static_name_of_a_core_function_opens_none(tmp_path: Path) -> None:
    """A function that an object refers to may be entered, but not one that it defines under the same name."""
    (tmp_path / "own.c").write_text("__attribute__((used)) static void simdisk_parse(void) {}\nvoid uses(void);\n")
    subprocess.run([*compiler(), "-c", "-o", tmp_path / "own.o", tmp_path / "own.c"], check=True)
    kernel, workspace = Elf(qemu.ROOT / qemu.KERNEL), SimpleNamespace(tree=qemu.ROOT, objects=(tmp_path / "own.o",))
    entry = next(symbol.value for symbol in kernel.symbols if symbol.name == "simdisk_parse")
    assert f"{entry:#x}" not in kernel_map.doors(kernel, workspace)["entries"].split(":")


def test_letters_beyond_ascii_and_nothing_allocated_are_no_offence(tmp_path: Path) -> None:
    source = solution(FIFO)
    begin = source.index("static void fifo_insert(")
    inside = source.index("{\n", begin) + 2
    lines = "\tstatic u32 größe;\n\n\tgröße++;\n\tkfree(kmalloc(size_of_nothing, GFP_KERNEL));\n"
    changed = '#include "mm/slab.h"\n' + source[:begin] + "static u32 size_of_nothing;\n\n" + source[begin:inside]
    made = graded(
        tmp_path, "clock", {FIFO: changed + lines + source[inside:]}, titles=["fifo: Belady's string with 3 frames"]
    )
    assert made.score == made.most, messages(made)


def test_hook_without_an_argument_has_none_to_hand_on(tmp_path: Path) -> None:
    """The hook's own address is in the register; used as a seq_file, that would be bytes that the student chose."""
    text = starter("thrashing", TOKEN)
    tick = 'static void token_tick(void)\n{\n\tshow_u64((struct seq_file *)(u32)token_tick, "n", 1);\n}\n\n'
    at = text.index("static const struct vm_guard")
    text = text[:at] + tick + text[at:].replace("\t.spare =", "\t.tick = (void *)token_tick,\n\t.spare =")
    made = graded(tmp_path, "thrashing", {TOKEN: text}, titles=["nothing is lost on the way"])
    assert made.tests[0].verdict.outcome is Outcome.BROKE_RULE, messages(made)
    assert "token_tick() in kernel/mm/guard/token.c hands show_u64() what the kernel has not given it" in messages(made)


CALLED = {"memcpy": 0, "memmove": 0, "memset": 0, "strlen": 1, "kmem_cache_create": 1}


@pytest.mark.parametrize("name", CALLED)
def test_what_compilers_call_by_themselves_is_allowed(name: str, tmp_path: Path) -> None:
    """A large struct is copied by memcpy, at least on the host. The kernel's caches are not for policies."""
    (tmp_path / "fifo.S").write_text(f"call {name}\n")
    subprocess.run([*compiler(), "-c", "-o", tmp_path / "fifo.o", tmp_path / "fifo.S"], check=True)
    found = object_rules.symbol_offences(tmp_path, lab.load(qemu.ROOT, "clock"), "fifo.o")
    assert len(found) == CALLED[name]


LAST = """
__attribute__((noinline, section(".text.zz"))) static void leap(void)
{
	__asm__ volatile("call vm_frames" : : : "eax", "ecx", "edx");
	__builtin_unreachable();
}
"""
FORGED = """
__attribute__((naked, noinline)) static void leap(void)
{{
	__asm__("pushl $0x202; pushl $0x60; pushl ${handled:#x}; pushl $0; movl ${vector:#x}, %eax; jmp *%eax");
}}
"""


def forged() -> str:
    """A general protection fault, vector 13, that pretends to come from a function of the kernel."""
    kernel = Elf(qemu.ROOT / qemu.KERNEL)
    vector = kernel.word_at(kernel.globals["trap_stubs"] + 4 * 13)
    return FORGED.format(vector=vector, handled=kernel.globals["copy_from_user"])


@pytest.mark.parametrize("way", ["call_at_the_end", "forged_exception"])
def test_ways_into_the_kernel_are_seen(way: str, tmp_path: Path) -> None:
    """Assembly is refused earlier; if it is linked nevertheless, its execution is detected."""
    leap = LAST if way == "call_at_the_end" else forged()
    text = starter("thrashing", TOKEN).replace("\tt->faults++;\n", "\tif (!t->faults++)\n\t\tleap();\n")
    at = text.index("/* mm needs a page")
    with mock.patch.object(plain_c, "offences", return_value=[]):
        made = graded(
            tmp_path, "thrashing", {TOKEN: text[:at] + leap + text[at:]}, titles=["nothing is lost on the way"]
        )
    assert made.tests[0].verdict.outcome is Outcome.BROKE_RULE, messages(made)
    assert "leap() in kernel/mm/guard/token.c jumps or returns to" in messages(made)


def test_panic_behind_half_a_line_is_a_panic() -> None:
    test = next(each for each in lab.load(qemu.ROOT, "buddy").tests if each.kind == "buddy")
    verdict = buddy.follow(test, [], HostRun(134, "z 3 1 1panic buddy.c:190: assertion failed\n", ""))
    assert verdict.outcome is Outcome.PANICKED and "buddy.c:190" in verdict.message
    assert buddy.follow(test, [], HostRun(1, "z one\n", "")).outcome is Outcome.PANICKED


def test_heading_of_blanks_is_read_at_once() -> None:
    begun = time.process_time()
    assert written.HEADING.match("##" + " " * 1_000_000 + "!") is None
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("name", ["'=ada", "=ada", "''x", "'", "ada", "'ada"])
def test_name_comes_out_of_a_cell_as_it_went_in(name: str) -> None:
    assert written.from_cell(written.as_cell(name)) == name
    assert not written.as_cell(name).startswith(written.FORMULA)


def test_hook_that_is_not_the_subject_is_refused() -> None:
    """With one process at a time there are few reads, whatever page is evicted."""
    kernel = Elf(qemu.ROOT / qemu.KERNEL)
    own = place(kernel, Elf(qemu.ROOT / "build/kernel/mm/policy/ws.o"))
    entry = kernel.globals["vm_policy_in_ws_ws"]
    for without in lab.load(qemu.ROOT, "workingset").without, lab.load(qemu.ROOT, "clock").without:
        said = [text for _, text in object_form.foreign_hooks(kernel, "policy", entry, [own], qemu.ROOT, without)]
        assert said == [f"it has the hook {name}, which this assignment is not about" for name in reversed(without)]


def test_release_of_another_compiler_is_not_graded_with(tmp_path: Path) -> None:
    """Parts built anew would not match the existing ones, and the student would be blamed."""
    for name in (qemu.KERNEL, "build/plugin/tidemark.so", "build/flags"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(" ".join([*compiler(), "12.2.0"]))
    check_release(tmp_path)
    (tmp_path / "build/flags").write_text("tcc 0.9.27")
    with pytest.raises(LabError, match="a compiler other than"):
        check_release(tmp_path)


def test_keys_of_quizzes_count_as_solutions(tmp_path: Path) -> None:
    (tmp_path / "build/followed").mkdir(parents=True)
    assert places(tmp_path) == [tmp_path / "build/followed"]
