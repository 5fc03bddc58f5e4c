"""The lines of a file that its student wrote: those that the starter does not have; and the changes of each line.

A student's file has no marks of parts, and may have been rearranged. So the lines are found by comparing the file with
the starter, line by line, without regard to indentation. Beside the changes of changes.py, a line that uses a list is
made to use its other end, and a condition is made to hold always or never.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from tidemark.grade.judge.broken import changes

ENDS = (
    ("list_add", "list_add_tail"),
    ("list_move", "list_move_tail"),
    ("list_first_entry", "list_last_entry"),
    ("list_next_entry", "list_prev_entry"),
    ("list_for_each_entry", "list_for_each_entry_reverse"),
)
OTHER_END = dict(ENDS) | {other: one for one, other in ENDS}
NAME = re.compile(r"\blist_\w+\b")
LONGEST = 200  # characters of a line; the changes of a line take memory that grows with the square of its length
CONDITION = re.compile(r"\bif \((.*)\)(?= \{$|$)")


@dataclass(frozen=True)
class Change:
    """One changed line, from 1 on, of a file: `what` in words, and the line after it."""

    file: str
    line: int
    what: str
    text: str

    def applied(self, source: str) -> str:
        """The file's text with the change."""
        lines = source.split("\n")
        lines[self.line - 1] = self.text
        return "\n".join(lines)


def written(source: str, starter: str) -> list[int]:
    """The numbers, from 1 on, of the lines that the starter does not have."""
    own, given = ([line.strip() for line in text.split("\n")] for text in (source, starter))
    parts = SequenceMatcher(a=given, b=own, autojunk=False).get_opcodes()
    return [number + 1 for tag, _, _, first, end in parts if tag != "equal" for number in range(first, end)]


def changed(line: str) -> Iterator[tuple[str, str]]:
    """(what was changed, the new line) for every change of a line."""
    yield from changes.of(line)
    if changes.ALONE.match(line):
        return
    for match in NAME.finditer(line):
        if other := OTHER_END.get(match[0]):
            yield f"{match[0]} to {other}", line[: match.start()] + other + line[match.end() :]
    if condition := CONDITION.search(line):
        for value in ("true", "false"):
            yield f"condition to {value}", f"{line[: condition.start(1)]}{value}{line[condition.end(1) :]}"


def possible(file: str, source: str, starter: str) -> Iterator[Change]:
    """Every change of a line that the student wrote, without lines that do not fit on a sheet."""
    lines = source.split("\n")
    for number in (each for each in written(source, starter) if len(lines[each - 1]) <= LONGEST):
        for what, text in changed(lines[number - 1]):
            yield Change(file, number, what, text)
