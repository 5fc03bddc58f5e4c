"""The arena: the measures of policies and guards, which of them cannot be distinguished, and the arena's page."""

from __future__ import annotations

import csv
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from lab import tidemark
from tidemark.report import arena, heatmap, maps, sources, yardstick
from tidemark.report.cells import Cell, axes
from tidemark.runs import plan, summary, sweep
from tidemark.runs.plan import IDEAL
from tidemark.telemetry.stream import Telemetry

PLAN = """
mem = "9M"
vm = "2q"
jitters = 2
ideal = "32M"
disk = "12M"
workload = [
    "seqscan 9216 2 w", "thrash 2 5120 2 300",
    "filescan /mnt/f 2 fill --kb 9216",
]
[[part]]
vm = ["2q", "fifo"]
[[part]]
[part.parameters]
guard = "token"
"""


def cell(vm: str, time: float, jitter: int = 0, run: str = "a", faults: float = 2.0, **factors: str) -> Cell:
    """A run of an arena that took `time` times the ideal."""
    numbers = {"time_over_ideal": time, "faults_over_min": faults, "hooks_percent": 3.0}
    settings = {"vm": vm, "mem": "16M", "run": run, "jitter": str(jitter), **factors}
    return Cell("x", settings, numbers, again=f"tidemark run {run} --vm {vm} <&>")


def ideal(run: str = "a") -> Cell:
    return Cell("i", {"vm": "2q", "mem": "99M", "run": run, IDEAL: "yes"}, {"turnaround_s": 2.0})


def policies(*cells: Cell) -> arena.Group:
    """The maps of these runs."""
    return arena.groups([ideal("a"), ideal("b"), *cells])[0]


# --- the measures


def test_hooks_are_a_share_of_the_work_not_of_all_time() -> None:
    vm = dict.fromkeys(("pgfault", "pgmajfault", "workingset_refault", "pswpin", "pswpout"), 0)
    vm |= dict.fromkeys(("pgpgin", "allocstall", "admission_wait", "oom_kill", "policy_violation"), 0)
    last = {
        "ev": "sample",
        "t_us": 2_000_000,
        "idle_us": 900_000,
        "policy_us": 15_000,
        "owned": [3, 5, 0],
        "guard": {"us": 10_000},
        "vm": vm,
    }
    numbers = summary.measured(Telemetry({"t_us": 1_000_000, "free": 77}, [last]))
    assert numbers["hooks_percent"] == pytest.approx(25)
    assert numbers["free_pages"] == 77 and numbers["held_pages"] == 8


def test_time_is_over_the_ideal_cells_and_faults_over_mins(tmp_path: Path) -> None:
    place = sweep.least_path(tmp_path, "i")
    place.parent.mkdir()
    place.write_text('{"faults": [90, 40, 20, 10], "read_first": 5}')
    numbers = {"turnaround_s": 5.0, "free_pages": 3.0, "pages_in": 6.0, "read_kib": 140.0}
    faults = replace(ideal(), numbers={"turnaround_s": 2.0, "faults": 12, "held_pages": 4, "read_kib": 36.0})
    cells = [
        faults,
        Cell("x", {"run": "a"}, numbers),
        Cell("x", {"run": "a", "frames": "2"}, numbers),
        Cell("x", {"run": "other"}, numbers),
        Cell("x", {"run": "a"}, {}, "it failed"),
    ]
    found = [one.numbers for one in yardstick.measured(tmp_path, cells)]
    assert found[1]["time_over_ideal"] == 2.5 and found[1]["ideal_s"] == 2
    assert found[1]["faults_over_ideal"] == 1 + (6 + 35 - 9) / 16
    assert (
        found[1]["min_faults"] == 20 and found[1]["faults_over_min"] == 2
    )  # 4 pages, 6 + 35 read, 5 of them first uses
    assert found[2]["min_faults"] == 40 and found[2]["faults_over_min"] == 1
    assert found[0] == cells[0].numbers and found[3] == numbers and found[4] == {}


def test_command_of_a_cell_names_its_disk() -> None:
    settings = {"run": "filescan /mnt/f", "vm": "2q", "mem": "16M", "disk": "48M", "disk_kind": "sim:ssd"}
    assert sources.written_out(settings) == (
        "tidemark run 'filescan /mnt/f' --vm 2q --mem 16M --disk 48M --disk-kind sim:ssd"
    )
    assert "disk" not in sources.written_out(settings | {"disk": ""})


