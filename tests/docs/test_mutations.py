"""tests/mutation/survivors.toml: the lines that it explains, or declares open, exist in the kernel."""

from __future__ import annotations

import sys

from tidemark.machine import qemu

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLES = tomllib.loads((qemu.ROOT / "tests/mutation/survivors.toml").read_text())
ROWS = [(row["file"], row["line"]) for rows in TABLES.values() for row in rows]


def test_lines_are_there() -> None:
    assert len(ROWS) > 10
    for file, line in ROWS:
        assert line in map(str.strip, (qemu.ROOT / file).read_text().splitlines()), (file, line)
