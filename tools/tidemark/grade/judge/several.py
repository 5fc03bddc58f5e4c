"""Several short runs of programs in one sandbox: to start that takes longer than they do."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from tidemark.grade.build.workspace import HOST_LIMIT_S
from tidemark.grade.witness.machine import Machine

ENDED = "=== ended ==="  # a line after each run; the code that runs could print it, as all else that is only shown
Given = tuple[Sequence[str], bytes]  # a command, and its input


def script(runs: Sequence[Given]) -> str:
    """The shell's: each run gets its piece of the input. A run that fails is the last."""
    pieces = [f'head -c {len(data)} >"$t"; {shlex.join(words)} <"$t" || exit; echo "{ENDED}"' for words, data in runs]
    return "\n".join(["t=$(mktemp) || exit", *pieces])


def run(machine: Machine, runs: Sequence[Given], limit_s: float = HOST_LIMIT_S) -> tuple[list[str], str]:
    """What each printed, and the errors of all. There is less when one failed: what is left of that one comes last.
    `limit_s`: of processor time, of each."""
    made = machine.run_on_host("sh", "-c", script(runs), stdin=b"".join(data for _, data in runs), limit_s=limit_s)
    printed = made.out.split(f"{ENDED}\n")
    return printed if made.status else printed[: len(runs)], made.err
