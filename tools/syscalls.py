#!/usr/bin/env python3
"""Updates the table in docs' syscalls.md: the calls that kernel/syscall/list.h marks as implemented.

With --check nothing is written: the exit status is 1 if the table is out of date.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = "kernel/syscall/list.h"
BEGIN = f"<!-- From {LIST}, by tools/syscalls.py: -->\n"
END = "<!-- until here. -->\n"


@dataclass(frozen=True)
class Call:
    """One line of the list. `does`: the name of the sys_ function, or None if the call is not implemented."""

    number: int
    name: str
    does: str | None
    parameters: str


def parse(text: str) -> list[Call]:
    """The calls of a list, in order."""
    calls = []
    for kind, number, name, rest in re.findall(r"(?m)^(SYSCALL0?|SAME|NONE)\((\d+), (\w+)(?:, (.*))?\)$", text):
        does = {"SYSCALL": name, "SYSCALL0": name, "SAME": rest, "NONE": None}[kind]
        calls.append(Call(int(number), name, does, rest if kind == "SYSCALL" else ""))
    return calls


def homes(folder: Path) -> dict[str, str]:
    """Maps the name of each sys_ function, without sys_, to the file that defines it."""
    found = {}
    for file in sorted(folder.glob("*.c")):
        found.update(dict.fromkeys(re.findall(r"(?m)^long sys_(\w+)\(", file.read_text()), file.name))
    return found


def table(calls: list[Call], files: dict[str, str]) -> str:
    """The text between the markers."""
    done = [call for call in calls if call.does]
    lines = [f"{len(done)} of the {len(calls)} numbers do something here.", ""]
    lines += ["| number | call | `kernel/syscall/` |", "|---:|---|---|"]
    for call in done:
        same = call.does != call.name
        what = f"`{call.name}`, the same as `{call.does}`" if same else f"`{call.name}({call.parameters})`"
        lines.append(f"| {call.number} | {what} | `{files.get(call.does, 'nowhere')}` |")
    return "\n".join([*lines, ""])


def renewed(document: str, made: str) -> str:
    """The document with `made` between its markers."""
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the markers are missing: {BEGIN.strip()} and {END.strip()}")
    return before + begin + made + end + after


def main() -> int:
    """Writes the document, or reports whether it is stale."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 if the table is stale")
    check = parser.parse_args().check

    path = next((ROOT / "docs").rglob("syscalls.md"))
    document = path.read_text()
    new = renewed(document, table(parse((ROOT / LIST).read_text()), homes((ROOT / LIST).parent)))
    if check and new != document:
        print(f"{path.relative_to(ROOT)} is not what {LIST} says; fix it with: tools/syscalls.py", file=sys.stderr)
        return 1
    if new != document:
        path.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
