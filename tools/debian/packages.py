"""The list of pinned packages, packages.txt, and the choice of those that some packages need.

A line is a package: its name, version, KiB when installed, bytes of the archive, SHA-256, path in Debian's archive, and
the packages of this list that it depends on (a comma between two, or - for none). Lines that begin with # are comments,
but for two: the names that were asked for, and the time when the list was made.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tidemark import files
from tidemark.errors import USAGE, LabError

PACKAGES = Path(__file__).with_name("packages.txt")
ROOTS, MADE = "# asked for:", "# made:"
TITLE = """# Debian 12 (bookworm), i386: the packages of `make image`, pinned. `make image-list` makes this file again.
# name, version, KiB installed, bytes, SHA-256, path, depends on
"""


@dataclass(frozen=True)
class Package:
    """A pinned package. `installed` is in KiB, `size` (of the archive) in bytes."""

    name: str
    version: str
    installed: int
    size: int
    sha256: str
    path: str
    depends: tuple[str, ...]

    @property
    def file(self) -> str:
        """The archive's name in the cache."""
        return Path(self.path).name


@dataclass(frozen=True)
class Listing:
    """The packages by name, the names that were asked for, and when the list was made (20260711T101637Z)."""

    packages: dict[str, Package]
    roots: tuple[str, ...]
    made: str


def parsed(line: str) -> Package:
    """The package of a line."""
    name, version, installed, size, sha256, path, depends = line.split()
    needs = () if depends == "-" else tuple(depends.split(","))
    return Package(name, version, int(installed), int(size), sha256, path, needs)


def read(path: Path = PACKAGES) -> Listing:
    """The list in a file. Raises LabError if it is damaged."""
    roots: tuple[str, ...] = ()
    made, packages = "", {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith(ROOTS):
            roots = tuple(line.removeprefix(ROOTS).split())
        elif line.startswith(MADE):
            made = line.removeprefix(MADE).strip()
        elif line and not line.startswith("#"):
            try:
                package = parsed(line)
            except ValueError:
                raise LabError(
                    f"{path}:{number} is not a line of a package; `make image-list` makes the list"
                ) from None
            packages[package.name] = package
    return Listing(packages, roots, made)


def write(listing: Listing, path: Path = PACKAGES) -> None:
    """Replace the list in a file."""
    lines = [TITLE + f"{MADE} {listing.made}\n{ROOTS} {' '.join(listing.roots)}\n"]
    for _, p in sorted(listing.packages.items()):
        needs = ",".join(p.depends) or "-"
        lines.append(f"{p.name} {p.version} {p.installed} {p.size} {p.sha256} {p.path} {needs}\n")
    files.write_atomically(path, "".join(lines))


def near(name: str, names: Iterable[str]) -> str:
    """A hint: which of the names resemble `name`."""
    found = difflib.get_close_matches(name, list(names), n=3)
    return f" (did you mean {' or '.join(found)}?)" if found else ""


def needed(listing: Listing, names: Iterable[str]) -> list[Package]:
    """These packages and all that they depend on, sorted by name. Raises LabError if the list lacks one."""
    found: dict[str, Package] = {}
    left = list(dict.fromkeys(names))
    absent = [name for name in left if name not in listing.packages]
    if absent:
        hints = ", ".join(name + near(name, listing.packages) for name in absent)
        raise LabError(
            f'PKGS: the list has no package {hints}; `make image-list PKGS="{" ".join(absent)}"` adds what Debian has',
            USAGE,
        )
    while left:
        name = left.pop()
        if name in found:
            continue
        if name not in listing.packages:
            raise LabError(f"{PACKAGES.name} depends on {name} and lacks it; `make image-list` makes the list again")
        found[name] = listing.packages[name]
        left.extend(found[name].depends)
    return [found[name] for name in sorted(found)]
