"""`tidemark min`: repeats a run under MIN or VMIN, with the real future, in the kernel."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lab import tidemark
from soak import soak_but
from tidemark.errors import LabError
from tidemark.machine import qemu
from tidemark.runs import experiment, results
from tidemark.strings import foresight
from tidemark.trace import future

QUICK = qemu.Settings(mem="16M", swap="sim:ssd")
BELADY = "refstring 1 2 3 4 1 2 5 1 2 3 4 5"
BOOK = "refstring 7 0 1 2 0 3 0 4 2 3 0 3 2 1 2 0 1 7 0 1"

# command, frames: scans, a moving locality, a tree, Zipf's law, memory that is freed and allocated again.
ALONE = (
    ("seqscan 800 3 w", 60),
    ("seqscan 800 3", 150),
    ("phase 1024 256 3 1500", 80),
    ("phase 1024 256 3 1500", 20),
    ("btree 1024 1000", 100),
    ("pattern zipf 1024 3000", 60),
    ("grow 400 3", 60),
    ("refstring --repeat 40 1-20", 12),
)


def ran(settings: qemu.Settings, folder: Path) -> tuple[results.Result, qemu.Settings]:
    return experiment.run(settings, folder), settings


def seen_again(command: str, frames: int | str, folder: Path, tau_us: int = 0) -> foresight.Outcome:
    """The outcome of a new run."""
    first, settings = ran(replace(QUICK, run=command, frames=str(frames)), folder / "first")
    return foresight.foresee(first, settings, folder / "min", tau_us)


@pytest.mark.soak
@pytest.mark.parametrize(("command", "frames"), ALONE)
def test_kernels_min_is_beladys(command: str, frames: int, tmp_path: Path) -> None:
    found = seen_again(command, frames, tmp_path)
    assert found.alone and found.lost == 0
    assert found.kernel == found.paper
    assert found.pages <= found.kernel.faults < found.original.faults
    assert found.kernel.read == found.kernel.faults - found.pages
    assert json.loads((tmp_path / "min/min.json").read_text())["kernel"]["faults"] == found.kernel.faults


@pytest.mark.parametrize(
    ("command", "frames", "faults"),
    soak_but([(BELADY, 3, 7), (BELADY, 4, 6), (BOOK, 3, 9)], (BELADY, 3, 7)),
)
def test_textbooks_strings_have_the_books_faults(command: str, frames: int, faults: int, tmp_path: Path) -> None:
    """On the console, where the program itself counts them."""
    assert seen_again(command, frames, tmp_path).lost == 0
    assert f"\nfaults: {faults}\n" in (tmp_path / "min/console.log").read_text().replace("\r", "")


@pytest.mark.soak
def test_kernels_vmin_is_that_of_the_theory(tmp_path: Path) -> None:
    found = seen_again("phase 2048 256 20 60000", "", tmp_path, tau_us=8000)
    assert found.lost == 0 and found.paper and found.kernel == found.paper
    assert found.kernel.read > 0


@pytest.mark.soak
def test_several_processes_are_no_bound_and_none_is_lost(tmp_path: Path) -> None:
    folder = tmp_path / "first"
    ran(replace(QUICK, run="thrash 3 512 3", frames="150"), folder)
    done = tidemark("min", folder, "-o", tmp_path / "min", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "several processes" in done.stdout and "not a lower bound" in done.stdout and "on paper" not in done.stdout
    made = json.loads((tmp_path / "min/min.json").read_text())
    assert made["lost"] == 0 and not made["alone"] and made["paper"] is None
    assert made["whole_kernel"]["read"] < made["whole_original"]["read"]


@pytest.mark.soak
def test_future_that_does_not_fit_is_told_with_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foresight, "DIRECT_MAP", (qemu.machine_mib(QUICK) + foresight.BIOS + 1) * foresight.MIB)
    with pytest.raises(LabError, match=r"its future takes [\d,]+ MiB; .*there is room for 0 MiB"):
        seen_again("seqscan 400 3", 60, tmp_path)
    assert not (tmp_path / "min").exists()


def test_wrong_future_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The future of a program that uses the same pages backwards. Its numbers are not called MIN."""

    def backwards(spaces: list[future.Space], main: int, run: str) -> bytes:
        one = spaces[main]
        spaces[main] = future.Space(one.vpns, np.ascontiguousarray(one.refs[::-1]), one.times)
        return right(spaces, main, run)

    right = future.encode
    monkeypatch.setattr(future, "encode", backwards)
    found = seen_again("seqscan 400 3 w", 60, tmp_path)
    assert found.lost > 50
    from tidemark.commands.min import verdict

    assert "this is not MIN" in verdict(found)


def test_what_cannot_be_seen_again_is_refused(tmp_path: Path) -> None:
    settings = replace(QUICK, run="true")
    for cmdline, said in (("guard=token", "without a guard"), ("telemetry=off", "no telemetry")):
        with pytest.raises(LabError, match=said):
            foresight.check(replace(settings, cmdline=cmdline))
    folder = tmp_path / "real"
    results.create(folder, replace(settings, exact=False), "", {"sha256": "0"}, "", [])
    done = tidemark("min", folder, cwd=tmp_path)
    assert done.returncode == 3 and "not finished" in done.stderr


def test_kernel_without_a_future_says_so(tmp_path: Path) -> None:
    result, _ = ran(replace(QUICK, run="true", vm="min"), tmp_path / "run")
    assert result.meta["exit"] == qemu.REFUSED
    assert "this policy needs the run's own future" in result.meta["reason"]
