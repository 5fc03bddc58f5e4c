"""Trees in which building is difficult: blanks in their names, read-only, or with two makes at once."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from confined import NEEDS_BWRAP
from making import environment, make
from tidemark.grade.build import tree
from tidemark.machine import qemu

SOURCES = ("kernel/mm/policy/fifo.c", "user/echo.c", "kernel/lib/rbtree_test.c")


def built_copy(folder: Path) -> Path:
    """A copy of this tree with its build; dates are kept, so that nothing need be built again."""
    tree.copy_built(qemu.ROOT, folder)
    return folder


def test_blanks_and_letters_in_the_path_do_no_harm(tmp_path: Path) -> None:
    """The result of a build there is byte for byte the same, and runs. ccache cannot write, and is not used."""
    copy = built_copy(tmp_path / "Tide mark's ü (1)")
    for name in SOURCES:
        (copy / name).touch()
    goals = ("all", "build/host/kernel/lib/rbtree_test", "build/vmsim/fifo.fast")
    made = make(*goals, folder=copy, CCACHE_DIR="/proc/none")
    assert made.returncode == 0, made.stderr
    assert all(f" {name}\n" in made.stdout for name in SOURCES), made.stdout
    assert (copy / qemu.KERNEL).read_bytes() == (qemu.ROOT / qemu.KERNEL).read_bytes()
    kept = copy / "what it said.ndjson"
    ran = make("qemu", "RUN=echo there", f"TELEMETRY={kept}", folder=copy)
    assert ran.returncode == 0 and "there\n" in ran.stdout and '"ev":"end"' in kept.read_text(), ran.stderr


@NEEDS_BWRAP
def test_read_only_tree_says_so_and_can_be_used_as_far_as_it_is_built(tmp_path: Path) -> None:
    copy = built_copy(tmp_path / "tree")
    shutil.copy2(qemu.ROOT / qemu.KERNEL, copy / qemu.KERNEL)
    os.utime(copy / qemu.KERNEL)
    box = ["bwrap", "--bind", "/", "/", "--dev", "/dev", "--ro-bind", copy, copy, "--chdir", copy]

    def make_there(*words: str) -> subprocess.CompletedProcess:
        command = [*box, "make", "--no-print-directory", *words]
        return subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True)

    assert make_there("qemu", "RUN=true").returncode == 0
    (copy / SOURCES[0]).touch()
    result = make_there()
    assert result.returncode != 0
    assert f"This tree cannot be written to ({copy}/build)" in result.stderr and "copy it" in result.stderr


def test_second_make_waits_for_the_first_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "build").mkdir()
    shutil.copy2(qemu.ROOT / "tools/locked.sh", tmp_path / "tools")
    with (tmp_path / "build/.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [tmp_path / "tools/locked.sh", "echo", "built"]
        second = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert "Another make is building" in second.stderr.readline()
    assert second.communicate(timeout=60) == ("built\n", "")


@pytest.mark.soak
def test_two_makes_at_once_both_succeed(tmp_path: Path) -> None:
    copy = built_copy(tmp_path / "tree")
    for name in SOURCES:
        (copy / name).touch()
    command = ["make", "--no-print-directory", "all", "build/host/kernel/lib/rbtree_test"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, "text": True}
    both = [subprocess.Popen(command, cwd=copy, env=environment(), **pipes) for _ in range(2)]
    said = [process.communicate(timeout=100) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    for name in SOURCES:
        assert sum(name in out for out, _ in said) == 1, said


def test_no_lock_is_held_while_qemu_runs() -> None:
    """Otherwise `make gdb` could not run during `make qemu-gdb`."""
    command = ["make", "--no-print-directory", "qemu", "RUN=echo begun; sleep 1000000"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL, "text": True}
    running = subprocess.Popen(command, cwd=qemu.ROOT, env=environment(), start_new_session=True, **pipes)
    try:
        assert any("begun" in line for line in running.stdout)
        # Another test may be building just now: that ends, but the program running here does not.
        waited = subprocess.run(["flock", "-w", "60", qemu.ROOT / "build/.lock", "true"])
        assert waited.returncode == 0 and running.poll() is None
    finally:
        os.killpg(running.pid, signal.SIGTERM)
        running.wait(30)
