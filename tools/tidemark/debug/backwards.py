"""gdb at a place of a run, and the requests of its commands that go back.

gdb talks with QEMU alone, but QEMU does not go back. So the tm- commands of gdb that do (tools/gdb/tm/back.py) ask the
process that started gdb, over a socket with one line of JSON each way, for another machine at another place, or
for the events before a place.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tidemark.debug import replay
from tidemark.errors import NO_TOOL, LabError
from tidemark.machine import qemu

VARIABLE = "TIDEMARK_PLACES"  # in gdb's environment: the descriptor of gdb's end of the socket


def answer(run: replay.Places, question: dict[str, Any]) -> dict[str, Any]:
    """{"do": "go", "at": ns}: {"gdb": socket, "ns": …}; {"do": "past", options of
    the plugin}: {"events": …}; {"do": "now"}: {"ns": …}; or {"error": why not}."""
    do = question.pop("do")
    try:
        if do == "now":
            return {"ns": run.now()}
        if do == "past":
            return {"events": run.past(**{name: str(value) for name, value in question.items()})}
        arrived = run.go(replay.Place("this place", **question))
        return {"ns": arrived.ns, "gdb": str(arrived.gdb)}
    except (LabError, qemu.BadSetting, OSError) as error:
        return {"error": str(error)}


def serve(run: replay.Places, end: socket.socket) -> None:
    """Answer questions until gdb closes the socket."""
    with end.makefile("rw") as lines:
        for line in lines:
            lines.write(json.dumps(answer(run, json.loads(line))) + "\n")
            lines.flush()


def check_gdb() -> None:
    """Raises LabError if there is no gdb."""
    if not (shutil.which("gdb") or shutil.which("gdb-multiarch")):
        raise LabError("gdb is not installed; `make doctor` says how to get it", NO_TOOL)


def command(image: Path, arrived: replay.Arrived, programs: Sequence[str]) -> list[str]:
    """The command for gdb, with the symbols of the image and its programs, at the machine that has arrived."""
    words = ["tools/gdb/gdb.sh", "-q", "-x", "tools/gdb/init.gdb", str(image / qemu.KERNEL)]
    for name in programs:
        words += ["-ex", f"add-symbol-file {image / name}"]
    return [*words, "-ex", f"tm-arrive {arrived.gdb} {arrived.ns}"]


def debug(run: replay.Places, image: Path, arrived: replay.Arrived, programs: Sequence[str]) -> int:
    """Run gdb at the terminal until the user leaves it; returns its status."""
    ours, theirs = socket.socketpair()
    threading.Thread(target=serve, args=(run, ours), daemon=True).start()
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is for gdb
    fd = theirs.fileno()
    environment = os.environ | {VARIABLE: str(fd)}
    with theirs:
        return subprocess.call(command(image, arrived, programs), cwd=qemu.ROOT, env=environment, pass_fds=(fd,))
