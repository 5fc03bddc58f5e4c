"""The least time of recorded runs: `tidemark bound`, and every policy beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from lab import skip_8_2, tidemark
from soak import soak_but
from tidemark.machine import qemu
from tidemark.runs import experiment
from tidemark.strings import foresight, least_time, vmsim
from tidemark.telemetry import story
from tidemark.trace import policy_strings
from tidemark.trace.record import record

QUICK = qemu.Settings(mem="8M", swap="sim:ssd", timeout=600)
COMMANDS = (
    "seqscan 8192 3 w",
    "seqscan 8192 3",
    "thrash 1 8192 3",
    "phase 8192 2048 4 4000",
    "pattern zipf 8192 4000 1000",
    "btree 6144 2000",
    "grow 8192 3",
)
CASES = [(command, swap) for command in COMMANDS for swap in ("sim:ssd", "sim:hdd")]


def policies(every: bool) -> list[str]:
    known = [name for name in vmsim.policies() if name not in vmsim.WITH_FUTURE]
    return known if every else ["2q", "fifo", "ws"]


def check(command: str, swap: str, vms: list[str], folder: Path) -> None:
    """The bounds of the recorded program are below the time of each of these policies, without and with read-ahead,
    and none has more frames than the bound supposes."""
    recording = record(replace(QUICK, run=command, mem="64M"), folder / "recorded", kinds="data", notes=True)
    main, _, alone = foresight.main_space(recording)
    space = policy_strings.spaces_of(recording, foresight.DIRECT_MAP)[main]
    for vm in vms:
        for cluster in (0, 5):
            settings = replace(QUICK, run=command, swap=swap, vm=vm, cmdline=f"vm.page_cluster={cluster}")
            result = experiment.run(settings, folder / f"{vm}-{cluster}")
            data = result.telemetry()
            frames, disk = least_time.frames_of(result), least_time.disk_of_run(result)
            least = least_time.of_recording(recording, main, space, frames, disk)
            assert max(process["rss"] for sample in data.samples for process in sample["procs"]) <= frames
            vms_ = data.samples[-1]["vm"]
            assert least.reads <= vms_["pswpin"] and least.writes <= vms_["pswpout"], (vm, cluster)
            assert 0 < least_time.seconds(least, settings, alone) <= story.turnaround_s(data), (vm, cluster)


@pytest.mark.parametrize(("command", "swap"), soak_but(CASES, CASES[0]))
def test_no_run_takes_less_than_the_bound(command: str, swap: str, tmp_path: Path) -> None:
    check(command, swap, policies(every=False), tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize(("command", "swap"), [*CASES[:3], ("phase 8192 2048 4 4000", "sim:ssd")])
def test_no_policy_takes_less_than_the_bound(command: str, swap: str, tmp_path: Path) -> None:
    check(command, swap, policies(every=True), tmp_path)


def test_bound_prints_the_regret_and_refuses_what_has_none(tmp_path: Path) -> None:
    skip_8_2()
    folder = tmp_path / "run"
    experiment.run(replace(QUICK, run="seqscan 8192 2 w"), folder)
    shown = tidemark("bound", folder, "-q", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "seqscan, 1," in shown.stdout and "regret" in shown.stdout
    found = json.loads(tidemark("bound", folder, "-q", "--json", cwd=tmp_path).stdout)
    assert found["regret_s"] == pytest.approx(found["took_s"] - max(found["any_order_s"], found["on_demand_s"]))
    none = tidemark("bound", folder, "-q", "--frames", "0", cwd=tmp_path)
    assert (none.returncode, none.stderr) == (2, "tidemark: a lower bound needs at least one frame\n")


def test_bound_needs_a_modelled_disk(tmp_path: Path) -> None:
    experiment.run(replace(QUICK, run="true", swap="none"), tmp_path / "run")
    done = tidemark("bound", tmp_path / "run", "-q", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, "tidemark: the console names no modelled disk\n")
    assert "in the kernel" in tidemark("min", tmp_path / "run", "-q", "-o", tmp_path / "min", cwd=tmp_path).stdout
