"""The labs `clock`, `twoq` and `workingset`: the grader's messages about policies with one mistake each.

All mistakes are policies with their own names in one kernel, so that it is built once. They are the reference solutions
with some pieces replaced; js2q (tests/kernel/policies) is another good design.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import textbook
from confined import NEEDS_WAY_IN
from grading import solution
from soak import soak_but
from tidemark.errors import LabError
from tidemark.grade import grading, model
from tidemark.grade.intake import lab
from tidemark.grade.judge import expected
from tidemark.grade.judge.kinds import admission, faults, residence
from tidemark.grade.model import Outcome, Verdict
from tidemark.grade.witness import playback
from tidemark.grade.witness.boot import Boot
from tidemark.grade.witness.evidence import EVENT, READ, STORE, SWITCH, WRITE, ZERO, Evidence
from tidemark.grade.witness.machine import Machine
from tidemark.machine import qemu
from trials import changed, trial

pytestmark = pytest.mark.graded

POLICIES = Path("kernel/mm/policy")
FIFO, CLOCK, TWOQ, WS = (solution(f"{POLICIES}/{name}.c") for name in ("fifo", "clock", "useonce", "ws"))
SPARED = "\t\t\tnr_turned++;\n\t\t\tlist_move_tail(&p->node, &circle);\n"
ACTIVATES = "p->list == INACTIVE && p->referenced"
LATE = "\tmm = longest(true);\n"
LISTS = '#include "ws_lists.h"\n'

MISTAKES = {
    "fifo_in_clock": FIFO,
    "clock_in_fifo": CLOCK,
    "clears_all": changed(
        CLOCK,
        SPARED,
        SPARED + "\t\t\tlist_for_each_entry(p, &circle, node)\n\t\t\t\tpage_referenced(policy_page_of(p));\n",
    ),
    "stays_put": changed(CLOCK, SPARED, "\t\t\tnr_turned++;\n"),
    "before_hand": changed(
        CLOCK, "(void)mm, (void)how, (void)from;\n\tlist_add_tail", "(void)mm, (void)how, (void)from;\n\tlist_add"
    ),
    "first_use": changed(TWOQ, ACTIVATES, "p->list == INACTIVE"),
    "never_active": changed(TWOQ, ACTIVATES, "p->list == NR_LISTS"),
    "never_old": changed(
        TWOQ, "\tbool all = !scan->priority;\n", "\tbool all = !scan->priority;\n\n\tif (!all)\n\t\treturn;\n"
    ),
    "fifo_in_2q": FIFO,
    "never_trims": changed(WS, "MAX(strict ? ", "MAX(strict > 1 ? "),
    "machine_time": changed(WS, LISTS, f"#define mm_vtime(mm) (mm_rss(mm) * 0 + vm_now())\n{LISTS}"),
    "twice_tau": WS.replace("tau_ms * PER_MS", "tau_ms * 2 * PER_MS"),
    "half_tau": WS.replace("tau_ms * PER_MS", "tau_ms * PER_MS / 2"),
    "no_admission": changed(WS, "strict = 1, admit = 1;", "strict = 1, admit;"),
    "no_claim": changed(WS, "others + ws_mm(mm)->claim <= vm_frames()", "others + ws_mm(mm)->size <= vm_frames()"),
    "no_patience": changed(WS, LATE, "\tmm = NULL;\n"),
    "keeps_it": changed(CLOCK, "\t\t\tlist_del(&p->node);\n\t\t\treturn page;", "\t\t\treturn page;"),
    "wild": changed(CLOCK, "\t\t\tnr_turned++;\n", "\t\t\tnr_turned += *(u32 *)NULL;\n"),
}


def named(source: str, name: str) -> str:
    """A policy's source under another name."""
    return re.sub(r'(\.name = )"\w+"', rf'\1"{name}"', source)


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A machine whose kernel has all of them, and js2q."""
    made = trial("clock", tmp_path_factory.mktemp("policies")).machine
    sources = MISTAKES | {"js2q": (qemu.ROOT / "tests/kernel/policies/js2q.c").read_text()}
    for name, source in sources.items():
        (made.tree / POLICIES / f"{name}.c").write_text(named(source, name))
    built = made.make(*grading.KERNEL)
    assert built.status == 0, built.err
    objects = (f"build/{POLICIES}/{name}.o" for name in (*sources, "fifo", "clock", "useonce", "ws"))
    return replace(made, objects=tuple(objects))


def judge(tried: Machine, lab_name: str, title: str, policy: str) -> Verdict:
    """Judges a policy that has its own name in the kernel with a test of the lab."""
    test = next(test for test in lab.load(qemu.ROOT, lab_name).tests if test.title == title)
    options = dict(test.options)
    options["like"] = options.get("policy", "ws")
    options["policy"] = options["vm"] = policy
    for name in ("work", "reads"):  # shares of what the starter's kernel does, which lacks this policy
        options.pop(name, None)
    own = [word.replace("ws.", f"{policy}.") for word in options.get("set", [])]
    test = replace(test, options=options | {"set": own})
    if test.kind == "victims":
        tried.build_results.clear()
        grading.prepare(tried, [test])
    return grading.judge(test, tried)[0]


CLOCKS, TWOQS, SETS = "clock", "twoq", "workingset"
SCAN, BURSTS = "a scan pushes out nothing but itself", "two uses in a row prove nothing"
HOT, MOVED = "pages in use stay, whatever is read past them", "a locality that is over is let go"
TAU, OWN = "a page leaves tau after its last use", "tau is the process's own time: who sleeps loses nothing"
PRICE, RARELY = (
    "localities that change: memory and faults together",
    "a page used within tau stays, one used more rarely does not",
)
AT_WORK = "four processes, memory for two: two are at work at a time"
CLAIMS = "a process that starts again claims what it had"
STARVED = "no process waits for ever"
BY_HAND, ALL_USED = "clock: second chances, by hand", "clock: every page has been used"


@pytest.mark.parametrize(
    ("policy", "lab_name", "title", "said"),
    [
        ("fifo_in_clock", CLOCKS, BY_HAND, "reference 7, to page 5: expected victim page 2, yours 1"),
        pytest.param(
            "stays_put",
            CLOCKS,
            BY_HAND,
            "reference 7, to page 5: expected victim page 2, yours 1",
            marks=pytest.mark.soak,
        ),
        ("clears_all", CLOCKS, BY_HAND, "reference 8, to page 6: expected victim page 4, yours 3"),
        pytest.param(
            "clears_all",
            CLOCKS,
            "clock: 1,000 references to popular and unpopular pages",
            "as yours is           circle:",
            marks=pytest.mark.soak,
        ),
        pytest.param("before_hand", CLOCKS, ALL_USED, "expected victim page x9, yours x12", marks=pytest.mark.soak),
        pytest.param(
            "clock_in_fifo",
            CLOCKS,
            "fifo: being used does not spare a page",
            "expected victim page 1, yours 2",
            marks=pytest.mark.soak,
        ),
        ("clock_in_fifo", CLOCKS, "fifo: Belady's string with 3 frames", "FRAMES=3 EXPLAIN=1"),
        ("fifo_in_2q", TWOQS, SCAN, "expected victim page 21, yours 1"),
        pytest.param("never_active", TWOQS, SCAN, "expected victim page 29, yours 1", marks=pytest.mark.soak),
        pytest.param("first_use", TWOQS, BURSTS, "expected victim page 50, yours 1", marks=pytest.mark.soak),
        ("machine_time", SETS, OWN, "page 1 left memory 1.0 ms after its last use"),
        ("never_trims", SETS, TAU, "page 4 was still in memory"),
        pytest.param("twice_tau", SETS, TAU, "so it should have gone", marks=pytest.mark.soak),
        ("half_tau", SETS, RARELY, "so it was in the working set"),
    ],
)
def test_what_a_book_prescribes_is_held_against_it(
    policy: str, lab_name: str, title: str, said: str, tried: Machine
) -> None:
    verdict = judge(tried, lab_name, title, policy)
    assert verdict.outcome is Outcome.WRONG and verdict.fraction == 0
    assert said in verdict.message


@NEEDS_WAY_IN
@pytest.mark.parametrize(
    ("policy", "lab_name", "title", "most", "said"),
    [
        pytest.param("fifo_in_2q", TWOQS, HOT, 0, "for instance, page", marks=pytest.mark.soak),
        pytest.param("never_active", TWOQS, HOT, 0, "on this string FIFO 402, LRU 282", marks=pytest.mark.soak),
        pytest.param("never_old", TWOQS, MOVED, 0, "who once was active must get old", marks=pytest.mark.soak),
        ("first_use", TWOQS, "bursts, half of them to a tenth of the pages", 0.5, "four uses close together"),
        ("never_trims", SETS, PRICE, 0, "0 read again"),
        ("no_admission", SETS, AT_WORK, 0.2, "do not fit into 220 frames"),
        ("no_claim", SETS, CLAIMS, 0, "it claims the size that it had"),
    ],
)
def test_budget_is_overdrawn(policy: str, lab_name: str, title: str, most: float, said: str, tried: Machine) -> None:
    verdict = judge(tried, lab_name, title, policy)
    assert verdict.outcome is Outcome.OVER_BUDGET and verdict.fraction <= most
    assert said in verdict.message


@pytest.mark.soak
def test_who_starves_hangs(tried: Machine) -> None:
    verdict = judge(tried, SETS, STARVED, "no_patience")
    assert verdict.outcome is Outcome.HUNG and "had not ended after" in verdict.message


def test_broken_rule_and_wild_pointer_get_nothing(tried: Machine) -> None:
    verdict = judge(tried, CLOCKS, BY_HAND, "keeps_it")
    assert verdict.outcome is Outcome.BROKE_RULE and "the policy broke the rule" in verdict.message
    verdict = judge(tried, CLOCKS, BY_HAND, "wild")
    assert verdict.outcome is Outcome.PANICKED and "clock_select" in verdict.message


# The tests asked by hand use a simulator of the lab's own file.
JUDGED = [test.title for test in lab.load(qemu.ROOT, TWOQS).tests if test.kind != "script"]


@pytest.mark.parametrize("title", soak_but(JUDGED, SCAN, HOT))
def test_other_good_design_gets_full_marks(title: str, tried: Machine) -> None:
    verdict = judge(tried, TWOQS, title, "js2q")
    assert verdict.fraction == 1, verdict.message


def test_lists_in_a_message_are_those_before_the_reference(tried: Machine) -> None:
    """By hand: 1 was used, so 2 should be evicted; a queue has no second chances."""
    verdict = judge(tried, CLOCKS, BY_HAND, "fifo_in_clock")
    *lines, last = verdict.message.splitlines()
    assert "keeps this run, and prints the command that puts gdb there" in last
    assert lines[1:] == [
        "the string before it: 1 2 3 4 1 3",
        "as it should be then  circle: 1* 2 3* 4",
        "as yours is           queue: 1* 2 3* 4",
        "the shortest string that shows it, with 3 frames: 1 2 3 1 4",
        "there, at reference 5, to page 4: expected victim page 2, yours 1",
        'make sim VM=fifo_in_clock FRAMES=3 EXPLAIN=1 TRACE="1 2 3 1 4"',
    ]


# --- what the grader compares with ---

BELADY = [1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5]


def nr_faults(decisions: list[expected.Decision]) -> int:
    """The number of references that are not hits."""
    return sum(not decision.hit for decision in decisions)


def test_models_are_those_of_the_books() -> None:
    """Belady's own counts; and clock by hand, as in tests/kernel/test_vmsim.py."""
    assert [nr_faults(textbook.fifo(BELADY, frames)) for frames in (3, 4, 5)] == [9, 10, 5]
    assert [nr_faults(textbook.lru(BELADY, frames)) for frames in (3, 4, 5)] == [10, 8, 5]
    by_hand = textbook.clock(BELADY, 3)
    assert [each.victim for each in by_hand] == [None, None, None, 1, 2, 3, 4, None, None, 5, 1, 2]
    assert (by_hand[9].lists, by_hand[9].used) == ({"circle": (1, 2, 5)}, {1, 2})


