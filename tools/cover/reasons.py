"""The reasons why some lines never run: reasons.toml has them, by function."""

from __future__ import annotations

import re
import sys
from collections.abc import Set
from pathlib import Path

from tidemark.grade.witness.lines import Line

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = Path(__file__).with_name("reasons.toml")
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


def explained() -> set[tuple[str, str]]:
    """(file, function) of every function that a reason names."""
    tables = tomllib.loads(TABLE.read_text())
    places = (place.split(": ") for groups in tables.values() for group in groups for place in group["where"])
    return {(file, name) for file, names in places for name in names.split(", ")}


def without(root: Path, never: Set[Line]) -> set[Line]:
    """The lines for which no reason is given."""
    known = explained()
    where = {file: functions((root / file).read_text()) for file in {file for file, _ in never}}
    return {(file, number) for file, number in never if (file, where[file].get(number, "")) not in known}
