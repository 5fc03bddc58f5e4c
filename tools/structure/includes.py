"""Finds unused includes: a file includes a header but names nothing that the header declares.

The header's names are extracted from its text: macros, structures, enumerators, types, functions, variables. Names from
other headers that it includes do not count: include those headers directly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from structure import source

TYPES = Path("kernel/include/types.h")
KEYWORDS = frozenset(["if", "while", "for", "return", "sizeof", "switch", "do", "else"])


def without_comments(text: str) -> str:
    """C text without comments and string contents."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.DOTALL)


@cache
def words(file: Path) -> frozenset[str]:
    """Every word of a C file's code, include lines excluded."""
    text = re.sub(r"^\s*#\s*include.*$", "", (source.ROOT / file).read_text(), flags=re.MULTILINE)
    return frozenset(re.findall(r"\w+", without_comments(text)))


@cache
def declared(header: Path) -> frozenset[str]:
    """The names that a header declares, and a few more: every word before a bracket, a comma or a semicolon."""
    text = without_comments((source.ROOT / header).read_text())
    found = set(re.findall(r"\b(\w+)\s*(?=[;,(\[={)])", text))
    found |= set(re.findall(r"^\s*#\s*define\s+(\w+)", text, re.MULTILINE))
    for members in re.findall(r"\benum\b[^{;]*\{([^}]*)\}", text):
        found |= set(re.findall(r"\w+", members))
    return frozenset(found) - KEYWORDS - (words(TYPES) if header != TYPES else frozenset())


def offered(header: Path) -> frozenset[str]:
    """What a header declares, and what the headers of its own room declare that it includes."""
    room = source.room("kernel", header)
    inner = [one for one in headers_of(header) if one != TYPES and source.room("kernel", one) == room]
    return declared(header).union(*(offered(one) for one in inner))


def needed(file: Path) -> frozenset[str]:
    """The words of a source file, and of the headers of the same folder that it includes, which may be lists for it to
    expand."""
    return words(file).union(*(words(one) for one in headers_of(file) if one.parent == file.parent))


@cache
def headers_of(file: Path) -> tuple[Path, ...]:
    """The project's headers that a file includes."""
    names = re.findall(r'^#include "(.+)"', (source.ROOT / file).read_text(), re.MULTILINE)
    return tuple(found for name in names if (found := source.included(file, name)))


def unused() -> Iterator[source.Arrow]:
    """Unused includes of the project's headers in source files; an include in a header may be there for its users."""
    for arrow in source.c_arrows("kernel"):
        if arrow.file.suffix == ".c" and arrow.target.suffix == ".h" and not offered(arrow.target) & needed(arrow.file):
            yield arrow