def test_clock_is_fifo_when_nothing_is_used_twice_and_evicts_the_first_when_all_are() -> None:
    once = list(range(50))
    assert [each.victim for each in textbook.clock(once, 7)] == [each.victim for each in textbook.fifo(once, 7)]
    assert textbook.clock([1, 2, 3, 1, 2, 3, 4], 3)[-1].victim == 1


@pytest.mark.parametrize("frames", [3, 4, 20])
@pytest.mark.parametrize("policy", ["fifo", "clock"])
def test_reference_solutions_decide_as_the_books_say(policy: str, frames: int) -> None:
    """Students see the lists, so these are compared, too."""
    pages = [random.Random(frames).randrange(2 * frames) for _ in range(1000)]
    model = {"fifo": textbook.fifo, "clock": textbook.clock}[policy]
    found = expected.simulated(expected.simulator(qemu.ROOT, policy), pages, frames, ())
    by_the_book = model(pages, frames)
    assert [(each.page, each.hit, each.victim) for each in found] == [
        (each.page, each.hit, each.victim) for each in by_the_book
    ]
    assert [each.lists for each in found[1:]] == [each.lists for each in by_the_book[1:]]


def test_lru_of_the_comparison_is_the_textbooks() -> None:
    pages = [random.Random(5).randrange(40) for _ in range(2000)]
    for frames in (3, 20):
        assert faults.read_again_by_lru(pages, frames) == expected.read_again(textbook.lru(pages, frames))


