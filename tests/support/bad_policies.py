"""The kernel with the policies of tests/kernel/policies, which break rules."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest
from tidemark import qemu
from tidemark.grade.build import tree


@pytest.fixture(scope="session")
def bad_kernel() -> str:
    """A kernel with the policies of tests/kernel/policies and with TEMPLATE.c as a student would use it; its path.

    Built in a copy of the tree below build/, once for all of pytest's processes.
    """
    copy = qemu.ROOT / "build/bad"
    copy.mkdir(exist_ok=True)
    with (copy / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name in ("boot", "kernel", "tools", "labs"):
            shutil.rmtree(copy / name, ignore_errors=True)
            shutil.copytree(qemu.ROOT / name, copy / name)
        for name in ("Makefile", "linker.ld"):
            shutil.copy2(qemu.ROOT / name, copy / name)
        if not (copy / "build").exists():  # what is the same need not be compiled again
            tree.take_along_what_is_built(qemu.ROOT, copy)
        policies = copy / "kernel/mm/policy"
        for path in (qemu.ROOT / "tests/kernel/policies").glob("*.[ch]"):
            shutil.copy2(path, policies / path.name)
        mine = policies / "mine.c"
        mine.write_text((policies / "TEMPLATE.c").read_text().replace("template", "mine"))
        shutil.copystat(policies / "TEMPLATE.c", mine)
        make = ["make", "--no-print-directory", "WERROR=1", "build/tidemark.elf"]
        built = subprocess.run(make, cwd=copy, capture_output=True, text=True, timeout=200)
        assert built.returncode == 0, built.stderr
    return str(Path("build/bad/build/tidemark.elf"))
