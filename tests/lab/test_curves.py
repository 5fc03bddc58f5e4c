"""`tidemark curves`: its selection, knees and space-time, its figures by their data, and its command line."""

from __future__ import annotations

import csv
import json
import random
import re
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from lab import tidemark, tidemark_in_background
from tidemark import files
from tidemark.commands.curves import Kinds, choice_of, curves
from tidemark.curves import analyse, figures, folder, lifetime, map_figures
from tidemark.curves.analyse import Plan
from tidemark.curves.runs import Batch, Choice, Selection
from tidemark.errors import USAGE, LabError
from tidemark.strings import refstrings, vmsim
from tidemark.trace import FILE_PAGE, convert
from tidemark.trace.format import Reader, Writer
from tidemark.trace.spaces import choose_space

INSTRUCTION, LOAD, STORE, MODIFY = range(4)


def curve_of(faults: Sequence[int]) -> lifetime.Curve:
    """The curve of LRU with 1, 2, ... frames, T = 1000."""
    frames = np.arange(1, len(faults) + 1)
    return lifetime.Curve("lru", frames, frames.astype(float), np.array(faults), 1000, 50)


@pytest.mark.parametrize(
    ("faults", "knees"),
    [
        ([100, 90, 10, 9, 8], [2]),
        ([10, 9, 9, 9, 9], []),  # the first point is the highest
        ([100, 90, 80, 70, 5], []),  # the curve is cut off at its steepest point
        ([100, 50, 33, 25, 20], []),  # a straight line
        ([100, 90, 10, 9, 8, 8, 7, 7, 1], [2]),  # the end is steeper, but touches nothing
        ([100, 20, 18, 17, 16, 3, 3, 3, 3], [5, 1]),
    ],
)
def test_knees_are_where_a_ray_touches(faults: list[int], knees: list[int]) -> None:
    assert curve_of(faults).knees() == knees
    assert curve_of(faults).knee() == (knees[0] if knees else None)


def test_localities_within_localities_have_a_knee_each() -> None:
    """g rises steeply at 3 and at 100 pages; 4 pages are not another knee beside 3, nor is the end of the curve."""
    frames = np.arange(1, 301)
    lifetimes = np.select([frames < 3, frames < 100, frames < 300], [3.0, 40.0 + frames / 10, 1000.0 + frames], 5000.0)
    curve = lifetime.Curve("lru", frames, frames.astype(float), (10**9 / lifetimes).astype(int), 10**9, 50)
    assert [curve.sizes[index] for index in (curve.knee(), *curve.other_knees())] == [3.0, 100.0]


def test_a_power_is_found_where_there_is_one_and_drawn_only_there() -> None:
    """g = 3 x^2 to within whole faults; a curve with one step is not a power."""
    sizes, end = np.arange(1.0, 101), 10**9
    faults = np.rint(end / (3 * sizes**2)).astype(np.int64)
    law = lifetime.power_law(lifetime.Curve("lru", sizes, sizes, faults, end, 7))
    assert (law.factor, law.exponent) == pytest.approx((3, 2), rel=1e-3) and law.r2 > 0.9999 and law.last == 100
    step = lifetime.power_law(curve_of([1000] * 20 + [10] * 80))
    assert step is None or step.r2 < lifetime.FITS
    assert lifetime.power_law(curve_of([5, 5, 5])) is None


def test_spacetime_is_denning_s_formula() -> None:
    curve = lifetime.Curve("lru", np.array([2]), np.array([2.0]), np.array([3]), 1000, 50)
    assert curve.spacetimes.tolist() == [2 * (1000 + 50 * 3)]
    assert curve.lifetimes.tolist() == [1000 / 3]


@pytest.mark.parametrize(
    ("faults", "delay", "pages"),
    [
        ([100, 90, 10, 9, 8], 50, 3),  # g is 10, 11, 100, 111, 125
        ([100, 90, 10, 9, 8], 100, 3),
        ([100, 90, 10, 9, 8], 101, 4),
        ([100, 90, 10, 9, 8], 126, None),
        ([100, 10, 90, 9, 8], 50, 2),  # g falls again: the least size counts
    ],
)
def test_lifetime_and_service_time_are_balanced_at_the_least_size(
    faults: list[int], delay: int, pages: int | None
) -> None:
    frames = np.arange(1, len(faults) + 1)
    curve = lifetime.Curve("fifo", frames, frames.astype(float), np.array(faults), 1000, delay)
    at = curve.balance()
    assert (None if at is None else curve.sizes[at]) == pages


