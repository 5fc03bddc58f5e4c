"""The changes that are tried, in an order that a seed determines: a line of the kernel, then one of its changes.

Only lines that a workload executes are drawn: a change elsewhere cannot show itself there. Left out are the files of
the labs, which students write or do not get, and changes that tests/mutation/survivors.toml explains as without effect.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from tidemark.grade.build import solution_files
from tidemark.grade.judge.broken import changes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDERS = ("kernel/mm/", "kernel/fs/", "kernel/proc/", "kernel/sched/")
SURVIVORS = "tests/mutation/survivors.toml"
HEAD = re.compile(r"\w.*?\b(\w+)\(")
QUIET_NAMES = ("show", "check")  # functions that print or examine: a change there is not a fault of the machine

Line = tuple[str, int]


@dataclass(frozen=True)
class Try:
    """A change: the line, from 1 on, of a file, its function, what was changed, and the line afterwards."""

    file: str
    line: int
    function: str
    what: str
    before: str
    after: str

    def reason(self) -> str:
        """The change in words, as the key has it."""
        if self.what == "statement removed":
            return f"the statement `{self.before.strip()}` is missing"
        if self.what == "condition negated":
            return f"the condition of `{self.before.strip()}` is negated"
        old, _, new = self.what.partition(" to ")
        became = "is missing" if new == "nothing" else f"became `{new}`"
        return f"`{old}` {became} in `{self.before.strip()}`: the machine executes `{self.after.strip()}`"


def function_of(lines: list[str], number: int) -> str:
    """The function that a line, from 1 on, is in."""
    heads = (HEAD.match(line) for line in reversed(lines[:number]))
    return next((head[1] for head in heads if head), "")


def left_out(tree: Path) -> set[str]:
    """The files of labs."""
    return {file for lab in solution_files.all_labs(tree) for file in (*lab.files, *lab.withholds)}


def without_effect(tree: Path) -> set[tuple[str, str, str]]:
    """(file, line, change) of the rows of survivors.toml."""
    tables = tomllib.loads((tree / SURVIVORS).read_text())
    return {(row["file"], row["line"], row["change"]) for rows in tables.values() for row in rows}


def drawn(tree: Path, lines: Collection[Line], seed: str) -> Iterator[Try]:
    """At most one change for each of these lines, in drawn order."""
    skipped, dull = left_out(tree), without_effect(tree)
    places = sorted((file, number) for file, number in lines if file.startswith(FOLDERS) and file.endswith(".c"))
    places = [place for place in places if place[0] not in skipped]
    texts = {file: (tree / file).read_text().splitlines() for file in {file for file, _ in places}}
    draw = random.Random(seed)
    draw.shuffle(places)
    for file, number in places:
        line, function = texts[file][number - 1], function_of(texts[file], number)
        found = [(what, text) for what, text in changes.of(line) if (file, line.strip(), what) not in dull]
        if found and not any(word in function for word in QUIET_NAMES):
            what, after = draw.choice(found)
            yield Try(file, number, function, what, line, after)
