"""WSClock with more than one process: the load control of Carr and Hennessy, which its parameter switches off."""

from __future__ import annotations

import pytest
from guest import boot
from soak import soak_but
from test_guards import expect_sound, turnaround_s

CHECK = "cat /proc/vm/check"
OVERLOAD = f"thrash 7 1536 2 3000; {CHECK}"
NARROW = {"vm": "wsclock", "mem": "8M", "swap": "sim:hdd"}


@pytest.mark.parametrize("jitter", soak_but(range(1, 11), 1))
def test_control_of_wsclock_ends_thrashing(jitter: int) -> None:
    free, controlled = (
        boot(OVERLOAD, **NARROW, cmdline=f"wsclock.control={control} jitter={jitter}", telemetry=True)
        for control in (0, 1)
    )
    for result in (free, controlled):
        expect_sound(result)
    assert turnaround_s(controlled) < turnaround_s(free) / 3


def test_process_that_waits_for_one_without_an_end_gets_its_turn() -> None:
    """The first process fills memory and never ends; after patience_ms the second takes its place."""
    work = f"thrash 1 5120 1000000 & sleep 0.3; thrash 1 5120 3; kill %1; {CHECK}"
    result = boot(f"sh -c '{work}'", **NARROW | {"swap": "sim:ssd"}, cmdline="wsclock.patience_ms=100").check_exit()
    result.check_lines(["^R thrash .*corrupt=0$", "^ok$"])


def test_control_can_be_switched_off_while_processes_wait() -> None:
    switch = "; ".join(f"echo wsclock.control={control} > /proc/params" for control in (0, 1))
    work = f"(thrash 7 1536 2 3000 &); sleep 0.5; {switch}"
    result = boot(f"{work}; thrash 2 1536 1; {CHECK}", **NARROW).check_exit()
    result.check_lines(["^R thrash .*corrupt=0$", "^ok$"])
