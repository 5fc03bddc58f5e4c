"""`tidemark report`: quantities, figures by their data, and bad input. Sweeps: test_report_sweeps.py; the page:
test_report_page.py."""

from __future__ import annotations

import csv
import errno
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from lab import tidemark
from tidemark import errors
from tidemark.machine import qemu
from tidemark.report import (
    bars,
    figure,
    folder,
    quantities,
    sources,
    text,
    timelines,
)
from tidemark.report.plots import runs as plots
from tidemark.runs import results, summary
from tidemark.telemetry.stream import Telemetry

QUICK = ("--mem", "9M", "--swap", "sim:hdd", "--cmdline", "sample_ms=20 sample_percent=100")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The results of one command under two policies; tests that change one use a copy."""
    parent = tmp_path_factory.mktemp("runs")
    for vm in ("2q", "ws"):
        done = tidemark("run", "thrash 4 2048 4", *QUICK, "--vm", vm, "--out", vm, cwd=parent)
        assert done.returncode == 0, done.stderr
    return [parent / "2q", parent / "ws"]


@pytest.fixture
def copy(runs: list[Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(runs[0], tmp_path / "copy"))


def sample(t_us: int, idle_us: int, **more: object) -> dict:
    """A sample with the members that most quantities use."""
    vm = {"pgfault": 0, "pgmajfault": 0, "workingset_refault": 0, "pswpin": 0, "pswpout": 0}
    return {"ev": "sample", "t_us": t_us, "idle_us": idle_us, "policy_us": 0, "vm": vm, "procs": [], **more}


def stream(*samples: dict, **rest: list[dict]) -> Telemetry:
    """Telemetry that starts at 1 s."""
    zones = [{"name": "DMA", "managed": 9, "min": 1, "low": 2, "high": 3}, {"name": "HighMem", "managed": 0}]
    return Telemetry({"ev": "start", "t_us": 1_000_000, "policy": "ws", "zones": zones}, list(samples), **rest)


def exited(pid: int, turnaround_us: int, status: int = 0) -> dict:
    """An exit record."""
    zero = dict.fromkeys(("minflt", "majflt", "mean_rss", "max_rss", "c_b", "c_d", "delta", "housekeeping"), 0)
    accounts = {"us": [0] * 6, "page_ms": [0] * 6, "fault_rss": 0, "delta_terms": dict.fromkeys(summary.TERMS, 0)}
    return {"pid": pid, "comm": "x", "status": status, "turnaround_us": turnaround_us, **zero, **accounts}


# --- quantities ------------------------------------------------------------------------------------------------------


def test_fault_rates_are_per_process_and_second() -> None:
    """One process has no major faults; the other begins after 201 s, and has three in a second. Times at which it does
    not exist have no value."""
    rows = [[(7, 0)], [(7, 0)], [(7, 0), (8, 300)], [(7, 0), (8, 600)]]
    samples = [
        sample(1_000_000 * (1 + 100 * at), 0, procs=[{"pid": p, "comm": "x", "majflt": faults} for p, faults in row])
        for at, row in enumerate(rows, 1)
    ]
    found = {pid: columns for (pid, _), columns in quantities.fault_rates(stream(*samples)).items()}
    assert found[7]["time_s"].tolist() == list(range(2, 402)) and found[8]["time_s"].tolist() == list(range(202, 402))
    assert not found[7]["major_faults_per_s"].any() and found[8]["major_faults_per_s"] == pytest.approx(3)


def test_utilisation_is_what_was_not_idle_in_each_interval() -> None:
    data = stream(sample(2_000_000, 250_000), sample(4_000_000, 2_250_000), sample(5_000_000, 2_250_000))
    assert quantities.utilisation(data).tolist() == [75, 0, 100]


def test_a_short_last_interval_is_measured_with_the_one_before() -> None:
    data = stream(sample(2_000_000, 0), sample(3_000_000, 1_000_000), sample(3_000_100, 1_000_000))
    assert quantities.utilisation(data).tolist() == pytest.approx([100, 0, 0.01], rel=1e-3)


def test_minor_faults_are_those_that_are_not_major() -> None:
    vm = {"pgfault": 30, "pgmajfault": 10, "workingset_refault": 4, "pswpin": 8, "pswpout": 2}
    columns = plots.FAULTS.columns(stream(sample(3_000_000, 0, vm=vm)))
    assert [values[0] for values in columns.values()] == [3, 5, 10, 2, 4, 1]


def test_pressure_is_a_share_and_may_be_absent() -> None:
    assert plots.PRESSURE.columns(stream(sample(2_000_000, 0))) is None
    data = stream(sample(2_000_000, 0, psi={"some_us": 500_000, "full_us": 250_000}))
    columns = plots.PRESSURE.columns(data)
    assert (columns["some_percent"][0], columns["full_percent"][0]) == (50, 25)


def test_lists_of_another_policy_are_gaps() -> None:
    data = stream(sample(2_000_000, 0, lists={"a.b": 3}), sample(3_000_000, 0, lists={"c": 4}))
    columns = quantities.lists(data)
    assert columns["a.b"][0] == 3 and np.isnan(columns["a.b"][1]) and np.isnan(columns["c"][0])


def test_zones_without_pages_are_left_out() -> None:
    found = quantities.zones(stream(sample(2_000_000, 0, free=[5, 0], owned=[1, 0])))
    assert [zone["name"] for zone, _ in found] == ["DMA"] and found[0][1]["free_pages"].tolist() == [5]


def test_thinning_keeps_every_extreme_in_order() -> None:
    seed = 11
    values = np.random.default_rng(seed).normal(size=10_007)
    values[100:140] = np.nan
    thin = quantities.thinned({"time_s": np.arange(10_007.0), "value": values}, 500)
    assert len(thin["time_s"]) <= 502 and (np.diff(thin["time_s"]) >= 0).all(), f"seed {seed}"
    k = -(-2 * 10_007 // 500)
    for at in range(0, 10_007, k):
        pair = thin["value"][2 * (at // k) : 2 * (at // k) + 2]
        part = values[at : at + k]
        if not np.isnan(part).all():
            assert sorted(pair) == [np.nanmin(part), np.nanmax(part)], f"seed {seed}, from {at}"
            assert (np.nanargmin(part) < np.nanargmax(part)) == (pair[0] < pair[1])


def test_averages_are_weighted_by_time() -> None:
    columns = quantities.averaged(np.array([1.0, 4.0, 5.0]), np.array([0.0, 8.0, 5.0]), 2)
    assert columns["time_s"].tolist() == [4, 5] and columns["mean"].tolist() == [6, 5]
    assert columns["least"].tolist() == [0, 5] and columns["largest"].tolist() == [8, 5]


def test_run_agrees_with_the_kernels_summary(runs: list[Path]) -> None:
    result, data, _ = sources.read_run(runs[0])
    line = next(line for line in result.console_path.read_text().splitlines() if line.startswith("system:"))
    said = float(re.search(r"utilisation ([\d.]+)%", line)[1])  # the kernel truncates after the first digit
    assert said == pytest.approx(summary.measured(data)["utilisation_percent"], abs=0.1)
    rows = quantities.space_time(data)
    assert rows and all(
        sum(row[line.column] for line in plots.SPACE_TIME.lines) == pytest.approx(row["c_b_page_s"], abs=0.01)
        for row in rows
    )


def test_throughput_counts_the_commands_children_that_ended_well() -> None:
    ended = [exited(6, 1_000_000), exited(7, 2_000_000, status=256), exited(8, 1_500_000), exited(5, 4_000_000)]
    numbers = summary.measured(stream(exits=ended))
    assert numbers["turnaround_s"] == 4 and numbers["throughput_per_s"] == 0.5
    assert numbers["mean_turnaround_s"] == pytest.approx(1.5)
    assert numbers["worst_over_mean"] == pytest.approx(2 / 1.5)


def test_a_command_without_children_is_its_own_job() -> None:
    numbers = summary.measured(stream(exits=[exited(5, 500_000)]))
    assert numbers["throughput_per_s"] == 2 and "worst_over_mean" not in numbers


# --- figures of runs -------------------------------------------------------------------------------------------------


def test_figures_show_the_columns_of_their_tables(runs: list[Path]) -> None:
    both = sources.gather(runs).runs
    lines = figure.picture(timelines.over_time(plots.UTILISATION, both)).axes[0].lines
    for run, line in zip(both, lines, strict=True):
        expected = plots.UTILISATION.columns(run.data)
        assert line.get_xdata() == pytest.approx(expected["time_s"])
        assert line.get_ydata() == pytest.approx(expected["utilisation_percent"], abs=1e-9)


def test_memory_figure_has_a_panel_for_each_large_process(runs: list[Path]) -> None:
    run = sources.gather(runs[:1]).runs[0]
    drawn = timelines.memory(run, "x")
    seen = [p for s in run.data.samples for p in s["procs"]]
    large = {p["pid"] for p in seen if p["mad"] > 100}
    axes = [one for one in figure.picture(drawn).axes if one.get_visible()]
    assert len(large) == 4 and [one.get_title(loc="left") for one in axes] == [f"thrash {pid}" for pid in sorted(large)]
    assert axes[-1].lines[1].get_ydata().tolist() == [p["rss"] for p in seen if p["pid"] == max(large)]
    assert axes[0].get_ylim()[1] > max(p["mad"] for p in seen)
    assert {row for row in drawn.table["pid"]} == {p["pid"] for p in seen} - {1}


def test_bars_add_up_to_the_space_time_of_the_kernel(runs: list[Path]) -> None:
    run = sources.gather(runs[:1]).runs[0]
    rows = sorted(run.data.exits, key=lambda record: -record["c_b"])
    left = figure.picture(bars.of_runs([run])).axes[0]
    ends = np.array([[bar.get_x() + bar.get_width() for bar in group] for group in left.containers])
    assert ends[len(plots.SPACE_TIME.lines) - 1] * 1000 == pytest.approx([row["c_b"] for row in rows], abs=10)
    assert ends[-1] * 1000 == pytest.approx([row["c_d"] for row in rows])


def test_broken_rule_of_a_guard_is_marked_as_one_of_a_policy() -> None:
    broke = [
        {"ev": "violation", "t_us": 2_000_000, who: "x", "rule": "time", "what": "y"} for who in ("policy", "guard")
    ]
    assert list(quantities.marks(stream(events=broke))) == [(2, "x broke a rule: time")] * 2


def test_policies_keep_their_colours_and_runs_of_one_differ_in_dash() -> None:
    looks = figure.looks(["ws", "mine", "2q", "ws"])
    assert looks[0].colour == looks[3].colour == figure.OF_POLICY["ws"] and looks[0].dash != looks[3].dash
    assert len({look.colour for look in looks}) == 3


# --- the command -----------------------------------------------------------------------------------------------------


def test_report_writes_page_figures_and_their_data(runs: list[Path], tmp_path: Path) -> None:
    done = tidemark("report", *runs, "--out", "out", "--json", "--pictures", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    files = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert files == set(said["files"]) and said["notes"] == []
    for kind in ("svg", "png", "csv"):
        assert {f"figures/{name}.{kind}" for name in ("utilisation", "memory-2q", "zones-ws", "space-time")} <= files
    assert not [path for path in tmp_path.iterdir() if path.name != "out"]
    with (tmp_path / "out/figures/memory-2q.csv").open() as file:
        rows = list(csv.DictReader(file))
    _, data, _ = sources.read_run(runs[0])
    assert sum(int(row["rss"]) for row in rows) == sum(
        p["rss"] for s in data.samples for p in s["procs"] if p["pid"] > 1
    )


def test_only_pictures_without_a_chart_are_drawn_unless_all_are_wanted(runs: list[Path], tmp_path: Path) -> None:
    folder.write(sources.gather(runs[:1]), tmp_path / "out")
    names = {path.name for path in (tmp_path / "out/figures").iterdir()}
    assert {name for name in names if not name.endswith(".csv")} == {"space-time.svg"}
    assert {"overview-2q.csv", "memory-2q.csv", "faults.csv"} <= names
    page = (tmp_path / "out/report.html").read_text()
    assert "figures/overview-2q.csv" in page and "figures/overview-2q.svg" not in page


def test_numbers_of_the_page_are_those_of_the_csv(runs: list[Path], tmp_path: Path) -> None:
    folder.write(sources.gather(runs[:1]), tmp_path / "out")
    text = re.search(r'id="charts">(.*?)</script>', (tmp_path / "out/report.html").read_text(), re.DOTALL)[1]
    shown = {one["title"]: one for one in json.loads(text)}
    rows = list(csv.DictReader((tmp_path / "out/figures/overview-2q.csv").open()))
    _, *utilisation = shown["The processor works"]["blocks"][0][1]  # the first is of the interval's beginning
    assert utilisation == pytest.approx([float(row["utilisation_percent"]) for row in rows], rel=1e-4)
    memory = shown["Memory by process"]
    for line, column in zip(memory["series"][: memory["stack"]], memory["blocks"][0][1:]):
        assert column == pytest.approx([float(row[line["label"]]) for row in rows], rel=1e-4, abs=1e-4), line["label"]


def test_the_same_run_gives_the_same_files(runs: list[Path], tmp_path: Path) -> None:
    run = sources.gather(runs[:1]).runs[0]
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        figure.save(timelines.memory(run, "x"), tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert files == ["memory-x.csv", "memory-x.png", "memory-x.svg"]
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in files)


def edited(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    """Changes a result's telemetry, and corrects its checksums."""
    stream = path / results.TELEMETRY
    stream.write_text("".join(change(stream.read_text().splitlines(keepends=True))))
    result = results.load(path)
    meta = result.meta
    results.finish(result, meta["state"], meta["exit"], meta["reason"], meta["wall_s"])


