"""When a machine thrashes, and the sentence about it: one definition, on invented telemetry and on runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab import tidemark
from tidemark.report import sources
from tidemark.runs import results, summary
from tidemark.telemetry import story, thrashing
from tidemark.telemetry.stream import Telemetry

START = {"ev": "start", "t_us": 0, "free": 2560, "frames": 0}
INTERVALS = (10, 100, 1000, 5000)


def pressure(t_ms: int, full: float, read: int, evicted: int, **more: object) -> dict:
    """A record of pressure by its counters so far; `full` in ms. The processor works half of the time."""
    record = {"t_us": t_ms * 1000, "idle_us": t_ms * 500, "full_us": full * 1000, "read": read, "evicted": evicted}
    return record | {"evicting_us": 0, "demand": 8192, "wanting": 8, "held": 0, "oom_kill": 0, **more}


def steady(full: float, read: int, evicted: int, seconds: int = 5) -> list[dict]:
    """Records every 100 ms with these amounts in each second."""
    return [pressure(100 * n, 100 * n * full, read * n // 10, evicted * n // 10) for n in range(1, 10 * seconds + 1)]


def spells(records: list[dict]) -> list[tuple[float, float]]:
    return thrashing.spells(thrashing.windows(START, records))


@pytest.mark.parametrize(
    "full, read, evicted, thrashes",
    [
        (0.9, 100, 100, True),
        (0.51, 100, 51, True),
        (0.49, 100, 100, False),  # other processes made progress
        (0.9, 100, 40, False),  # free memory is refilled
        (0.9, 40, 100, True),
        (0.9, 0, 100, False),  # nothing is read: memory is filled for the first time
        (0.9, 0, 0, False),
    ],
)
def test_thrashing_is_waiting_and_exchange(full: float, read: int, evicted: int, thrashes: bool) -> None:
    assert spells(steady(full, read, evicted)) == ([(0, 5)] if thrashes else [])


def test_spell_begins_with_the_first_eviction_and_ends_with_its_last_window() -> None:
    calm = steady(0.1, 0, 0, 3)
    wild = [
        pressure(3000 + 100 * n, 300 + 100 * n, 10 * n, 10 * n, evicting_us=2_900_000 + 100_000 * n)
        for n in range(1, 41)
    ]
    after = [pressure(7000 + 100 * n, 4300, 400, 400) for n in range(1, 31)]
    [(begin, end)] = spells([*calm, *wild, *after])
    assert begin == 3.0 and 6.9 <= end <= 7.6


def test_run_under_a_second_is_one_window_and_a_live_machine_has_none_yet() -> None:
    short = steady(0.9, 100, 100, 1)[:5]
    assert spells(short) == [(0, 0.5)]
    assert thrashing.windows(START, short, ended=False) == []


def test_records_before_pressure_was_written_get_no_verdict() -> None:
    assert thrashing.of(Telemetry(START, [{"t_us": 1, "vm": {}}])) is None
    said = story.sentence(Telemetry(START, [{"t_us": 10, "idle_us": 0, "vm": {}}]))
    assert said.startswith("No verdict") and "run it again" in said
    assert story.sentence(Telemetry(START)) == ""


def told(records: list[dict], **changes: object) -> str:
    return story.sentence(Telemetry(START, pressure=[one | changes for one in records]))


def test_sentence_says_what_happened() -> None:
    assert told(steady(0.9, 100, 100)) == (
        "Thrashing from 0.00 s to the end, 5.00 s: eight processes wanted 32 MiB of 10; "
        "the processor worked 50 % of the time"
    )
    assert told(steady(0.2, 9, 9)).startswith("Paging, but no thrashing: eight processes wanted 32 MiB of 10; the ")
    assert told(steady(0.9, 90, 10)).startswith("Waiting for pages, but no thrashing")
    assert told(steady(0.9, 90, 10), held=3).startswith("Waiting for pages, but no thrashing, with three held back at")
    assert told(steady(0.2, 9, 9), held=3).startswith("Paging, but no thrashing, with three held back at once: eight")
    assert told(steady(0.2, 0, 9)).startswith("Memory was short, but nothing was read back")
    assert told(steady(0, 0, 0)).startswith("Nothing was evicted: eight processes wanted 32 MiB of 10;")
    assert told(steady(0, 9, 0), demand=512, wanting=1).startswith("Memory sufficed: one process wanted 2.0 MiB of 10;")
    assert told([pressure(30, 0, 0, 0)]).endswith("50 % of the 30 ms")
    assert told([pressure(30, 0, 0, 0)], demand=0, oom_kill=2).startswith("Out of memory: two killed for memory;")


@pytest.mark.parametrize("took_ms, said", [(780, "; it took 78 times as long as with enough memory:"), (10.4, ":")])
def test_sentence_says_how_much_longer_than_with_enough_memory(took_ms: float, said: str) -> None:
    """The command is the process that lives longest, because it waits for the others."""
    exits = [{"turnaround_us": 1000 * took_ms}, {"turnaround_us": 9}]
    data = Telemetry(START, exits=exits, pressure=steady(0.2, 9, 9))
    assert story.sentence(data, ideal_s=0.01).startswith(f"Paging, but no thrashing{said} eight processes wanted")
    assert "times as long" not in story.sentence(data)


def run(folder: Path, command: str, **settings: object) -> results.Result:
    """An exact run, kept in `folder`, that must succeed."""
    words = [word for name, value in settings.items() for word in (f"--{name}", str(value))]
    done = tidemark("run", command, *words, "--out", str(folder), cwd=folder.parent)
    assert done.returncode == 0, done.stderr
    *_, said, _ = done.stdout.splitlines()
    result = results.load(folder)
    assert said == story.sentence(result.telemetry()) + "."
    return result


@pytest.mark.parametrize(
    "command, mem, verdict",
    [
        ("thrash 5 2048 4 300", "12M", "Thrashing"),
        ("thrash 6 2048 4 300", "12M", "Thrashing"),
        ("thrash 4 4096 3 300", "12M", "Thrashing"),
        ("thrash 3 2048 2 300", "16M", "Memory sufficed"),
    ],
)
def test_one_run_gets_one_sentence_however_often_it_is_sampled(
    tmp_path: Path, command: str, mem: str, verdict: str
) -> None:
    """And the same numbers: no table uses samples where there are counters."""
    said, numbers = set(), []
    for ms in INTERVALS:
        data = run(tmp_path / str(ms), command, vm="2q", mem=mem, swap="sim:hdd", cmdline=f"sample_ms={ms}").telemetry()
        said.add(story.sentence(data))
        numbers.append(summary.measured(data))
    [sentence] = said
    assert sentence.startswith(verdict) and "processes wanted" in sentence
    assert all(one == numbers[0] for one in numbers) and "demand_mib" in numbers[0]


PLAN = """
workload = "thrash {processes} 2048 4 300"
processes = [2, 5, 6]
mem = "12M"
swap = "sim:hdd"
cmdline = "sample_ms=1000"
ideal = "64M"
"""


def test_sweep_that_is_hardly_sampled_knows_demand_and_slowdown(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    done = tidemark("sweep", "plan.toml", "-o", "sweep", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    cells = sources.gather([tmp_path / "sweep"]).cells
    short, ideal = ({c.factors["processes"]: c for c in cells if c.factors["mem"] == mem} for mem in ("12M", "64M"))
    for processes, cell in short.items():
        assert cell.numbers["demand_mib"] == ideal[processes].numbers["demand_mib"]
        assert 2 < cell.numbers["demand_mib"] / int(processes) < 2.1
    assert ideal["6"].verdict == short["2"].verdict == "Memory sufficed"
    times = short["6"].numbers["turnaround_s"] / ideal["6"].numbers["turnaround_s"]
    assert times > 10 and f"it took {times:.0f} times as long as with enough memory" in short["6"].verdict


def test_report_of_runs_takes_the_one_with_enough_memory_as_ideal(tmp_path: Path) -> None:
    command = "thrash 4 2048 4 300"
    for mem in ("12M", "16M", "64M"):
        run(tmp_path / mem, command, vm="2q", mem=mem, swap="sim:hdd")
    run(tmp_path / "other", "thrash 2 2048 1 300", vm="2q", mem="64M", swap="sim:hdd")
    short, enough, ideal, other = sources.gather([tmp_path / name for name in ("12M", "16M", "64M", "other")]).runs
    times = story.turnaround_s(short.data) / story.turnaround_s(ideal.data)
    assert times > 2 and f"; it took {times:.1f} times as long as with enough memory: four" in short.story
    assert all("times as long" not in one.story for one in (enough, ideal, other))
    assert "times as long" not in sources.gather([tmp_path / "12M", tmp_path / "other"]).runs[0].story
