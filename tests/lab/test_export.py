"""`tidemark export`: the files for Perfetto and speedscope, compared with the records and the formats' own rules."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from lab import tidemark
from scenes import END, START, process, sample, written
from tidemark.debug import profile
from tidemark.debug.profile import Profile
from tidemark.telemetry import stream, tracks


def exited(pid: int, t_ms: int, **accounts: int) -> dict:
    """The record of a process's end."""
    us = [accounts.get(name, 0) for name in tracks.ACCOUNTS]
    return {"t_us": 1000 * t_ms, "ev": "exit", "pid": pid, "comm": f"prog{pid}", "status": 0, "us": us}


def did(pid: int, **accounts: int) -> dict:
    """A process in a sample."""
    return process(pid, **accounts)


RECORDS = [
    START,
    sample(100, procs=[did(1, user_us=60_000, ready_us=20_000)], majflt=0),
    {"t_us": 150_000, "ev": "policy", "name": "ws"},
    sample(200, procs=[did(1, user_us=70_000, ready_us=20_000, pagewait_us=90_000, majflt=4)], majflt=4),
    sample(300, procs=[did(1, user_us=80_000, ready_us=20_000, pagewait_us=180_000, majflt=9)], majflt=9),
    exited(1, 350, user_us=80_000, ready_us=20_000, pagewait_us=230_000),
    sample(400, procs=[did(1, user_us=40_000)], majflt=9),  # another process with that pid
    {"t_us": 450_000, "ev": "oom", "pid": 1, "comm": "prog1"},
    {**END, "t_us": 500_000},
]


@pytest.fixture
def events(tmp_path: Path) -> list[dict]:
    """RECORDS as trace events."""
    path = written(tmp_path / "t.ndjson", RECORDS)
    return list(tracks.of_telemetry(stream.read(path), "scene"))


def test_every_event_is_one_of_the_format_s(events: list[dict]) -> None:
    needed = {
        "M": {"name", "args"},
        "C": {"name", "ts", "args"},
        "X": {"name", "ts", "dur", "tid"},
        "i": {"name", "ts"},
    }
    for event in events:
        assert needed[event["ph"]] | {"pid"} <= set(event)
        assert event["ph"] != "C" or all(isinstance(value, (int, float)) for value in event["args"].values())
        assert event.get("ts", 0) >= 0 and event.get("dur", 0) >= 0
    assert json.loads(json.dumps(events)) == events


def test_states_are_slices_that_meet_and_have_all_the_time(events: list[dict]) -> None:
    """The first process lives from 20 to 350 ms; the beginning of the second follows from the time in its
    accounts."""
    slices = {}
    for event in events:
        if event["ph"] == "X" and event["pid"]:
            slices.setdefault(event["pid"], []).append((event["name"], event["ts"], event["dur"]))
    assert slices == {
        1: [("running", 20_000, 80_000), ("waiting for a page", 100_000, 250_000)],
        1 + tracks.LATER_LIFE: [("running", 360_000, 40_000)],
    }
    (waited,) = [event for event in events if event["name"] == "waiting for a page"]
    assert waited["args"]["pagewait_us"] == 230_000 and waited["args"]["user_us"] == 20_000


def test_counters_stand_at_the_beginning_of_their_interval(events: list[dict]) -> None:
    faults = [
        (event["ts"], event["args"]["pgmajfault"])
        for event in events
        if event["ph"] == "C" and event["name"] == "faults a second"
    ]
    assert faults == [(0, 0), (100_000, 40), (200_000, 50), (300_000, 0)]


def test_policies_are_slices_and_ends_are_marks(events: list[dict]) -> None:
    took = [(event["name"], event["ts"], event["dur"]) for event in events if event["ph"] == "X" and not event["pid"]]
    assert took == [("2q", 0, 150_000), ("ws", 150_000, 350_000)]
    assert Counter(event["name"] for event in events if event["ph"] == "i") == {"exit prog1 1": 1, "oom prog1": 1}


def test_a_run_that_was_cut_off_is_exported_as_far_as_it_came(tmp_path: Path) -> None:
    written(tmp_path / "t.ndjson", RECORDS[:3])
    done = tidemark("export", "t.ndjson", "--to", "perfetto", cwd=tmp_path)
    assert done.returncode == 0 and "stopped early" in done.stderr
    made = json.loads((tmp_path / "t.ndjson.perfetto.json").read_text())
    assert [event["name"] for event in made["traceEvents"] if event["ph"] == "X"] == ["2q", "ws", "running"]


def test_speedscope_gets_each_function_with_its_time() -> None:
    """By the rules of file-format-schema.json: stacks are indexes into `frames`, with as many weights as samples."""
    made = profile.speedscope(Profile("x", "ticks", 1000, {"idle": 5, "user": 3, "do_fault": 2}))
    names = [frame["name"] for frame in made["shared"]["frames"]]
    found = []
    for sampled in made["profiles"]:
        stacks = [tuple(names[at] for at in stack) for stack in sampled["samples"]]
        found.append(dict(zip(stacks, sampled["weights"], strict=True)))
        assert (sampled["startValue"], sampled["endValue"]) == (0, sum(sampled["weights"]))
    busy = {("user",): 3_000_000, ("(kernel)", "do_fault"): 2_000_000}
    assert found == [busy, {("idle",): 5_000_000, **busy}]


def test_speedscope_gets_who_called_whom(tmp_path: Path) -> None:
    """A compiler-made copy appears below its function only once."""
    (tmp_path / profile.STACKS).write_text("trap;do_fault 3\ntrap;do_fault;do_fault.cold 4\ntrap 5\n")
    stacks = profile.read_stacks(tmp_path / profile.STACKS)
    assert stacks == {("trap", "do_fault"): 7, ("trap",): 5} and profile.read_stacks(tmp_path / "none") == {}
    made = profile.speedscope(Profile("x", "instructions", 10**9, {"idle": 9, "trap": 5, "do_fault": 7}, stacks))
    names = [frame["name"] for frame in made["shared"]["frames"]]
    busy = made["profiles"][0]
    shown = [tuple(names[at] for at in stack) for stack in busy["samples"]]
    assert dict(zip(shown, busy["weights"], strict=True)) == stacks


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("nosuch", "--to", "perfetto"), 3, "no such file"),
        (("t.ndjson", "--to", "perfetto", "-o", "nowhere/x.json"), 2, "nowhere is not a folder"),
        (("t.ndjson", "--to", "speedscope"), 3, "has no profile"),
    ],
)
def test_bad_use_gets_a_message(tmp_path: Path, arguments: tuple[str, ...], status: int, said: str) -> None:
    written(tmp_path / "t.ndjson", RECORDS)
    refused = tidemark("export", *arguments, cwd=tmp_path)
    assert refused.returncode == status and said in refused.stderr and "Traceback" not in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.ndjson"]
