"""Figures of a sweep: marks on its curves, hidden fits, maps, boxes, and efficiency."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tidemark.report import cells, curves, experiments, figure, folder, sources
from tidemark.report.cells import Cell
from tidemark.runs.plan import IDEAL


def three(value: float) -> dict[str, float]:
    """The values of a thrashing curve, all equal."""
    return {"utilisation_percent": value, "user_percent": value, "throughput_per_s": value}


def at(n: int, mem: int, jitter: int = 0, vm: str = "ws", **more: float) -> Cell:
    """A cell of processes that need 4 MiB each, in `mem` MiB of which the kernel uses 4."""
    numbers = {"turnaround_s": 1.0 + n, "demand_mib": 4.0 * n, "frames_mib": mem - 4.0, **three(50), **more}
    factors = {"vm": vm, "processes": str(n), "mem": f"{mem}M", "jitter": str(jitter), "workload": "w"}
    return Cell("x", factors, numbers)


def test_demand_that_reaches_memory_is_marked() -> None:
    [panel] = cells.panels([at(n, 16) for n in range(1, 6)], "processes")
    assert curves.full(panel) == pytest.approx(3)
    [panel] = cells.panels([at(n, 64) for n in range(1, 6)], "processes")
    assert curves.full(panel) is None
    short = [at(n, 16, vm="2q", demand_mib=1.0) for n in range(1, 6)]  # one after another
    [beside] = cells.panels([*(at(n, 16) for n in range(1, 6)), *short], "processes")
    assert curves.full(beside) == pytest.approx(3)
    drawn = figure.picture(curves.thrashing([panel], "processes", "")).axes[0]
    assert all(line.get_linestyle() != "--" for line in drawn.lines)


def test_ideal_is_the_throughput_without_want() -> None:
    [panel] = cells.panels([at(n, 16, time_over_ideal=5.0) for n in (1, 2)], "processes")
    lines = figure.picture(curves.thrashing([panel], "processes", "")).axes[1].lines
    [ideal] = [list(line.get_ydata()) for line in lines if line.get_linestyle() == "-."]
    assert ideal == [250, 250]


def test_fit_that_says_nothing_is_hidden_and_its_reason_is_in_the_table() -> None:
    steps = {16: 90.0, 18: 90.0, 20: 90.0, 22: 2.0, 24: 2.0, 28: 2.0}
    every = [Cell("x", {"vm": "ws", "mem": f"{mem}M"}, {"turnaround_s": s}) for mem, s in steps.items()]
    figures, fits, _ = curves.of_cells(every)
    [drawn] = [one for one in figures if one.name == "turnaround-memory"]
    assert len(figure.picture(drawn).axes[0].lines) == 1 + sum(not remark for remark in fits["remark"])
    assert any("not drawn" in remark for remark in fits["remark"])


def test_two_axes_make_a_map_with_holes() -> None:
    every = [at(n, mem, j) for n in (1, 2, 3) for mem in (16, 24) for j in (0, 1, 2) if (n, mem) != (3, 24)]
    by_name = {one.name: one for one in experiments.of_cells(every, curves=True)}
    [heat] = experiments.heat(every)
    assert heat.name == "heat-processes-mem" and heat.title == "Turnaround, s, against processes and mem"
    assert heat.table["runs"] == [3] * 5 and heat.table["turnaround_s"] == [2, 2, 3, 3, 4]
    texts = [text.get_text() for text in figure.picture(heat).axes[0].texts]
    assert sorted(texts) == ["2.00", "2.00", "3.00", "3.00", "4.00", "×"]
    boxes = figure.picture(by_name["boxes"]).axes[0]
    assert len(boxes.get_yticks()) == 5 and "efficiency" not in by_name
    assert [text.get_text() for text in boxes.texts] == ["processes 1", "processes 2", "processes 3"]


def test_map_of_short_times_is_in_milliseconds() -> None:
    short = [replace(one, numbers={"turnaround_s": 0.0071}) for one in (at(1, 16), at(2, 16), at(1, 24), at(2, 24))]
    [heat] = experiments.heat(short)
    assert heat.title.startswith("Turnaround, ms") and heat.table["turnaround_s"] == [0.0071] * 4
    assert {text.get_text() for text in figure.picture(heat).axes[0].texts} == {"7.10"}


def test_ideal_cells_of_one_workload_make_a_map_and_no_arena(tmp_path: Path) -> None:
    every = [at(n, mem, time_over_ideal=n * 16 / mem) for n in (1, 2) for mem in (16, 32)]
    every = [replace(one, factors=one.factors | {"run": f"w {one.factors['processes']}"}) for one in every]
    every += [Cell("i", {"run": f"w {n}", "vm": "2q", "mem": "64M", IDEAL: "yes"}, {"turnaround_s": 1}) for n in "12"]
    folder.write(sources.Sources([], every), tmp_path / "out")
    text = (tmp_path / "out/report.html").read_text()
    assert "Arena:" not in text and text.index("heat-processes-mem") < text.index("thrashing-processes")


def test_boxes_need_repetitions_and_efficiency_faults() -> None:
    every = [at(n, 16, major_faults=1000, user_s=0.5, pagewait_s=1.5) for n in (1, 2)]
    [drawn] = experiments.of_cells(every, curves=True)
    assert drawn.name == "efficiency" and drawn.table["efficiency_percent"] == [25, 25]
    assert drawn.table["missing_per_million"] == [2, 2] and drawn.table["wait_ms"] == [1.5, 1.5]
    assert [text.get_text() for text in figure.picture(drawn).axes[0].texts] == ["T = 1.5 ms"], "equal waits, one curve"


def test_efficiency_is_drawn_where_nobody_waits() -> None:
    every = [at(n, 16, major_faults=10**n, user_s=0.5, pagewait_s=wait) for n in (1, 7) for wait in (0, 2)]
    [drawn] = experiments.of_cells([cell for cell in every if not cell.numbers["pagewait_s"]], curves=True)
    assert drawn.table["efficiency_percent"] == [100, 100] and not figure.picture(drawn).axes[0].texts
    [drawn] = experiments.of_cells(every, curves=True)
    assert len(figure.picture(drawn).axes[0].texts) == 2
