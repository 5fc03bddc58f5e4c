"""`make coverage`: observation does not change a run, and it reports the lines that the run must have executed."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from cover import reasons
from cover.__main__ import FOLDER, executed
from guest import boot
from tidemark.grade.witness import lines
from tidemark.machine import coverage, qemu

PLACE = FOLDER / "of-a-test"


def test_watched_run_is_the_same_and_tells_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(coverage.FOLDER, raising=False)
    plain = boot("echo hello", telemetry=True).check_exit()
    monkeypatch.setenv(coverage.FOLDER, str(PLACE))
    try:
        watched = boot("echo hello", telemetry=True).check_exit()
        ran = lines.run(lines.ranges(qemu.ROOT, qemu.ROOT / qemu.KERNEL), executed(*PLACE.iterdir()))
    finally:
        shutil.rmtree(PLACE, ignore_errors=True)
    assert (watched.console, watched.raw_telemetry) == (plain.console, plain.raw_telemetry)
    functions = {file: reasons.functions((qemu.ROOT / file).read_text()) for file, _ in ran}
    names = {functions[file].get(number) for file, number in ran}
    assert {"sys_writev", "do_fork"} <= names and not {"sys_swapoff", "machine_reboot"} & names


def test_line_has_run_when_one_of_its_addresses_was_executed() -> None:
    code = {("a.c", 1): [(10, 12)], ("a.c", 2): [(12, 15), (30, 31)], ("a.c", 3): [(15, 30)]}
    assert lines.run(code, np.array([11, 30], dtype=np.uint32)) == {("a.c", 1), ("a.c", 2)}
    assert lines.run(code, np.array([9, 31], dtype=np.uint32)) == set()
