"""`tidemark report`: the cells of a sweep, its curves and its table."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from lab import tidemark
from test_report import set_meta
from tidemark import errors
from tidemark.machine import qemu
from tidemark.report import cells, curves, figure, folder, sources
from tidemark.runs import results

SIZES = np.array([16, 18, 20, 22, 24, 28, 32, 40], float)


def cell(numbers: dict | None = None, **factors: str) -> cells.Cell:
    return cells.Cell("x", factors, {"turnaround_s": 1.0} if numbers is None else numbers)


def test_panels_part_what_is_not_on_the_axis() -> None:
    every = [
        cell(mem=mem, vm=vm, swap=swap, seed=seed)
        for mem in ("16M", "8192K")
        for vm in ("ws", "2q")
        for swap in ("sim:hdd", "sim:ssd")
        for seed in ("1", "2")
        for jitter in ("0", "4")
    ]
    found = cells.panels([*every, cell({}, mem="9M", vm="2q", swap="sim:hdd")], "mem")
    assert [panel.title for panel in found] == ["swap sim:hdd", "swap sim:ssd"]
    assert [at for at, _ in found[0].lines["ws"]] == [8] * 4 + [16] * 4


def test_no_curve_through_one_position() -> None:
    assert cells.panels([cell(mem="16M", vm="2q"), cell(mem="16M", vm="ws"), cell(vm="ws")], "mem") == []


def test_turnaround_figure_holds_runs_and_fits() -> None:
    every = [cell({"turnaround_s": 2e5 / m**4 + 3}, vm="2q", mem=f"{m:g}M", seed=s) for m in SIZES for s in ("1", "2")]
    figures, fits, _ = curves.of_cells(every)
    drawn = next(one for one in figures if one.name == "turnaround-memory")
    assert drawn.table["memory"] == sorted([*SIZES, *SIZES])
    points, fourth, free = figure.picture(drawn).axes[0].lines
    assert points.get_ydata() == pytest.approx([2e5 / m**4 + 3 for m in drawn.table["memory"]])
    assert fourth.get_ydata() == pytest.approx(2e5 / fourth.get_xdata() ** 4 + 3)
    assert free.get_ydata() == pytest.approx(fourth.get_ydata(), rel=1e-5)
    assert fits["exponent"] == [4, pytest.approx(4)] and fits["sizes"] == [8, 8]


def three(value: float) -> dict[str, float]:
    """The values of a thrashing curve, all equal."""
    return {"utilisation_percent": value, "user_percent": value, "throughput_per_s": value}


def test_thrashing_figure_joins_the_medians_of_repetitions_in_a_band() -> None:
    measured = {("1", "0"): 90, ("1", "1"): 70, ("1", "2"): 71, ("2", "0"): 5, ("2", "1"): 6, ("2", "2"): 70}
    every = [cell(three(u), vm="ws", processes=n, jitter=jitter) for (n, jitter), u in measured.items()]
    figures, _, spreads = curves.of_cells(every)
    assert [one.name for one in figures] == ["thrashing-processes"]
    axes = figure.picture(figures[0]).axes[0]
    points, medians, in_user_mode, ticks = axes.lines
    assert in_user_mode.get_linestyle() == ":" and list(ticks.get_xdata()) == [1, 2]
    assert points.get_xdata().tolist() == [1, 1, 1, 2, 2, 2] and list(medians.get_ydata()) == [71, 6]
    band = axes.collections[0].get_paths()[0].vertices
    assert {tuple(corner) for corner in band} >= {(1, 70), (1, 90), (2, 5), (2, 70)}
    assert spreads["processes"]["utilisation_percent"] == ["71 (70..90)", "6 (5..70)"]
    assert spreads["processes"]["runs"] == [3, 3]


def test_single_runs_have_neither_band_nor_spread() -> None:
    figures, _, spreads = curves.of_cells([cell(three(9), vm="ws", processes=n) for n in "12"])
    assert not figure.picture(figures[0]).axes[0].collections and spreads["processes"] == {}


def test_any_parameter_with_several_numbers_is_an_axis() -> None:
    taus = (10, 50, 200, 1000, 5000)
    every = [
        cell(three(t / 100), **sources.by_parameter({"vm": vm, "mem": "24M", "cmdline": f"ws.tau_ms={t} sample_ms=99"}))
        for vm in ("2q", "ws")
        for t in taus
    ]
    figures, _, _ = curves.of_cells(every)
    assert [one.name for one in figures] == ["thrashing-ws-tau_ms"]
    axes = figure.picture(figures[0]).axes
    assert [list(line.get_xdata()) for line in axes[0].lines] == [list(taus)] * 7  # three per policy; and the ticks
    assert axes[-1].get_xlabel() == "ws.tau_ms" and axes[-1].get_xscale() == "log"
    assert figures[0].table["ws.tau_ms"] == [*taus, *taus]


def test_frames_are_an_axis_and_words_are_panels() -> None:
    every = [
        cell(three(9), **sources.by_parameter({"vm": "ws", "frames": f, "cmdline": f"guard={guard}"}))
        for f in ("100", "200")
        for guard in ("none", "token")
    ]
    assert cells.axes(every) == ["frames"]
    assert [panel.title for panel in cells.panels(every, "frames")] == ["guard none", "guard token"]


PLAN = """
workload = "thrash {processes} 512 2"
processes = [1, 2]
vm = ["2q", "ws"]
mem = "9M"
swap = "sim:ram"
"""


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished sweep of four cells."""
    parent = tmp_path_factory.mktemp("sweep")
    (parent / "plan.toml").write_text(PLAN)
    done = tidemark("sweep", "plan.toml", "--out", "swept", cwd=parent)
    assert done.returncode == 0, done.stderr
    return parent / "swept"


def test_a_sweep_becomes_curves_and_a_table(swept: Path, tmp_path: Path) -> None:
    done = tidemark("report", swept, "--out", "out", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {"figures/thrashing-processes.svg", "cells.csv", "report.html"} <= set(json.loads(done.stdout)["files"])
    with (tmp_path / "out/figures/thrashing-processes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["policy"], row["processes"]) for row in rows] == [("2q", "1"), ("2q", "2"), ("ws", "1"), ("ws", "2")]


def test_failed_and_missing_cells_are_rows_that_say_why(swept: Path, tmp_path: Path) -> None:
    broken = Path(shutil.copytree(swept, tmp_path / "broken"))
    names = [row["id"] for row in csv.DictReader((broken / "cells.csv").open())]
    set_meta(broken / "cells" / names[0], exit=qemu.PANICKED, reason="the kernel panicked")
    (broken / "cells" / names[1] / results.TELEMETRY).write_text("")
    shutil.rmtree(broken / "cells" / names[2])
    gathered = sources.gather([broken])
    folder.write(gathered, tmp_path / "out")
    said = [row["ended"] for row in csv.DictReader((tmp_path / "out/cells.csv").open())]
    assert said[0] == "failed: the kernel panicked" and "was changed after the run" in said[1]
    assert said[2:] == ["it has not been run", "well"] and len(gathered.notes) == 3


def test_a_sweep_of_another_schema_is_refused(swept: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(swept, tmp_path / "other"))
    (other / "sweep.json").write_text('{"kind": "sweep", "schema": 99}')
    with pytest.raises(errors.LabError, match="schema 99"):
        sources.gather([other])
