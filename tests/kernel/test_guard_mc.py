"""The guards after McMenamin's patches: each acts on a small machine that thrashes, and breaks nothing."""

from __future__ import annotations

import pytest
from guest import boot
from soak import soak_but

RUN = "thrash 6 2048 2 3000; cat /proc/vm/check"
# In the order of his report: the counter that shows that the guard acted.
GUARDS = {
    "mc62": "dirty",
    "mc63": "looked",
    "mc64": "looked",
    "mc72": "acted",
    "mc73": "acted",
    "mc74": "acted",
    "mc741": "acted",
    "mc75": "acted",
}


@pytest.mark.parametrize("guard", soak_but(GUARDS, "mc63", "mc741"))
def test_it_acts_and_breaks_nothing(guard: str) -> None:
    result = boot(RUN, vm="2q", mem="8M", swap="sim:ssd", cmdline=f"guard={guard}", telemetry=True).check_exit()
    result.check_lines([r"^R .*corrupt=0$", "^ok$"])
    assert "violation" not in result.console
    counters = [record for record in result.telemetry if record["ev"] == "sample"][-1]["guard"]
    assert counters["name"] == guard and counters[GUARDS[guard]] > 0