def set_meta(path: Path, **changes: object) -> None:
    meta = json.loads((path / results.META).read_text())
    (path / results.META).write_text(json.dumps(meta | changes))


@pytest.mark.parametrize(
    "spoil, said",
    [
        (lambda path: edited(path, lambda lines: lines[:5] + lines[6:]), "records are missing"),
        (lambda path: edited(path, lambda lines: lines[:-1]), "no end record"),
        (
            lambda path: edited(path, lambda lines: [lines[0].replace('"schema":2', '"schema":7'), *lines[1:]]),
            "schema 7",
        ),
        (lambda path: edited(path, lambda lines: []), "is empty"),
        (lambda path: (path / results.TELEMETRY).open("a").write("{}\n"), "was changed after the run"),
        (lambda path: (path / results.META).unlink(), "is not a result"),
        (lambda path: set_meta(path, schema=9), "schema 9"),
        (lambda path: shutil.rmtree(path), "is not a folder"),
        (lambda path: set_meta(path, settings={"cmdline": "telemetry=off"}), "telemetry=off"),
    ],
    ids=["gap", "no_end", "stream_schema", "empty", "changed", "no_result", "meta_schema", "no_folder", "switched_off"],
)
def test_bad_input_is_named_and_leaves_nothing(copy: Path, tmp_path: Path, spoil: Callable, said: str) -> None:
    spoil(copy)
    with pytest.raises(errors.LabError, match=said) as raised:
        folder.write(sources.gather([copy]), tmp_path / "out")
    assert raised.value.code == errors.BAD_INPUT and "copy" in str(raised.value)
    assert not (tmp_path / "out").exists()


