"""Policies, guards and the rules compile on any host: for another processor, and for a format without sections."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from soak import soak_but
from tidemark.machine import qemu

SEAM = ("rules", "hooks", "guard_hooks", "handover", "timer", "ghost")
SOURCES = sorted(
    str(path.relative_to(qemu.ROOT))
    for path in [
        *(path for folder in ("policy", "guard") for path in (qemu.ROOT / "kernel/mm" / folder).glob("*.c")),
        *(qemu.ROOT / f"kernel/mm/seam/{name}.c" for name in SEAM),
        *(qemu.ROOT / f"kernel/lib/{name}.c" for name in ("seq_file", "rbtree", "parse", "printf")),
    ]
    if not path.stem.endswith(("_test", "_ktest"))
)
USUAL = [
    source
    for source in SOURCES
    if Path(source).parent.name in ("seam", "lib") or "/2q." in source or "TEMPLATE" in source
]
FLAGS = ["-std=gnu11", "-ffreestanding", "-Wall", "-Wextra", "-Werror", "-Itests/host/portable", "-Ikernel/include"]
COMPILER = (
    ["i686-linux-gnu-gcc"] if shutil.which("i686-linux-gnu-gcc") else ["gcc", "-m32"]
)  # struct page needs 32 bits
OF_ONE_MACHINE = re.compile(r"\b(?:__asm__|asm|__asm)\b|\bsection\s*\(|\balias\s*\(")


def compile_with(*command: str) -> str:
    """Returns the compiler's output."""
    made = subprocess.run(command, cwd=qemu.ROOT, capture_output=True, text=True, timeout=60)
    assert made.returncode == 0, made.stderr
    return made.stdout


@pytest.mark.parametrize("source", SOURCES)
def test_no_assembly_and_no_section(source: str) -> None:
    compile_with(*COMPILER, *FLAGS, "-fsyntax-only", source)
    preprocessed = compile_with(*COMPILER, *FLAGS, "-E", source)
    assert preprocessed.count("\n") > 50
    assert not OF_ONE_MACHINE.findall(preprocessed)


def test_assembly_would_be_found() -> None:
    """The headers in the kernel's own folder, arch/x86, do contain assembly."""
    flags = [flag for flag in FLAGS if "portable" not in flag]
    assert OF_ONE_MACHINE.search(compile_with(*COMPILER, *flags, "-E", "kernel/mm/policy/fifo.c"))


@pytest.mark.skipif(not shutil.which("clang"), reason="no clang")
@pytest.mark.parametrize("source", soak_but(SOURCES, *USUAL))
def test_for_webassembly(source: str, tmp_path: Path) -> None:
    made = tmp_path / "made.o"
    compile_with("clang", "--target=wasm32", *FLAGS, "-O2", "-c", "-o", str(made), source)
    assert made.read_bytes()[:4] == b"\0asm"
