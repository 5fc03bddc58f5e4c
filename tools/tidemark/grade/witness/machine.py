"""A machine: the workspace of a grading, with every run of its kernel so far.

Only evidence taken from outside counts (tidemark.grade.witness.evidence); the console is kept for display and decides
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidemark.grade.build.workspace import LINES_SHOWN, Workspace, indented
from tidemark.grade.model import Outcome, Test, Verdict, wrong
from tidemark.grade.witness.boot import Boot, Run, boot

SAYS_WHY = re.compile(r"panic|policy violation|hung", re.IGNORECASE)
LONGEST = 240  # characters of a line
LIKE_A_GRADE = re.compile(r"\bok \(\d|Score:|\bPASS(ED)?\b")


@dataclass(frozen=True)
class Machine(Workspace):
    """A workspace whose kernel can be booted; `boots`: every run so far."""

    boots: list[Boot] = field(default_factory=list)

    def boot(self, command: str, files: Mapping[str, bytes] | None = None, **options: Any) -> Boot:
        """Boot the tree's kernel and run one command line, under the plugin; options as in Run. `files` are added to
        the guest's first file system, such as {"string": b"1 2 3"}."""
        self.boots.append(boot(self, Run(command, files or {}, **options)))
        return self.boots[-1]


def jitters(test: Test) -> list[str]:
    """The words on the kernel's command line for each of a test's runs: jitter=1 up to its option `jitters`; one run
    without such a word if it has no such option."""
    most = int(test.options.get("jitters", 0))
    return [f"jitter={number}" for number in range(1, most + 1)] or [""]


def trouble(run: Boot) -> Verdict | None:
    """The verdict on a run that stopped early, with the console's lines on it, or its last; None if it did not."""
    if run.outcome not in (Outcome.PANICKED, Outcome.HUNG, Outcome.NO_BOOT):
        return None
    lines = run.console.strip().splitlines()
    first = next((at for at, line in enumerate(lines) if SAYS_WHY.search(line)), max(0, len(lines) - LINES_SHOWN))
    shown = [shortened(line) for line in lines[first : first + LINES_SHOWN]]
    return wrong(f"{shortened(run.reason)}\n{indented(shown)}", run.outcome)


def shortened(line: str) -> str:
    """A line of the console, cut: an unknown parameter's message lists all parameters."""
    left_out = len(line) - LONGEST
    return line if left_out <= 0 else f"{line[:LONGEST]} ... ({left_out:,} more characters)"


def trespasses(boots: Sequence[Boot]) -> list[str]:
    """The forbidden accesses of the student's code, in sentences, each once."""
    return list(dict.fromkeys(breach.text for run in boots for breach in run.evidence.breaches))


def suspicions(boots: Sequence[Boot], hidden: bool) -> list[str]:
    """Notes on what an instructor may want to look at. Students read them, so nothing is quoted from a hidden run,
    which the student's code can describe on the console."""
    lines = (line.strip() for run in boots for line in run.console.splitlines())
    line = next((line for line in lines if LIKE_A_GRADE.search(line)), None)
    said = "what a grade says, in a hidden test" if hidden else repr(line and line[:60])
    return [f"the guest's console says {said}: it is shown, but nothing depends on it"] if line else []
