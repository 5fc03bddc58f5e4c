"""The chart of major faults in a report of a run with events, and the life of a page that a click shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lab import tidemark
from tidemark.debug import evictions
from tidemark.report import fault_points, folder, sources
from tidemark.telemetry import events
from tidemark.telemetry.events import Kind


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six processes that thrash, with their events."""
    place = tmp_path_factory.mktemp("faults")
    words = ("thrash 6 2048 4 300", "--vm", "2q", "--mem", "12M", "--swap", "sim:ssd", "--events", "-q", "-o", "run")
    done = tidemark("run", *words, cwd=place)
    assert done.returncode == 0, done.stderr
    return place / "run"


def test_every_major_fault_is_a_point_with_the_eviction_that_why_names(run: Path) -> None:
    found = events.read(run)
    shown = fault_points.of_run(sources.gather([run]).runs[0], found)
    times, took = shown["blocks"][0]
    counted = sum(record["majflt"] for record in sources.gather([run]).runs[0].data.exits)
    assert shown["all"] == len(times) == len(took) and 0 <= shown["all"] - counted <= 2, (
        "a task of the boot may have some"
    )
    assert list(times) == sorted(times)
    known = [one for one in range(len(times)) if shown["picked"][one][3] is not None]
    assert len(known) > 50
    for at in known[:: max(len(known) // 12, 1)]:
        name, pid, page, evicted_s, reason, by = shown["picked"][at]
        number = int(page, 16)
        one = evictions.eviction(found, pid, number, round(times[at] * 1e9))
        choice = found.row(one.chosen)
        assert choice.ns == pytest.approx(evicted_s * 1e9, abs=1) and by.endswith(f" {choice.other}")
        back = evictions.fault_after(found, one)
        assert back and back.begin_ns == pytest.approx(times[at] * 1e9, abs=1)
        assert took[at] == pytest.approx((back.end_ns - back.begin_ns) / 1e3, abs=0.06) and reason
        assert found.names()[pid] == name


def test_last_before_is_that_of_a_search_one_by_one() -> None:
    random = np.random.default_rng(3)
    places = np.sort(random.choice(1000, 200, replace=False))
    of, wanted, limits = random.integers(0, 9, 200), random.integers(0, 11, 300), random.integers(0, 1000, 300)
    naive = [
        max((place for key, place in zip(of, places) if key == want and place < limit), default=-1)
        for want, limit in zip(wanted, limits)
    ]
    assert fault_points.last_before(of, places, wanted, limits).tolist() == naive
    assert fault_points.last_before(of[:0], places[:0], wanted, limits).tolist() == [-1] * 300


def test_many_faults_are_limited_to_the_longest_and_the_page_says_so(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = sources.gather([run]).runs[0]
    every = fault_points.of_run(one, events.read(run))["blocks"][0][1]
    monkeypatch.setattr(fault_points, "MOST", 10)
    shown = fault_points.of_run(one, events.read(run))
    assert sorted(shown["blocks"][0][1]) == sorted(every)[-10:]
    assert f"Shown are the 10 of {len(every)} that took longest." in fault_points.reading(shown)


def test_click_and_enter_show_the_life_of_a_page(browser: object, run: Path, tmp_path: Path) -> None:
    folder.write(sources.gather([run]), tmp_path / "out")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((tmp_path / "out/report.html").as_uri())
    box = page.locator('[data-chart][aria-label^="Major faults: when"]')
    box.scroll_into_view_if_needed()
    area = box.locator(".u-over")
    area.click(position={"x": 700, "y": 40})
    text = box.locator(".life").inner_text()
    assert "major fault on page 0x" in text and "was away for" in text
    assert f"tidemark gdb {run.resolve()} --at 0." in text and f"tidemark why {run.resolve()} --pid " in text
    place = box.locator("[tabindex='0']").first
    place.focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        place.press(key)
    assert box.locator(".life").inner_text() != text and complaints == []


def test_run_without_events_or_faults_has_no_chart(run: Path, tmp_path: Path) -> None:
    assert tidemark("run", "true", "-q", "-o", "plain", cwd=tmp_path).returncode == 0
    plain = sources.gather([tmp_path / "plain"]).runs[0]
    assert events.read(tmp_path / "plain") is None
    none = events.Events(events.read(run).rows[:0], True)
    assert fault_points.of_run(plain, none) is None and len(events.read(run).of(Kind.FAULT))
