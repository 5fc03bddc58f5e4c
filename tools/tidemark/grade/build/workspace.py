"""The workspace of one grading: a built tree with a student's files, and commands that run in it.

Everything that runs or compiles a student's code is a command behind the sandbox's prefix. Booting its kernel,
and observing it, is in tidemark.grade.witness.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from tidemark.errors import BAD_INPUT, FAILED, LabError
from tidemark.grade.build.sandbox import Sandbox
from tidemark.grade.model import Lab
from tidemark.machine import qemu

HOST_LIMIT_S = 120
COMPILER_BYTES = 512 << 20  # it needs a tenth; `#include "/dev/zero"` takes all memory
TREE_BYTES = 256 << 20  # it has a tenth of that, perhaps in memory
LINES_SHOWN = 12
LARGE_MIB = 64  # of an object file; the kernel's own have less than one
COMPILER = "TIDEMARK_COMPILER"  # in the environment of graders: what `compiler` found in the process that started them


@cache
def compiler() -> tuple[str, ...]:
    """The kernel's compiler on this machine, as the set-up reports it. Raises LabError if there is none."""
    if COMPILER in os.environ:
        return tuple(os.environ[COMPILER].split())
    found = subprocess.run(["tools/setup.sh", "build"], cwd=qemu.ROOT, capture_output=True, text=True)
    if found.returncode or not found.stdout.split():
        raise LabError(f"no compiler for the kernel: {found.stderr.strip()}", BAD_INPUT)
    return tuple(found.stdout.split())


def make_trusted(tree: Path, target: str) -> None:
    """Make a target in a trusted tree, without a sandbox, one at a time. Raises LabError if that fails."""
    words = ("make", "--no-print-directory", "--silent", "-f", "tools/build.mk")  # without the set-up, which is done
    command = ["tools/locked.sh", *words, f"CC={' '.join(compiler())}", target]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    folder = os.open(tree / "build", os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        made = subprocess.run(command, cwd=tree, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    finally:
        os.close(folder)
    if made.returncode:
        raise LabError(f"{tree}: make {target} fails:\n{made.stderr.strip()}", FAILED)


@dataclass(frozen=True)
class HostRun:
    """A program that ran on the host: its status (negative: a signal), and its output, cut at a limit."""

    status: int
    out: str
    err: str


@dataclass(frozen=True)
class Workspace:
    """`tree`: the built tree with the student's files; `release`: the tree they were installed over, which has the
    reference solutions unless it is a student's release; `scratch`: an empty folder of this grading; `objects`: the
    student's object files, relative to the tree; `build_results`: results of the targets that tests need; `keep`: a
    folder for the first run that goes wrong, if it is to be kept; `rule_tree`: the release with the solution of the
    student's rule, if the lab has rules per student.
    """

    lab: Lab
    tree: Path
    release: Path
    scratch: Path
    sandbox: Sandbox
    objects: tuple[str, ...]
    build_results: dict[str, HostRun] = field(default_factory=dict)
    keep: Path | None = None
    rule_tree: Path | None = None

    @property
    def has_solutions(self) -> bool:
        """Does the release have the reference solutions?"""
        return not (self.release / "labs/RELEASE").exists()

    @property
    def reference(self) -> Path:
        """The tree whose solutions are right for this student."""
        return self.rule_tree or self.release

    def make(self, *targets: str) -> HostRun:
        """Make targets in the tree; no code of the student is executed by it. Must not be called while tests run.

        It skips the Makefile's set-up: the grading machine is set up already.
        """
        words = ["make", "--no-print-directory", "--silent", f"-j{os.cpu_count()}", "-f", "tools/build.mk"]
        limits = replace(self.sandbox.limits, memory=COMPILER_BYTES, disk=TREE_BYTES, file=TREE_BYTES)
        compiling = replace(self, sandbox=replace(self.sandbox, limits=limits))
        made = compiling.run_on_host(
            *words, f"CC={' '.join(compiler())}", "SAVE_TEMPS=1", *targets, writable=(self.tree,)
        )
        large = self.large_objects() if made.status else []
        return replace(made, err="\n".join([made.err.rstrip(), *large])) if large else made

    def large_objects(self) -> list[str]:
        """A sentence for each of the student's object files that is too large for a kernel."""
        paths = [self.tree / name for name in self.objects]
        sizes = [(path, path.stat().st_size >> 20) for path in paths if path.is_file()]
        said = "has {} MiB: a static array in it is too large"
        return [f"{path.relative_to(self.tree)} {said.format(size)}" for path, size in sizes if size > LARGE_MIB]

    def run_on_host(
        self, *command: str | Path, stdin: bytes = b"", writable: Sequence[Path] = (), limit_s: float = HOST_LIMIT_S
    ) -> HostRun:
        """Run a command in the tree, in the sandbox; only `writable` can be written."""
        status, out, err = self.sandbox.run([str(word) for word in command], self.tree, stdin, writable, limit_s)
        return HostRun(status, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def built_by(tree: Path) -> str:
    """The compiler of a tree's kernel, with its version: "i686-linux-gnu-gcc 12.2.0"; empty if it is not known."""
    flags = tree / "build/flags"
    found = re.match(r"(\S+)(?: -\S+)* (\d[\d.]*) ", flags.read_text()) if flags.is_file() else None
    return f"{found[1]} {found[2]}" if found else ""


def check_release(release: Path) -> None:
    """Raises LabError if a folder is not a release that has been built."""
    if not (release / qemu.KERNEL).exists() or not (release / "build/plugin/tidemark.so").exists():
        raise LabError(f"{release} has not been built: run `make grade-base` there", BAD_INPUT)
    flags, by = release / "build/flags", " ".join(compiler())
    if flags.exists() and not flags.read_text().startswith(f"{by} "):
        raise LabError(f"{release} was built by a compiler other than {by}: run `make grade-base` there", BAD_INPUT)


def indented(lines: Sequence[str]) -> str:
    """Lines indented, for display under a verdict."""
    return "\n".join("    " + line for line in lines)


def tail(text: str, lines: int = LINES_SHOWN) -> str:
    """The last lines of a text, indented."""
    return indented(text.strip().splitlines()[-lines:])
