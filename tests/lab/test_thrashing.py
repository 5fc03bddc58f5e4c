"""When a machine thrashes, and the sentence that says so: one definition, on made-up telemetry and on runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab import tidemark
from tidemark import results, story, thrashing
from tidemark.telemetry import Telemetry

START = {"ev": "start", "t_us": 0, "free": 2560, "frames": 0}


def sample(t_ms: int, full: float, read: int, evicted: int, **more: object) -> dict:
    """A sample by its counters until then; `full` in ms."""
    vm = {"pswpin": read, "pgpgin": 0, "pgsteal_kswapd": evicted, "pgsteal_direct": 0, "oom_kill": 0}
    return {"t_us": t_ms * 1000, "idle_us": t_ms * 500, "psi": {"full_us": full * 1000}, "vm": vm, "procs": [], **more}


def steady(full: float, read: int, evicted: int, seconds: int = 5) -> list[dict]:
    """Samples every 100 ms in which so much happens in each second."""
    return [sample(100 * n, 100 * n * full, read * n // 10, evicted * n // 10) for n in range(1, 10 * seconds + 1)]


def spells(samples: list[dict], exits: tuple[dict, ...] = ()) -> list[tuple[float, float]]:
    return thrashing.spells(thrashing.windows(START, samples, exits))


@pytest.mark.parametrize(
    "full, read, evicted, thrashes",
    [
        (0.9, 100, 100, True),
        (0.51, 100, 51, True),
        (0.49, 100, 100, False),  # others got on
        (0.9, 100, 40, False),  # free memory is refilled
        (0.9, 40, 100, False),  # memory is filled for the first time
        (0.9, 0, 0, False),
    ],
)
def test_thrashing_is_waiting_and_exchange(full: float, read: int, evicted: int, thrashes: bool) -> None:
    assert spells(steady(full, read, evicted)) == ([(0, 5)] if thrashes else [])


def test_what_went_out_before_and_comes_back_later_is_no_exchange() -> None:
    out = [sample(100 * n, 100 * n, 0, 100 * n) for n in range(1, 11)]
    back = [sample(1000 + 100 * n, 1000 + 100 * n, 100 * n, 1000) for n in range(1, 11)]
    assert spells([*out, *back]) == []


def test_spell_begins_and_ends_with_its_windows() -> None:
    calm = steady(0.1, 0, 0, 3)
    wild = [sample(3000 + 100 * n, 300 + 100 * n, 10 * n, 10 * n) for n in range(1, 41)]
    after = [sample(7000 + 100 * n, 4300, 400, 400) for n in range(1, 31)]
    [(begin, end)] = spells([*calm, *wild, *after])
    assert 2.4 <= begin <= 3.1 and 6.9 <= end <= 7.6


def process(pid: int, pagewait: int, admit: int, mad: int = 0) -> dict:
    return {"pid": pid, "mad": mad, "pagewait_us": pagewait * 1000, "admit_us": admit * 1000}


def test_process_held_back_does_not_wait_for_a_page() -> None:
    """Everybody else sleeps of its own will: PSI says full, and nobody waits for a page but for a fifth of the time."""
    held = [one | {"procs": [process(7, 0, n), process(8, n // 5, 0)]} for n, one in timed(steady(1, 100, 100))]
    assert spells(held) == []
    waits = [one | {"procs": [process(7, 0, n), process(8, n, 0)]} for n, one in timed(steady(1, 100, 100))]
    assert spells(waits) == [(0, 5)]
    ends = {"t_us": 900_000, "pid": 9, "us": [0, 0, 0, 0, 900_000, 0]}
    assert spells(steady(1, 100, 100), (ends,)) != [(0, 5)]  # one that ended between two samples counts, too


def timed(samples: list[dict]) -> list[tuple[int, dict]]:
    """Each with its time in ms."""
    return [(one["t_us"] // 1000, one) for one in samples]


def test_run_under_a_second_is_one_window_and_a_live_machine_has_none_yet() -> None:
    short = steady(0.9, 100, 100, 1)[:5]
    assert spells(short) == [(0, 0.5)]
    assert thrashing.windows(START, short, (), ended=False) == []


def test_telemetry_without_psi_does_not_tell() -> None:
    assert thrashing.of(Telemetry(START, [{"t_us": 1, "vm": {}}])) is None
    assert "no PSI" in story.sentence(Telemetry(START, [{"t_us": 10, "idle_us": 0, "vm": {}}]))


def told(samples: list[dict], **changes: object) -> str:
    procs = [process(1, 0, 0, 9999), *(process(pid, 0, 0, 1024) for pid in range(5, 13)), process(20, 0, 0, 30)]
    return story.sentence(Telemetry(START, [one | {"procs": procs, **changes} for one in samples]))


def test_sentence_says_what_happened() -> None:
    assert told(steady(0.9, 100, 100)) == (
        "Thrashing from 0.00 s to the end, 5.00 s: eight processes wanted 32 MiB of 10; "
        "the processor worked 50 % of the time"
    )
    assert told(steady(0.2, 9, 9)).startswith("Paging, but no thrashing: eight processes wanted 32 MiB of 10; the ")
    assert told(steady(0.9, 9, 0)).startswith("Waiting for pages, but no thrashing")
    assert told(steady(0.9, 9, 0), held=3).startswith("No thrashing, with three held back at once")
    assert story.sentence(Telemetry(START, steady(0, 0, 0))).startswith("Memory sufficed: the processor worked 50 %")
    assert story.sentence(Telemetry(START)) == ""
    short = sample(30, 0, 0, 0)
    assert story.sentence(Telemetry(START, [short])).endswith("50 % of the 30 ms")
    killed = short | {"vm": short["vm"] | {"oom_kill": 2}}
    assert story.sentence(Telemetry(START, [killed])).startswith("Out of memory: two killed for memory;")


def test_demand_is_that_of_the_processes_that_count() -> None:
    assert "2.0 MiB" in story.sentence(Telemetry(START, [sample(10, 0, 0, 0, procs=[process(5, 0, 0, 512)])]))


def test_run_ends_with_the_sentence(tmp_path: Path) -> None:
    done = tidemark("run", "thrash 4 2048 2", "--mem", "9M", "--swap", "sim:hdd", "--out", "it", cwd=tmp_path)
    *_, last, folder = done.stdout.splitlines()
    said = story.sentence(results.load(tmp_path / "it").telemetry()) + "."
    assert folder == "it" and last == said and "four processes wanted 8.2 MiB of " in said
