"""Reading a .toml file that a student has handed in.

A key of many parts, a.b.c, costs tomllib time that grows with the square of their number: hours for a file of 1 MiB. So
both the file and its lines have a limit.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MOST, LONGEST = 32 << 10, 500  # upper bounds, in bytes: of the file, of a line


def read(path: Path) -> dict[str, Any]:
    """The file's table. Raises OSError if the file is missing, or ValueError, whose text says what is wrong with it."""
    with path.open("rb") as file:
        data = file.read(MOST + 1)
    if len(data) > MOST:
        raise ValueError(f"it has more than {MOST >> 10} KiB")
    if any(len(line) > LONGEST for line in data.splitlines()):
        raise ValueError(f"it has a line of more than {LONGEST} bytes")
    try:
        return tomllib.loads(data.decode("utf-8-sig"))  # Windows may write a byte order mark before the text
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
