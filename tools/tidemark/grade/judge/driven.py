"""Judging what a driver prints: a program on the host that has a student's code perform operations, one line for each.

tests/host/driven/driven.h says how the driver keeps the student's code from printing lines of its own: the driver's
lines begin with a secret word. A kind compares the lines with its model, and raises Wrong at the first difference.
"""

from __future__ import annotations

import re
import secrets
import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from tidemark.grade.build.workspace import HostRun, tail
from tidemark.grade.model import Outcome, Verdict, right, wrong
from tidemark.grade.witness.machine import Machine

LIMIT_S = 3  # of processor time; the solutions need a tenth of a second
STOPPED = ("it printed", "it did nothing", "it filled", "it took")  # sentences of tidemark.grade.build.supervise
Step = TypeVar("Step")


class Wrong(Exception):
    """The code broke a rule; the text says which."""

    def __init__(self, text: str, outcome: Outcome = Outcome.WRONG) -> None:
        super().__init__(text)
        self.outcome = outcome


def perform(machine: Machine, driver: str, begin: str, operations: Sequence[object], limit_s: float) -> HostRun:
    """Run the driver; the output has only the driver's own lines, without the word. `begin`: the first operation."""
    word = secrets.token_hex(16)
    text = f"{word} {begin}\n" + "".join(f"{operation}\n" for operation in operations)
    run = machine.run_on_host(driver, stdin=text.encode(), limit_s=limit_s)
    lines = [line.removeprefix(f"{word} ") for line in run.out.splitlines(True) if line.startswith(f"{word} ")]
    return replace(run, out="".join(lines))


def crash(run: HostRun, folder: str, limit_s: float) -> Verdict:
    """The verdict on a program that ended before its operations were done. `folder`: the student's code is there."""
    lines = run.err.splitlines()
    if run.status in (-signal.SIGKILL, -signal.SIGXCPU):
        last = lines[-1] if lines else ""
        late = f"it had not answered after {limit_s} s of processor time"
        return wrong(last if last.startswith(STOPPED) else late, Outcome.HUNG)
    first = next((k for k, line in enumerate(lines) if "ERROR:" in line or "runtime error:" in line), None)
    if first is None:
        return wrong(f"the program ended by itself (status {run.status})\n{tail(run.err)}", Outcome.PANICKED)
    where = [line for line in lines[first + 1 :] if line.lstrip().startswith("#") and folder in line][:3]
    return wrong("the sanitizer stopped it:\n" + tail("\n".join([lines[first], *where])), Outcome.PANICKED)


def follow(
    run: HostRun,
    begun: Callable[[str], None],
    steps: Sequence[tuple[Step, str]],
    check: Callable[[Step, str], None],
    crashed: Callable[[HostRun], Verdict],
    beginning: str,
) -> Verdict:
    """Compare the transcript with a model, line by line. `begun`, `check`: raise Wrong if the line of the beginning, or
    of a step, is wrong. Of a step and of the beginning there are words for messages."""
    lines = run.out.split("\n")[:-1]  # complete lines
    said = beginning
    try:
        if not lines:
            return crashed(run)
        if lines[0].startswith("panic"):
            raise Wrong(lines[0], Outcome.PANICKED)
        begun(lines[0])
        for (step, words), line in zip(steps, lines[1:]):
            said = words
            check(step, line)
    except Wrong as error:
        return wrong(f"{said}: {error}", error.outcome)
    except (ValueError, LookupError):  # half a line before a panic, or a line that is not the driver's
        panic = re.search("panic.*", run.out)
        if panic:
            return wrong(f"{said}: {panic[0]}", Outcome.PANICKED)
        verdict = crashed(run)
        return wrong(f"{said}: {verdict.message}", verdict.outcome)
    if len(lines) <= len(steps) or run.status:
        verdict = crashed(run)
        last = ([(None, beginning), *steps][: len(lines) + 1])[-1][1]
        return wrong(f"{last}: {verdict.message}", verdict.outcome)
    return right(f"{len(steps)} operations")
