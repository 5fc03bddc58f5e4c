"""The kind `script`: each thing that the labs' handouts forbid is detected by the test made for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from grading import solution
from soak import soak_but
from tidemark.errors import LabError
from tidemark.grade.intake import lab
from tidemark.grade.judge.kinds import script
from tidemark.grade.model import Outcome
from tidemark.machine import qemu
from trials import Trial, changed, trial

pytestmark = pytest.mark.graded

POLICIES = Path("kernel/mm/policy")
FIFO, CLOCK = (solution(f"{POLICIES}/{name}.c") for name in ("fifo", "clock"))
PASSED = "clock: a page that it may not take is passed as it is"
FEW = "clock: it looks at no more pages than it may"
ALL_USED = "clock: all pages are used, and at priority 0 one must go"
BACK, LOCKED = "fifo: a page that comes back queues again", "fifo: locked pages, other zones, few looks, and no bits"
ASKS = (
    "if (!vm_eligible(scan, page)) {\n\t\t\tlist_move_tail(&p->node, &circle);\n\t\t} else if (page_referenced(page))"
)
BIT_FIRST = "bool used = page_referenced(page);\n\n\t\tif (!vm_eligible(scan, page)) {\n" + (
    "\t\t\tlist_move_tail(&p->node, &circle);\n\t\t} else if (used)"
)
MORE = "!list_empty(&circle) && vm_scan_more(scan)"
FRONT = changed(FIFO, "(void)why;\n\tlist_add_tail(", "(void)why;\n\tlist_add(")

ONE_TURN = f"\tint turn = vm_list_length(&circle);\n\n\twhile (turn-- && {MORE}"

FORBIDDEN = {
    "never eligible": ("clock", changed(CLOCK, ASKS, "if (page_referenced(page))"), PASSED, "page 1 was cleared"),
    "bit first": ("clock", changed(CLOCK, ASKS, BIT_FIRST), PASSED, "the accessed bit of page 1 was cleared"),
    "never more": ("clock", changed(CLOCK, MORE, "!list_empty(&circle)"), FEW, "expected no page, yours gave page 1"),
    "one turn": ("clock", changed(CLOCK, f"\twhile ({MORE}", ONE_TURN), ALL_USED, "expected page 1, yours gave none"),
    "never cleared": (
        "clock",
        CLOCK.replace("page_referenced(page)", "page_young(page)"),
        ALL_USED,
        "the accessed bit of pages 2, 3, 4, 5 is still set",
    ),
    "back in front": ("fifo", FRONT, BACK, "expected page 2, yours gave page 1"),
    "takes locked": ("fifo", changed(FIFO, "if (vm_eligible(scan, page))", "if (true)"), LOCKED, "not eligible"),
    "no budget": ("fifo", changed(FIFO, "if (!vm_scan_more(scan))", "if (false)"), LOCKED, "yours gave page 9"),
    "clears": ("fifo", changed(FIFO, "if (vm_el", "if (!page_referenced(page) && vm_el"), LOCKED, "yours gave none"),
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return trial("clock", tmp_path_factory.mktemp("script"))


def test_use_that_a_policy_is_told_of_counts(tmp_path: Path) -> None:
    """ws, whose page 1 was touched last, gives page 1, which came first."""
    tried = trial("workingset", tmp_path)
    source = solution(f"{POLICIES}/ws.c")
    test = tried.test("locked pages, other zones, few looks, and uses that it is told of")
    tried.lay(source)
    assert tried.judge_on_host(test).outcome is Outcome.RIGHT
    tried.lay(changed(source, "\t.touch = ws_touch,\n", ""))
    verdict = tried.judge_on_host(test)
    assert verdict.outcome is not Outcome.RIGHT and verdict.fraction == 0, verdict.message


@pytest.mark.parametrize("what", soak_but(FORBIDDEN, "bit first", "never more", "back in front"))
def test_what_the_handout_forbids_is_seen(what: str, tried: Trial) -> None:
    policy, source, title, said = FORBIDDEN[what]
    (tried.machine.tree / POLICIES / f"{policy}.c").write_text(source)
    verdict = tried.judge_on_host(tried.test(title))
    assert verdict.outcome is Outcome.WRONG and said in verdict.message, verdict.message


@pytest.mark.parametrize("name", ["clock", "twoq", "workingset"])
def test_scripts_can_be_read(name: str) -> None:
    tests = [test for test in lab.load(qemu.ROOT, name).tests if test.kind == "script"]
    assert tests and all(script.scripts_of(test) for test in tests)
    with pytest.raises(LabError, match="'inn1' is not a word of a script"):
        script.steps_of("in1 inn1")


def test_a_select_that_looks_once_more_than_it_may_is_no_mistake() -> None:
    """A select that looks once more before it asks is within the handout; one that looks twice more is not."""
    steps = script.steps_of("in1-5 use1-5 ask#2 =none looks2")
    before = ["", *[""] * 4, "1", "1 2", "1 2 3", "1 2 3 4", "1 2 3 4 5"]
    script.follow(steps, [*before, "0 4 5"])
    with pytest.raises(script.Wrong, match="may look at 2 pages, but cleared the accessed bits of 4"):
        script.follow(steps, [*before, "0 5"])
