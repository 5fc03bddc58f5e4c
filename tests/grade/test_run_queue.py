"""The run queue by itself: each mistake is noticed by the operation that it concerns, and good designs are not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from grading import solution, starter
from soak import soak_but
from tidemark.errors import LabError
from tidemark.grade import model
from tidemark.grade.judge import run_queue
from tidemark.grade.judge.driven import Wrong
from tidemark.grade.judge.kinds import queue
from tidemark.grade.model import Outcome
from trials import Trial, changed, trial

pytestmark = pytest.mark.graded

FAIR = "kernel/sched/fair.c"
STEPS, RANDOM, DAMAGE = "each step of the queue follows the rules", "3000 random steps", "fair_check notices damage"
# Possible mistakes of a student: a piece of the solution, its replacement, the test that detects it, the message.
MISTAKES = {
    "least_stays_while_one_is_alone": (
        "if (!rq->curr && !rq->leftmost)",
        "if (!rq->curr || !rq->leftmost)",
        STEPS,
        "min_vruntime is 6,100,000 less than the smallest vruntime",
    ),
    "tree_is_a_list": (
        "\trb_insert_color(&se->node, &rq->tree);\n",
        "\trb_parent(&se->node) ? (void)0 : rb_insert_color(&se->node, &rq->tree);\n",
        STEPS,
        "the tree is not a red-black tree",
    ),
    "later_of_equals_first": (
        "if (before(se->vruntime, entity(parent)->vruntime)) {",
        "if (!before(entity(parent)->vruntime, se->vruntime)) {",
        STEPS,
        "by vruntime, and then by arrival, it must have",
    ),
    "alone_it_is_preempted": (
        "\tif (!curr || !rq->leftmost)\n\t\treturn false;\n",
        "\tif (!curr || !rq->leftmost)\n\t\treturn true;\n",
        STEPS,
        "fair_tick_preempts returns true, although there is no other entity",
    ),
    "every_tick_preempts": (
        "if (ran >= slice)",
        "if (ran + slice)",
        STEPS,
        "fair_tick_preempts returns true, although",
    ),
    "lead_is_ignored": (
        "before(entity(rq->leftmost)->vruntime + slice, curr->vruntime)",
        "before(entity(rq->leftmost)->vruntime + 100 * slice, curr->vruntime)",
        RANDOM,
        "fair_tick_preempts returns false, although",
    ),
    "margin_of_wakeup_is_negative": (
        "vruntime + gran,",
        "vruntime - gran,",
        STEPS,
        "fair_wakeup_preempts returns true",
    ),
    "multiplication_overflows": (
        "\tif (ns >> 32)\n\t\treturn ns * NICE_0_WEIGHT / weight;\n",
        "",
        STEPS,
        "fair_delta is",
    ),
    "yield_takes_time_back": (
        "if (last && before(rq->curr->vruntime, entity(last)->vruntime))",
        "if (last)",
        RANDOM,
        "the vruntime of curr falls",
    ),
    "checks_no_order": (
        "if (next && before(entity(next)->vruntime, entity(node)->vruntime))",
        "if (next == node)",
        DAMAGE,
        "fair_check returns 0 although the order by vruntime is wrong",
    ),
    "checks_no_balance": ("rb_check(&rq->tree) < 0 || ", "", DAMAGE, "although a colour in the tree is wrong"),
    "checks_only_on_rq": (" || entity(node) == rq->curr)", ")", DAMAGE, "that curr is in the tree as well"),
    "check_forgets_curr": ("\t\tload += rq->curr->weight;\n", "", STEPS, "fair_check returns -22, although"),
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return trial("cfs", tmp_path_factory.mktemp("queue"))


@pytest.mark.parametrize("title", [STEPS, RANDOM, DAMAGE])
def test_solution_follows_the_rules_and_starter_does_not(title: str, tried: Trial) -> None:
    tried.lay(solution(FAIR))
    assert tried.judge_on_host(tried.test(title)).outcome is Outcome.RIGHT
    tried.lay(starter("cfs", FAIR))
    assert tried.judge_on_host(tried.test(title)).fraction == 0


@pytest.mark.parametrize(
    "name", soak_but(MISTAKES, "least_stays_while_one_is_alone", "lead_is_ignored", "checks_no_order")
)
def test_mistake_is_named(name: str, tried: Trial) -> None:
    old, new, title, said = MISTAKES[name]
    tried.lay(changed(solution(FAIR), old, new))
    verdict = tried.judge_on_host(tried.test(title))
    assert verdict.fraction == 0
    assert said in verdict.message


def test_no_tree_is_no_trouble(tried: Trial) -> None:
    """The driver follows no pointer that the student's code has left."""
    insert = "\trb_insert_color(&se->node, &rq->tree);\n"
    tried.lay(changed(solution(FAIR), insert, f"{insert}\trq->tree.rb_node = (struct rb_node *)rq;\n"))
    verdict = tried.judge_on_host(tried.test(STEPS))
    assert verdict.outcome is Outcome.WRONG and "is not a tree of entities" in verdict.message


