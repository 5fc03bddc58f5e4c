"""A private copy of a built tree, in which one line after the other is changed, and the kernel is linked again.

Only the changed file is compiled: about a second of processor time for each kernel. The copy is that of a machine for
students (tidemark.grade.build.machines), with the starters in place of the solutions, so that gdb shows the lines that
students have, and a kernel that is handed out contains no solution.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from tidemark.grade.build import machines
from tidemark.grade.build import tree as trees
from tidemark.machine import qemu

NO_BUILD, SAME_CODE = "no build", "same code"
BUILD_S = 60  # of processor time


def lay_base(tree: Path, folder: Path) -> None:
    """Build the unchanged kernel in an empty folder."""
    machines.build(tree, machines.Machine("base"), folder)


def private(base: Path, folder: Path) -> None:
    """Copy the base for one worker; times are kept, so that make has nothing to do."""
    trees.copy_built(base, folder)
    for name in ("build/kernel", "build/boot", "build/registry"):
        shutil.copytree(base / name, folder / name, dirs_exist_ok=True)


def bare(path: Path) -> bytes:
    """An object file without debug information."""
    out = path.with_suffix(".bare")
    subprocess.run(["objcopy", "--strip-debug", str(path), str(out)], check=True)
    return out.read_bytes()


class Bench:
    """A copy of the base. One change at a time, between which all files are as in the base."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.compiler = re.split(r" \d+\.", (folder / "build/flags").read_text())[0]
        self.changed: tuple[Path, bytes, Path, bytes] | None = None

    def make(self, target: str) -> bool:
        """Build a target. Returns False if it cannot be built."""
        env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        command = ["make", "-s", "-f", "tools/build.mk", f"CC={self.compiler}", target]
        limited = ["prlimit", f"--cpu={BUILD_S}", *command]
        done = subprocess.run(limited, cwd=self.folder, env=env, stdin=subprocess.DEVNULL, capture_output=True)
        return done.returncode == 0

    def build(self, file: str, line: int, text: str) -> str:
        """Change a line, from 1 on, and link the kernel: "", NO_BUILD or SAME_CODE. Call `restore` afterwards."""
        source = self.folder / file
        made = (self.folder / "build" / file).with_suffix(".o")
        before = bare(made)
        self.changed = (source, source.read_bytes(), made, made.read_bytes())
        lines = source.read_text().splitlines(keepends=True)
        lines[line - 1] = text + "\n"
        source.write_text("".join(lines))
        if not self.make(str(made.relative_to(self.folder))):
            return NO_BUILD
        if bare(made) == before:
            return SAME_CODE
        return "" if self.make(qemu.KERNEL) else NO_BUILD

    def restore(self) -> None:
        """Undo the change; the object file becomes newer than its source again."""
        if self.changed:
            source, text, made, code = self.changed
            source.write_bytes(text)
            made.write_bytes(code)
            self.changed = None