def write_trace(
    path: Path, rows: Sequence[tuple[int, int, int, int, int]], names: Sequence[str] = ("one", "two")
) -> Path:
    """A trace of runs (space, page, kind, count, insns)."""
    with Writer(path, {"source": "test"}) as writer:
        writer.append(*(np.array(column, dtype) for column, dtype in zip(zip(*rows), ("u2", "u8", "u1", "u4", "u4"))))
        writer.close([{"space": number, "name": name} for number, name in enumerate(names)])
    return path


ROWS = (
    (0, 0x8048, INSTRUCTION, 3, 3),
    (0, 0x9000, LOAD, 2, 0),
    (1, 0x8048, INSTRUCTION, 1, 1),
    (0, 0x8048, INSTRUCTION, 4, 4),
    (0, 0x9001, STORE, 1, 0),
    (1, 0x9000, LOAD, 1, 0),
    (0, 0x9000, MODIFY, 1, 0),
)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """ROWS as a file."""
    return write_trace(tmp_path / "t.tmt", ROWS)


def selected(path: Path, choice: Choice, in_references: bool = False) -> tuple[Selection, list[Batch]]:
    """The selection after the whole trace, and its batches."""
    selection = Selection(choice, in_references)
    return selection, list(selection.batches(iter(Reader(path))))


def test_a_space_is_alone_in_its_own_time(trace: Path) -> None:
    selection, (batch,) = selected(trace, Choice(space=0))
    assert batch.pages.tolist() == [0, 1, 0, 2, 1]
    assert batch.starts.tolist() == [0, 3, 3, 7, 7]
    assert selection.totals.by_kind == [7, 2, 1, 1, 0, 0]
    assert selection.totals.instructions == 7
    assert selection.pages()[1].tolist() == [0x8048, 0x9000, 0x9001]


def test_all_spaces_are_one_memory_and_time_passes_for_each(trace: Path) -> None:
    selection, (batch,) = selected(trace, Choice())
    assert batch.pages.tolist() == [0, 1, 2, 0, 3, 4, 1]
    assert selection.totals.instructions == 8


def test_time_passes_while_instructions_are_not_selected(trace: Path) -> None:
    selection, (batch,) = selected(trace, Choice(space=0, kinds=(LOAD, STORE, MODIFY)))
    assert batch.starts.tolist() == [3, 7, 7]
    assert selection.totals.references == 4


def test_a_range_selects_pages_and_includes_both_ends(trace: Path) -> None:
    selection, (batch,) = selected(trace, Choice(space=0, first=0x9000, last=0x9000))
    assert batch.counts.tolist() == [2, 1]
    assert selection.totals.instructions == 7


def test_time_in_references_counts_selected_ones(trace: Path) -> None:
    _, (batch,) = selected(trace, Choice(space=0, kinds=(LOAD, STORE, MODIFY)), in_references=True)
    assert batch.starts.tolist() == [0, 2, 3]
    assert batch.steps.tolist() == [2, 1, 1]


def test_default_space_has_most_references(trace: Path) -> None:
    assert choose_space(Reader(trace), "") == 0
    assert choose_space(Reader(trace), "two") == 1
    with pytest.raises(LabError, match="is not a space of this trace: 0 \\(one\\), 1 \\(two\\)"):
        choose_space(Reader(trace), "three")


def test_a_name_of_two_spaces_is_refused(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "t.tmt", ROWS, ("sh", "sh"))
    with pytest.raises(LabError, match="name of several spaces"):
        choose_space(Reader(path), "sh")


def phases_trace(path: Path) -> Path:
    """A program that uses three sets of 20 pages, each for a while, with its code on two pages."""
    rng = np.random.default_rng(7)
    rows = []
    for base in (100, 200, 300):
        for page in rng.integers(base, base + 20, 3000).tolist():
            rows += [(0, 10 + page % 2, INSTRUCTION, 4, 4), (0, page, int(rng.integers(1, 3)), 1, 0)]
    return write_trace(path, rows, ("phases",))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> analyse.Analysis:
    """The analysis of phases_trace."""
    reader = Reader(phases_trace(tmp_path_factory.mktemp("curves") / "phases.tmt"))
    return analyse.analyse(reader, Plan(Choice(space=0), False, 10_000))


