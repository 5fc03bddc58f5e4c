"""The lab `buddy`: full marks for the solution, and for each mistake a message that names it."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from grading import solution, starter
from soak import soak_but
from tidemark.errors import LabError
from tidemark.grade import model
from tidemark.grade.build.workspace import HostRun
from tidemark.grade.intake import lab
from tidemark.grade.judge.kinds import buddy, runs
from tidemark.grade.model import Outcome
from tidemark.grade.witness.evidence import BIRTH, COPY, EVENT, READ, REF, STORE, ZERO, Evidence
from tidemark.machine import qemu
from trials import Trial, changed, trial

pytestmark = pytest.mark.graded

BUDDY = "kernel/mm/frame/buddy.c"
RANDOM, MERGE, MISUSE, DAMAGE, SOUND = (
    "2000 random operations",
    "buddies merge in either order",
    "a block freed twice, or at a wrong address, is caught",
    "buddy_check notices damage",
    "blocks are aligned, whole, and do not overlap",
)
# Possible mistakes of a student: a piece of the solution, its replacement, the test that detects it, the message.
MISTAKES = {
    "never_merges": (
        "\tif (free_buddy(z, pfn, order))\n\t\tfree_by_merging(z, pfn, order);\n\telse\n",
        "\t(void)free_by_merging;\n",
        MERGE,
        "with all buddies merged there must be none",
    ),
    "merges_once": ("while ((buddy = free_buddy", "if ((buddy = free_buddy", MERGE, "free_area[1].nr_free is 32"),
    "never_makes_the_largest": (
        "order >= MAX_ORDER - 1)",
        "order >= MAX_ORDER - 2)",
        RANDOM,
        "free_area[9].nr_free is 2; with all buddies merged there must be none",
    ),
    "merges_with_another_zone": (
        "other < z->start_pfn || other >= z->end_pfn || ",
        "!z || ",
        RANDOM,
        "there must be 2 (at 37, 2100)",
    ),
    "merges_with_a_smaller_block": (" && page->order == order ? page", " ? page", SOUND, "is what operation"),
    "keeps_what_it_hands_out": (
        "\twhile (k > order) {\n",
        "\tif (k > 9)\n\t\tblock_insert(z, page, order);\n\twhile (k > order) {\n",
        SOUND,
        "frame 1024 is part of frames 1024 to 1039, which operation",
    ),
    "is_out_of_line": (
        "\t\tblock_insert(z, page + (1u << k), k);\n\t}\n",
        "\t\tblock_insert(z, page + (1u << k), k);\n\t}\n\tpage += order == 3 ? 4 : 0;\n",
        RANDOM,
        "a block of order 3 begins at a multiple of 8",
    ),
    "takes_from_the_largest": (
        "\twhile (k < MAX_ORDER && list_empty(&z->free_area[k].list))\n\t\tk++;\n",
        "\tfor (k = MAX_ORDER - 1; k > order && list_empty(&z->free_area[k].list); k--)\n\t\t;\n"
        "\tif (k == order)\n\t\treturn NULL;\n",
        RANDOM,
        "would suffice",
    ),
    "does_not_know_a_merged_page": (" && page->lru.next != INSIDE", "", MISUSE, "once more, and nothing happened"),
    "takes_any_address": ("\tASSERT(!(pfn & ((1u << order) - 1)));\n", "", MISUSE, "address of its second frame"),
    "checks_no_sum": ("return frames == z->nr_free ? 0", "return frames ? 0", DAMAGE, "although nr_free is wrong"),
    "counts_the_questions": (
        "int buddy_check(const struct zone *z)\n{\n",
        "int buddy_check(const struct zone *z)\n{\n\tstatic u32 asked;\n\n"
        "\tif (++asked <= 11)\n\t\treturn asked < 3 || asked == 7 ? 0 : -EINVAL;\n",
        DAMAGE,
        "although the damage was undone",
    ),
    "never_answers": (
        "\twhile (k > order) {\n",
        "\twhile (order == 4)\n\t\t;\n\twhile (k > order) {\n",
        RANDOM,
        "alloc order 4",
    ),
    "reads_outside_the_zone": (
        "pfn_page(other);",
        "pfn_page(other + (1u << 20));\n\t(void)page->order;",
        RANDOM,
        "sanitizer",
    ),
}
LIKE_OTHERS = {
    "merges_once",
    "never_makes_the_largest",
    "merges_with_another_zone",
    "merges_with_a_smaller_block",
    "takes_any_address",
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return trial("buddy", tmp_path_factory.mktemp("buddy"))


@pytest.mark.soak
def test_starter_works_but_takes_its_time(tried: Trial) -> None:
    tried.lay(starter("buddy", BUDDY))
    assert tried.judge(tried.test("the kernel works with it: torture")).outcome is Outcome.RIGHT
    slow = tried.judge(tried.test("the kernel is quick with it: thrash 2 20000 2"))
    assert slow.outcome is Outcome.OVER_BUDGET and slow.fraction == 0


@pytest.mark.parametrize("name", soak_but(MISTAKES, *set(MISTAKES) - LIKE_OTHERS))
def test_mistake_is_named(name: str, tried: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buddy, "LIMIT_S", 2)
    old, new, title, said = MISTAKES[name]
    tried.lay(changed(solution(BUDDY), old, new))
    verdict = tried.judge_on_host(tried.test(title))
    assert verdict.fraction == 0
    assert said in verdict.message
    assert (verdict.outcome is Outcome.HUNG) == (name == "never_answers")
    assert (verdict.outcome is Outcome.PANICKED) == (name == "reads_outside_the_zone")


def test_nobody_speaks_for_the_driver(tried: Trial) -> None:
    """The driver's output decides. On the host there are functions that the kernel lacks."""
    says = '\tz->nr_free = 0;\n#ifdef HOST_TEST\n\tputs("1");\n#endif\n'
    source = changed(solution(BUDDY), "\tz->nr_free = 0;\n", says)
    tried.lay(source.replace("void buddy_init", "int puts(const char *text);\nvoid buddy_init"))
    verdict = tried.judge_on_host(tried.test(RANDOM))
    assert verdict.outcome is Outcome.BROKE_RULE and "uses puts" in verdict.message


