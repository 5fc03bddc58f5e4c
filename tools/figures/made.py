"""By which image each figure was made: docs/figures/made.toml, one line each, which the runner writes.

An image is the kernel and the archive of its programs; the first digits of their SHA-256 sums name it. A figure is
stale if it was made by another image than the reference image. reference/ has that kernel without debug information;
its build.txt has the sum of the kernel as built, which made the figures.
"""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tidemark.machine import reference_image as stored

from figures.documents import write
from figures.entries import ROOT, Figure, tomllib

MADE = Path("docs/figures/made.toml")
FILES = (stored.KERNEL, stored.INITRD)
DIGITS = 12
UNKNOWN = "unknown"
WRAP = textwrap.TextWrapper(118, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
HEAD = """\
# By which image each table and picture was made, on which day (UTC), and how many seconds it took. `make figures`
# writes this file. An image is named by the first digits of the SHA-256 sums of the kernel and of the programs.
"""


@dataclass(frozen=True)
class Row:
    """A line of made.toml. `image`: KERNEL-PROGRAMS, or UNKNOWN."""

    image: str
    date: str = UNKNOWN
    seconds: float = 0

    def line(self, name: str) -> str:
        took = f", seconds = {self.seconds:.0f}" if self.seconds else ""
        return f'{name} = {{ image = "{self.image}", date = "{self.date}"{took} }}\n'


def read(root: Path = ROOT) -> dict[str, Row]:
    """The lines of made.toml by the figure's name; none without the file."""
    path = root / MADE
    return {name: Row(**row) for name, row in tomllib.loads(path.read_text()).items()} if path.exists() else {}


def note(names: Iterable[str], name: str, row: Row, root: Path = ROOT) -> None:
    """Writes a figure's line. Only lines of `names`, the figures of the table, are kept, in their order."""
    rows = read(root) | {name: row}
    text = HEAD + "".join(rows[one].line(one) for one in names if one in rows)
    (root / MADE).parent.mkdir(parents=True, exist_ok=True)
    write(root / MADE, text)


def image_name(sums: Mapping[str, str]) -> str:
    """The name of an image, from the sums of its FILES."""
    return "-".join(sums[file][:DIGITS] for file in FILES)


def built_image(root: Path = ROOT) -> str:
    """The name of the image in build/."""
    return image_name({file: hashlib.sha256((root / "build" / file).read_bytes()).hexdigest() for file in FILES})


def reference_image(root: Path = ROOT) -> str:
    """The name of the reference image; empty if the tree has none."""
    kernel = stored.about(root).get(stored.AS_BUILT)
    return image_name({stored.KERNEL: kernel, stored.INITRD: stored.sums(root)[stored.INITRD]}) if kernel else ""


def stale(figures: Mapping[str, Figure], rows: Mapping[str, Row], reference: str) -> dict[str, list[str]]:
    """The figures that were not made by the reference image, by the image that made them."""
    found: dict[str, list[str]] = {}
    for name, figure in figures.items():
        image = rows[name].image if name in rows else UNKNOWN
        if figure.image and image != reference:
            found.setdefault(image, []).append(name)
    return found


def stale_text(figures: Mapping[str, Figure], root: Path = ROOT) -> str:
    """What `make check` prints: a line if all is well, else a paragraph for each image."""
    reference = reference_image(root)
    if not reference:
        return "figures: the tree has no reference image, so figures older than it cannot be listed"
    found = stale(figures, read(root), reference)
    if not found:
        return f"figures: all were made by the reference image {reference}"
    of_all = sum(one.image for one in figures.values())
    lines = [f"figures: {sum(map(len, found.values()))} of {of_all} were not made by the reference image {reference}:"]
    for image, names in found.items():
        by = "by an unknown image" if image == UNKNOWN else f"by {image}"
        lines += WRAP.wrap(f"{by}: {', '.join(families(names))}")
    return "\n".join([*lines, "`make figures` makes them again"])


def families(names: Iterable[str]) -> list[str]:
    """The names; many that begin with the same word are counted together."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.partition("-")[0], []).append(name)
    return [one for head, some in groups.items() for one in ([f"{head}-* ({len(some)})"] if len(some) > 5 else some)]
