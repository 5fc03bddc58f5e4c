"""The first picture of a run: an overview of the machine's work."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas
from tidemark.report import figure, overview, quantities, sources
from tidemark.runs import results
from tidemark.telemetry.stream import Telemetry

pytestmark = pytest.mark.unbuilt


def sample(t_us: int, idle_us: int, **more: object) -> dict:
    """A sample with the members that the overview uses."""
    return {"ev": "sample", "t_us": t_us, "idle_us": idle_us, "vm": {"pgmajfault": 0}, "procs": [], **more}


def stream(*samples: dict, **rest: list[dict]) -> Telemetry:
    """Telemetry that starts at 1 s."""
    return Telemetry({"ev": "start", "t_us": 1_000_000, "policy": "ws", "zones": []}, list(samples), **rest)


def of_many(count: int) -> list[dict]:
    """Processes with the same demand, each using more than the previous one."""
    return [{"pid": pid, "comm": "x", "mad": 10 * pid, "rss": pid} for pid in range(2, count + 2)]


@pytest.mark.parametrize("count", [0, 1, 100])
def test_overview_of_no_process_one_and_a_hundred(count: int) -> None:
    samples = [sample(2_000_000 + at, at, procs=of_many(count), free=[0]) for at in (0, 500_000)]
    data = stream(*samples)
    run = sources.Run("x", results.Result(Path("x"), {}), data)
    drawn = overview.figure(run, "x")
    names = [name for name in overview.stack(overview.columns(run)) if name != overview.UNMAPPED]
    assert len(names) == min(count, len(figure.STACK) + 1)
    assert sum(drawn.table[name][0] for name in names) == pytest.approx(sum(range(2, count + 2)) / 256)
    assert len(figure.picture(drawn).axes) == 3 and run.story.startswith("No verdict")


def test_short_interval_does_not_flatten_a_picture() -> None:
    time = np.array([1.0, 2.0, 3.0, 3.001, 4.0])
    assert quantities.robust_top(time, np.array([10.0, 12.0, 11.0, 5000.0, 9.0])) == (18, 5000)
    assert quantities.robust_top(time, np.array([10.0, 12.0, 11.0, 20.0, 9.0])) == (21, 20)
    assert quantities.robust_top(time, np.full(5, np.nan)) == (1, 0)


def test_who_came_and_went_is_marked() -> None:
    samples = [sample(at * 1_000_000, 0, held=held) for at, held in ((2, 0), (3, 2), (4, 2), (5, 1))]
    data = stream(*samples, exits=[{"pid": 7, "comm": "x", "t_us": 4_500_000}])
    assert quantities.turns(data) == [
        (3.0, "suspended", "2 held back"),
        (4.5, "exit", "x 7"),
        (5.0, "admitted", "1 held back"),
    ]


def test_those_who_end_together_are_counted_at_the_first() -> None:
    ends = [{"pid": pid, "comm": "x", "t_us": t_us} for pid, t_us in ((3, 2_000_000), (4, 9_000_000), (5, 9_010_000))]
    data = stream(*(sample(at * 1_000_000, 0) for at in (1, 10)), exits=ends)
    axes = Canvas().subplots()
    overview.signs(axes, SimpleNamespace(data=data))
    assert [text.get_text() for text in axes.texts] == ["x 3", "x 4 +1"] and len(axes.lines) == 3


def test_time_of_runs_far_apart_is_logarithmic() -> None:
    short, long, longer = (stream(sample(300_000, 0), sample(end, 0)) for end in (1_000_000, 9_000_000, 11_000_000))
    assert quantities.log_from([short, long]) is None and quantities.log_from([longer]) is None
    assert quantities.log_from([short, longer]) == pytest.approx(0.1)


def test_what_a_policy_counts_is_apart_from_what_it_has() -> None:
    samples = [sample(at, 0, lists={"list": 9 - at, "none": 0, "turned": at}) for at in (1, 2, 3)]
    assert quantities.list_kinds(quantities.lists(stream(*samples))) == (["list"], ["turned"])
