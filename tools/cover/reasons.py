"""The reasons why some lines never run: the table of docs/reference/coverage.md, with one function per row."""

from __future__ import annotations

import re
from collections.abc import Set
from pathlib import Path

from cover.lines import Line

PAGE = "docs/reference/coverage.md"
ROW = re.compile(r"^\| `(kernel/[\w./]+)` \| (`\w+`(?:, `\w+`)*) \| (.+) \|$", re.M)
ATTRIBUTE = re.compile(r"__attribute__\(\(.*?\)\) ")
HEAD = re.compile(r"^(?:(?!#|\s|/|enum\b.*;|struct \w+ \{)[^;=]*?\b(\w+)\(|(\w+):)")


def functions(text: str) -> dict[int, str]:
    """For each line of a C file, the name of its function; in an assembler file, the last label."""
    found, name = {}, ""
    for number, line in enumerate(text.splitlines(), 1):
        if match := HEAD.match(ATTRIBUTE.sub("", line)):
            name = match[1] or match[2]
        if name:
            found[number] = name
        if line == "}":
            name = ""
    return found


def explained(root: Path) -> set[tuple[str, str]]:
    """(file, function) of every row."""
    rows = ROW.findall((root / PAGE).read_text())
    return {(file, name) for file, names, _ in rows for name in re.findall(r"\w+", names)}


def without(root: Path, never: Set[Line]) -> set[Line]:
    """The lines for which no reason is given."""
    known = explained(root)
    where = {file: functions((root / file).read_text()) for file in {file for file, _ in never}}
    return {(file, number) for file, number in never if (file, where[file].get(number, "")) not in known}
