"""The lab `paging`: the grader's messages about kernels with one mistake each, simulated ones and real ones."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest
from grading import solution
from soak import soak_but
from tidemark.errors import LabError
from tidemark.grade import model
from tidemark.grade.judge.fork_model import PAGES_PER_TABLE, Family, Operation, Step, torn_fork
from tidemark.grade.judge.kinds import paging
from tidemark.grade.model import Outcome
from tidemark.grade.witness.evidence import BIRTH, EVENT, STORE, ZERO, Evidence
from trials import Trial, changed, trial

pytestmark = pytest.mark.graded

WALK, ANON = "kernel/arch/x86/walk.c", "kernel/mm/space/anon.c"
ZERO_FRAME = 1

# --- simulated kernels ---


@dataclass
class Pretended:
    """A kernel in which pages have frames, and nothing else; `mistake` selects its mistake."""

    mistake: str = ""
    tables: dict[int, dict[int, int]] = field(default_factory=lambda: {0: {}})
    mapped: dict[int, set[int]] = field(default_factory=lambda: {0: set()})
    ranges: dict[int, set[int]] = field(default_factory=lambda: {0: set()})
    users: Counter[int] = field(default_factory=Counter)
    free: list[int] = field(default_factory=lambda: list(range(900, 100, -1)))
    step: Step = field(default_factory=Step)

    def steps(self, script: list[Operation]) -> list[Step]:
        """The observed steps."""
        seen = []
        for one in script:
            self.step = Step()
            getattr(self, "do_" + one.verb)(one)
            seen.append(self.step)
        return seen

    def take(self, source: int | None = None, silent: bool = False) -> int:
        """Takes a frame: cleared, or copied from another one."""
        frame = self.free.pop()
        self.users[frame] = 1
        if source is not None and not silent:
            self.step.copied.append((source, frame))
        elif not silent:
            self.step.cleared.append(frame)
        return frame

    def drop(self, process: int, page: int) -> None:
        """A process frees a page."""
        frame = self.tables[process].pop(page, ZERO_FRAME)
        if frame != ZERO_FRAME:
            self.users[frame] -= 1
            if not self.users[frame]:
                self.free.append(frame)

    def table_for(self, one: Operation) -> None:
        """Clears a page table, if the range has none."""
        at = one.first // PAGES_PER_TABLE
        if at not in self.ranges[one.process]:
            self.ranges[one.process].add(at)
            self.step.tables += 4 if self.mistake == "hides_four_tables" else 1
            for _ in range(4 if self.mistake == "makes_four_tables" else 1):
                self.step.cleared.append(self.free.pop())

    def do_m(self, one: Operation) -> None:
        for page in range(one.first, one.second + 1):
            self.drop(one.process, page)
            self.mapped[one.process].add(page)

    def do_u(self, one: Operation) -> None:
        self.do_m(one)
        self.mapped[one.process] -= set(range(one.first, one.second + 1))
        if self.mistake != "keeps_tables":
            before = len(self.ranges[one.process])
            self.ranges[one.process] &= {page // PAGES_PER_TABLE for page in self.mapped[one.process]}
            self.step.tables += 0 if self.mistake == "hides_tables" else len(self.ranges[one.process]) - before
            self.step.flushed = self.mistake != "does_not_flush"

    def do_r(self, one: Operation) -> None:
        self.table_for(one)
        table = self.tables[one.process]
        if one.first not in table:
            table[one.first] = self.take() if self.mistake == "clears_for_reads" else ZERO_FRAME
        if self.mistake == "moves_pages" and table[one.first] != ZERO_FRAME:
            table[one.first] = self.take(table[one.first], silent=True)
        self.step.frame = table[one.first]

    def do_w(self, one: Operation) -> None:
        self.table_for(one)
        table, frame = self.tables[one.process], self.tables[one.process].get(one.first)
        if frame is None or frame == ZERO_FRAME:
            if frame is None or self.mistake != "writes_to_zeros":
                table[one.first] = self.take(silent=self.mistake == "does_not_clear")
            if self.mistake == "clears_neighbours":
                self.take()
        elif self.users[frame] > (1 if self.mistake != "shares_for_good" else 9) or self.mistake == "copies_always":
            table[one.first] = self.take(frame, silent=self.mistake == "does_not_copy")
            self.users[frame] -= 1
        self.step.frame = table[one.first]

    do_k = do_w

    def do_f(self, one: Operation) -> None:
        child = dict(self.tables[one.process])
        for page, frame in child.items():
            if self.mistake == "copies_at_fork" and frame != ZERO_FRAME:
                child[page] = self.take(frame)
            else:
                self.users[frame] += 1
        self.tables[one.first] = child
        self.mapped[one.first] = set(self.mapped[one.process])
        self.ranges[one.first] = set(self.ranges[one.process])
        self.step.cleared += [self.free.pop() for _ in self.ranges[one.first]]

    def do_x(self, one: Operation) -> None:
        for page in list(self.tables[one.first]):
            self.drop(one.first, page)


def said_of(mistake: str, script: list[Operation], tables: bool = False) -> str:
    """The first difference that the grader finds in a simulated kernel."""
    return paging.difference(script, Pretended(mistake).steps(script), Family(True, True, tables))


SCRIPT = (
    "0 m 0 9; 0 r 4; 0 r 5; 0 w 4; 0 w 6; 0 r 6; 0 f 1; 1 r 4; 1 w 4; 0 w 4; 0 k 6; 0 x 1; 0 w 5; 0 r 5; 0 m 0 9; 0 w 1"
)
MISTAKES = {
    "clears_for_reads": r"operation 2, process 0 reads page 4: it got frame \d+ for itself",
    "writes_to_zeros": r"operation 4, process 0 writes page 4: what was written is in the frame of zeros, 1",
    "does_not_clear": r"operation 4, process 0 writes page 4: it got frame \d+, which was not cleared",
    "clears_neighbours": r"operation 4, .*: 2 frames were cleared \(expected: one for the page\)",
    "moves_pages": r"operation 6, process 0 reads page 6: it is in frame \d+ \(expected: frame \d+, where it was\)",
    "copies_at_fork": r"operation 7, process 0 forks process 1: page 4 was copied, from frame \d+ to frame \d+",
    "shares_for_good": r"operation 9, .*: it is in frame \d+, which process 0 uses for the same page \(expected: a",
    "does_not_copy": r"operation 9, .*: it got frame \d+, which was not copied from frame \d+",
    "copies_always": r"operation 10, .* although no other process had it any more \(expected: it stays where it is\)",
}


@pytest.mark.parametrize("seed", range(20))
def test_right_kernel_has_no_difference(seed: int) -> None:
    assert said_of("", paging.drawn(seed, 300, 10, 1 + seed % 8)) == ""


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_told(mistake: str) -> None:
    script = paging.parsed(SCRIPT)
    assert said_of("", script) == ""
    assert re.match(MISTAKES[mistake], said_of(mistake, script)), said_of(mistake, script)


def test_tables_are_counted() -> None:
    script = paging.in_areas(3, 2)
    assert said_of("", script, tables=True) == ""
    said = said_of("makes_four_tables", script, tables=True)
    assert said.startswith(
        "operation 2, process 0 writes page 0: 5 frames were cleared (expected: one for the page and"
    )
    said = said_of("hides_four_tables", script, tables=True)
    assert said.endswith("its page directory names 4 tables more (expected: 1 table more)")
    for mistake in ("keeps_tables", "hides_tables"):
        said = said_of(mistake, script, tables=True)
        assert said.endswith("its page directory names as many tables (expected: 1 table fewer)"), said
    assert "a table was freed and the TLB not flushed" in said_of("does_not_flush", script, tables=True)


def test_table_stays_while_something_is_mapped_in_its_range() -> None:
    script = paging.parsed("0 m 0 1; 0 w 0; 0 w 1; 0 u 0 0; 0 w 1; 0 m 0 0; 0 w 0; 0 u 0 1; 0 m 7 7; 0 w 7")
    assert said_of("", script, tables=True) == ""


def test_needless_work_can_be_forgiven() -> None:
    script = paging.parsed("0 m 0 9; 0 w 4; 0 f 1; 1 w 4; 0 w 4; 0 w 5")
    steps = Pretended("copies_always").steps(script)
    assert paging.difference(script, steps, Family(True, False, False)) == ""
    steps = Pretended("clears_neighbours").steps(script)
    assert paging.difference(script, steps, Family(False, True, False)) == ""


def test_script_says_what_reads_must_find() -> None:
    script = paging.parsed("0 m 0 9; 0 w 4; 0 f 1; 1 w 4; 0 r 4; 1 r 4; 1 r 5")
    assert "".join(paging.lines_of(script)).split("\n")[4:7] == ["0 r 4 2", "1 r 4 4", "1 r 5 0"]


@pytest.mark.parametrize("script", ["0 q 1", "1 r 1", "0 m 1", "0 f 1; 0 x 1; 1 r 0", "0 r 1 2"])
def test_unknown_operation_is_named(script: str) -> None:
    with pytest.raises(LabError, match="operation"):
        paging.parsed(script)


def test_torn_fork_is_found() -> None:
    """A parent stores to a page after the fork, and the child has the page in the same frame."""
    rows = [(STORE, 1, 7, 40), (ZERO, 1, 0, 41), (STORE, 1, 7, 40), (BIRTH, 2, 0, 0), (STORE, 2, 7, 40)]
    events = np.array([(kind, 0, space, a, b, 0, 0) for kind, space, a, b in rows], EVENT)
    assert "wrote to its page at 0x7000" in torn_fork(Evidence(events, [], 0, 0, False, True))
    copied = np.delete(events, 2)
    assert torn_fork(Evidence(copied, [], 0, 0, False, True)) == ""


# --- real kernels ---

WRITE, AGAIN, RETURNED, AT_ONCE, LAST, FEW = (
    "a first write takes one frame, cleared for it",
    "read first, written later",
    "tables of an empty range are given back, a thousand times",
    "the parent writes at once, and gets a copy",
    "the last owner of a frame keeps it",
    "torture, three times, with very few frames",
)
# A file, a piece of the solution, its replacement, the test that detects it, the message.
REAL_MISTAKES = {
    "parent_may_still_write": (
        ANON,
        "\t\t*pte = pte_wrprotect(*pte);\n\tif (is_zero_page(page))\n\t\treturn *pte;",
        "\t\t{}\n\tif (is_zero_page(page))\n\t\treturn pte_wrprotect(*pte);",
        AT_ONCE,
        "the parent's entry, or what the TLB held of it, still allowed writing",
    ),
    "tlb_keeps_the_right_to_write": (
        ANON,
        "\ttlb_flush_all(parent->pgd);\n",
        "",
        AT_ONCE,
        "the parent's entry, or what the TLB held of it, still allowed writing",
    ),
    "tlb_keeps_the_old_frame": (
        ANON,
        "\tmap_new_anon(f, copy);\n\ttlb_flush_page(f->vma->mm->pgd, f->addr);\n",
        "\tmap_new_anon(f, copy);\n",
        AGAIN,
        "has the kernel write page 6: the kernel wrote to frame",
    ),
    "copies_always": (ANON, "|| frame_is_ours(old)", "|| (0 && frame_is_ours(old))", LAST, "although no other process"),
    "zeros_may_be_written": (
        ANON,
        "pte_make(page_pfn(zero_page), false)",
        "pte_make(page_pfn(zero_page), true)",
        AGAIN,
        "writes page 5: what was written is in the frame of zeros",
    ),
    "zeros_lie_outside_memory": (
        ANON,
        "pte_make(page_pfn(zero_page), false)",
        "pte_make(page_pfn(zero_page) + (1u << 19), false)",
        AGAIN,
        "did not go to memory",
    ),
    "frames_are_not_cleared": (ANON, "(f->vma, GFP_ZERO);", "(f->vma, 0);", WRITE, "which was not cleared"),
    "tables_are_kept": (
        WALK,
        "\tu32 freed = 0;\n",
        "\tu32 freed = 0;\n\n\tif (end - start < TASK_SIZE)\n\t\treturn 0;\n",
        RETURNED,
        "its page directory names as many tables (expected: 1 table fewer)",
    ),
    "no_second_look_at_the_entry": (
        ANON,
        "\tif (!same_page(*f->pte, entry)) {\n\t\tpage_put(copy);\n\t\treturn 0;\n\t}\n",
        "\t(void)entry;\n",
        FEW,
        "the kernel panicked",
    ),
    "tables_are_freed_without_a_flush": (
        WALK,
        "\tif (freed)\n\t\ttlb_flush_all(pgd);\n",
        "",
        RETURNED,
        "a table was freed and the TLB not flushed",
    ),
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return trial("paging", tmp_path_factory.mktemp("paging"))


@pytest.mark.parametrize(
    "name",
    soak_but(
        REAL_MISTAKES,
        "tlb_keeps_the_old_frame",
        "frames_are_not_cleared",
        "tables_are_kept",
        "no_second_look_at_the_entry",
        "tables_are_freed_without_a_flush",
        "zeros_lie_outside_memory",
    ),
)
def test_real_mistake_is_told(name: str, tried: Trial) -> None:
    file, old, new, title, said = REAL_MISTAKES[name]
    for path in (WALK, ANON):
        text = solution(path)
        (tried.machine.tree / path).write_text(changed(text, old, new) if path == file else text)
    verdict = tried.judge(tried.test(title))
    # The content of a frame that was not cleared may be fatal before the workload begins.
    assert verdict.fraction == 0 and (said in verdict.message or "did not begin" in verdict.message), verdict


def test_script_is_followed_in_a_real_kernel(tried: Trial) -> None:
    """Eight processes at random: every page is in the frame that the script requires, and reads return what was
    written."""
    for path in (WALK, ANON):
        (tried.machine.tree / path).write_text(solution(path))
    test = model.Test("all", 1, "paging", {"seed": 7, "operations": 600, "pages": 30, "processes": 8})
    verdict = tried.judge(test)
    assert verdict.outcome is Outcome.RIGHT, verdict
