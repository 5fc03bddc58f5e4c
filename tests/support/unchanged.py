"""Tests marked `graded` are skipped while everything that they depend on is unchanged since they passed.

They compile and boot kernels for minutes, and a grade depends only on files. A test that passed leaves a stamp in
build/graded: a hash of the test's module and every module of this project that it can reach, the sources and the built
files of kernel, programs, simulator and plugin, the labs, and the programs that build and run them. A test whose stamp
equals the current hash is skipped, with a message. FRESH=1 runs everything; so does a tree without build/graded, as in
CI.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterable
from datetime import datetime
from functools import cache
from pathlib import Path

import imports
import pytest
from tidemark.grade.build import tree
from tidemark.machine import qemu

MARK, SAYS = "graded", "unchanged since "
STAMPS = qemu.ROOT / "build/graded"
BUILT = (qemu.KERNEL, qemu.INITRD, "build/plugin/tidemark.so", "build/flags")
NO_MATTER = (".md", ".svg", ".pyc")
MORE = ("tests/kernel/policies", "tests/grade/evidence", "tests/conftest.py")
LIBRARIES = ("numpy", "pyelftools", "pytest")


def is_of_python(file: Path) -> bool:
    """Is it a module? Of modules, only those that a test can reach count."""
    return file.parts[:2] in (("tools", "tidemark"), ("tools", "figures"), ("tools", "gdb"))


@cache
def module_graph() -> tuple[dict[str, Path], dict[str, set[str]]]:
    """The project's modules and their imports; kinds of tests and exporters are found by their names."""
    known = imports.modules(qemu.ROOT / "tools") | imports.modules(qemu.ROOT / "tests/support")
    edges = imports.graph(known)
    by_name = {name for name in known if name.startswith("tidemark.grade.")}
    edges["tidemark.grade"] = by_name
    return known, {name: others | ({"tidemark.grade"} if others & by_name else set()) for name, others in edges.items()}


def digest(parts: Iterable[bytes]) -> str:
    """SHA-256 of a sequence of byte strings."""
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def said_by(*command: str) -> bytes:
    """The output of a program, or nothing if it does not exist."""
    return subprocess.run(command, capture_output=True).stdout if shutil.which(command[0]) else b""


@cache
def files_for_all() -> list[Path]:
    """The files that every such test depends on, relative to the tree."""
    files = [file for file in tree.files_of(qemu.ROOT) if file.suffix not in NO_MATTER and not is_of_python(file)]
    for name in MORE:
        files += sorted(path.relative_to(qemu.ROOT) for path in [qemu.ROOT / name, *(qemu.ROOT / name).rglob("*")])
    return [file for file in (*files, *map(Path, BUILT)) if (qemu.ROOT / file).is_file()]


@cache
def surroundings() -> str:
    """A hash of everything that all such tests depend on."""
    parts = [str(file).encode() + b"\0" + (qemu.ROOT / file).read_bytes() for file in files_for_all()]
    programs = [said_by(qemu.PROGRAM, "--version"), said_by("gcc", "--version"), said_by("bwrap", "--version")]
    versions = [f"{name} {importlib.metadata.version(name)}".encode() for name in LIBRARIES]
    return digest([*parts, *programs, *versions, sys.version.encode(), b"root" if os.getuid() == 0 else b"user"])


def modules_for(path: Path) -> dict[str, Path]:
    """The project's modules that a test's module can reach, by name."""
    known, edges = module_graph()
    return {name: known[name] for name in sorted(imports.reachable(imports.imported(path, known), edges))}


@cache
def of_module(path: Path) -> str:
    """A hash of a test's module and the modules that it can reach."""
    return digest([path.read_bytes(), *(module.read_bytes() for module in modules_for(path).values())])


def key_of(item: pytest.Item) -> str:
    """The hash of everything that a test depends on."""
    return digest([item.nodeid.encode(), of_module(item.path).encode(), surroundings().encode()])


def stamp_of(item: pytest.Item) -> Path:
    """The file that records that a test has passed."""
    return STAMPS / hashlib.sha256(item.nodeid.encode()).hexdigest()[:32]


def passed_on(item: pytest.Item) -> str:
    """When a test passed with everything unchanged since; empty if it has not."""
    stamp = stamp_of(item)
    key, _, date = stamp.read_text().partition(" ") if stamp.is_file() else ("", "", "")
    return date if key == key_of(item) else ""


def pytest_configure(config: pytest.Config) -> None:
    """Registers the mark."""
    config.addinivalue_line("markers", f"{MARK}: skipped while all that it depends on is as it was when it passed")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips what has passed already."""
    if item.get_closest_marker(MARK) and not os.environ.get("FRESH") and (date := passed_on(item)):
        pytest.skip(f"{SAYS}{date}: not graded again")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Records what passes, and forgets what does not."""
    report = yield
    if item.get_closest_marker(MARK) and report.when == "call" and report.passed:
        STAMPS.mkdir(parents=True, exist_ok=True)
        stamp_of(item).write_text(f"{key_of(item)} {datetime.now():%Y-%m-%d %H:%M}")
    elif item.get_closest_marker(MARK) and report.failed:
        stamp_of(item).unlink(missing_ok=True)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says what was not run."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = [report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple)]
    dates = sorted(reason.partition(SAYS)[2].partition(": not")[0] for reason in reasons if SAYS in reason)
    if dates:
        since = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
        terminalreporter.write_line(
            f"{len(dates)} tests of grading: {SAYS}{since}, not graded again; `make check FRESH=1` runs them, too"
        )