def test_ideal_cells_are_in_no_curve() -> None:
    assert axes([cell("2q", 2.0), ideal()]) == []


def test_ideal_cells_run_first(tmp_path: Path) -> None:
    missing = sweep.Sweep(plan.parse(PLAN), tmp_path, {"sha256": "0"}).missing()
    assert [IDEAL in one.variables for one in missing] == [True] * 3 + [False] * 18


def test_cells_without_numbers_are_one_note_for_each_reason() -> None:
    found = sources.Sources([], [Cell(name, {}, {}, why) for name, why in zip("abcde", ("x", "x", "y", "x", ""))])
    assert found.notes == ["a; b and 1 more: x", "c: y"]


# --- the maps


def test_rows_are_ordered_by_time_over_the_best_of_each_column() -> None:
    group = policies(cell("x", 9), cell("y", 1), cell("z", 2), *(cell(vm, 100, run="b") for vm in "xyz"))
    assert group.rows == ["y", "z", "x"] and group.columns == ["a", "b"]
    assert [m.line.column for m in group.maps] == ["faults_over_min", "time_over_ideal", "hooks_percent"]


def test_fairness_and_wakes_have_maps_if_a_command_has_them() -> None:
    """A place without the number says why."""
    several = [replace(cell(vm, 2), numbers=cell(vm, 2).numbers | {"worst_over_mean": 1.5}) for vm in "xy"]
    group = policies(*several, *(cell(vm, 3, run="b") for vm in "xy"))
    assert [m.line.column for m in group.maps][2:] == ["worst_over_mean", "hooks_percent"]
    assert group.maps[2].spots["x", "a"].middle == 1.5
    assert group.maps[2].spots["x", "b"].why == "a single job"


def test_middle_is_the_median_and_the_claim_against_the_best_is_one_of_all_pairs() -> None:
    """Six pairs of contestants, and so nine replicates: x is the best, y level with it, z slower, of w it is not known,
    since its range contains that of x."""
    times = (3, 1, 2, 2, 2, 2, 3, 1, 2)
    runs = [cell("x", time, at) for at, time in enumerate(times)]
    runs += [cell("y", 1.05 * time, at) for at, time in enumerate(times)]
    runs += [cell("z", 2 * time, at) for at, time in enumerate(times)]
    runs += [cell("w", time * (4 if at else 0.5), at) for at, time in enumerate(times)]
    group = policies(*runs)
    time = group.maps[1]
    assert time.spots["x", "a"].middle == 2 and arena.band(time.spots["z", "a"]) == "4.00 (2.00..6.00)"
    assert [time.level(row, "a") for row in "xyzw"] == [True, True, False, False]
    assert [time.doubt(row, "a") for row in "xyzw"] == ["", "", "", "?"]
    assert [time.step(row, "a") for row in "xyzw"] == [0, 0, 4, 5]  # twice, and four times, the best
    assert time.claim("z", "a").told == "told apart, ×2 (×2 to ×2)" and time.claim("x", "a") is None
    assert not arena.remark(group)


def test_too_few_replicates_say_how_many_are_needed() -> None:
    group = policies(*(cell(vm, 1 + at, at) for vm in "xyz" for at in range(2)))
    assert arena.remark(group) == (
        "Against the best of a column, no claim: 2 replicates, and 7 are needed (2 of 3 places)."
    )
    assert "?" in maps.html(group, "")


def replicate(vm: str, nr: int, time: float) -> Cell:
    """A run of a replicate, with the size that it draws."""
    one = cell(vm, time, run=f"w {4000 + nr}", workload="w {size:4096} {seed}", replicate=str(nr), seed=str(nr))
    return replace(one, factors={name: value for name, value in one.factors.items() if name != "jitter"})


