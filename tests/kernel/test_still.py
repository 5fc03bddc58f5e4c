"""Measuring does not change an exact run: with any sampling rate, everything else is the same."""

from __future__ import annotations

import pytest
from guest import Result, boot

INTERVALS = (0, 10, 100, 500, 1000)
TRADE = "thrash 3 2048 2 500 & btree 3000 | cat & thrash 2 2048 3 500 & sh -c 'true | cat; cow 512 2' & wait; sleep 0.3"


def sampled(ms: int, run: str, **settings: str) -> Result:
    """A run with a sample every `ms`, none of which is delayed."""
    return boot(run, cmdline=f"sample_ms={ms} sample_percent=100", telemetry=True, **settings).check_exit()


def unsampled(result: Result) -> list[dict]:
    """The records except samples, without their numbers and without the command line."""
    return [
        {name: value for name, value in record.items() if name not in ("seq", "cmdline")}
        for record in result.telemetry
        if record["ev"] != "sample"
    ]


def samples(result: Result) -> list[dict]:
    return [record for record in result.telemetry if record["ev"] == "sample"]


@pytest.mark.parametrize(
    "run, settings",
    [
        ("thrash 5 2048 4 300", {"vm": "2q", "mem": "12M"}),
        ("thrash 6 2048 4 300", {"vm": "2q", "mem": "12M"}),
        ("thrash 6 2048 2 3000", {"vm": "clockpro", "mem": "8M", "swap": "sim:ssd"}),
        ("thrash 6 2048 2 3000", {"vm": "ws", "mem": "8M", "swap": "sim:ssd"}),
        (TRADE, {"vm": "mglru", "mem": "10M"}),
    ],
)
def test_run_is_the_same_however_often_it_is_sampled(run: str, settings: dict[str, str]) -> None:
    often, *others = (sampled(ms, run, **settings) for ms in INTERVALS)
    assert len(samples(often)) == 1, "sample_ms=0 leaves the last one"
    assert len(samples(others[0])) > 5
    for other in others:
        assert other.console == often.console
        assert unsampled(other) == unsampled(often)
        last, first = samples(other)[-1], samples(often)[-1]
        assert other.telemetry[-1]["t_us"] == last["t_us"], "the report of the run takes no time"
        for name in ("t_us", "idle_us", "vm", "psi", "switches"):
            assert last[name] == first[name], name


def test_samples_are_of_the_instant_at_which_they_begin() -> None:
    """While the clock stands still, the sum over all accounts of a process is its life so far."""
    result = sampled(10, "thrash 6 2048 2 3000", vm="2q", mem="8M", swap="sim:ssd")
    born = {}
    for record in result.telemetry:
        if record["ev"] == "mm":
            born.setdefault(record["pid"], record["t_us"])
        for process in record.get("procs", ()) if record["ev"] == "sample" else ():
            spent = sum(process[f"{name}_us"] for name in ("user", "kernel", "ready", "pagewait", "admit", "sleep"))
            assert 0 <= spent - (record["t_us"] - born[process["pid"]]) < 600, (record["seq"], process)
