"""The work of programs is compared with a run of the same build, not with a fixed number."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from tidemark.errors import LabError
from tidemark.grade.intake import lab
from tidemark.grade.judge import work
from tidemark.grade.model import Lab, Outcome, Verdict
from tidemark.grade.model import Test as LabTest
from tidemark.grade.witness import baseline
from tidemark.grade.witness.boot import Boot
from tidemark.grade.witness.evidence import EVENT, READ, SWITCH, Evidence
from tidemark.grade.witness.machine import Machine
from tidemark.machine import qemu

pytestmark = pytest.mark.graded


def run(instructions: int, reads: int = 0) -> Boot:
    """A run that ended successfully, with these numbers of program instructions and of pages read."""
    events = np.zeros(reads + 2, EVENT)
    events["kind"], events["space"], events["user"] = READ, 1, instructions
    events["kind"][:2] = SWITCH
    events["user"][0] = 0
    return Boot(Outcome.RIGHT, "", "", Evidence(events, [], 10**9, 1, False, True))


def verdict(folder: Path, options: Mapping[str, object], mine: Boot, *starters: Boot) -> Verdict | None:
    """The verdict on one run; `starters` are the runs that the starter may make."""
    machine = Machine(mock.Mock(spec=Lab), folder, folder, folder, mock.Mock(), ())
    coming = iter(starters)
    (folder / "build").mkdir(exist_ok=True)
    with mock.patch.multiple(baseline, made_of=lambda *of: "the starter", machine=lambda students: students):
        return work.undone(LabTest("a run", 1, "runs", options), machine, mine, lambda ours: next(coming))


@pytest.mark.parametrize("build", [1, 10, 1000])  # different compilers and libraries for the same program
def test_run_is_held_against_one_of_the_same_build(build: int, tmp_path: Path) -> None:
    starters, options = run(100 * build, 40), {"work": 0.9, "reads": 0.5}
    assert verdict(tmp_path, options, run(90 * build, 20), starters) is None
    undone = verdict(tmp_path, options, run(89 * build, 20), starters)
    assert undone and f"executed {89 * build:,} instructions; their work needs {90 * build:,}" in undone.message
    unread = verdict(tmp_path, options, run(90 * build, 19), starters)
    assert unread and "19 pages were read from the swap area; with so little memory there must be 20" in unread.message


def test_starter_is_run_once_for_a_release(tmp_path: Path) -> None:
    for _ in range(3):
        assert verdict(tmp_path, {"work": 0.9}, run(90), run(100), run(1)) is None
    assert verdict(tmp_path, {"work": 0.9}, run(89), run(1)) is not None


def test_run_without_work_is_seen(tmp_path: Path) -> None:
    undone = verdict(tmp_path, {}, run(0))
    assert undone and undone.fraction == 0 and "programs executed no instructions" in undone.message


def test_number_of_instructions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="instead of least_user and least_read give work and reads"):
        verdict(tmp_path, {"least_user": 1000}, run(1000))


@pytest.mark.parametrize("name", lab.names(qemu.ROOT))
def test_every_run_says_how_much_work_it_is(name: str) -> None:
    """As a fraction of the starter's work, so that it does not depend on the build."""
    kinds = ("faults", "admission", "runs")
    tests = [one for one in lab.load(qemu.ROOT, name).tests if one.kind in kinds and "run" in one.options]
    assert [one.title for one in tests if not 0 < one.options.get("work", 0) < 1] == []
