"""tests/mutation/survivors.toml and labs.toml: the lines that they explain, or declare open, exist in the kernel."""

from __future__ import annotations

import sys

from tidemark.machine import qemu

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLES = [tomllib.loads((qemu.ROOT / f"tests/mutation/{name}.toml").read_text()) for name in ("survivors", "labs")]
ROWS = [(row["file"], row["line"]) for table in TABLES for rows in table.values() for row in rows]


def test_lines_are_there() -> None:
    assert len(ROWS) > 10
    for file, line in ROWS:
        assert line in map(str.strip, (qemu.ROOT / file).read_text().splitlines()), (file, line)
