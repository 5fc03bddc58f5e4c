"""A failing run is kept by the grader, and its message has the command that puts gdb at the cause."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from debugger import NO_TRACEBACK, replayed
from grading import solution, submission
from soak import soak_but
from tidemark.grade import grading
from tidemark.grade.build.sandbox import best
from tidemark.grade.model import Outcome
from tidemark.machine import qemu
from trials import changed

pytestmark = pytest.mark.graded

FIFO = "kernel/mm/policy/fifo.c"
SELECT = "fifo_select(struct vm_scan *scan)\n{\n"
TAKEN = "\t\t\tlist_del(&p->node);\n\t\t\treturn page;"
MISTAKES = {
    "panic": (
        SELECT,
        f"{SELECT}\t*(volatile u32 *)8 = vm_frames();\n",
        Outcome.PANICKED,
        "tm-back fault",
        "fifo_select",
    ),
    "violation": (TAKEN, "\t\t\treturn page;", Outcome.BROKE_RULE, "bt 6", "rule_broken"),
    "store": (
        SELECT,
        f"{SELECT}\tstatic u32 n;\n\tvolatile u32 *at = n++ == 20 ? (u32 *)((u32)&queue ^ 0x4000) : &n;\n\t*at += 1;\n",
        Outcome.BROKE_RULE,
        "print n",
        "= 21\n",
    ),
    "victim": (
        "list_for_each_entry(p, &queue, node) {",
        "list_for_each_entry_reverse(p, &queue, node) {",
        Outcome.WRONG,
        "bt 6\ntm-page page",
        "policy_call_evicted",
    ),
}
PLACES = {
    "panic": "--event panic",
    "violation": "--event violation",
    "store": "--pc 0x[0-9a-f]+ --writes 0x[0-9a-f]+",
    "victim": r"--event evict:\d+",
}


@pytest.mark.parametrize("event", soak_but(MISTAKES, "store"))
def test_gdb_stands_where_it_went_wrong(event: str, tmp_path: Path) -> None:
    old, new, outcome, step, function = MISTAKES[event]
    handed_in = submission(tmp_path / "in", "clock", {FIFO: changed(solution(FIFO), old, new)})
    (made,) = grading.grade(
        grading.Request(qemu.ROOT, handed_in, "clock", only="Belady"),
        grading.Host(tmp_path / "work", best(), keep=tmp_path / "failed"),
    ).tests
    assert made.verdict.outcome is outcome
    found = re.search(r"^`tidemark gdb (.*)` puts gdb there", made.verdict.message, re.MULTILINE)
    assert found, made.verdict.message
    folder, *place = shlex.split(found[1])
    assert re.fullmatch(PLACES[event], " ".join(place)) and Path(folder) == tmp_path / "failed/clock-1"
    output = replayed(Path(folder), place, step).output
    assert function in output and not NO_TRACEBACK.search(output), output


@pytest.mark.soak
def test_where_no_run_is_kept_it_says_how_to_come_by_it(tmp_path: Path) -> None:
    old, new, *_ = MISTAKES["victim"]
    handed_in = submission(tmp_path / "in", "clock", {FIFO: changed(solution(FIFO), old, new)})
    made = grading.grade(
        grading.Request(qemu.ROOT, handed_in, "clock", only="3 frames"), grading.Host(tmp_path / "work", best())
    )
    said = '`make grade LAB=clock TEST="fifo: Belady\'s string with 3 frames"` in your tree keeps this run'
    assert said in made.tests[0].verdict.message


@pytest.mark.soak
def test_a_run_that_goes_well_is_not_kept(tmp_path: Path) -> None:
    handed_in = submission(tmp_path / "in", "clock")
    made = grading.grade(
        grading.Request(qemu.ROOT, handed_in, "clock", only="Belady"),
        grading.Host(tmp_path / "work", best(), keep=tmp_path / "failed"),
    )
    assert made.score == made.most and not (tmp_path / "failed/clock-1").exists()
