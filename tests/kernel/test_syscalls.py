"""The list of system calls, the documentation's table that is made from it, and how the compiler checks it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import syscalls
from tidemark.machine import qemu

FOLDER = qemu.ROOT / "kernel/syscall"
COMPILER = next(
    [command, *options]
    for command, *options in (("i686-elf-gcc",), ("i686-linux-gnu-gcc",), ("gcc", "-m32"))
    if shutil.which(command)
)


def compiled(folder: Path, line: str) -> subprocess.CompletedProcess:
    """The compiler's output for the prototypes of a list of one line."""
    shutil.copy2(FOLDER / "calls.h", folder)
    (folder / "list.h").write_text(f"{line}\n")
    (folder / "one.c").write_text('#include "calls.h"\nlong sys_seek(u32 fd, u32 lo) { return fd + lo; }\n')
    command = [*COMPILER, "-std=gnu11", "-Wall", "-Wextra", "-fsyntax-only", f"-I{qemu.ROOT}/kernel/include"]
    return subprocess.run([*command, str(folder / "one.c")], capture_output=True, text=True, check=False)


def test_every_number_has_a_line() -> None:
    calls = syscalls.parse((FOLDER / "list.h").read_text())
    assert [call.number for call in calls] == list(range(451))
    assert {call.does for call in calls if call.does} == set(syscalls.homes(FOLDER))


def test_table_of_the_documentation_is_what_the_list_says() -> None:
    command = [qemu.ROOT / "tools/syscalls.py", "--check"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr


def test_a_changed_list_makes_the_table_stale() -> None:
    document = next((qemu.ROOT / "docs").rglob("syscalls.md")).read_text()
    text = (
        (FOLDER / "list.h").read_text().replace("NONE(9, link)", "SYSCALL(9, link, const char *from, const char *to)")
    )
    new = syscalls.renewed(document, syscalls.table(syscalls.parse(text), syscalls.homes(FOLDER) | {"link": "name.c"}))
    added = [line for line in new.splitlines() if line not in document.splitlines()]
    assert "| 9 | `link(const char *from, const char *to)` | `name.c` |" in added


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("SYSCALL(1, seek, u32 fd, u32 lo)", ""),
        ("SYSCALL(1, seek, u32 fd, u64 lo)", "static assertion failed"),
        ("SYSCALL(1, seek, u32 fd, u16 lo)", "static assertion failed"),
        ("SYSCALL(1, seek, u32 a, u32 b, u32 c, u32 d, u32 e, u64 f)", "static assertion failed"),
        ("SYSCALL(1, seek, u32 fd, void *lo)", "conflicting types for"),
        ("SYSCALL(1, seek, u32 fd)", "conflicting types for"),
        ("SYSCALL0(1, seek)", "conflicting types for"),
    ],
)
def test_a_line_is_compared_with_the_definition(tmp_path: Path, line: str, said: str) -> None:
    made = compiled(tmp_path, line)
    assert (made.returncode == 0) == (not said), made.stderr
    assert said in made.stderr