@pytest.fixture
def victims_test() -> model.Test:
    return next(test for test in lab.load(qemu.ROOT, TWOQS).tests if test.title == SCAN)


def test_students_release_has_what_visible_tests_expect(
    victims_test: model.Test, tried: Machine, tmp_path: Path
) -> None:
    expected.write(tmp_path, lab.load(qemu.ROOT, TWOQS), {})
    assert len(list((tmp_path / "expected").iterdir())) == 6
    (tmp_path / "release/labs").mkdir(parents=True)
    (tmp_path / "release/labs/RELEASE").touch()
    theirs = replace(tried, release=tmp_path / "release", lab=replace(tried.lab, folder=tmp_path))
    assert expected.decisions(theirs, victims_test) == expected.decisions(tried, victims_test)
    bursts = next(test for test in lab.load(qemu.ROOT, TWOQS).tests if test.title.startswith("bursts"))
    assert expected.read_again_by_fifo(theirs, bursts) == expected.read_again_by_fifo(tried, bursts) != []
    expected.file_of(tmp_path, victims_test).unlink()
    with pytest.raises(LabError, match="is missing"):
        expected.decisions(theirs, victims_test)


def test_string_is_written_as_pace_reads_it() -> None:
    assert playback.words([0, 1, 2, 7, 7, 8, 3]) == "1-3 8 8-9 4"
    assert playback.words([]) == ""
    options = {"string": "0 1 2 3", "again": [2]}
    assert playback.pages_of(model.Test("", 1, "faults", options)) == (0, 1, 2, 3, 2, 3, 0, 1)
    with pytest.raises(LabError, match="needs pages above"):
        playback.prefix_of([9000], 400)