def test_knees_of_a_program_in_phases_are_at_its_locality(found: analyse.Analysis) -> None:
    for policy in ("ws", "lru", "min"):
        curve = found.curves[policy]
        assert 15 <= curve.sizes[curve.knee()] <= 24
        assert found.curves[policy].faults[-1] == 62
    assert np.all(found.curves["vmin"].sizes <= found.curves["ws"].sizes)


def test_miss_ratios_are_faults_for_each_reference(found: analyse.Analysis) -> None:
    table = figures.miss_ratios(found.curves, found.totals.references).table
    rows = [ratio for policy, ratio in zip(table["policy"], table["miss_ratio"]) if policy == "lru"]
    assert rows == pytest.approx((found.curves["lru"].faults / 45_000).tolist())


def test_lifetime_figure_draws_the_curves_and_their_knees(found: analyse.Analysis) -> None:
    picture = figures.lifetimes(found.curves, "instructions").draw()
    lines = {line.get_label(): line for line in picture.axes[0].get_lines() if line.get_label()[0] != "_"}
    assert set(lines) == set(figures.LABELS.values())
    for policy, curve in found.curves.items():
        x, y = lines[figures.LABELS[policy]].get_data()
        assert np.array_equal(x, curve.sizes) and np.array_equal(y, curve.lifetimes)
    knees = [line.get_xydata()[0].tolist() for line in picture.axes[0].get_lines() if line.get_label() == "_knee"]
    assert [
        found.curves["ws"].sizes[found.curves["ws"].knee()],
        36_000 / found.curves["ws"].faults[found.curves["ws"].knee()],
    ] in knees


def test_lifetime_figure_marks_where_lifetime_is_service_time(tmp_path: Path) -> None:
    """LRU by its definition has a lifetime of at least D with the marked number of frames, and less with one fewer."""
    rng = np.random.default_rng(1976)
    string = np.minimum(rng.geometric(0.1, 3000), 60).tolist()
    trace = write_trace(tmp_path / "t.tmt", [(0, 0x100 + page, LOAD, 1, 10) for page in string])
    found = analyse.analyse(Reader(trace), Plan(Choice(space=0), False, 100))
    frames = next(n for n in range(1, 61) if figures.knee_row(found.curves["lru"], "")["balance_pages"] == n)

    def mean_lifetime(frames: int) -> float:
        resident: list[int] = []
        faults = 0
        for page in string:
            faults += page not in resident
            resident = [*(one for one in resident if one != page), page][-frames:]
        return 30_000 / faults

    assert mean_lifetime(frames - 1) < 100 <= mean_lifetime(frames)
    linear, _ = figures.lifetimes(found.curves, "instructions").draw().axes
    marked = [line.get_xydata()[0].tolist() for line in linear.get_lines() if line.get_label() == "_L=S"]
    assert [frames, mean_lifetime(frames)] in marked


def test_spacetime_figure_marks_the_least(found: analyse.Analysis) -> None:
    (axes,) = figures.spacetimes(found.curves, "instructions").draw().axes
    marked = [line.get_xydata()[0].tolist() for line in axes.get_lines() if line.get_label() == "_least"]
    curve = found.curves["lru"]
    assert [curve.sizes[curve.spacetimes.argmin()], curve.spacetimes.min()] in marked


def test_map_figure_shows_kinds_by_rank(found: analyse.Analysis) -> None:
    counts = np.zeros((2, 2, 6), np.int64)
    counts[0, 0, :2] = 1
    counts[0, 1, 0] = 1
    counts[1, 1, [1, 3]] = 5, 1
    classes = [[map_figures.READ, map_figures.INSTRUCTION], [map_figures.UNUSED, map_figures.WRITTEN]]
    assert map_figures.cell_classes(counts).tolist() == classes
    figure = map_figures.reference_map(found.map, {0: "phases"}, "instructions")
    (image,) = figure.draw().axes[0].get_images()
    assert np.array_equal(image.get_array().filled(0), map_figures.cell_classes(found.map.counts))
    assert sum(figure.table["load"]) + sum(figure.table["store"]) == 9000


def random_rows(seed: int) -> list[tuple[int, int, int, int, int]]:
    """Runs of all kinds to a few pages at both ends of an address space."""
    rng = np.random.default_rng(seed)
    pages = rng.choice([*range(0x8048, 0x8068), 0x8500, 0x9000, *range(0xBFFF0, 0xBFFFC)], 2000)
    return [
        (0, int(page), int(kind), int(count), int(count) * (kind == INSTRUCTION))
        for page, kind, count in zip(pages, rng.integers(0, 4, 2000), rng.integers(1, 9, 2000))
    ]