def test_replicates_of_a_command_are_one_column() -> None:
    runs = [replicate(vm, nr, time) for vm, time in (("x", 1.0), ("y", 2.0)) for nr in range(1, 8)]
    baselines = [replace(ideal(), factors=replicate("2q", nr, 1).factors | {IDEAL: "yes"}) for nr in range(1, 8)]
    [group] = arena.groups([*baselines, *runs])
    assert group.columns == ["w 4096 {seed}"] and group.rows == ["x", "y"]
    assert len(group.maps[1].spots["y", group.columns[0]].values) == 7
    assert group.maps[1].claim("y", group.columns[0]).told_apart


def test_each_replicate_is_over_its_own_ideal(tmp_path: Path) -> None:
    """Also if the command is the same, because it has no size that varies."""
    baselines = [replace(ideal(), numbers={"turnaround_s": float(nr)}) for nr in (2, 4)]
    baselines = [replace(one, factors=one.factors | {"replicate": nr}) for one, nr in zip(baselines, "12")]
    runs = [Cell("x", {"run": "a", "replicate": nr}, {"turnaround_s": 8.0}) for nr in "12"]
    found = yardstick.measured(tmp_path, [*baselines, *runs])
    assert [one.numbers.get("time_over_ideal") for one in found] == [None, None, 4, 2]


def test_place_without_a_number_says_why() -> None:
    failed = Cell("x", cell("y", 0).factors, {}, "out of memory")
    several = Cell("x", cell("z", 0).factors, {"time_over_ideal": 2.0, "policy_violations": 1})
    group = policies(cell("x", 1), failed, several, cell("x", 1, run="b"), cell("z", 1, run="b"))
    faults, time, _ = group.maps
    assert time.spots["y", "a"].why == "out of memory" and time.step("y", "a") is None
    assert group.rows == ["x", "z", "y"]
    assert time.spots["z", "a"].shown == "2.00!" and "replaced" in arena.band(time.spots["z", "a"])
    assert "it has not been run" in faults.spots["y", "b"].why


def test_guards_are_a_group_of_their_own_beside_none() -> None:
    groups = arena.groups([ideal(), cell("2q", 4), cell("ws", 2), cell("2q", 3, guard="token")])
    assert [(one.name, one.of, one.rows) for one in groups] == [
        ("arena", "policy", ["ws", "2q"]),
        ("arena-guards-2q", "guard", ["token", "none"]),
    ]


def test_command_of_one_contestant_is_no_column() -> None:
    cells = [cell("2q", 4), cell("ws", 2), cell("2q", 5, run="b", guard="none"), cell("2q", 3, run="b", guard="token")]
    policies, guards = arena.groups([ideal("a"), ideal("b"), *cells])
    assert policies.columns == ["a"] and guards.columns == ["b"]
    assert [one.columns for one in arena.groups([ideal(), cell("mine", 4)])] == [["a"]]
    guarded = [cell("2q", 4), cell("2q", 3, guard="token")]
    assert [one.of for one in arena.groups([ideal(), *guarded])] == ["guard"], "nothing to compare the policy with"


def test_same_run_twice_counts_once() -> None:
    group = policies(cell("x", 1), cell("x", 1, guard="none"), cell("x", 2, 1), cell("y", 3))
    assert group.maps[1].spots["x", "a"].values == (1, 2)


def test_where_no_command_has_a_min_faults_are_over_the_ideals() -> None:
    several = Cell("x", cell("y", 0).factors, {"time_over_ideal": 2.0, "faults_over_ideal": 3.0})
    assert policies(several).maps[0].line.column == "faults_over_ideal"


def test_values_of_a_parameter_are_rows() -> None:
    group = policies(cell("2q", 5), *(cell("ws", tau, **{"ws.tau_ms": str(tau)}) for tau in (1, 2)))
    assert group.rows == ["ws, ws.tau_ms 1", "ws, ws.tau_ms 2", "2q"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[(None, "–"), (0.0, "0.00"), (9.994, "9.99"), (9.996, "10.0"), (99.96, "100")],
        *[(1234, "1.2k"), (9960, "10k"), (999_400, "999k"), (1_234_567, "1.2M")],
    ],
)
def test_numbers_take_four_characters(value: float | None, text: str) -> None:
    assert arena.number(value) == text


