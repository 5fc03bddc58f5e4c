"""The bench: a built tree with a student's files, and the ways in which a test may run it.

Everything that runs or compiles a student's code is a command behind the sandbox's prefix. What comes back from the
guest is evidence taken from outside (tidemark.grade.witness.evidence); the console is kept to be shown, and decides
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tidemark.grade.build.sandbox import Sandbox
from tidemark.grade.model import Lab, Outcome, Verdict, wrong
from tidemark.grade.witness.evidence import Boot, boot

HOST_LIMIT_S = 120
LINES_SHOWN = 12
SAYS_WHY = re.compile(r"panic|policy violation|hung", re.IGNORECASE)
LIKE_A_GRADE = re.compile(r"\bok \(\d|Score:|\bPASS(ED)?\b")


@dataclass(frozen=True)
class HostRun:
    """A program that ran on the host: its status (negative: a signal), and what it printed, cut at a limit."""

    status: int
    out: str
    err: str


@dataclass(frozen=True)
class Bench:
    """`tree`: the built tree with the student's files; `release`: the tree they were laid over, which has the reference
    solutions unless it is a student's release; `scratch`: an empty folder of this grading; `objects`: the student's
    object files, relative to the tree; `made`: what came of the targets that tests need; `boots`: every run so far.
    """

    lab: Lab
    tree: Path
    release: Path
    scratch: Path
    sandbox: Sandbox
    objects: tuple[str, ...]
    made: dict[str, HostRun] = field(default_factory=dict)
    boots: list[Boot] = field(default_factory=list)

    @property
    def has_solutions(self) -> bool:
        """Does the release have the reference solutions?"""
        return not (self.release / "labs/RELEASE").exists()

    def make(self, *targets: str) -> HostRun:
        """`make TARGET...` in the tree; nothing of the student's is executed by it. Not while tests run."""
        return self.host("make", "--no-print-directory", "--silent", *targets, writable=(self.tree,))

    def host(
        self, *command: str | Path, stdin: bytes = b"", writable: Sequence[Path] = (), limit_s: float = HOST_LIMIT_S
    ) -> HostRun:
        """Run a command in the tree, in the sandbox; only `writable` can be written."""
        status, out, err = self.sandbox.run([str(word) for word in command], self.tree, stdin, writable, limit_s)
        return HostRun(status, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))

    def boot(self, run: str, files: Mapping[str, bytes] | None = None, **options: object) -> Boot:
        """Boot the tree's kernel and run one command line, under the plugin; see evidence.boot for the options. `files`
        are laid into the guest's first file system, such as {"string": b"1 2 3"}.
        """
        self.boots.append(boot(self, run, files or {}, **options))
        return self.boots[-1]


def indented(lines: Sequence[str]) -> str:
    """Lines to be shown under a verdict."""
    return "\n".join("    " + line for line in lines)


def tail(text: str, lines: int = LINES_SHOWN) -> str:
    """The last lines, indented."""
    return indented(text.strip().splitlines()[-lines:])


def trouble(run: Boot) -> Verdict | None:
    """The verdict on a run that did not come to its end, with what the console said of it, or last; None: it did."""
    if run.outcome not in (Outcome.PANICKED, Outcome.HUNG, Outcome.NO_BOOT):
        return None
    lines = run.console.strip().splitlines()
    first = next((at for at, line in enumerate(lines) if SAYS_WHY.search(line)), max(0, len(lines) - LINES_SHOWN))
    return wrong(f"{run.reason}\n{indented(lines[first : first + LINES_SHOWN])}", run.outcome)


def trespasses(boots: Sequence[Boot]) -> list[str]:
    """What the student's code touched that is not its own, in sentences, each once."""
    return list(dict.fromkeys(breach.text for run in boots for breach in run.evidence.breaches))


def suspicions(boots: Sequence[Boot]) -> list[str]:
    """What an instructor may want to look at."""
    lines = (line.strip() for run in boots for line in run.console.splitlines())
    line = next((line for line in lines if LIKE_A_GRADE.search(line)), None)
    return [f"the guest's console says {line[:60]!r}: shown, but nothing depends on it"] if line else []
