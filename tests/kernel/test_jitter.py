"""jitter=N: each N leads to another course of events, equal N to the same; programs get the same results."""

from __future__ import annotations

from pathlib import Path

import pytest
from guest import Result, boot
from programs import image_with

RUN = "thrash 3 4096 2"
SMALL = {"vm": "2q", "mem": "12M"}


def jittered(number: int | None, **choices: object) -> Result:
    return boot(
        RUN, **SMALL, telemetry=True, cmdline=None if number is None else f"jitter={number}", **choices
    ).check_exit()


@pytest.fixture(scope="module")
def first() -> Result:
    return jittered(1)


def total_us(result: Result) -> int:
    [line] = [line for line in result.console.splitlines() if line.startswith("R thrash")]
    return int(dict(word.split("=") for word in line.split()[2:])["total_us"])


def counts(result: Result) -> list[dict]:
    """The events without their times, for each record that ends something. The longer command line takes time of its
    own."""
    ends = [record for record in result.telemetry if record["ev"] in ("exit", "end")]
    return [{name: record[name] for name in record if name in ("pid", "status", "minflt", "majflt")} for record in ends]


def test_same_number_repeats_to_the_byte(first: Result) -> None:
    again = jittered(1)
    assert again.console == first.console
    assert again.raw_telemetry == first.raw_telemetry


def test_another_number_is_another_run(first: Result) -> None:
    times = {total_us(first), *(total_us(jittered(number)) for number in (2, 3))}
    assert len(times) == 3


def test_zero_shifts_nothing() -> None:
    zero, none = jittered(0), jittered(None)
    assert counts(zero) == counts(none)
    assert abs(total_us(zero) - total_us(none)) <= 1


def test_the_number_is_in_the_telemetry(first: Result) -> None:
    assert first.telemetry[0]["jitter"] == 1
    assert boot("true", telemetry=True).telemetry[0]["jitter"] == 0


def test_programs_see_the_same_random_numbers(tmp_path: Path) -> None:
    image = image_with(Path(__file__).with_name("programs") / "random.c", tmp_path)
    seen = [boot("random", image=image, cmdline=f"jitter={number}").check_exit().console for number in (0, 1, 2)]
    numbers = {
        line for text in seen for line in text.splitlines() if len(line) == 16 and set(line) <= set("0123456789abcdef")
    }
    assert len(numbers) == 1, seen
    other = boot("random", image=image, seed=2, cmdline="jitter=1").check_exit()
    assert not set(other.console.splitlines()) & numbers
