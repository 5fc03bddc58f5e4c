"""Places of the run, in a session of `tidemark gdb`: the current place, and going elsewhere.

A machine cannot go back, but the run can be repeated. `tidemark gdb` does so when asked over a socket, and
hands over a machine that stands at another place; gdb then disconnects from the previous one.
"""

from __future__ import annotations

import json
import os
import socket
from typing import Any

import gdb

from .errors import TmError

VARIABLE = "TIDEMARK_PLACES"


class Session:
    """The connection to `tidemark gdb`, and where the machine stood when it was handed over."""

    def __init__(self) -> None:
        self.lines: Any = None
        self.arrived = 0

    def ask(self, **question: Any) -> dict[str, Any]:
        """Asks a question (tidemark/debug/backwards.py). Raises TmError if it is refused or there is no answer."""
        if VARIABLE not in os.environ:
            raise TmError("only in a session of `tidemark gdb RESULT`, whose run repeats")
        if not self.lines:
            self.lines = socket.socket(fileno=int(os.environ[VARIABLE])).makefile("rw")
        self.lines.write(json.dumps(question) + "\n")
        self.lines.flush()
        answer = json.loads(self.lines.readline() or '{"error": "`tidemark gdb` has gone"}')
        if "error" in answer:
            raise TmError(answer["error"])
        return answer

    def now(self) -> int:
        """The current place of the machine, in ns."""
        return self.ask(do="now")["ns"]

    def past(self, until: int, **options: Any) -> list[list[Any]]:
        """What happened before a place: kind, place, instruction, words (tools/plugin/past.c)."""
        return self.ask(do="past", until=until, **options)["events"]

    def go(self, at: int) -> None:
        """Goes to another place."""
        answer = self.ask(do="go", at=at)
        self.attach(answer["gdb"], answer["ns"])

    def attach(self, path: str, ns: int) -> None:
        """Takes over a stopped machine, and prints where it stands."""
        gdb.execute("disconnect" if gdb.selected_inferior().pid else "echo", to_string=True)
        gdb.execute(f"target remote {path}", to_string=True)
        gdb.execute("monitor watchdog_action none", to_string=True)
        self.arrived = ns
        clock = ns - int(gdb.parse_and_eval("clock_zero - clock_start"))
        print(f"at {ns / 1e9:.9f} s, {clock / 1e9:.9f} s by the kernel's clock")


session = Session()
