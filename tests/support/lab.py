"""Shared by the tests of the lab: the command `tidemark` as a user runs it, and stand-ins for QEMU."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tidemark import cli
from tidemark.machine import image, qemu

LIMIT_S = 240

# Most of the time of a short command is spent starting Python and loading modules: a server with loaded modules forks.
server = multiprocessing.get_context("forkserver")
server.set_forkserver_preload(
    [
        *("tidemark.cli", "tidemark.report.folder", "tidemark.curves.analyse", "tidemark.strings.compare"),
        *(f"tidemark.commands.{name.replace('-', '_')}" for name in cli.COMMANDS),
    ]
)


def command_line(words: list[str], cwd: Path, env: dict[str, str], files: tuple[str, str]) -> None:
    """Runs the command in a process of its own, with files for its standard output and error."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    for fd, file in enumerate((os.devnull, *files)):
        os.dup2(os.open(file, os.O_RDWR), fd)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(fd, "w" if fd else "r", closefd=False) for fd in range(3))
    sys.argv = ["tidemark", *words]
    cli.main()


def tidemark(*args: object, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    """Runs the command in `cwd`; returns its status and output."""
    words = [*map(str, args)]
    env = {**os.environ, "COLUMNS": "100", **(env or {})}
    with tempfile.NamedTemporaryFile("r") as out, tempfile.NamedTemporaryFile("r") as err:
        process = server.Process(target=command_line, args=(words, cwd, env, (out.name, err.name)))
        process.start()
        process.join(LIMIT_S)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(words, LIMIT_S)
        return subprocess.CompletedProcess(words, process.exitcode, out.read(), err.read())


def tidemark_in_background(*args: object, cwd: Path) -> subprocess.Popen:
    """Starts the command in `cwd`, without waiting for it. Ctrl-C stops it even if these tests run in the
    background."""
    return subprocess.Popen(
        [sys.executable, "-m", "tidemark.cli", *map(str, args)],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def qemu_replaced(folder: Path, script: str) -> dict[str, str]:
    """An environment in which QEMU is this shell script; $QEMU in the script is the real one."""
    folder.mkdir(exist_ok=True)
    stand_in = folder / qemu.PROGRAM
    stand_in.write_text(f"#!/bin/sh\nQEMU={shutil.which(qemu.PROGRAM)}\n{script}\n")
    stand_in.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def skip_8_2() -> None:
    """Skips a test with QEMU 8.2, whose traces may be wrong."""
    if image.qemu_version().startswith("8.2."):
        pytest.skip("QEMU 8.2 may record a few references too many, or stop executing (docs/reference/limits.md)")