# --- conclusions from events ---


def events(*rows: tuple[int, int, int, int, int]) -> Evidence:
    """Evidence whose events are `rows`: (kind, space, a, b, instructions of programs)."""
    made = np.zeros(len(rows), EVENT)
    for at, (kind, space, a, b, user) in enumerate(rows):
        made[at] = (kind, 0, space, a, b, user, user)
    return Evidence(made, [], 0, 0, False, True)


def use(page: int, frame: int, user: int) -> tuple[int, int, int, int, int]:
    """A store to a page of the array by space 1."""
    return STORE, 1, 0x50000 + page, frame, user


MS = residence.NS_PER_MS
COURSE = events(
    (SWITCH, 1, 0, 0, 0),
    (ZERO, 1, 0, 10, 0),
    use(0, 10, 1 * MS),
    (ZERO, 1, 0, 11, 0),
    use(1, 11, 1 * MS),
    (SWITCH, 2, 0, 0, 2 * MS),  # another program runs for 5 ms
    (SWITCH, 1, 0, 0, 7 * MS),
    use(0, 10, 8 * MS),
    (WRITE, 1, 0, 11, 9 * MS),
    (STORE, 1, 0xBF000, 20, 9 * MS),  # its stack
    use(0, 10, 10 * MS),
    (READ, 1, 0, 12, 10 * MS),
    use(1, 12, 11 * MS),
)


