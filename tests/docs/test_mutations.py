"""docs/reference/mutations.md: the lines that it explains, or declares open, exist in the kernel."""

from __future__ import annotations

import re

from tidemark.machine import qemu

PAGE = (qemu.ROOT / "docs/reference/mutations.md").read_text().replace("\\|", "|")
ROWS = re.findall(r"^\| `(kernel/[\w./]+)` \| `(.+?)` \| ", PAGE, re.M)


def test_lines_are_there() -> None:
    assert len(ROWS) > 10
    for file, line in ROWS:
        assert line in map(str.strip, (qemu.ROOT / file).read_text().splitlines()), (file, line)
