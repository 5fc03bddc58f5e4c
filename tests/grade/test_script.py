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


WS = solution(f"{POLICIES}/ws.c")
WAITS, TURNS = (
    "which processes wait, and which start again, by hand",
    "five processes that each fill memory take turns, by hand",
)
DETAILS = "locked pages, other zones, few looks, and uses that it is told of"
BEGINS = "\tw->waiting = w->idle = false;\n\tw->unread = ~0u;\n"
RANK = "return claim > vm_frames() / LITTLE ? 1 + sleeps : 0;"
STOPS = "\t\tsuspend(victim);\n\t\tpage = take_owned(scan, %s);\n"
PUT_BACK = "(void)why;\n\tenlist(page, SET);\n"

WRONG_SETS = {
    "late start": (
        changed(WS, "if (!n || w->own.set.nr > n->own.set.nr ||", "if (n && w->own.set.nr + n->own.set.nr &&"),
        WAITS,
        "0 may run; at least 2 expected",
    ),
    "no admission": (changed(WS, "admit = 1;", "admit;"), WAITS, "3 may run; at most 2 expected"),
    "little waits": (changed(WS, RANK, "return 1 + sleeps;"), WAITS, "0 may run; at least 1 expected"),
    "a sleeper stays": (
        changed(WS, RANK, RANK.replace("1 + sleeps", "1")),
        WAITS,
        "pages were taken from processes that",
    ),
    "another one's page": (
        changed(WS, STOPS % "false", STOPS % "true"),
        WAITS,
        "pages were taken from processes that never had to wait; at most 2 expected",
    ),
    "short turns": (
        changed(WS, f"{BEGINS}\tw->since = vm_now();\n", BEGINS),
        TURNS,
        "times a process had to stop; at most",
    ),
    "no turns": (changed(WS, "mm = longest(true);", "mm = NULL;"), TURNS, "ms; at least 2000 expected"),
    "all run": (changed(WS, "admit = 1;", "admit;"), TURNS, "5 may run; at most 2 expected"),
    "lost page": (changed(WS, PUT_BACK, "(void)why;\n"), DETAILS, "expected page 1, yours gave none"),
}
OTHER_SETS = {  # other honest rules: which process is stopped, and how many load at a time
    "youngest": changed(WS, "rank(mm) > rank(victim)", "rank(mm) >= rank(victim)"),
    "first activated": changed(
        WS, "ws_mm(mm)->since >= ws_mm(victim)->since", "ws_mm(mm)->since < ws_mm(victim)->since"
    ),
    "largest": changed(WS, "ws_mm(mm)->since >= ws_mm(victim)->since", "claim_of(mm) > claim_of(victim)"),
    "smallest": changed(WS, "ws_mm(mm)->since >= ws_mm(victim)->since", "claim_of(mm) < claim_of(victim)"),
    "all load": changed(WS, "\tif (who_loads())\n\t\treturn NULL;\n", ""),
    "claims when asleep": changed(WS, "if (!ws_mm(mm)->waiting && !ws_mm(mm)->idle)", "if (!ws_mm(mm)->waiting)"),
    "claims its size": changed(WS, "vtime(mm) <= tau_ms * PER_MS ? mm_demand(mm) : 0", "0"),
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return trial("clock", tmp_path_factory.mktemp("script"))


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return trial("workingset", tmp_path_factory.mktemp("sets"))


def test_use_that_a_policy_is_told_of_counts(sets: Trial) -> None:
    """ws, whose page 1 was touched last, gives page 1, which came first."""
    test = sets.test(DETAILS)
    sets.lay(WS)
    assert sets.judge_on_host(test).outcome is Outcome.RIGHT
    sets.lay(changed(WS, "\t.touch = ws_touch,\n", ""))
    verdict = sets.judge_on_host(test)
    assert verdict.outcome is not Outcome.RIGHT and verdict.fraction == 0, verdict.message


@pytest.mark.parametrize("what", WRONG_SETS)
def test_which_process_waits_is_seen(what: str, sets: Trial) -> None:
    source, title, said = WRONG_SETS[what]
    sets.lay(source)
    verdict = sets.judge_on_host(sets.test(title))
    assert verdict.outcome is Outcome.WRONG and said in verdict.message, verdict.message


@pytest.mark.parametrize("what", OTHER_SETS)
def test_another_rule_for_stopping_gets_all_points(what: str, sets: Trial) -> None:
    sets.lay(OTHER_SETS[what])
    for title in (WAITS, TURNS):
        verdict = sets.judge_on_host(sets.test(title))
        assert verdict.outcome is Outcome.RIGHT, verdict.message


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
