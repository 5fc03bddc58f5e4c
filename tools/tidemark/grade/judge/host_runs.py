"""Several short runs of programs in one sandbox, since starting a sandbox takes longer than such a run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from tidemark.grade.build.workspace import HOST_LIMIT_S
from tidemark.grade.witness.machine import Machine

ENDED = "=== ended ==="  # a line after each run; the code under test could print it, too, but such output is only shown
Given = tuple[Sequence[str], bytes]  # a command, and its input


def script(runs: Sequence[Given]) -> str:
    """The shell script: each run gets its piece of the input. A run that fails is the last."""
    pieces = [f'head -c {len(data)} >"$t"; {shlex.join(words)} <"$t" || exit; echo "{ENDED}"' for words, data in runs]
    return "\n".join(["t=$(mktemp) || exit", *pieces])


def run(machine: Machine, runs: Sequence[Given], limit_s: float = HOST_LIMIT_S) -> tuple[list[str], str]:
    """(what each run printed, the errors of all). If a run failed, the list ends with what it printed.
    `limit_s`: processor time of each run."""
    made = machine.run_on_host("sh", "-c", script(runs), stdin=b"".join(data for _, data in runs), limit_s=limit_s)
    printed = made.out.split(f"{ENDED}\n")
    return printed if made.status else printed[: len(runs)], made.err
