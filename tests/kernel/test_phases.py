"""The kernel counts the phases of a process: changes of the set of pages that it uses, as each sample sees them."""

from __future__ import annotations

import pytest
from guest import boot

SAMPLING = "sample_ms=5 sample_percent=100 wss_tau_ms=40"


@pytest.mark.parametrize(
    ("program", "phases"),
    [
        ("phase 16384 1024 6 1500000 --stray 0", 6),  # its array is filled, then five moves of its window
        ("phase 16384 1024 6 400000 --stray 64", 1),  # any page is used in any sample
        ("pattern zipf 8192 200000", 1),
        ("seqscan 8192 1000", 1),
    ],
)
def test_a_new_phase_begins_when_a_quarter_of_the_pages_is_fresh(program: str, phases: int) -> None:
    run = boot(program, mem="64M", cmdline=SAMPLING, telemetry=True).check_exit()
    name = program.split()[0]
    counted = [p["phases"] for s in run.telemetry if s["ev"] == "sample" for p in s["procs"] if p["comm"] == name]
    assert counted[-1] == phases, counted
