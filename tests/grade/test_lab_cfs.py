"""The lab `cfs`: each mistake costs the points of the test that looks for it, and is named."""

from __future__ import annotations

import numpy as np
import pytest
from grading import solution, starter
from soak import soak_but
from tidemark.errors import LabError
from tidemark.grade import model
from tidemark.grade.judge.kinds import shares
from tidemark.grade.model import Outcome
from tidemark.grade.witness.evidence import EVENT, STORE, SWITCH, Evidence
from trials import Trial, changed, trial

pytestmark = pytest.mark.graded

FAIR = "kernel/sched/fair.c"
WEIGHTS, SLEEPER, SAVER, FORKS, SIX, NAPS, YIELD, RENICE = (
    "nice 0, 5 and -5 get what their weights say",
    "a sleeper runs as soon as it wakes",
    "a long sleep saves nothing up",
    "forking wins no time",
    "no task starves among six",
    "nor does napping",
    "a process that yields lets the others run",
    "nice values that change while all run",
)
# Possible mistakes of a student: a piece of the solution, its replacement, the test that detects it, the message,
# and the outcome.
MISTAKES = {
    "ignores_nice": (
        "return prio_to_weight[nice - NICE_MIN]",
        "return prio_to_weight[0 * nice - NICE_MIN]",
        WEIGHTS,
        "process 3 (nice -5) got 33.3% of the CPU; its weight says 69.7%",
        Outcome.WRONG,
    ),
    "starves_the_last": (
        "\tse = entity(rq->leftmost);\n\ttree_erase",
        "\tse = entity(rb_last(&rq->tree));\n\ttree_erase",
        SIX,
        " ms for a turn, 0 ms after the beginning",
        Outcome.HUNG,
    ),
    "slices_are_long": (
        "return (u64)period * se->weight / load;",
        "return 50000000 + 0 * period * load;",
        SIX,
        "ms for a turn",
        Outcome.OVER_BUDGET,
    ),
    "no_wakeup_preempts": (
        "return !rq->curr || before(se->vruntime + gran, rq->curr->vruntime);",
        "return !rq->curr || gran == 1;",
        SLEEPER,
        "of 16 wake-ups, the latest came 3.0",
        Outcome.OVER_BUDGET,
    ),
    "sleep_is_saved_up": (
        "return before(v, se->vruntime) ? se->vruntime : v;",
        "return start == FAIR_WAKEUP || before(v, se->vruntime) ? se->vruntime : v;",
        SAVER,
        "for a turn, 148 ms after the beginning",
        Outcome.OVER_BUDGET,
    ),
    "burns_time": (
        "\tstruct sched_entity *se;\n\n\tif (!rq->leftmost) {",
        "\tstruct sched_entity *se;\n\n\tfor (volatile u32 i = 0; i < 200000; i++)\n\t\t;\n\tif (!rq->leftmost) {",
        WEIGHTS,
        "the processes had the CPU for",
        Outcome.WRONG,
    ),
    "naps_win_time": (
        "\treturn before(v, se->vruntime) ? se->vruntime : v;\n",
        "\treturn v;\n",
        NAPS,
        "process 3 (nice 0, which naps) got",
        Outcome.WRONG,
    ),
    "yield_does_nothing": (
        "\tif (last && before(rq->curr->vruntime, entity(last)->vruntime))\n",
        "\tif (!rq->curr)\n",
        YIELD,
        "process 3 (nice 0, which yields) got",
        Outcome.WRONG,
    ),
    "load_stays_when_weights_change": (
        "\tif (se->on_rq)\n\t\trq->load += weight - se->weight;\n",
        "\t(void)rq;\n",
        RENICE,
        "ms for a turn",
        Outcome.OVER_BUDGET,
    ),
    "new_tasks_go_first": (
        "v += fair_delta(fair_slice(rq, se), se->weight);",
        "v -= sched_latency_ns;",
        FORKS,
        "process 3 (nice 0, with all its children) got",
        Outcome.WRONG,
    ),
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return trial("cfs", tmp_path_factory.mktemp("cfs"))


@pytest.mark.soak
def test_round_robin_gives_all_the_same(tried: Trial) -> None:
    tried.lay(starter("cfs", FAIR))
    verdict = tried.judge(tried.test(WEIGHTS))
    assert verdict.outcome is Outcome.WRONG and "its weight says 69.7%" in verdict.message
    assert all(0.31 < share < 0.36 for share in verdict.figures.values())
    assert tried.judge(tried.test(SLEEPER)).fraction == 0


@pytest.mark.parametrize("name", soak_but(MISTAKES, *(name for name in MISTAKES if name != "slices_are_long")))
def test_mistake_is_named(name: str, tried: Trial) -> None:
    old, new, title, said, outcome = MISTAKES[name]
    tried.lay(changed(solution(FAIR), old, new))
    verdict = tried.judge(tried.test(title))
    assert verdict.outcome is outcome and verdict.fraction < 1
    assert said in verdict.message


def test_two_runs_come_to_the_same(tried: Trial) -> None:
    tried.lay(solution(FAIR))
    first, second = (tried.judge(tried.test(WEIGHTS)) for _ in range(2))
    assert first == second and first.outcome is Outcome.RIGHT
    lines = first.plot["lines"]
    assert list(lines) == ["1: nice 0", "2: nice 5", "3: nice -5"]
    assert sum(line[-1][1] for line in lines.values()) == pytest.approx(lines["1: nice 0"][-1][0], rel=0.01)


MS = shares.NS_PER_MS
FAKED = [(2, 3), (3, 60), (2, 0), (3, 60), (2, 2)]


def options(**given: object) -> shares.Options:
    """Options for two processes of nice 0 for 100 ms, unless given."""
    return shares.options_of(
        model.Test("t", 1, "shares", {"nice": [0, 0], "ms": 100, "measure": "lag", "full": 1, "none": 2, **given})
    )


def seen(*turns: tuple[int, int]) -> Evidence:
    """Evidence of an instruction in init (space 1), then a parent in space 2 with children 3 and 4, and these
    turns (space, ms) after it has let them begin; all instructions are executed by programs. A turn of 0 ms: only the
    kernel executes something in that space.
    """
    base = shares.MMAP_PAGES.start
    rows = [(SWITCH, 0, 1, 0, 0, 0, 0), (STORE, 0, 1, base + 7, 0, 0, 0)]
    rows += [(STORE, 0, space, base + space - 2, 0, 1, 1) for space in (3, 4, 2)]
    now = 1
    for space, ms in turns:
        rows.append((SWITCH, 0, space, 0, 0, now, now))
        now += ms * MS
    rows.append((SWITCH, 0, 1, 0, 0, now, now))
    return Evidence(np.array(rows, EVENT), [], now, 0, False, True)


def test_turns_are_those_while_the_parent_slept() -> None:
    turns = shares.turns(seen((2, 3), (3, 60), (4, 41), (2, 2), (3, 5)), options())
    assert (turns.end - turns.begin) == 101 * MS
    assert turns.process.tolist() == [1, 2] and turns.used(2)[-1].tolist() == [60 * MS, 41 * MS]
    assert turns.late.tolist() == [MS]
    assert turns.waits(2) == (60 * MS, turns.begin) and turns.waits(1)[0] == 41 * MS


def test_turn_of_who_sleeps_is_none() -> None:
    honest, faked = (shares.turns(seen(*turns), options()) for turns in ([(2, 3), (3, 120), (2, 2)], FAKED))
    assert honest.late.tolist() == faked.late.tolist() == [20 * MS]


def test_lag_is_that_of_the_worst_time() -> None:
    """In total they have half each; but for 30 ms the second had nothing, and for 20 ms the first."""
    value, said = shares.lag(
        options(), shares.turns(seen((2, 1), (3, 30), (4, 20), (4, 20), (3, 30), (2, 1)), options())
    )
    assert value == pytest.approx(20)
    assert "in 40 ms, process 1 (nice 0) got 20.0 ms" in said


def test_children_of_the_last_are_its_own() -> None:
    turns = shares.turns(seen((2, 1), (3, 50), (5, 30), (6, 20), (2, 1)), options(last="forks"))
    assert turns.process.tolist() == [1, 2, 2]


def test_parent_that_never_ran_again_is_seen() -> None:
    turns = shares.turns(seen((2, 1), (3, 900)), options())
    assert turns.waits(2)[0] == turns.end - turns.begin == 900 * MS


def test_processes_that_have_not_begun_are_none() -> None:
    assert shares.turns(seen((2, 1), (3, 10), (2, 1)), options()) is None
    assert shares.turns(Evidence(np.array([], EVENT), [], 0, 0, False, True), options()) is None


def test_unknown_measure_is_refused() -> None:
    with pytest.raises(LabError, match="there are shares, lag, wait, latency"):
        options(measure="speed")
    with pytest.raises(LabError, match="tolerance: missing"):
        options(measure="shares")
