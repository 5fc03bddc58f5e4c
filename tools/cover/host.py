"""Lines of the kernel that the host tests run: gcov, in a copy of the tree.

The programs are built again in build/coverage/tree, so that build/host is not changed: with --coverage, and
without optimization, which would merge lines. The ext2 program is driven by its pytest; the others run by
themselves.
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from posixpath import normpath

from tidemark.grade.witness.lines import Line, is_counted

SOURCES = ("Makefile", "boot", "kernel", "labs", "linker.ld", "pyproject.toml", "tests", "tools", "user")
BUILT = ("flags", "initramfs.cpio", "tidemark.elf")
EXT2 = "tests/kernel/test_ext2.py"


def compiler() -> str:
    """The compiler of the host tests; the same choice as in tools/build.mk."""
    return "i686-linux-gnu-gcc" if shutil.which("i686-linux-gnu-gcc") else "gcc -m32"


def build(root: Path, tree: Path) -> list[str]:
    """Copies the tree and builds its host tests. Returns their programs, relative to it."""
    shutil.rmtree(tree, ignore_errors=True)
    (tree / "build").mkdir(parents=True)
    for name in (*SOURCES, *(f"build/{name}" for name in BUILT)):
        copy = shutil.copytree if (root / name).is_dir() else shutil.copy2
        copy(root / name, tree / name)
    tests = sorted(str(path.relative_to(root).with_suffix("")) for path in root.glob("kernel/**/*_test.c"))
    programs = [f"build/host/{test}" for test in tests]
    command = [
        "make",
        "-s",
        "-f",
        "tools/build.mk",
        f"HOST_CC={compiler()} --coverage",
        "HOST_O=-O0",
        *programs,
        "build/host/ext2",
    ]
    subprocess.run(command, cwd=tree, check=True)
    return programs


def _gcov(tree: Path) -> Iterator[dict[str, object]]:
    """The output of gcov for each source of each program."""
    gcov = compiler().split()[0].replace("gcc", "gcov")
    with tempfile.TemporaryDirectory(prefix="tidemark-") as scratch:
        for data in sorted(tree.rglob("*.gcda")):
            subprocess.run([gcov, "--json-format", str(data)], cwd=scratch, check=True, capture_output=True)
            for made in Path(scratch).glob("*.gz"):
                yield from json.loads(gzip.decompress(made.read_bytes()))["files"]
                made.unlink()


def run(root: Path) -> set[Line]:
    """Builds and runs the host tests. Returns the lines of the kernel that they ran; CalledProcessError if one
    fails."""
    tree = root / "build/coverage/tree"
    for program in build(root, tree):
        subprocess.run([f"./{program}"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    pytest = [sys.executable, "-m", "pytest", "-n0", EXT2]
    subprocess.run(pytest, cwd=tree, check=True)
    lines: set[Line] = set()
    for file in _gcov(tree):
        name = normpath(str(file["file"]).removeprefix(f"{tree}/"))
        if is_counted(name):
            found = file["lines"]
            assert isinstance(found, list)
            lines |= {(name, line["line_number"]) for line in found if line["count"]}
    return lines
