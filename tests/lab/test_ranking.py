"""The answer of a sweep: the order of its contestants at each place, in words, as a table and as a picture."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from tidemark.report import difference, figure, folder, ranking, sources
from tidemark.report.cells import Cell
from tidemark.runs import claims
from tidemark.runs.plan import IDEAL

pytestmark = pytest.mark.unbuilt
TIMES = {"ws": 1.0, "wsclock": 1.02, "clock": 8.0, "2q": 20.0}


def sweep(nr: int, workloads: tuple[str, ...] = ("thrash {n} {size:2048} 3",), **more: float) -> list[Cell]:
    """Cells of four policies with `nr` replicates, whose times have a factor of their own."""
    return [
        Cell("x", {"vm": vm, "workload": workload, "n": "5", "run": "r", "mem": "16M", "replicate": str(at)},
             {"turnaround_s": time * (1 + at / 50), **more})
        for workload in workloads for vm, time in TIMES.items() for at in range(1, nr + 1)
    ]  # fmt: skip


def test_order_and_verdicts_of_a_place() -> None:
    [one] = ranking.places([*sweep(10), Cell("i", {"vm": "2q", IDEAL: "yes"}, {"turnaround_s": 0.5})])
    assert one.name == "thrash 5 2048 3" and [row.name for row in one.rows] == ["ws", "wsclock", "clock", "2q"]
    assert [row.verdict for row in one.rows] == ["best", claims.IS_LEVEL, claims.TOLD_APART, claims.TOLD_APART]
    assert all(median(a.values) <= median(b.values) for a, b in pairwise(one.rows))
    claim = one.rows[3].claim
    assert claim and claim.ratio == pytest.approx(20) and claim.needed == claims.needed_of_best(4)


def test_answer_in_words() -> None:
    said = ranking.answer(ranking.places(sweep(10, ("a", "b"))), ideal=False)
    assert said.startswith("Of 2 places, best or level with the best most often: ws (2), wsclock (2). ")
    assert (
        "a: ws is quickest, 1.11 s; level with it: wsclock; slower: 2, most of all 2q, ×20 (×20 to ×20).\nb: " in said
    )
    assert "ws is quickest, 1.11 times its ideal" in ranking.answer(ranking.places(sweep(10)), ideal=True)


def test_too_few_replicates_are_no_claim() -> None:
    found = ranking.places(sweep(1))
    assert [row.verdict for row in found[0].rows[1:]] == [claims.NOT_KNOWN] * 3
    assert "There is no claim: 1 replicate, and 8 are needed; the order is" in ranking.answer(found, ideal=False)


def test_two_contestants_and_two_sweeps_are_left_to_the_difference() -> None:
    two = [cell for cell in sweep(10) if cell.factors["vm"] in ("ws", "2q")]
    assert ranking.places(two) == [] and len(difference.sides(two)[0]) == 2
    several = [replace(cell, sweep=name) for name in ("a", "b") for cell in sweep(10)]
    assert ranking.places(several) == [] and difference.sides(several)[0] == ["a", "b"]
    assert ranking.places([]) == [] and difference.sides(sweep(10))[0] == [""]


def test_guards_of_one_policy_are_ranked() -> None:
    every = [
        Cell("x", {"vm": "2q", "guard": guard, "run": "thrash 6 4096 2", "replicate": str(at)}, {"turnaround_s": time})
        for guard, time in (("none", 9.0), ("token", 5.0), ("serialize", 1.0))
        for at in range(8)
    ]
    [one] = ranking.places(every)
    assert one.name == "thrash 6 4096 2" and [row.name for row in one.rows] == ["serialize", "token", "none"]


def test_picture_and_table_have_every_contestant(tmp_path: Path) -> None:
    found = ranking.places(sweep(10, tuple(f"w{at}" for at in range(14))))
    one = ranking.figure(found, "turnaround, s")
    assert len(one.table["rank"]) == 14 * 4 and one.table["over_best"][3] == pytest.approx(20)
    panels = [axes for axes in figure.picture(one).axes if axes.get_visible()]
    assert len(panels) == ranking.MOST_PLACES
    assert [text.get_text() for text in panels[0].get_yticklabels()] == ["ws", "wsclock", "clock", "2q"]
    assert "2 more places are in ranking.csv." in ranking.answer(found, ideal=False)


def test_report_opens_with_the_answer(tmp_path: Path) -> None:
    folder.write(sources.Sources([], sweep(10), []), tmp_path / "out")
    text = (tmp_path / "out/report.html").read_text()
    assert (
        text.index("ws is quickest, 1.11 s") < text.index("<h2>Cells")
        and (tmp_path / "out/figures/ranking.csv").exists()
    )
