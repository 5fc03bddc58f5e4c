"""Cheats: each scores no more than honest work would, and the report says what happened.

A cheat is the reference solution of the lab `clock`, or its starter, with some lines that a student might try.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from grading import graded, messages, solution, starter, submission
from lab import tidemark
from soak import soak_but
from tidemark.grade.build import tree
from tidemark.grade.build.workspace import compiler
from tidemark.grade.hand_back import result
from tidemark.grade.intake import lab
from tidemark.grade.judge import shorter
from tidemark.grade.judge.expected import Decision
from tidemark.grade.judge.kinds import answers, fault_place
from tidemark.grade.model import Grade, Outcome
from tidemark.grade.witness import memory, playback
from tidemark.grade.witness.evidence import EVENT, FILE_READ, REF, STORE, WRITE, ZERO, Evidence
from tidemark.machine import plugin, qemu

pytestmark = pytest.mark.graded

FIFO, CLOCK = "kernel/mm/policy/fifo.c", "kernel/mm/policy/clock.c"
INCLUDE = '#include "mm/policy.h"\n'
ARGUMENTS = "(void)mm, (void)how, (void)from;\n"
FIRST_LINE_OF_SELECT = "\tstruct fifo_page *p;\n"
BELADY, SEVERAL = "fifo: Belady's string with 3 frames", "fifo: processes that come and go"
BY_HAND = "clock: second chances, by hand"
TASK_FLAGS, VICTIM = 12, 4  # of struct task_struct: where flags is, in words; TF_OOM_VICTIM


def with_lines(source: str, in_insert: str, before: str = "") -> str:
    """A policy whose insert hook begins with these lines of C."""
    assert source.count(ARGUMENTS) == source.count(INCLUDE) == 1
    return source.replace(ARGUMENTS, f"{ARGUMENTS}\t{in_insert}\n").replace(INCLUDE, f"{INCLUDE}{before}\n")


# The cheat, and what the report must say about it.
READ_QUEUE = """struct fifo_page *at;
	list_for_each_entry(at, &queue, node)
		(void)*(volatile u32 *)phys_to_virt(page_pfn(policy_page_of(at)) << PAGE_SHIFT);"""
TRESPASSES = {
    "edits_counters": (
        "vm_events[1] = 0;",
        "extern u64 vm_events[];",
        r"fifo.c:\d+ uses vm_events, which is not among what this assignment may use",
    ),
    "edits_counters_by_address": (
        "volatile u32 *at = (u32 *)((u32)&queue ^ 0x4000); *at = *at;",
        "",
        r"fifo_insert\(\) in kernel/mm/policy/fifo.c writes to \w+, which is not its own",
    ),
    "pins_pages": (
        "page->flags |= 1u << PG_mlocked;",
        "",
        r"fifo_insert\(\) in kernel/mm/policy/fifo.c writes to a field of a struct page that is not the policy's",
    ),
    "reads_pages_of_programs": (READ_QUEUE, "", r"fifo_insert\(\) .* accesses a page of a program through its frame"),
    "ends_the_machine": (
        '__asm__ volatile("outb %b0, %w1" : : "a"(0x10), "Nd"(0xf4));',
        "",
        "fifo_insert executes `out",
    ),
    "calls_the_exit": ("machine_exit(16);", "void machine_exit(int);", r"fifo.c:\d+ uses machine_exit"),
    "raises_the_cap_by_a_weak_definition": (
        "",
        "__attribute__((weak)) u32 vm_frames(void) { return 9999; }",
        r"fifo.c:\d+: vm_frames is weak",
    ),
    "runs_data": (
        "void (*volatile f)(void) = (void (*)(void))code; f();",
        "static u8 code[] = { 0xC3 };",
        r"the kernel executes, at 0x\w+, what is not its code as it was linked",
    ),
    "runs_constants": (
        "void (*volatile f)(void) = (void (*)(void))code; f();",
        "static const u8 code[] = { 0xC3 };",
        r"the kernel executes, at 0x\w+, what is not its code as it was linked",
    ),
    "has_memset_write_for_it": (
        "volatile u32 one = 1; memset((void *)((u32)&queue ^ 0x4000), 0, one);",
        "void *memset(void *, int, unsigned int);",
        r"writes to \w+, which is not its own",
    ),
    "runs_before_it_is_called": (
        "",
        "__attribute__((constructor)) static void early(void) { vm_now(); }",
        "fifo.c: it has a section '.init_array' that is not an ordinary one",
    ),
}
# Cheats that test_evidence.py tests, too.
LIKE_OTHERS = {
    "pins_pages",
    "reads_pages_of_programs",
    "calls_the_exit",
    "runs_before_it_is_called",
    "raises_the_cap_by_a_weak_definition",
    "has_memset_write_for_it",
    "ends_the_machine",
    "runs_data",
    "runs_constants",
}


@pytest.mark.parametrize("name", soak_but(TRESPASSES, *set(TRESPASSES) - LIKE_OTHERS))
def test_trespass_is_named_and_brings_nothing(name: str, tmp_path: Path) -> None:
    in_insert, before, said = TRESPASSES[name]
    made = graded(tmp_path, "clock", {FIFO: with_lines(solution(FIFO), in_insert, before)}, titles=[BELADY, SEVERAL])
    broken = [one for one in made.tests if one.verdict.outcome is Outcome.BROKE_RULE]
    assert broken and all(one.points == 0 for one in broken)
    assert re.search(said, messages(made)), messages(made)


def test_starter_gets_nothing_for_order_that_is_none(tmp_path: Path) -> None:
    """The starter has hardly more page reads than FIFO."""
    made = graded(tmp_path, "clock", {FIFO: starter("clock", FIFO)}, titles=[SEVERAL])
    assert made.score == 0 and "the second had come in first in" in messages(made)


def points(made: Grade, policy: str) -> float:
    """The points of the tests of one policy."""
    return sum(one.points for one in made.tests if one.test.title.startswith(policy))


def test_what_the_console_says_counts_for_nothing(tmp_path: Path) -> None:
    """A starter, whose FIFO gets no points for Belady's string, prints what the grader prints."""
    says = r'printk("fifo: Belady\'s string with 3 frames ... ok (2/2)\nScore: 20/20\n");'
    lines = with_lines(starter("clock", FIFO), says, '#include "lib/printf.h"')
    made = graded(tmp_path, "clock", {FIFO: lines}, titles=[BELADY, BY_HAND])
    assert points(made, "fifo") == 0 < points(made, "clock")
    assert any("the guest's console says" in note and "ok (2/2)" in note for note in made.notes)


