"""The differences between two runs or two sweeps: ratios, intervals, and the sentence about them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tidemark.report import difference, figure, folder, sources
from tidemark.report.cells import Cell
from tidemark.report.difference import Change
from tidemark.runs import replicates
from tidemark.runs.plan import IDEAL

pytestmark = pytest.mark.unbuilt

NO_CLAIM = "There is no claim: 1 replicate, and 6 are needed."
SEVEN = "0123456"  # jitters


def test_ratio_of_single_runs_has_no_interval() -> None:
    change = Change("time", (11.0,), (2.0,), "s")
    assert change.ratio == 2 / 11 and change.band is None and not change.same
    assert change.told == "time 2.00 s against 11.0 s (1/5.5)"
    assert Change("x", (1.0,), (1.01,)).same and not Change("x", (1.0,), (1.1,)).same
    assert Change("x", (0.0,), (0.0,)).same and not Change("x", (0.0,), (3.0,)).same


def test_ratio_of_repeated_runs_is_the_median_of_their_pairs_in_its_interval() -> None:
    """Each run of b takes twice as long as that of a with the same draw; their ranges overlap."""
    a = [cell("a", "2q", "16M", seconds, jitter) for seconds, jitter in zip((1.0, 2, 3, 4, 5, 6), "012345")]
    b = [cell("b", "2q", "16M", 2 * one.numbers["turnaround_s"], one.factors["jitter"]) for one in reversed(a)]
    [change] = difference.of_sweeps(a, b)
    assert change.ratio == pytest.approx(2) and change.band == pytest.approx((2, 2)) and not change.same
    [change] = difference.of_sweeps(a[:5], b)
    assert change.ratio == pytest.approx(2) and change.band is None and change.same


def test_sentence_has_what_differs_and_then_what_does_not() -> None:
    changes = [Change("time", (4.0,), (2.0,), "s"), Change("faults", (7.0,), (7.0,))]
    said = f"b against a: time 2.00 s against 4.00 s (1/2). The same: faults. {NO_CLAIM}"
    assert difference.sentence("a", "b", changes) == said
    assert difference.sentence("a", "b", changes[1:]) == f"b and a are told apart by nothing here. {NO_CLAIM}"


def test_counts_are_whole_and_nothing_is_0() -> None:
    changes = [Change("faults", (3206.0,), (30.0,)), Change("thrashing", (80.6,), (0.0,), "s")]
    said = f"b against a: faults 30 against 3,206 (1/107); thrashing 0 s against 80.6 s. {NO_CLAIM}"
    assert difference.sentence("a", "b", changes) == said


def test_what_falls_to_0_or_rises_from_it_is_an_arrow() -> None:
    """Beside the dots, and also without dots; what is 0 in both is left out."""
    arrows = [
        Change("thrashing", (80.6,), (0.0,), "s"),
        Change("waits", (0.0,), (5.0,)),
        Change("both", (0.0,), (0.0,)),
    ]
    for changes in (arrows, [Change("time", (4.0,), (2.0,), "s"), *arrows]):
        axes = figure.picture(difference.figure("a", "b", changes, "quantity")).axes[0]
        ends = {line.get_marker(): line.get_xdata()[0] for line in axes.lines if line.get_marker() in "<>"}
        assert (ends["<"], ends[">"]) == axes.get_xlim() and len(axes.get_yticks()) == len(changes) - 1
        assert {"80.6 s → 0 s", "0 → 5"} <= {text.get_text() for text in axes.texts}


def cell(sweep: str, vm: str, mem: str, seconds: float, jitter: str = "0") -> Cell:
    factors = {"vm": vm, "mem": mem, "jitter": jitter, "workload": "w"}
    return Cell("x", factors, {"turnaround_s": seconds}, sweep=sweep)


def test_sweeps_are_compared_at_the_places_that_both_have() -> None:
    """The sweeps differ in the policy, so a place is a memory size; each sweep has a size that the other lacks."""
    a = [cell("old", "2q", mem, s, j) for mem, s in (("16M", 8), ("24M", 4), ("32M", 1)) for j in SEVEN]
    b = [cell("new", "ws", mem, s, j) for mem, s in (("16M", 2), ("24M", 6), ("40M", 1)) for j in SEVEN]
    changes = difference.of_sweeps(a, b)
    assert [(change.name, change.ratio) for change in changes] == [("16M", 0.25), ("24M", 1.5)]
    said = difference.sentence_of_sweeps("old", "new", changes)
    assert said == (
        "new against old, at 2 places that both have: quicker at 1 (at most 1/4 of the time: 16M), "
        "slower at 1 (at most ×1.5: 24M), level at 0, not known at 0."
    )


def test_one_place_is_called_one() -> None:
    a, b = ([cell(name, "2q", "16M", s, j) for j in SEVEN] for name, s in (("old", 8), ("new", 2)))
    said = difference.sentence_of_sweeps("old", "new", difference.of_sweeps(a, b))
    assert said.startswith("new against old, at the one place that both have: quicker at 1 ")


def test_too_few_repetitions_are_no_claim_and_the_sentence_says_how_many_are_needed() -> None:
    a = [cell("old", "2q", mem, 8, j) for mem in ("16M", "24M") for j in "01"]
    b = [cell("new", "ws", mem, 2, j) for mem in ("16M", "24M") for j in "01"]
    said = difference.sentence_of_sweeps("old", "new", difference.of_sweeps(a, b))
    assert said == (
        "new against old, at 2 places that both have: quicker at 0, slower at 0, level at 0, not known at 2. "
        "At 2 there is no claim: 2 replicates, and 7 are needed."
    )


def replicated(vm: str, seconds: dict[int, float], workload: str = "w {size:4096}", **more: str) -> list[Cell]:
    """Cells of a sweep with replicates, by the number of the replicate."""
    return [
        Cell("x", {"vm": vm, "mem": "16M", "replicate": str(nr), "run": f"w {nr}", "workload": workload, **more},
             {"turnaround_s": s}, sweep="s")
        for nr, s in seconds.items()
    ]  # fmt: skip


def test_two_policies_of_one_sweep_are_compared() -> None:
    """A family of two comparisons: one for each place."""
    every = [
        one
        for vm, s in (("2q", 4.0), ("ws", 2.0))
        for kb in ("4096", "8192")
        for one in replicated(vm, dict.fromkeys(range(1, 9), s), f"w {{size:{kb}}}")
    ]
    names, sides = difference.sides(every)
    assert names == ["2q", "ws"]
    changes = difference.of_sweeps(sides["2q"], sides["ws"])
    assert [change.name for change in changes] == ["w 4096", "w 8192"]
    assert {(change.claim.verdict, change.claim.needed) for change in changes} == {("told apart", 7)}


def test_guards_are_compared_if_there_is_one_policy_and_single_runs_are_not() -> None:
    every = replicated("2q", {1: 1.0}) + replicated("2q", {1: 1.0}, guard="token")
    assert difference.sides(every)[0] == ["none", "token"]
    assert difference.sides(every[:1]) == ([""], {})


def test_result_that_turns_round_within_the_sizes_is_named() -> None:
    numbers = sorted(range(1, 11), key=lambda nr: replicates.draw(nr).place)
    a, b = dict.fromkeys(numbers, 1.0), {nr: 0.5 if at < 5 else 2.0 for at, nr in enumerate(numbers)}
    changes = difference.of_sweeps(replicated("2q", a), replicated("ws", b))
    assert "The result turns round within ±1 % of size at 1: 16M." in difference.sentence_of_sweeps("a", "b", changes)


def test_ideal_cells_are_no_place_and_a_place_says_what_it_is() -> None:
    """The ideal cells have the same policy in sweeps of different policies."""
    a, b = ([replace(cell(name, vm, "16M", s), factors={"vm": vm, "mem": "16M", "processes": n}) for n in "24"]
            for name, vm, s in (("a", "2q", 1.0), ("b", "ws", 0.05)))  # fmt: skip
    ideal = [Cell("i", {"vm": "2q", "mem": "64M", "processes": n, IDEAL: "yes"}, {"turnaround_s": 1}) for n in "24"]
    changes = difference.of_sweeps([*a, *ideal], [*b, *ideal])
    assert [(change.name, change.amounts) for change in changes] == [
        ("processes 2", ("1.00 s", "50.0 ms")),
        ("processes 4", ("1.00 s", "50.0 ms")),
    ]


def test_picture_has_a_dot_for_each_ratio(tmp_path: Path) -> None:
    cells = [cell(sweep, "2q", mem, s) for sweep, s in (("a", 2.0), ("b", 3.0)) for mem in ("16M", "24M")]
    drawn = difference.figure("a", "b", difference.of_sweeps(cells[:2], cells[2:]), "place")
    dots = [line for line in figure.picture(drawn).axes[0].lines if line.get_marker() == "o"]
    assert [line.get_xdata()[0] for line in dots] == [1.5, 1.5] and drawn.table["b_over_a"] == [1.5, 1.5]
    folder.write(sources.Sources([], cells), tmp_path / "out")
    assert "b against a" in (tmp_path / "out/report.html").read_text()
