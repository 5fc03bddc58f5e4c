"""Swap prefetch (kernel/mm/guard/prefetch.c): it reads pages back in idle time, and does nothing on a busy machine."""

from __future__ import annotations

import pytest
from guest import Result, boot

SMALL = {"vm": "2q", "swap": "sim:hdd"}


def expect_sound(result: Result) -> None:
    result.check_exit().check_lines([r"^R .*corrupt=0$", "^ok$"])
    assert "violation" not in result.console


def shown(result: Result) -> list[dict]:
    return [record["guard"] for record in result.telemetry if record["ev"] == "sample"]


def faults_of_the_sleeper(guard: str, sleep_s: int) -> tuple[int, Result]:
    """Major faults of a process whose pages another one displaced; that one ended `sleep_s` before the pages are used
    again."""
    run = f"sh -c 'hog 6000 {4 + sleep_s} & sleep 2; hog 10000 1; wait; cat /proc/vm/check'"
    result = boot(run, **SMALL, mem="16M", cmdline=f"guard={guard}", telemetry=True)
    expect_sound(result)
    exits = [record for record in result.telemetry if record["ev"] == "exit"]
    return max(record["majflt"] for record in exits), result


def test_idle_time_is_used_to_read_back() -> None:
    without, _ = faults_of_the_sleeper("none", 10)
    with_it, result = faults_of_the_sleeper("prefetch", 10)
    assert without > 50 and with_it < without / 20
    last = shown(result)[-1]
    assert last["asked"] > 500 and last["remembered"] == 0 and last["stopped"] == 0


def test_it_waits_until_the_machine_has_been_idle() -> None:
    faults, result = faults_of_the_sleeper("prefetch", 2)
    assert faults > 50 and shown(result)[-1]["asked"] == 0


@pytest.mark.soak
@pytest.mark.parametrize(
    ("run", "size"),
    [
        ("thrash 6 2048 2 3000", {"mem": "8M"}),
        pytest.param("thrash 12 512 2", {"mem": "32M", "frames": 40}, marks=pytest.mark.soak),
    ],
)
def test_under_load_it_does_nothing(run: str, size: dict) -> None:
    result = boot(f"{run}; cat /proc/vm/check", **SMALL, **size, cmdline="guard=prefetch", telemetry=True)
    expect_sound(result)
    assert shown(result)[-1]["asked"] == 0
