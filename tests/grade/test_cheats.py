"""Cheats: each scores no more than honest work would, and the report names what happened.

A cheat is the reference solution of the lab `clock`, or its starter, with some lines that a student might try.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from grading import graded, messages, solution, starter, submission
from lab import tidemark
from soak import soak_but
from tidemark.grade.hand_back import result
from tidemark.grade.model import Grade, Outcome

pytestmark = pytest.mark.graded

FIFO, CLOCK = "kernel/mm/policy/fifo.c", "kernel/mm/policy/clock.c"
INCLUDE = '#include "mm/policy.h"\n'
ARGUMENTS = "(void)mm, (void)how, (void)from;\n"
FIRST_LINE_OF_SELECT = "\tstruct fifo_page *p;\n"
BELADY, SEVERAL = "fifo: Belady's string with 3 frames", "fifo: processes that come and go"
BY_HAND = "clock: second chances, by hand"


def with_lines(source: str, in_insert: str, before: str = "") -> str:
    """A policy whose insert hook begins with these lines of C."""
    assert source.count(ARGUMENTS) == source.count(INCLUDE) == 1
    return source.replace(ARGUMENTS, f"{ARGUMENTS}\t{in_insert}\n").replace(INCLUDE, f"{INCLUDE}{before}\n")


# What is done, and what the report must say of it.
READ_QUEUE = """struct fifo_page *at;
	list_for_each_entry(at, &queue, node)
		(void)*(volatile u32 *)phys_to_virt(page_pfn(policy_page_of(at)) << PAGE_SHIFT);"""
TRESPASSES = {
    "edits_counters": (
        "vm_events[1] = 0;",
        "extern u64 vm_events[];",
        "fifo.c uses vm_events, which is not among what this assignment may use",
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
    "calls_the_exit": ("machine_exit(16);", "void machine_exit(int);", "fifo.c uses machine_exit"),
    "runs_before_it_is_called": (
        "",
        "__attribute__((constructor)) static void early(void) { vm_now(); }",
        "fifo.o has a section .init_array",
    ),
}
# The first two are deeds of test_evidence.py, too.
LIKE_OTHERS = {"pins_pages", "reads_pages_of_programs", "calls_the_exit"}


@pytest.mark.parametrize("name", soak_but(TRESPASSES, *set(TRESPASSES) - LIKE_OTHERS))
def test_trespass_is_named_and_brings_nothing(name: str, tmp_path: Path) -> None:
    in_insert, before, said = TRESPASSES[name]
    made = graded(tmp_path, "clock", {FIFO: with_lines(solution(FIFO), in_insert, before)}, titles=[BELADY, SEVERAL])
    broken = [one for one in made.tests if one.verdict.outcome is Outcome.BROKE_RULE]
    assert broken and all(one.points == 0 for one in broken)
    assert re.search(said, messages(made)), messages(made)


def points(made: Grade, policy: str) -> float:
    """Points of the tests of one policy."""
    return sum(one.points for one in made.tests if one.test.title.startswith(policy))


def test_what_the_console_says_counts_for_nothing(tmp_path: Path) -> None:
    """A starter, whose FIFO gets nothing for Belady's string, that prints what the grader prints."""
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
    """It is FIFO for the numbers of frames that the visible tests have, and takes the newest page for others."""
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
    """A Makefile that calls out, and a workload that does nothing: neither is used, both are named."""
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
        assert f"{file} is not as it was released; the release's was used" in made.notes
        assert f"note: {file} is not as it was released" in done.stdout
    assert made.score < made.most