HIDDEN = """
static void say(const char *text)
{
	u32 result = 4; /* write */

	__asm__ volatile("jmp 1f + 1; 1: mov $0x909080CD, %%edi"
		: "+a"(result) : "b"(1), "c"(text), "d"(2) : "edi", "memory");
}

"""


def test_what_is_hidden_in_an_instruction_says_nothing(tried: Trial) -> None:
    """A system call on the host, by a program that has no open file to print to, and may not read the driver's
    memory."""
    begin = "void buddy_init(struct zone *z)\n{\n"
    tried.lay(changed(solution(BUDDY), begin, HIDDEN + begin + '#ifdef HOST_TEST\n\tsay("x\\n");\n#endif\n'))
    verdict = tried.judge_on_host(tried.test(RANDOM))
    assert verdict.outcome is Outcome.RIGHT, verdict.message


def test_whoever_prints_much_loses_nothing(tried: Trial) -> None:
    first = "\tif (order >= MAX_ORDER || list_empty(&z->free_area[order].list))\n"
    prints = '\tfor (int i = 0; i < 500; i++)\n\t\tprintk("order %d of %s\\n", order, z->name);\n'
    tried.lay(
        changed(solution(BUDDY), first, prints + first).replace(
            "#define INSIDE", '#include "lib/printf.h"\n\n#define INSIDE'
        )
    )
    verdict = tried.judge_on_host(tried.test(RANDOM))
    assert verdict.outcome is Outcome.RIGHT, verdict.message


@pytest.mark.parametrize(("word", "status", "is_right"), [("", 0, True), ("x", 0, False), ("", -9, False)])
def test_only_the_drivers_own_lines_count(word: str, status: int, is_right: bool, tried: Trial) -> None:
    """Code that finds the grader's pipe does not know the word; and a driver that was killed has not printed
    everything."""
    tried.lay(solution(BUDDY))
    test = tried.test(MERGE)
    assert tried.judge_on_host(test).outcome is Outcome.RIGHT

    def run_on_host(*command: str, stdin: bytes, **limits: float) -> HostRun:
        run = tried.machine.run_on_host(*command, stdin=stdin, **limits)
        return replace(run, out="".join(word + line for line in run.out.splitlines(True)), status=status or run.status)

    verdict = buddy.perform(test, SimpleNamespace(run_on_host=run_on_host), buddy.strings_of(test)[0])
    assert (verdict.outcome is Outcome.RIGHT) == is_right


def test_nothing_runs_before_it_is_called(tried: Trial) -> None:
    early = "__attribute__((constructor)) static void early(void)\n{\n\tmax_pfn += !max_pfn;\n}\n"
    tried.lay(f"{solution(BUDDY)}#ifdef HOST_TEST\n{early}#endif\n")
    verdict = tried.judge_on_host(tried.test(RANDOM))
    assert verdict.outcome is Outcome.BROKE_RULE and "code that runs without a call" in verdict.message


def test_long_line_of_the_students_is_read_at_once() -> None:
    test, begun = next(each for each in lab.load(qemu.ROOT, "buddy").tests if each.kind == "buddy"), time.process_time()
    said = "ERROR:\n" + "#1 " * 1_000_000 + "\n#2 in f kernel/mm/frame/buddy.c:7\n"
    verdict = buddy.follow(test, [], HostRun(1, "", said))
    assert "#2 in f" in verdict.message and time.process_time() - begun < 5