def test_nothing_prints_for_the_driver(tried: Trial) -> None:
    says = '\tu32 period = sched_latency_ns;\n#ifdef HOST_TEST\n\tputs("1");\n#endif\n'
    source = changed(solution(FAIR), "\tu32 period = sched_latency_ns;\n", says)
    tried.lay(source.replace("u32 fair_slice", "int puts(const char *text);\nu32 fair_slice"))
    verdict = tried.judge_on_host(tried.test(STEPS))
    assert verdict.outcome is Outcome.BROKE_RULE and "uses puts" in verdict.message


def state(least: int, curr: int, tree: list[int], vruntimes: list[int]) -> run_queue.State:
    """A state of the queue of entities of nice 0."""
    nr = len(tree) + (curr >= 0)
    return run_queue.State(least, curr, (tree or [-1])[0], nr, nr * 1024, 0, 0, vruntimes, [0] * len(vruntimes), tree)


def test_least_may_follow_at_once_or_at_the_next_charge() -> None:
    before, picked = state(10, 0, [1], [20, 15]), state(15, 1, [0], [20, 15])
    run_queue.check_least(before, picked, charged=False)
    run_queue.check_least(before, state(10, 1, [0], [20, 15]), charged=False)
    with pytest.raises(Wrong, match="5 less than the smallest"):
        run_queue.check_least(before, state(10, 1, [0], [20, 15]), charged=True)
    with pytest.raises(Wrong, match="3 more than the smallest"):
        run_queue.check_least(before, state(18, 1, [0], [20, 15]), charged=False)
    with pytest.raises(Wrong, match="falls by 1"):
        run_queue.check_least(before, state(9, 1, [0], [20, 15]), charged=False)


def test_tick_is_judged_whatever_the_counts_say() -> None:
    model = run_queue.Model({0: 1024, 1: 1024})
    now = replace(state(10, 0, [1], [10, 10]), nr=0, load=0, ran=[3_100_000, 0])
    run_queue.check_tick(model, now, says=True)
    with pytest.raises(Wrong, match="returns false, although curr has run for 3,100,000 ns, its slice is 3,000,000"):
        run_queue.check_tick(model, now, says=False)
    with pytest.raises(Wrong, match="load is 0; it must be 2048"):
        run_queue.check_counts(model, replace(now, nr=2))


def test_vruntimes_are_compared_by_difference() -> None:
    assert run_queue.after(5, run_queue.WRAP - 5) == 10 and run_queue.later(run_queue.WRAP - 5, 5) == 5
    assert run_queue.inserted(state(0, -1, [0, 1], [run_queue.WRAP - 9, 3, 3]), [0, 1], 2) == [0, 1, 2]


def test_random_strings_repeat() -> None:
    assert queue.drawn(300, 3) == queue.drawn(300, 3) != queue.drawn(300, 4)
    assert {word[0] for word in queue.drawn(300, 3).split()} == set("ntpwrsy")


@pytest.mark.parametrize("options", [{"operations": "b3"}, {"operations": "n"}, {"random": 10}])
def test_bad_options_are_named(options: dict, tried: Trial) -> None:
    with pytest.raises(LabError):
        tried.judge_on_host(model.Test("bad", 1, "queue", options))
