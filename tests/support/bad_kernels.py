"""Faulty kernels: with policies or guards that break rules (tests/kernel/policies, tests/kernel/guards)."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tidemark.grade.build import tree
from tidemark.machine import qemu


def up_to_date(copy: Path) -> bool:
    """Is the kernel of a copy younger than the one of this tree?"""
    kernel = copy / qemu.KERNEL
    return kernel.exists() and kernel.stat().st_mtime > (qemu.ROOT / qemu.KERNEL).stat().st_mtime


def kernel_of(name: str, change: Callable[[Path], None]) -> str:
    """Returns the path of a kernel built in a copy of the tree, build/bad-`name`, that `change` has modified. Built
    once for all of pytest's processes.
    """
    copy = qemu.ROOT / f"build/bad-{name}"
    copy.mkdir(exist_ok=True)
    with (copy / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for part in ("boot", "kernel", "tools", "labs"):
            shutil.rmtree(copy / part, ignore_errors=True)
            shutil.copytree(qemu.ROOT / part, copy / part)
        for part in ("Makefile", "linker.ld"):
            shutil.copy2(qemu.ROOT / part, copy / part)
        if not up_to_date(copy):  # then unchanged files need not be compiled again
            shutil.rmtree(copy / "build", ignore_errors=True)
            tree.take_along_what_is_built(qemu.ROOT, copy)
        change(copy)
        make = ["make", "--no-print-directory", "WERROR=1", "build/tidemark.elf"]
        built = subprocess.run(make, cwd=copy, capture_output=True, text=True, timeout=200)
        assert built.returncode == 0, built.stderr
    return str((copy / "build/tidemark.elf").relative_to(qemu.ROOT))


def kernel_with(kind: str, sources: Path) -> str:
    """Returns the path of a kernel with the files of `sources` in kernel/mm/`kind`, and with TEMPLATE.c as a student
    uses it."""

    def change(copy: Path) -> None:
        folder = copy / "kernel/mm" / kind
        for path in sources.glob("*.[ch]"):
            shutil.copy2(path, folder / path.name)
        mine = folder / "mine.c"
        mine.write_text((folder / "TEMPLATE.c").read_text().replace("template", "mine"))
        shutil.copystat(folder / "TEMPLATE.c", mine)

    return kernel_of(kind, change)


@pytest.fixture(scope="session")
def bad_kernel() -> str:
    """Returns the path of the kernel with the policies of tests/kernel/policies."""
    return kernel_with("policy", qemu.ROOT / "tests/kernel/policies")


@pytest.fixture
def bad(bad_kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes this test boot the kernel with the policies of tests/kernel/policies."""
    monkeypatch.setattr(qemu, "KERNEL", bad_kernel)