@pytest.mark.parametrize("lowest", [0.01, 0.002, 1.0])
def test_address_map_has_true_distances(tmp_path: Path, lowest: float) -> None:
    """Each row has the references to its range of addresses, counted one by one, and the lowest part no others."""
    rows = random_rows(1)
    found = analyse.analyse(Reader(write_trace(tmp_path / "t.tmt", rows)), Plan(Choice(space=0), False, 0, (), lowest))
    span = 0xBFFFB - 0x8048 + 1
    for part, share in zip(found.addresses, (1.0, lowest)):
        expected: dict[tuple[int, int], int] = {}
        for _, page, kind, count, _ in rows:
            if page < 0x8048 + round(span * share):
                at = (page - 0x8048) // part.per_row, kind
                expected[at] = expected.get(at, 0) + count
        sums = part.counts.sum(axis=1)
        assert {(int(r), int(k)): int(sums[r, k]) for r, k in zip(*np.nonzero(sums))} == expected
        assert len(part.counts) <= 300 and len(part.counts) * part.per_row >= round(span * share)
    table = map_figures.address_maps(found.addresses, "instructions").table
    assert table["first_address"][0] == "0x08048000"


def test_kinds_figure_shows_each_kind_where_it_is(tmp_path: Path) -> None:
    rows = random_rows(2)
    found = analyse.analyse(Reader(write_trace(tmp_path / "t.tmt", rows)), Plan(Choice(space=0), False, 0))
    figure = map_figures.kinds(found.map, "instructions")
    order = sorted({page for _, page, *_ in rows})
    panels = {axes.get_title().split(":")[0]: axes.get_images()[0] for axes in figure.draw().axes}
    for kind, name in enumerate(figure.table["kind"]):
        mine = [row for row in rows if row[2] == kind]
        assert figure.table["references"][kind] == sum(row[3] for row in mine)
        shown = np.flatnonzero(panels[name].get_array().filled(False).any(axis=1))
        assert [order[row] for row in shown] == sorted({row[1] for row in mine})