HIDDEN = """
[[test]]
title = "fifo: hidden"
points = 10
kind = "victims"
policy = "fifo"
string = "zipf:50,refs=300,seed=77"
frames = 17
"""


def test_visible_strings_by_heart_do_not_help_with_hidden_ones(tmp_path: Path) -> None:
    """The policy is FIFO for the numbers of frames in the visible tests, and evicts the newest page for others."""
    by_heart = """
	u32 frames = vm_frames();

	if (frames != 3 && frames != 4 && frames != 20 && frames != 120)
		list_for_each_entry_reverse(p, &queue, node) {
			if (!vm_scan_more(scan))
				break;
			if (vm_eligible(scan, policy_page_of(p))) {
				list_del(&p->node);
				return policy_page_of(p);
			}
		}
"""
    source = solution(FIFO)
    assert source.count(FIRST_LINE_OF_SELECT) == 1
    (tmp_path / "secret").mkdir(mode=0o700)
    (tmp_path / "secret/clock.toml").write_text(HIDDEN)
    cheat = {FIFO: source.replace(FIRST_LINE_OF_SELECT, FIRST_LINE_OF_SELECT + by_heart)}
    made = graded(tmp_path, "clock", cheat, tmp_path / "secret", ["fifo: hidden"])
    hidden = [one for one in made.tests if one.test.hidden]
    assert [one.points for one in hidden] == [0]
    assert "expected victim" in hidden[0].verdict.message


@pytest.mark.parametrize(
    "policy, lines, outcomes",
    [
        pytest.param("fifo", "for (;;)\n\t\t;", {Outcome.HUNG, Outcome.PANICKED}, marks=pytest.mark.soak),
        pytest.param("fifo", "*(volatile u32 *)0 = 0;", {Outcome.PANICKED}, marks=pytest.mark.soak),
        pytest.param("clock", "return NULL;", {Outcome.BROKE_RULE}, marks=pytest.mark.soak),
        ("fifo", "int x = ;", {Outcome.NO_BUILD}),
        ("fifo", "forget_to_declare();", {Outcome.NO_BUILD}),
    ],
    ids=["never_returns", "writes_to_null", "gives_nothing", "does_not_compile", "not_declared"],
)
def test_outcomes_are_told_apart(policy: str, lines: str, outcomes: set[Outcome], tmp_path: Path) -> None:
    file = f"kernel/mm/policy/{policy}.c"
    select = f"{policy}_select(struct vm_scan *scan)\n{{\n"
    assert solution(file).count(select) == 1
    made = graded(
        tmp_path, "clock", {file: solution(file).replace(select, f"{select}\t{lines}\n")}, titles=[BELADY, BY_HAND]
    )
    found = {one.verdict.outcome for one in made.tests if one.test.title.startswith(policy)}
    assert found and found <= outcomes
    assert points(made, policy) == 0


