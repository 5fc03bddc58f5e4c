"""The family of cells on which guards are compared: its table, its draws, and its goals on made-up results."""

from __future__ import annotations

import pytest
from figures import family
from figures.common import Outcome
from figures.family import SIDES, Cell, Measured, Runs
from tidemark.errors import FAILED, USAGE, LabError
from tidemark.runs import replicates

pytestmark = pytest.mark.unbuilt

CELL = Cell("a cell", "thrash 2 {size:4096} 2 300", equal=True)


def runs(**seconds: list[float]) -> Runs:
    """Results of a cell: for each side the seconds of replicates 1, 2, ...; of its two jobs the second ends last."""
    return {
        side: {r: Measured(s, [s / 2, s], 10 * s, s) for r, s in enumerate(values, 1)}
        for side, values in seconds.items()
    }


def test_names_differ_and_each_cell_has_a_size_that_varies() -> None:
    cells = family.cells(family.FAMILY)
    assert len({cell.name for cell in cells}) == len(cells) > 15
    assert all(replicates.varies(cell.run) for cell in cells)


def test_overload_cells_are_the_jobs_of_the_bound() -> None:
    cells = [cell for cell in family.cells(family.FAMILY) if cell.overload]
    for cell in cells:
        _, jobs, kib, *_ = replicates.nominal(cell.run).split()
        assert replicates.nominal(cell.run) == family.JOBS.format(jobs=jobs, kib=kib)
    assert len(cells) == 4


def test_second_family_follows_from_its_seed_and_exceeds_memory() -> None:
    cells = family.drawn(7, 20)
    assert cells == family.drawn(7, 20) != family.drawn(8, 20)
    for cell in cells:
        _, jobs, kib, *_ = replicates.nominal(cell.run).split()
        assert 1.19 <= int(jobs) * int(kib) / 1024 / int(cell.machine["mem"][:-1]) <= 3


def test_harm_counts_the_upper_end_and_leaves_out_what_spreads() -> None:
    """Equal sides but for one replicate in ten; a guard that takes twice as long; a cell that spreads by 3."""
    flat = [10 + 0.01 * r for r in range(10)]
    found = [
        (Cell("level", "x"), runs(none=flat, ws=[*flat[:9], 30], serialize=flat)),
        (Cell("harmed", "x"), runs(none=flat, ws=flat, serialize=[2 * s for s in flat])),
        (Cell("spread", "x"), runs(none=[*flat[:9], 30], ws=flat, serialize=[2 * s for s in flat])),
    ]
    assert family.harm(found, "ws") == (True, "2 of 2 cells")
    assert family.harm(found, "serialize") == (False, "1 of 2 cells: not harmed 2.0")


def test_one_replicate_makes_no_claim() -> None:
    """Then the upper end is infinite, so the goal is not met."""
    found = [(CELL, runs(none=[10], ws=[9], serialize=[9]))]
    assert "no claim: 1 replicate, and 6 are needed" in family.of_cells(found)
    assert family.harm(found, "ws") == (False, "0 of 1 cells: not a cell no claim")


def test_fairness_and_wakes_are_of_the_replicates() -> None:
    """The last of two jobs takes twice as long as the first: 4/3 of the mean. Wakes take 10 ms a second of the run."""
    found = [(Cell("a cell", "x", equal=True, interactive=True), runs(none=[1], ws=[5, 6, 10], serialize=[5, 6, 11]))]
    assert family.fairness(found, "ws") == (True, "at most 1.33")
    assert family.wakes(found, "ws")[0]
    assert not family.wakes(found, "serialize")[0]


def test_small_job_that_is_missing_has_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A time of 0 would meet the goal."""
    exits = '{"ev": "exit", "comm": "thrash", "turnaround_us": 5000000, "us": [2000]}\n{"ev": "end"}\n'
    monkeypatch.setattr(family, "run_of", lambda *case: Outcome(1.0, "system: 5.0 s", exits))
    assert family.measured((CELL, "none", 1)).turnarounds_s == [5]
    with pytest.raises(KeyError, match="pattern"):
        family.measured((Cell("a cell", "x", small="pattern zipf 512 84000 2000"), "none", 1))


def test_run_that_fails_is_named_and_its_cell_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(case: tuple[Cell, str, int]) -> Measured:
        cell, side, _ = case
        if cell.name == "broken" and side == "ws":
            raise LabError("qemu ...\nended with 1:\nswap: no such disk", FAILED)
        return Measured(1, [1], 0, 0)

    monkeypatch.setattr(family, "measured", run)
    found, failed = family.measure_all([CELL, Cell("broken", "x")])
    ((cell, measured),) = found
    assert cell == CELL and set(measured) == set(SIDES)
    assert all(len(some) == len(family.REPLICATES) for some in measured.values())
    assert failed[0] == "broken, ws, replicate 1: swap: no such disk" and len(failed) == len(family.REPLICATES)


def test_wrong_use_is_not_a_failed_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(case: object) -> Measured:
        raise LabError("no such program", USAGE)

    monkeypatch.setattr(family, "measured", run)
    with pytest.raises(LabError):
        family.measure_all([CELL])
