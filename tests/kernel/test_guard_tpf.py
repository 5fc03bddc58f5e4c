"""TPF (kernel/mm/guard/tpf.c): it protects one process at a time, and only while the machine thrashes."""

from __future__ import annotations

import pytest
from guest import Result, boot

SMALL = {"vm": "2q", "mem": "8M", "swap": "sim:hdd"}


def shown(result: Result) -> list[dict]:
    """The guard's values in each sample."""
    return [record["guard"] for record in result.telemetry if record["ev"] == "sample"]


def test_thrashing_is_met_by_protections_that_end() -> None:
    result = boot("thrash 6 2048 2 3000; cat /proc/vm/check", **SMALL, cmdline="guard=tpf", telemetry=True).check_exit()
    result.check_lines([r"^R .*corrupt=0$", "^ok$"])
    assert "violation" not in result.console
    last = shown(result)[-1]
    assert last["protections"] > 1 and last["spared"] > 100 and last["given"] > 0
    assert last["protected"] == 0
    assert {sample["state"] for sample in shown(result)} == {0, 1, 2}


@pytest.mark.soak
def test_too_high_a_rate_is_seen_in_too_few() -> None:
    """No process makes progress, but the disk is too slow for any process to reach that rate."""
    run = "thrash 10 1024 1 3000"
    blind, seeing = (
        shown(boot(run, **SMALL, cmdline=f"guard=tpf tpf.pf_high={rate}", telemetry=True).check_exit())[-1]
        for rate in (30, 2)
    )
    assert blind["protections"] == 0 and blind["too_few"] > 0
    assert seeing["protections"] > 0