@pytest.mark.soak
def test_only_the_files_of_the_lab_are_used(tmp_path: Path) -> None:
    """A Makefile with a side effect, and a workload that does nothing: neither is used, both are reported."""
    called = tmp_path / "called-out"
    handed_in = submission(
        tmp_path / "handed-in",
        "clock",
        {
            FIFO: starter("clock", FIFO),
            "Makefile": f"$(shell touch {called})\nall:\n\ttouch {called}\n",
            "user/workloads/refstring.c": "int main(void) { return 0; }\n",
        },
    )
    done = tidemark("grade", "clock", "--submission", handed_in, "--json", tmp_path / "grade.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not called.exists()
    made = result.load(tmp_path / "grade.json")
    for file in ("Makefile", "user/workloads/refstring.c"):
        assert f"{file} differs from the release; the release's file was used" in made.notes
        assert f"note: {file} differs from the release" in done.stdout
    assert made.score < made.most


@pytest.mark.soak
def test_hook_of_the_core_is_refused(tmp_path: Path) -> None:
    hook = ".check = fifo_check,\n\t.tick = (bool (*)(void))((char *)vm_now + 3),"
    cheat = {FIFO: solution(FIFO).replace(".check = fifo_check,", hook)}
    made = graded(tmp_path, "clock", cheat, titles=[BELADY])
    assert made.score == 0 and "its hook tick is not a function of its own" in messages(made)


def test_answers_that_take_hours_to_read_are_refused(tmp_path: Path) -> None:
    """tomllib takes time quadratic in the number of a key's parts."""
    path = tmp_path / "answers.toml"
    for text, said in ((".".join("a" * 400) + " = 1", "a line of more than"), ("a = 1\n" * 6000, "more than 32 KiB")):
        path.write_text(text)
        assert said in fault_place.answered(path, "hunt1")[1]
        assert said in answers.answer(path, "knee")[1]


def test_answers_may_begin_with_a_mark_of_their_encoding(tmp_path: Path) -> None:
    path = tmp_path / "answers.toml"
    path.write_bytes('[hunt1]\r\nfile = "a.c"\r\nfunction = "f"\r\nline = 1\r\n'.encode("utf-8-sig"))
    assert fault_place.answered(path, "hunt1") == ({"file": "a.c", "function": "f", "line": 1}, "")


def test_other_labs_solutions_are_not_there_to_be_shown(tmp_path: Path) -> None:
    """Included text appears in the compiler's messages, .incbin's data on the console."""
    clock, others = lab.load(qemu.ROOT, "clock"), lab.others(qemu.ROOT, "clock")
    tree.lay(qemu.ROOT, clock, qemu.ROOT, tmp_path / "tree")
    tree.hide(tmp_path / "tree", clock, others)
    assert (tmp_path / "tree" / FIFO).read_text() == solution(FIFO)
    for file in {file for each in others for file in (*each.files, *each.withholds)} - set(clock.withholds):
        left = (tmp_path / "tree" / file).read_text() if (tmp_path / "tree" / file).exists() else ""
        assert len(left.splitlines()) == file.startswith(("kernel/mm/policy", "kernel/mm/guard")) - ("_test" in file)
        assert (tmp_path / "tree/build" / file).with_suffix(".o").exists() == (
            file.endswith(".c") and "_test" not in file
        )
    objects = ("build/kernel/mm/guard/token.o", "build/kernel/mm/frame/buddy.o")
    words = ["make", "--silent", "-f", "tools/build.mk", f"CC={' '.join(compiler())}", *objects]
    subprocess.run(words, cwd=tmp_path / "tree", check=True)
    assert all((tmp_path / "tree" / name).read_bytes() == (qemu.ROOT / name).read_bytes() for name in objects)


@pytest.mark.soak
@pytest.mark.parametrize("file", ["labs/hunt/machines.toml", "labs/thrashing/answers.toml", "labs/hunt/answers.toml"])
def test_keys_cannot_be_included(file: str, tmp_path: Path) -> None:
    made = graded(tmp_path, "clock", {FIFO: f'#include "../../../{file}"\n'}, titles=[BELADY])
    assert "No such file or directory" in messages(made)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("device", "said"),
    [("zero", "out of memory"), ("ptmx", "it did nothing for 20 s: it waits for what does not come")],
)
def test_file_without_an_end_is_not_included(device: str, said: str, tmp_path: Path) -> None:
    made = graded(tmp_path, "clock", {FIFO: f'#include "/dev/{device}"\n'}, titles=[BELADY, BY_HAND])
    assert [one.verdict.outcome for one in made.tests] == [Outcome.NO_BUILD, Outcome.RIGHT], messages(made)
    assert said in messages(made) and "find:" not in messages(made)