def test_run_that_cannot_be_read_is_a_note_beside_others(runs: list[Path], copy: Path, tmp_path: Path) -> None:
    set_meta(copy, schema=9)
    gathered = sources.gather([copy, runs[1]])
    [note] = gathered.notes
    assert note.startswith("missing: ") and "schema 9" in note and [run.label for run in gathered.runs] == ["ws"]


@pytest.mark.soak
def test_an_interrupted_run_is_drawn_and_marked(copy: Path, tmp_path: Path) -> None:
    set_meta(copy, state="interrupted", exit=None, reason="stopped before its end")
    edited(copy, lambda lines: [*lines[:-4], lines[-4][:20]])
    done = tidemark("report", copy, "--out", "out", "--pictures", cwd=tmp_path)
    assert done.returncode == 0 and "interrupted: stopped before its end" in done.stderr
    page = (tmp_path / "out/report.html").read_text()
    assert "interrupted: stopped before its end" in page and "was interrupted" in page
    assert (tmp_path / "out/figures/overview-2q.png").stat().st_size > 1000


def test_a_run_that_still_runs_is_marked(copy: Path) -> None:
    set_meta(copy, state="running")
    assert "still running" in sources.gather([copy]).runs[0].note


def test_a_guest_that_hung_is_drawn_as_far_as_it_came(copy: Path) -> None:
    set_meta(copy, exit=qemu.HUNG, reason="the kernel hung")
    edited(copy, lambda lines: lines[:-3])
    run = sources.gather([copy]).runs[0]
    assert run.note == "failed: the kernel hung" and run.data.samples