def test_kernel_whose_frames_are_given_twice_does_not_pass(tried: Trial) -> None:
    """In the kernel: one allocation in 500 returns the previous frame once more."""
    page = "\tpage = list_first_entry(&z->free_area[order].list, struct page, lru);\n\tblock_remove(z, page, order,"
    again = (
        "\tstatic struct page *last;\n\tstatic u32 nr;\n\n\tif (last && !order && ++nr % 500 == 0)\n\t\treturn last;\n"
    )
    source = changed(solution(BUDDY), page, again + page)
    tried.lay(
        changed(source, "LIST_POISON_NEXT);\n\tz->nr_free -=", "LIST_POISON_NEXT);\n\tlast = page;\n\tz->nr_free -=")
    )
    verdict = tried.judge(tried.test("the kernel works with it: torture"))
    assert verdict.outcome is Outcome.PANICKED, verdict.message  # the check that finds it depends on the compiler


def seen(*events: tuple[int, int, int, int]) -> Evidence:
    """Evidence of events (kind, space, page, frame)."""
    rows = [(kind, 0, space, a, b, at, at) for at, (kind, space, a, b) in enumerate(events)]
    return Evidence(np.array(rows, EVENT), [], len(rows), 0, False, True)


def test_use_of_a_frame_by_two_pages_at_a_time() -> None:
    two = [(BIRTH, 1, 0, 0), (BIRTH, 2, 0, 0)]
    mine = [(ZERO, 1, 0, 9), (STORE, 1, 0x500, 9)]
    assert runs.used_twice(seen(*two, *mine, (REF, 1, 0x500, 9))) == ""
    assert "process 2, which is not its later child" in runs.used_twice(seen(*two, *mine, (REF, 2, 0x500, 9)))
    assert "as page 0x500 and, by process 1, as page 0x600" in runs.used_twice(seen(*two, *mine, (REF, 1, 0x600, 9)))
    taken = [*two, *mine, (ZERO, 2, 0, 9), (STORE, 2, 0x500, 9)]
    assert runs.used_twice(seen(*taken)) == ""
    assert "frame 9 is used twice: by process 2" in runs.used_twice(seen(*taken, (REF, 1, 0x500, 9)))


def test_use_of_a_frame_by_parent_and_child() -> None:
    born = [(BIRTH, 1, 0, 0), (COPY, 1, 8, 9), (STORE, 1, 0x500, 9), (BIRTH, 2, 0, 0)]
    assert runs.used_twice(seen(*born, (REF, 2, 0x500, 9))) == ""
    read = [(BIRTH, 1, 0, 0), (BIRTH, 2, 0, 0), (READ, 2, 0, 9), (REF, 1, 0x500, 9), (REF, 2, 0x500, 9)]
    assert runs.used_twice(seen(*read)) == ""


def test_model_halves_and_merges() -> None:
    frames = buddy.Frames(64, 128)
    frames.give(64, 6)
    frames.take(72, 1, place=1)
    assert [sorted(blocks) for blocks in frames.free[:7]] == [[], [74], [76], [64], [80], [96], []]
    assert frames.nr_free == 62 and frames.smallest(2) == (76, 2) and frames.around(65, 0) == (64, 3)
    frames.give_back(1)
    assert frames.free[6] == {64} and not frames.holder


def test_model_is_the_same_in_any_order() -> None:
    """The same free frames form the same blocks, whatever the order of frees."""
    numbers, frames = random.Random(1), buddy.Frames(0, 1024)
    pfns = [pfn for pfn in range(1024) if numbers.random() < 0.9]
    numbers.shuffle(pfns)
    for pfn in pfns:
        frames.give(pfn, 0)
    merged = buddy.Frames(0, 1024)
    for pfn in sorted(pfns):
        merged.give(pfn, 0)
    assert merged.free == frames.free and frames.nr_free == len(pfns)


def test_random_operations_repeat_and_free_what_was_taken() -> None:
    operations = list(buddy.drawn(2000, 3))
    assert operations == list(buddy.drawn(2000, 3)) != list(buddy.drawn(2000, 4))
    freed = [operation.number for operation in operations if operation.what == "f"]
    taken = {operation.place for operation in operations if operation.what == "a"}
    assert len(freed) == len(set(freed)) and taken.issuperset(freed)


@pytest.mark.parametrize("options", [{"operations": "b3"}, {"operations": "a0", "rules": "best fit"}, {"random": 10}])
def test_bad_options_are_named(options: dict, tried: Trial) -> None:
    with pytest.raises(LabError):
        tried.judge_on_host(model.Test("bad", 1, "buddy", options))
