"""Where a figure stands: its block is between `<!-- figures:NAME -->` and `<!-- end -->` in the only document that has
such a pair, README.md or a page of docs/.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tidemark import output
from tidemark.errors import LabError

from figures.entries import ROOT


def write(path: Path, text: str) -> None:
    """Writes a whole file or leaves the old one. Raises LabError, which says that the disk is full."""
    with output.written(path) as out:
        out.file.write(text.encode())


def pages(root: Path = ROOT) -> list[Path]:
    """The documents."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def replaced(text: str, name: str, body: str) -> str:
    """`text` with `body` between the markers of `name`."""
    pattern = re.compile(rf"(<!-- figures:{re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
    return pattern.sub(lambda found: f"{found[1]}\n{body}\n\n{found[2]}", text)


def places(names: Iterable[str], root: Path = ROOT) -> dict[str, Path]:
    """The document of each block. Raises LabError unless there is exactly one for each."""
    found: dict[str, list[Path]] = {}
    for page in pages(root):
        for name in re.findall(r"<!-- figures:([\w-]+) -->", page.read_text()):
            found.setdefault(name, []).append(page)
    for name in names:
        nr = len(found.get(name, []))
        if nr != 1:
            raise LabError(f"{nr} documents have a place `<!-- figures:{name} -->`; there must be exactly one")
    return {name: found[name][0] for name in names}


def publish(name: str, body: str, root: Path = ROOT) -> None:
    """Writes a block to its place."""
    [page] = places([name], root).values()
    write(page, replaced(page.read_text(), name, body))