def test_policy_that_is_slow_in_the_simulator_is_asked_no_further() -> None:
    """The simulator is called up to 240 times to find a shorter string: if each call took a minute, that was hours."""
    clock = lab.load(qemu.ROOT, "clock")
    test = next(one for one in clock.tests if one.title == BELADY)
    pages, asked = playback.pages_of(test), []

    def own(given: Sequence[int], frames: int) -> list[Decision]:
        asked.append(frames)
        return []

    machine = SimpleNamespace(has_solutions=False, lab=clock)
    assert shorter.find(machine, test, SimpleNamespace(string=pages, prefix=()), len(pages) - 1, own) is None
    assert len(asked) == 1


@pytest.mark.parametrize("name", soak_but(["none", "loadctl"], "none"))
def test_baseline_is_not_the_students(name: str, tmp_path: Path) -> None:
    """A guard named like the one that it is compared with, or like one of ours."""
    token = "kernel/mm/guard/token.c"
    cheat = {token: solution(token).replace('.name = "token"', f'.name = "{name}"')}
    made = graded(tmp_path, "thrashing", cheat, titles=["nothing is lost on the way"])
    assert made.score == 0
    assert f"registers '{name}'; the assignment asks for 'token'" in messages(made)


@pytest.mark.soak
def test_parameter_is_a_variable_of_the_files_own(tmp_path: Path) -> None:
    """The value that the grader sets on the command line would be written into the kernel."""
    ws = "kernel/mm/policy/ws.c"
    assert solution(ws).count("&tau_ms,") == 1
    made = graded(tmp_path, "workingset", {ws: solution(ws).replace("&tau_ms,", "(u32 *)&max_pfn,")})
    assert made.score == 0 and "its parameter tau_ms is not a variable of its own" in messages(made)


OVER_THE_CAP = """
	u32 *task = *(u32 **)((u32)&max_pfn + {between}u);

	task[{flags}] |= {victim}; /* who is being killed to free memory may have more */
"""


def test_stores_into_a_task_are_seen(tmp_path: Path) -> None:
    """FIFO as use-once: by changing a task, which is not a variable, it would give programs more frames than the
    cap."""
    symbols = (line.split() for line in (qemu.ROOT / plugin.SYMBOLS).read_text().splitlines())
    addresses = {row[2]: int(row[0], 16) for row in symbols}
    lines = OVER_THE_CAP.format(
        between=addresses["current_task"] - addresses["max_pfn"], flags=TASK_FLAGS, victim=VICTIM
    )
    source = solution(FIFO).replace("vm_scan *scan)\n{\n", f"vm_scan *scan)\n{{\n{lines}").replace("fifo", "useonce")
    assert lines in source
    title = "a tree: its upper pages are used by every lookup"
    made = graded(tmp_path, "twoq", {"kernel/mm/policy/useonce.c": source}, titles=[title])
    assert made.score == 0
    assert "useonce_select() in kernel/mm/policy/useonce.c accesses memory that is not its own" in messages(made)


def test_more_frames_than_the_cap_are_seen() -> None:
    """Ten frames were evicted before a hundred others arrived; ten more hold pages of a file."""
    few, many, files = (list(range(*ends)) for ends in ((10,), (10, 110), (110, 120)))
    deeds = [(ZERO, few), (STORE, few), (WRITE, few), (ZERO, many), (FILE_READ, files), (REF, many + files)]
    events = np.zeros(sum(len(frames) for _, frames in deeds), EVENT)
    events["kind"] = [kind for kind, frames in deeds for _ in frames]
    events["b"] = [frame for _, frames in deeds for frame in frames]
    seen = Evidence(np.concatenate([events, events[-110:]]), [], 0, 0, False, True)
    assert memory.most_frames(seen) == 100 and memory.too_many(seen, 90) == ""
    assert memory.too_many(seen, 80) == "100 pages were in memory at once, with 80 frames"
