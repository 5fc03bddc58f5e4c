"""A policy whose select never returns: the host tests of all policies end, and name the policy."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tidemark.grade.build import tree
from tidemark.machine import qemu

PROGRAM, CLOCK = "build/host/kernel/mm/policy/policies_test", "kernel/mm/policy/clock.c"
ASKS = "vm_scan_more(scan)"


@pytest.mark.soak
def test_policies_that_forget_to_ask_are_named(tmp_path: Path) -> None:
    for name in (*tree.PARTS, "tests/kernel", "build/host"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        if (qemu.ROOT / name).is_dir():
            shutil.copytree(qemu.ROOT / name, tmp_path / name, dirs_exist_ok=True)
        else:
            shutil.copy2(qemu.ROOT / name, tmp_path / name)
    text = (tmp_path / CLOCK).read_text()
    assert text.count(ASKS) == 1
    (tmp_path / CLOCK).write_text(text.replace(ASKS, "true"))
    made = subprocess.run(["make", "--silent", PROGRAM], cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    done = subprocess.run([tmp_path / PROGRAM], capture_output=True, text=True, timeout=100)
    assert done.returncode != 0
    assert "panic: policy clock, rule time: hook select does not return: a loop in it has no end" in done.stderr