@pytest.mark.soak
def test_a_run_without_samples_has_tables_and_says_why(tmp_path: Path) -> None:
    args = ("run", "true", "--cmdline", "sample_ms=0", "--out", tmp_path / "none")
    assert tidemark(*args, cwd=tmp_path).returncode == 0
    done = tidemark("report", "none", cwd=tmp_path)
    assert done.returncode == 0 and "no timelines" in done.stderr
    assert (tmp_path / "none/report/figures/space-time.svg").exists()
    assert not (tmp_path / "none/report/figures/overview-2q.csv").exists()


def test_realistic_repetitions_are_all_drawn(runs: list[Path], tmp_path: Path) -> None:
    for nr in (1, 2, 10):
        shutil.copytree(runs[0], tmp_path / f"real/{nr}")
    assert [run.label for run in sources.gather([tmp_path / "real"]).runs] == ["2q (1)", "2q (2)", "2q (10)"]


def test_another_folder_is_not_overwritten(runs: list[Path], tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("x")
    done = tidemark("report", runs[0], "--out", "mine", cwd=tmp_path)
    assert done.returncode == errors.USAGE and "holds something else" in done.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


def test_a_full_disk_leaves_the_earlier_report(copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gathered, out = sources.gather([copy]), tmp_path / "out"
    out.mkdir()
    (out / "report.html").write_text("the earlier one")

    def full(one: figure.Figure, place: Path, kinds: tuple[str, ...]) -> None:
        (place / "half.svg").write_text("<svg")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(figure, "save", full)
    with pytest.raises(errors.LabError, match="No space left") as raised:
        folder.write(gathered, out)
    assert raised.value.code == errors.NO_SPACE and (out / "report.html").read_text() == "the earlier one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "out"]


def test_csv_has_no_nan_and_nothing_unprintable() -> None:
    table = {"a": [np.float64("nan"), np.float64(0.1)], "b": ["x\x1b[31m\ud800", None]}
    assert text.csv_text(table) == "a,b\n,x?[31m?\n0.1,\n"
