"""The cliff of a sweep along an axis, in words, and pictures of many contestants."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
from tidemark.report import cliff, curves, experiments, figure, fit
from tidemark.report.cells import Cell
from tidemark.runs.plan import IDEAL

pytestmark = pytest.mark.unbuilt


def cell(slowdown: float, **factors: str) -> Cell:
    """A cell whose ideal takes a second."""
    return Cell("x", {"workload": "thrash {processes} 4096 4", **factors}, {"turnaround_s": slowdown} | {
        "time_over_ideal": slowdown, "throughput_per_s": 1 / slowdown, "utilisation_percent": 100 / slowdown,
        "user_percent": 90 / slowdown,
    })  # fmt: skip


def along(x: str, of: dict[str, list[float]], **more: str) -> list[Cell]:
    """Cells of each policy with these slowdowns at 1, 2, 3 ... on the axis x."""
    unit = "M" if x == "mem" else ""
    return [
        cell(value, vm=vm, **{x: f"{at}{unit}"}, **more)
        for vm, values in of.items()
        for at, value in enumerate(values, 1)
    ]


@pytest.mark.parametrize(
    ("x", "slowdowns", "said"),
    [
        ("processes", [1, 1.1, 30, 152], "Under 2q, from 3 processes on, work takes up to 152 times its ideal."),
        ("processes", [1, 1.1, 1.2, 30], "Under 2q, from 4 processes on, work takes 30 times its ideal."),
        ("processes", [1, 1.1, 1.2, 1.38], "Under 2q work takes at most 1.4 times its ideal."),
        (
            "processes",
            [3, 4],
            "Under 2q, everywhere from 1 process to 2 processes, work takes up to 4.0 times its ideal.",
        ),
        ("mem", [40, 5, 1.1, 1], "Under 2q, up to 2 MiB, work takes up to 40 times its ideal."),
        ("ws.tau_ms", [9, 1, 1, 20], "Under 2q, at ws.tau_ms 1, ws.tau_ms 4, work takes up to 20 times its ideal."),
    ],
)
def test_cliff_in_words(x: str, slowdowns: list[float], said: str) -> None:
    assert cliff.sentence(along(x, {"2q": slowdowns})) == said


def test_worst_policy_is_named_first_and_the_words_are_said_once() -> None:
    found = along("processes", {"ws": [1, 1.2, 1.4], "2q": [1, 1.1, 150]})
    assert cliff.sentence(found) == (
        "Under 2q, from 3 processes on, work takes 150 times its ideal; under ws at most 1.4 times."
    )


def test_medians_of_replicates_count() -> None:
    found = [
        one for at, more in enumerate((100, 3, 4)) for one in along("processes", {"2q": [1, more]}, replicate=str(at))
    ]
    assert "4.0 times" in cliff.sentence(found)


def test_of_many_policies_only_the_best_the_worst_and_the_chosen_are_named() -> None:
    found = along("processes", {f"p{at}": [1, at] for at in range(1, 10)})
    said = cliff.sentence(found, ["p5"])
    assert [name for name in ("p1", "p5", "p9") if f"nder {name}" in said] == ["p1", "p5", "p9"]
    assert said.count("nder p") == 3 and said.endswith("The picture has 6 more.")


def test_no_sentence_without_an_axis_or_an_ideal() -> None:
    assert cliff.sentence([cell(1, vm="2q", processes="1"), cell(9, vm="2q", processes="1")]) == ""
    without = [Cell("x", {"vm": "2q", "processes": str(at)}, {"turnaround_s": 1.0}) for at in (1, 2)]
    assert cliff.sentence(without) == "" == cliff.sentence([])
    assert cliff.sentence([Cell("x", {"vm": "2q", "processes": "1", IDEAL: "yes"}, {"turnaround_s": 1.0})]) == ""


# --- pictures of many


@pytest.mark.parametrize("count", [1, 5, 8, 9, 50])
def test_no_two_lines_look_alike_unless_they_are_grey(count: int) -> None:
    names = [f"p{at}" for at in range(count)]
    looks = figure.contestants(names, ["p0", "p3"])
    coloured = [look for look in looks.values() if look.colour != figure.GREY or count <= figure.MOST_COLOURED]
    assert len(set(coloured)) == len(coloured) and list(looks) == names
    if count > figure.MOST_COLOURED:
        assert {name for name, look in looks.items() if look.colour != figure.GREY} == {"p0", "p3"}


@pytest.mark.parametrize("count", [2, 10, 50])
def test_every_line_has_its_name_at_its_end(count: int) -> None:
    every = along("processes", {f"p{at}": [1, 1 + at % 7] for at in range(count)})
    [drawn, *_], _, _ = curves.of_cells(every)
    picture = figure.picture(drawn)
    below = picture.axes[1]
    names = [text for text in below.texts if text.get_text().startswith("p")]
    assert sorted(text.get_text() for text in names) == sorted(f"p{at}" for at in range(count))
    with matplotlib.rc_context(figure.STYLE):
        picture.canvas.draw()
    heights = sorted(text.get_window_extent().y0 for text in names)
    size = names[0].get_fontsize() * picture.dpi / 72
    assert all(np.diff(heights) > 0.8 * size), "names lie over each other"


def test_boxes_that_do_not_fit_are_named() -> None:
    every = [cell(1 + at, vm=f"p{vm}", replicate=str(at)) for vm in range(49) for at in range(3)]
    assert "49 places do not fit" in experiments.left_out(every) and experiments.boxes(every) is None
    assert experiments.left_out(every[:48]) == "" and experiments.boxes(every[:48])


# --- a fit that hangs on one size


def test_exponent_of_a_single_size_is_not_drawn() -> None:
    sizes = np.array([14, 16, 18, 20, 22, 24, 28, 32], float)
    times = np.array([95, 4, 2.7, 2.2, 0.7, 0.25, 0.05, 0.05])
    found = fit.free(sizes, times)
    assert found.hangs_on and found.hangs_on[0] == 14 and "hangs on one size: without 14 MiB it is" in found.empty
    assert fit.free(sizes, 2e5 / sizes**4 + 3).hangs_on is None


def test_line_where_demand_exceeds_memory_is_between_the_squares() -> None:
    def square(n: int, mem: int, vm: str) -> Cell:
        more = {"demand_mib": 4.0 * n, "frames_mib": mem - 2.0}
        one = cell(1 + n, vm=vm, processes=str(n), mem=f"{mem}M")
        return Cell(one.name, one.factors, one.numbers | more)

    every = [square(n, mem, vm) for n in (1, 2, 3, 4) for mem in (8, 12, 16) for vm in ("2q", "ws")]
    assert experiments.wanting(every, "processes", "mem") == {(2, 8), (3, 8), (4, 8), (3, 12), (4, 12), (4, 16)}
    [one] = experiments.heat(every)
    drawn = figure.picture(one)
    assert len(drawn.axes) == 3 and drawn.axes[2].get_ylabel() == "slowdown: time over ideal"
    assert len(drawn.axes[0].lines) == len(drawn.axes[1].lines) == 5
