"""The table of figures, tidemark.report.plots: a new figure is one entry, and the document matches the table."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from figures.plots import sections
from tidemark.machine import qemu
from tidemark.report import charts, figure, plots, quantities, sources, timelines
from tidemark.report.plots.plot import RUNS, Line, Plot
from tidemark.runs.results import Result
from tidemark.telemetry.records import MEMBERS
from tidemark.telemetry.stream import Telemetry

ADDED = Plot(
    name="added",
    scope=RUNS,
    title="Task switches",
    caption="Task switches per second of machine time.",
    reading="Many switches in little user time: the processes hand the processor on without getting on.",
    lines=(
        Line("switches_per_s", "switches", axis="switches / s", chart="Added"),
        Line("per_fault", lambda data: quantities.growth(data, "switches") / 10, unit="each", formula="a tenth"),
    ),
)


@pytest.fixture
def added() -> Iterator[None]:
    plots.PLOTS.append(ADDED)
    yield
    plots.PLOTS.remove(ADDED)


def run(label: str) -> sources.Run:
    """Two samples, 10 and 30 switches after the start."""
    vm = dict.fromkeys(("pgfault", "pgmajfault", "workingset_refault", "pswpin", "pswpout"), 0)
    samples = [{"t_us": t, "idle_us": 0, "policy_us": 0, "vm": vm} for t in (2_000_000, 4_000_000)]
    samples = [sample | {"switches": n} for sample, n in zip(samples, (10, 30))]
    return sources.Run(label, Result(qemu.ROOT, {}), Telemetry({"t_us": 1_000_000, "policy": "ws"}, samples))


@pytest.mark.usefixtures("added")
def test_new_plot_is_one_entry() -> None:
    runs = [run("a"), run("b")]
    drawn = timelines.over_time(ADDED, runs)
    assert drawn.table["switches_per_s"] == [10, 10, 10, 10] and drawn.table["per_fault"] == [1, 2, 1, 2]
    [axes] = figure.picture(drawn).axes
    assert axes.get_ylabel() == "switches / s" and len(axes.lines) == 2
    chart = charts.of_plot(ADDED, runs)[0]
    assert chart["unit"] == "per s" and chart["blocks"][0] == [[2.0, 4.0], [10, 10]]
    assert [line["label"] for line in chart["series"]] == ["a", "b"] and chart["series"][0]["stepped"]
    text = sections()["plots-of-runs"]
    assert "**`added`**. Many switches" in text
    assert "| `switches_per_s` | per s | Δ`switches` / Δ`t_us` |\n| `per_fault` | each | a tenth |" in text


@pytest.mark.usefixtures("added")
def test_run_without_the_members_of_a_plot_is_left_out() -> None:
    old = run("old")
    for sample in old.data.samples:
        del sample["switches"]
    drawn = timelines.over_time(ADDED, [old, run("new")])
    assert set(drawn.table["run"]) == {"new"}
    assert timelines.over_time(ADDED, [old]) is None


def test_kind_of_a_member_says_how_it_is_drawn() -> None:
    data = run("a").data
    for sample, idle in zip(data.samples, (500_000, 1_500_000)):
        sample |= {"running": 7, "iowait_us": idle}
    assert quantities.member(data, "running").tolist() == [7, 7] and quantities.unit_of("running") == ""
    assert quantities.member(data, "iowait_us").tolist() == [50, 50] and quantities.unit_of("iowait_us") == "%"
    assert np.isnan(quantities.member(data, "psi.full_us")).all()


def test_sources_are_members_of_the_schema() -> None:
    named = [line.source for plot in plots.PLOTS for line in plot.lines if isinstance(line.source, str) and line.source]
    assert len(named) > 15 and all(f"sample.{name}" in MEMBERS for name in named)


def test_names_are_unique_and_pictures_are_there() -> None:
    names = [plot.name for plot in plots.PLOTS]
    assert len(set(names)) == len(names)
    for picture in (picture for plot in plots.PLOTS for picture in plot.pictures):
        assert (qemu.ROOT / f"docs/figures/{picture}.svg").exists(), picture


def test_document_is_that_of_the_table() -> None:
    text = (qemu.ROOT / "docs/reference/measuring.md").read_text("utf-8")
    for name, body in sections().items():
        assert f"<!-- figures:{name} -->\n\n{body}\n\n<!-- end -->" in text, "`make figures FIGURES=plots` writes it"