def test_stays_are_counted_in_the_process_own_time() -> None:
    stays, end = residence.stays_of(COURSE, [5, 6])
    assert [(stay.page, stay.uses, stay.left) for stay in stays] == [
        (5, [1 * MS, 3 * MS, 5 * MS], None),
        (6, [1 * MS], 4 * MS),
        (6, [6 * MS], None),
    ]
    assert end == 6 * MS

    def windowed(first: float, later: float) -> model.Test:
        return model.Test("windows", 1, "residence", {"tau_ms": 1, "windows": [first, later]})

    assert "page 6 left memory 3.0 ms after its last use" in residence.wrongly_left(windowed(4, 3), stays)
    assert not residence.wrongly_left(windowed(3, 9), stays)
    assert "page 6 was still in memory 3.0 ms after" in residence.wrongly_kept(windowed(0.5, 0.5), stays, MS, end)
    assert not residence.wrongly_kept(windowed(1, 1), stays, MS, end)
    assert "page 6 was still" in residence.wrongly_kept(windowed(0.5, 9), stays, MS, end)
    assert "tau is 4 ms" in residence.wrongly_left(model.Test("tau", 1, "residence", {"tau_ms": 4}), stays)
    assert residence.mean_resident(stays, end) == pytest.approx((5 + 3 + 0) / 5)


def test_more_pages_than_frames_and_a_string_cut_short_are_noticed() -> None:
    boot = Boot(Outcome.RIGHT, "", "", COURSE)
    whole = playback.Playback(boot, (), (5, 6, 5, 5, 6))
    assert playback.incomplete(whole, 2) is None
    assert "2 pages were in memory at once, with 1 frames" in playback.incomplete(whole, 1).message
    assert "made 5 of 6 references" in playback.incomplete(replace(whole, string=(5, 6, 5, 5, 6, 7)), 2).message
    assert whole.victims == {3: [6]} and whole.swapped_in.tolist() == [False, False, False, False, True]


def test_who_has_little_of_a_short_time_is_not_at_work() -> None:
    short = admission.WINDOW
    turns = [(1, 0), (2, short // 2), (1, short), (2, 2 * short - short // 100), (2, 3 * short)]
    seen = events(*((SWITCH, space, 0, 0, user) for space, user in turns), (SWITCH, 1, 0, 0, 4 * short))
    assert admission.workers(seen, 2) == [1, 2]
    assert admission.at_once(seen, [1, 2]) == pytest.approx((2 + 1 + 1 + 1) / 4)