def test_every_number_leads_to_its_command_as_text() -> None:
    group = policies(cell("x", 1), cell("y", 9), cell("z", 5), cell("x", 1, run="b"), cell("z", 2, run="b"))
    page = maps.html(group, "")
    links = re.findall(r'href="#([\w-]+)"', page)
    assert set(links) == set(maps.ids(group)) and len(links) == 3 * 3 * 2
    details = maps.details(group)
    at = maps.ids(group).index(maps.anchor(group, "y", "a"))
    assert details["made by"][at] == "tidemark run a --vm y <&>" and "level" not in details["time over ideal"][at]
    assert "<&>" not in page and "tidemark run a --vm y &lt;&amp;&gt;" in page


# --- a small arena, from the plan to the page


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plan and its sweep."""
    folder = tmp_path_factory.mktemp("arena")
    (folder / "plan.toml").write_text(PLAN)
    done = tidemark("sweep", "plan.toml", "-o", "sweep", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.soak
def test_small_arena_is_measured(swept: Path) -> None:
    cells = [one for one in sources.gather([swept / "sweep"]).cells if IDEAL not in one.factors]
    assert len(cells) == 3 * 3 * 2 and all(one.numbers["time_over_ideal"] > 1 for one in cells)
    single = [one for one in cells if not one.factors["run"].startswith("thrash")]
    assert all(one.numbers["faults_over_min"] >= 1 for one in single) and len(single) == 2 * 6
    assert not any("faults_over_min" in one.numbers for one in cells if one not in single)
    faults = sweep.least_faults(swept / "sweep", next((swept / "sweep/min").glob("seqscan*")).stem)
    # Three passes over 2,304 pages, and some of the program's own: with all of them resident, each is read once.
    assert 2304 < faults[-1] == len(faults) < 2404 and faults[999] >= 3 * 2304 - 2 * 1000


@pytest.mark.soak
def test_pages_of_files_are_in_min(swept: Path) -> None:
    """9 MiB are written and read twice; what does not fit is read again, and only pages of metadata are new."""
    [place] = (swept / "sweep/min").glob("filescan*")
    faults, read_first = sweep.least_known(swept / "sweep", place.stem)
    assert 2304 < len(faults) < 2500 and 0 < read_first < 50
    assert 2304 + 2 * (2304 - 1000) <= faults[999] < 3 * 2304


@pytest.mark.soak
def test_commands_of_cells_make_the_same_runs(swept: Path) -> None:
    cell = next(one for one in sources.gather([swept / "sweep"]).cells if one.factors["run"].startswith("filescan"))
    done = tidemark(*shlex.split(cell.again)[1:], "-o", "again", cwd=swept)
    assert done.returncode == 0, done.stderr
    telemetry = "telemetry.ndjson"
    assert (swept / "again" / telemetry).read_bytes() == (swept / "sweep/cells" / cell.name / telemetry).read_bytes()


def times(folder: Path) -> dict[str, int]:
    """The modification time of each file in a folder."""
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


@pytest.mark.soak
def test_second_sweep_records_nothing_again(swept: Path) -> None:
    before = times(swept / "sweep/min")
    done = tidemark("sweep", "plan.toml", "-o", "sweep", cwd=swept)
    assert "0 ran now" in done.stdout and times(swept / "sweep/min") == before


@pytest.mark.soak
def test_report_of_a_small_arena_has_its_maps(swept: Path) -> None:
    done = tidemark("report", "sweep", "-o", "report", cwd=swept)
    assert done.returncode == 0, done.stderr
    page = (swept / "report/report.html").read_text()
    assert page.count('class="wide map"') == 6 and "Arena: guards over 2q" in page and "Curves" not in page
    with (swept / "report/figures/arena.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["policy"], row["runs"]) for row in rows[:2]] == [(row["policy"], "2") for row in rows[:2]]
    assert len(rows) == 6 and all(row["again"].startswith("tidemark run ") for row in rows)
    assert all(
        float(row["time_over_ideal_least"]) <= float(row["time_over_ideal"]) <= float(row["time_over_ideal_greatest"])
        for row in rows
    )


def test_picture_has_a_square_for_each_number() -> None:
    group = policies(cell("x", 1), cell("y", 9), cell("x", 1, run="b"), cell("y", 1, run="b"))
    both, cost = heatmap.figures(group)
    left, right = both.draw().axes
    assert len(left.texts) == len(right.texts) == 4 and len(cost.draw().axes) == 1
