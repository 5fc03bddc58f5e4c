"""gdb on a waiting guest, started as by `make qemu-gdb` and `make gdb`; shared by the tests of both."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tidemark.machine import qemu

LIMIT = 100  # seconds of host time
MARK = "=====|"
EVERYTHING = (
    "tm-ps",
    "tm-zones",
    "tm-buddy",
    "tm-slab",
    "tm-lists",
    "tm-rq",
    "tm-vma 7",
    "tm-pt 7 0xb6c00000",
    "tm-page 0x200",
    "tm-why 0xb6c00000",
)
NO_TRACEBACK = re.compile(r"Traceback|Error while executing Python|Python Exception|Error occurred in Python")


@dataclass(frozen=True)
class Session:
    """The output of a session: gdb's output, the guest's console, and its telemetry."""

    output: str
    console: str
    telemetry: str

    def answers(self, name: str) -> list[str]:
        """The output of gdb between each `marked(name, ...)` of the steps and the mark that follows it."""
        parts = re.split(rf"^(?:\(gdb\) )*{re.escape(MARK)}(.*)\n", self.output, flags=re.MULTILINE)
        return [re.sub(r"^(\(gdb\) )+", "", text, flags=re.MULTILINE) for at, text in pairs(parts) if at == name]

    def answer(self, name: str) -> str:
        """The answer at a mark (see `answers`) that occurs once."""
        (only,) = self.answers(name)
        return only


def pairs(parts: list[str]) -> list[tuple[str, str]]:
    """The pairs (name, text) in the result of re.split with one group."""
    return list(zip(parts[1::2], parts[2::2]))


def marked(name: str, *steps: str) -> list[str]:
    """Marks steps, so that Session.answers(name) finds their output."""
    return [f"echo {MARK}{name}\\n", *steps, f"echo {MARK}\\n"]


def free_port() -> int:
    """Returns a TCP port on which no process listens at the moment."""
    with socket.socket() as s:
        s.bind(("localhost", 0))
        return s.getsockname()[1]


def take_steps(root: Path, env: dict[str, str], debugger: list[str], steps: list[str]) -> str:
    """Returns the debugger's output while it takes the steps. The debugger is restarted until QEMU listens, because it
    fails at once if QEMU does not."""
    script = "\n".join([*steps, "kill"])
    for _ in range(100):
        gdb = subprocess.run(
            debugger,
            cwd=root,
            env=env,
            input=script,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT,
        )
        if not re.search("Nothing listens|Connection refused", gdb.stdout):
            return gdb.stdout
    raise AssertionError(gdb.stdout)


def session(
    command: str,
    program: str,
    *steps: str,
    root: Path = qemu.ROOT,
    debugger: Sequence[str] = ("tools/gdb/start.sh",),
    **variables: str,
) -> Session:
    """Takes the steps in gdb on a guest that was told to run `command`; `variables` are make's. `root` is the tree
    whose kernel and gdb commands are used. At the end the guest is killed if it still runs."""
    with tempfile.TemporaryDirectory(prefix="tidemark-test-") as folder:
        console, telemetry = Path(folder, "console"), Path(folder, "telemetry")
        telemetry.touch()
        settings = {"RUN": command, "GDBPORT": str(free_port()), "PROG": program, "MEM": "16M"} | variables
        env = os.environ | settings | {"TELEMETRY": str(telemetry), "PYTHONPATH": str(root / "tools")}
        with console.open("wb") as out:
            machine = subprocess.Popen(
                [sys.executable, "-m", "tidemark.machine.qemu", "--gdb"],
                cwd=root,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.PIPE,
                text=True,
            )
        try:
            assert "waits for the debugger" in machine.stderr.readline()
            output = take_steps(root, env, list(debugger), list(steps))
        finally:
            machine.terminate()
            machine.wait(LIMIT)
        said = console.read_bytes().decode("ascii", "replace").replace("\r", "")
        return Session(output, said, telemetry.read_text("ascii", "replace"))


def debug(command: str, program: str, *steps: str) -> str:
    """Returns gdb's output while it takes the steps on a guest that was told to run `command`."""
    return session(command, program, *steps).output


def replayed(folder: Path, place: Sequence[str], *steps: str) -> Session:
    """Takes the steps in gdb at a place of the run of a result, started by `tidemark gdb`."""
    done = subprocess.run(
        [sys.executable, "-m", "tidemark.cli", "gdb", str(folder), *place],
        input="\n".join(steps),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT,
        env=os.environ | {"PYTHONPATH": str(qemu.ROOT / "tools")},
    )
    return Session(done.stdout, "", "")


def ask_at(place: str, *commands: str, stop: str = "break") -> list[str]:
    """Steps: whenever the place is reached (with the stop `tbreak`: once), gdb gives the commands there, and the guest
    continues."""
    asked = [line for command in commands for line in marked(place, command)]
    return [f"{stop} {place}", "commands", "silent", *asked, "continue", "end"]


def rows(text: str) -> list[list[str]]:
    """The words of each line."""
    return [line.split() for line in text.splitlines()]


def line_of(path: str, text: str) -> int:
    """Returns the number of the first line of a source file that contains a text."""
    lines = (qemu.ROOT / path).read_text().splitlines()
    return next(at for at, line in enumerate(lines, 1) if text in line)


def each_marked(prefix: str, commands: Iterable[str]) -> list[str]:
    """Steps: every command, each with a mark of its own."""
    return [line for command in commands for line in marked(f"{prefix}: {command}", command)]
