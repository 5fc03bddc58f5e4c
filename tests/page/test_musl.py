"""The C library built from its source package, as on Ubuntu, which has no other: programs and the page can be built."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest
from guest import boot
from making import environment
from tidemark.grade.build import tree, workspace
from tidemark.machine import qemu

LIBRARY = qemu.ROOT / "build/musl-source"
STAMP = LIBRARY / "made-by"
PROGRAM = "build/user/cat"

pytestmark = pytest.mark.timeout(1200)  # the library takes a minute of processor time, once


@pytest.fixture(scope="module")
def library() -> Path:
    """The folder of musl built from source; built again only for another compiler or a changed tools/musl.sh."""
    script = (qemu.ROOT / "tools/musl.sh").read_bytes()
    key = hashlib.sha256(script + (qemu.ROOT / "build/flags").read_bytes()).hexdigest()
    if STAMP.is_file() and STAMP.read_text() == key:
        return LIBRARY
    shutil.rmtree(LIBRARY, ignore_errors=True)
    ccache = ["ccache"] if shutil.which("ccache") else []
    command = ["tools/musl.sh", str(LIBRARY.relative_to(qemu.ROOT)), "source", *ccache, *workspace.compiler()]
    made = subprocess.run(command, cwd=qemu.ROOT, env=environment(), capture_output=True, text=True)
    if made.returncode and not list(LIBRARY.glob("apt/musl_*.orig.tar.*")):
        pytest.skip("apt-get could not fetch the source package musl")
    assert made.returncode == 0, made.stderr
    STAMP.write_text(key)
    return LIBRARY


@pytest.fixture(scope="module")
def copy(library: Path, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with that library, in which a program and the page must be built again."""
    copy = tmp_path_factory.mktemp("source") / "tree"
    tree.copy_built(qemu.ROOT, copy)
    shutil.copytree(qemu.ROOT / "docs/figures/gallery", copy / "docs/figures/gallery", dirs_exist_ok=True)
    for name in ("LICENSE", qemu.KERNEL):
        shutil.copy2(qemu.ROOT / name, copy / name)
    shutil.copytree(qemu.ROOT / "build/step", copy / "build/step")
    (copy / "build/npm").symlink_to(qemu.ROOT / "build/npm")
    shutil.rmtree(copy / "build/musl", ignore_errors=True)
    shutil.copytree(library, copy / "build/musl")
    for name in (PROGRAM, "build/obj/user/cat.o"):
        (copy / name).unlink()
    return copy


def test_page_and_programs_come_of_the_source(copy: Path) -> None:
    words = [f"CC={' '.join(workspace.compiler())}", "MUSL_FROM=source", qemu.INITRD, "build/page/index.html"]
    command = ["make", "--no-print-directory", "-f", "tools/build.mk", *words]
    made = subprocess.run(command, cwd=copy, env=environment(), capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    assert "MIT" in (copy / "build/page/licences/musl.txt").read_text()
    boot("cat /proc/version", image=copy).check_exit().check_lines(["^Tidemark"])