def test_kinds_of_lackeys_text_are_those_that_lackey_wrote(tmp_path: Path) -> None:
    """Lackey's letters, counted line by line; an access that crosses a page boundary refers to both pages."""
    text = Path(__file__).parent / "data/lackey.txt"
    expected = dict.fromkeys("ILSM", 0)
    for letter, address, size in re.findall(r"^ ?([ILSM]) +([0-9a-f]+),(\d+)$", text.read_text(), re.MULTILINE):
        expected[letter] += 1 + ((int(address, 16) + int(size) - 1) // 4096 - int(address, 16) // 4096)
    convert.import_file(str(text), tmp_path / "t.tmt")
    found = analyse.analyse(Reader(tmp_path / "t.tmt"), Plan(Choice(), False, 0))
    assert map_figures.kinds(found.map, "instructions").table["references"] == list(expected.values())
    assert min(expected.values()) > 0


def test_sizes_figure_and_distribution_draw_the_data(found: analyse.Analysis) -> None:
    (axes,) = figures.sizes_over_time(found.sizes, "instructions").draw().axes
    for patch, means in zip(axes.patches, found.sizes.means, strict=True):
        assert np.array_equal(patch.get_data().values, means)
    for axes, shares in zip(
        figures.distribution(found.sizes, "instructions").draw().axes, found.sizes.shares, strict=True
    ):
        assert axes.patches[0].get_data().values.sum() == pytest.approx(100 * shares.sum()) == pytest.approx(100)


def test_command_writes_a_folder_that_others_read(tmp_path: Path) -> None:
    trace = phases_trace(tmp_path / "p.tmt")
    done = tidemark("curves", trace.name, "--json", "--theta", 500, "--theta", 50, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    out = tmp_path / "p.curves"
    assert told["files"] == sorted(path.name for path in out.iterdir())
    assert {
        f"{name}.{end}"
        for name in ("reference-map", "address-map", "kinds", "lifetime")
        for end in ("png", "svg", "csv")
    } <= set(told["files"])
    assert [row["theta"] for row in told["working_set"]] == [50, 500]
    with (out / "curve-lru.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == told["totals"]["distinct_pages"] == int(float(rows[-1]["mean_resident_pages"])) == 62
    assert int(rows[-1]["faults"]) == 62


def trace_with_files(path: Path) -> Path:
    """Random uses of 30 pages of a program's own and 30 of a file's, of all kinds, some of them several in a row."""
    rng = np.random.default_rng(seed := random.SystemRandom().randrange(2**32))
    print(f"seed {seed}")
    pages = np.minimum(rng.geometric(0.06, 4000), 60) - 1
    of_file = pages >= 30
    pages = np.where(of_file, FILE_PAGE + pages, pages).astype(np.uint64)
    kinds = np.where(of_file, rng.integers(0, 6, 4000), rng.integers(0, 4, 4000)).astype(np.uint8)
    counts = rng.integers(1, 4, 4000).astype(np.uint32)
    with Writer(path, {"source": "test"}) as writer:
        writer.append(np.zeros(4000, np.uint16), pages, kinds, counts, np.ones(4000, np.uint32))
        writer.close([{"space": 0, "name": "files"}], [{"store": 1}])
    return path


@pytest.mark.parametrize("make", [phases_trace, trace_with_files])
def test_fifo_and_clock_are_those_of_the_simulator(make: Callable[[Path], Path], tmp_path: Path) -> None:
    trace = make(tmp_path / "p.tmt")
    found = analyse.analyse(Reader(trace), Plan(Choice(space=0), False, 0))
    string = refstrings.find(str(trace), "0")
    for policy in ("fifo", "clock"):
        curve = found.curves[policy]
        assert curve.parameters[0] == 1 and curve.parameters[-1] == found.totals.pages and len(curve.faults) > 10
        program = vmsim.build(policy, fast=True)
        sizes = curve.parameters.tolist()[::3]
        assert curve.faults.tolist()[::3] == [vmsim.run(program, string, size).faults for size in sizes]


def test_options_select_a_range_of_data_in_references(tmp_path: Path) -> None:
    choice = choice_of(0, Kinds.data, "0x64000-0x77fff")
    found = analyse.analyse(Reader(phases_trace(tmp_path / "p.tmt")), Plan(choice, True, 0))
    assert (found.totals.pages, found.totals.references, found.end) == (20, 3000, 3000)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lowest": 0.0}, "above 0, at most 100"),
        ({"lowest": 101.0}, "above 0, at most 100"),
        ({"range_": "5"}, "give two addresses"),
        ({"range_": "0x9000-0x8000"}, "must not be below"),
        ({"space": "nosuch"}, "not a space of this trace"),
        ({"space": "one", "all_": True}, "exclude each other"),
        ({"range_": "0x1000-0x1fff"}, "no reference is selected"),
        ({"theta": [1, 2, 3, 4, 5, 6, 7]}, "at most 6"),
        ({"out": Path(".")}, "holds something else"),
    ],
)
def test_bad_arguments_are_refused_without_a_folder(trace: Path, options: dict, message: str) -> None:
    with pytest.raises(LabError, match=message) as caught:
        curves(trace, quiet=True, **options)
    assert caught.value.code == USAGE
    assert list(trace.parent.iterdir()) == [trace]


def test_trace_without_instructions_needs_time_in_references(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t.tmt", [(0, 1, LOAD, 1, 0), (0, 2, LOAD, 1, 0)], ("data",))
    with pytest.raises(LabError, match="--time references"):
        curves(trace, quiet=True)
    assert list(tmp_path.iterdir()) == [trace]


def test_truncated_trace_is_told_and_leaves_nothing(trace: Path) -> None:
    trace.write_bytes(trace.read_bytes()[:-20])
    done = tidemark("curves", trace.name, cwd=trace.parent)
    assert done.returncode == 3 and done.stderr.startswith("tidemark: ")
    assert [path.name for path in trace.parent.iterdir()] == [trace.name]


def test_failure_while_writing_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with files.folder_replacing(out, folder.SUMMARY) as new:
        (new / folder.SUMMARY).write_text("first")
    with pytest.raises(KeyboardInterrupt), files.folder_replacing(out, folder.SUMMARY) as new:
        (new / folder.SUMMARY).write_text("second")
        raise KeyboardInterrupt
    assert (out / folder.SUMMARY).read_text() == "first"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.soak
def test_ctrl_c_ends_with_130_and_leaves_nothing(tmp_path: Path) -> None:
    """Interrupted while it draws, which takes longest."""
    trace = phases_trace(tmp_path / "p.tmt")
    process = tidemark_in_background("curves", trace.name, cwd=tmp_path)
    while not list(tmp_path.glob(".p.curves.*")) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == [trace]
