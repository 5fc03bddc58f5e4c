"""Which address space of a trace is meant."""

from __future__ import annotations

from tidemark.errors import USAGE, LabError
from tidemark.trace.format import Reader


def choose_space(reader: Reader, wanted: str) -> int:
    """The number of the space with that name or number; for "" the one with the most references. Raises LabError if
    there is no such space, or several."""
    rows = reader.spaces
    if not rows:
        raise LabError(f"{reader.path}: the trace is empty")
    if not wanted:
        return int(max(rows, key=lambda row: row["references"])["space"])
    found = [row["space"] for row in rows if wanted in (str(row["space"]), row.get("name"))]
    if len(found) != 1:
        there = ", ".join(f"{row['space']} ({row.get('name', '')})" for row in rows[:20])
        why = "is the name of several spaces, give a number" if found else "is not a space of this trace"
        raise LabError(f"--space {wanted} {why}: {there}{', ...' if len(rows) > 20 else ''}", USAGE)
    return int(found[0])
