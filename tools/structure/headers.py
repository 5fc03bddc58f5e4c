"""Finds headers that lie below their source: a header declares what a file of a higher room defines.

Such a header hides an arrow upwards: its users call up without an include that shows it. arrows.toml lists, as
`supplied`, the headers that may do so because each program that uses the room defines these functions itself.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from structure import source
from structure.includes import without_comments

PROTOTYPE = re.compile(r"^(?!static|typedef|return|#|\s)[\w \t*]*?\b(\w+)\([^{};]*\)[^{};]*;", re.MULTILINE)
VARIABLES = re.compile(r"^extern\s[^;(]*;", re.MULTILINE)
VARIABLE = re.compile(r"(\w+)(?:\[[^\]]*\])*\s*(?=[,;=])")
FUNCTION_POINTER = re.compile(r"^(?:extern )?\w[\w \t*]*\(\*(\w+)\)\([^;{]*\);", re.MULTILINE)
DEFINITION = re.compile(r"^(?!static|extern|typedef|return|#|\s)\w[^;(){}]*?(?:;|=)", re.MULTILINE)
MACRO = re.compile(r"^(?:LIST_HEAD|WAIT_QUEUE)\((\w+)\)", re.MULTILINE)
LABEL = re.compile(r"^(\w+):", re.MULTILINE)


def declared(header: Path) -> set[str]:
    """The functions and variables that a header declares and leaves to another file to define."""
    text = without_comments((source.ROOT / header).read_text())
    names = {name for name in PROTOTYPE.findall(text) if name != "__printf"}
    for extern in VARIABLES.findall(text):
        names |= set(VARIABLE.findall(extern))
    return names


def defined_in(file: Path) -> set[str]:
    """The functions and variables that a file defines for others."""
    text = (source.ROOT / file).read_text()
    if file.suffix == ".S":
        return set(LABEL.findall(text))
    lines, code = text.splitlines(), without_comments(text)
    functions = [one for one in source.c_functions(file) if not lines[one.line - 1].startswith("static")]
    names = {one.name for one in functions} | set(FUNCTION_POINTER.findall(code)) | set(MACRO.findall(code))
    for definition in DEFINITION.findall(code):
        names |= set(VARIABLE.findall(definition))
    return names


@cache
def definitions() -> dict[str, set[Path]]:
    """For each name that a file of the kernel defines for others, the files that do. Policies and guards do not
    count: the build collects them, no header names them."""
    found: dict[str, set[Path]] = {}
    for file in [*source.c_files("kernel/*.c"), *source.files("kernel/*.S", "boot/*.S")]:
        if source.room("kernel", file) not in ("policy", "guard"):
            for name in defined_in(file):
                found.setdefault(name, set()).add(file)
    return found


def below_source() -> dict[str, list[str]]:
    """For each header that lies in a lower room than a source: what it declares, and where that is defined."""
    level = {one["room"]: at for at, one in enumerate(source.table()["kernel"])}
    found: dict[str, list[str]] = {}
    for header in source.c_files("kernel/*.h"):
        own = level[source.room("kernel", header)]
        for name in sorted(declared(header)):
            for file in sorted(definitions().get(name, ())):
                if level[source.room("kernel", file)] < own:
                    found.setdefault(str(header).removeprefix("kernel/include/"), []).append(f"{name} ({file})")
    return found
