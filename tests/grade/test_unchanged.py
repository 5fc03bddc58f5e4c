"""Tests that are skipped because nothing has changed: the definition of a change."""

from __future__ import annotations

from pathlib import Path

import pytest
import unchanged
from tidemark.machine import qemu

TEST = """
import pytest
pytestmark = pytest.mark.graded
def test_it():
    assert {}
"""


def test_sources_built_files_and_labs_count() -> None:
    files = set(map(str, unchanged.files_for_all()))
    assert files > {"kernel/sched/fair.c", "kernel/include/mm/policy.h", "user/workloads/spin.c", "boot/boot.S"}
    assert files > {"tools/plugin/evidence.c", "tools/vmsim/seam.c", "tools/mkinitramfs.py", "Makefile"}
    assert files > {"labs/cfs/lab.toml", "labs/cfs/fair.c.starter", "labs/thrashing/answers.toml"}
    assert files > {qemu.KERNEL, qemu.INITRD, "build/plugin/tidemark.so", "build/flags"}
    assert not any(file.endswith(".md") or file.startswith("tools/figures") for file in files)


def test_modules_that_a_test_reaches_count_and_no_others() -> None:
    reached = unchanged.modules_for(qemu.ROOT / "tests/grade/test_lab_cfs.py").keys()
    assert reached > {
        "trials",
        "grading",
        "tidemark.machine.qemu",
        "tidemark.machine.plugin",
        "tidemark.grade.build.sandbox",
    }
    assert reached > {"tidemark.grade.judge.kinds.guard", "tidemark.grade.intake.lab", "mkinitramfs"}
    assert not any(name.startswith(("tidemark.watch", "tidemark.commands")) for name in reached)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """An empty folder for tests, and one for their stamps."""
    monkeypatch.setattr(unchanged, "STAMPS", pytester.path / "stamps")
    monkeypatch.delenv("FRESH", raising=False)
    return pytester


def run(project: pytest.Pytester, **counts: int) -> str:
    """Runs the project's tests in this process; checks the counts of outcomes."""
    unchanged.of_module.cache_clear()
    result = project.runpytest_inprocess("-p", "unchanged", "-n0", "-p", "no:cacheprovider")
    result.assert_outcomes(**counts)
    return result.stdout.str()


def test_what_passed_is_skipped_and_said_so(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    project.makepyfile(test_one=TEST.format("True"))
    assert "not graded again" not in run(project, passed=1)
    assert "1 tests of grading: unchanged since 2" in run(project, skipped=1)
    monkeypatch.setenv("FRESH", "1")
    run(project, passed=1)


def test_changed_and_failed_tests_run(project: pytest.Pytester) -> None:
    project.makepyfile(test_one=TEST.format("True"))
    run(project, passed=1)
    path: Path = project.makepyfile(test_one=TEST.format("1 == 2"))
    run(project, failed=1)
    run(project, failed=1)
    path.write_text(TEST.format("1 == 1"))
    run(project, passed=1)
