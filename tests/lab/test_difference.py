"""The differences between two runs or two sweeps: ratios, bands, and the sentence about them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tidemark.report import difference, figure, folder, sources
from tidemark.report.cells import Cell
from tidemark.report.difference import Change
from tidemark.runs.plan import IDEAL

pytestmark = pytest.mark.unbuilt


def test_ratio_is_that_of_the_medians_in_a_band_of_the_extremes() -> None:
    change = Change("time", (10.0, 11.0, 20.0), (2.0, 1.0, 4.0), "s")
    assert change.ratio == 2 / 11 and change.band == (1 / 20, 4 / 10) and not change.same
    assert change.told == "time 2.00 s against 11.0 s (1/5.5)"


def test_overlapping_bands_are_not_told_apart() -> None:
    assert Change("x", (1.0, 3.0), (2.0, 4.0)).same and not Change("x", (1.0, 2.0), (3.0, 4.0)).same
    assert Change("x", (0.0,), (0.0,)).same and not Change("x", (0.0,), (3.0,)).same


def test_sentence_has_what_differs_and_then_what_does_not() -> None:
    changes = [Change("time", (4.0,), (2.0,), "s"), Change("faults", (7.0,), (7.0,))]
    assert difference.sentence("a", "b", changes) == "b against a: time 2.00 s against 4.00 s (1/2). The same: faults."
    assert difference.sentence("a", "b", changes[1:]) == "b and a are told apart by nothing here."


def test_counts_are_whole_and_nothing_is_0() -> None:
    changes = [Change("faults", (3206.0,), (30.0,)), Change("thrashing", (80.6,), (0.0,), "s")]
    said = "b against a: faults 30 against 3,206 (1/107); thrashing 0 s against 80.6 s."
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
    a = [cell("old", "2q", mem, s, j) for mem, s in (("16M", 8), ("24M", 4), ("32M", 1)) for j in "01"]
    b = [cell("new", "ws", mem, s, j) for mem, s in (("16M", 2), ("24M", 6), ("40M", 1)) for j in "01"]
    changes = difference.of_sweeps(a, b)
    assert [(change.name, change.ratio) for change in changes] == [("16M", 0.25), ("24M", 1.5)]
    said = difference.sentence_of_sweeps("old", "new", changes)
    assert said == (
        "new against old, at 2 places that both have: quicker at 1 (at most 1/4 of the time: 16M), "
        "slower at 1 (at most ×1.5: 24M), not told apart at 0."
    )


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
