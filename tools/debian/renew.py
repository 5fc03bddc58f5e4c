"""The list of packages, made again from what Debian has today (`make image-list`).

apt-get resolves the dependencies of all names together, so the packages of the list fit each other, and so do those
of any part of it that is closed under dependencies. For "a | b" and for virtual packages the list states the package
that was chosen.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from email.message import Message
from email.parser import Parser
from pathlib import Path

from tidemark.errors import NO_TOOL, USAGE, LabError

from debian import apt
from debian.packages import Listing, Package, near

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SUITE = "bookworm"
# Recommended packages without which a package is of little use here.
ALSO = {"gcc": "libc6-dev", "tcc": "libc6-dev"}


def sources() -> str:
    """Debian's archive, whose signature must be one of the keyring's. Raises LabError without the keyring."""
    if not KEYRING.is_file():
        raise LabError("Debian's keys are missing: install the package debian-archive-keyring", NO_TOOL)
    return f"deb [arch=i386 signed-by={KEYRING}] {apt.mirror()} {SUITE} main\n"


def asked(folder: Path, program: str, *words: str) -> str:
    """What a program of apt prints. Raises LabError with its errors."""
    done = apt.run(folder, program, *words)
    if done.returncode or "\nW: Failed to fetch" in f"\n{done.stderr}":
        lines = [line for line in done.stderr.splitlines() if line.startswith(("E:", "W:"))]
        raise LabError(f"{program} {words[0]} failed:\n" + "\n".join(lines or [done.stdout.strip()]))
    return done.stdout


def check_names(folder: Path, roots: Iterable[str]) -> None:
    """Raises LabError if Debian lacks a name."""
    there = set(asked(folder, "apt-cache", "pkgnames").split())
    absent = [name + near(name, there) for name in roots if name not in there]
    if absent:
        raise LabError(f"PKGS: Debian {SUITE} has no package {', '.join(absent)}; the list was not changed", USAGE)


def names_of(groups: str) -> Iterator[list[str]]:
    """For each dependency in a field, the names of its alternatives."""
    for group in filter(None, (part.strip() for part in groups.split(","))):
        yield [re.split(r"[\s:(]", one.strip(), maxsplit=1)[0] for one in group.split("|")]


def depends(stanza: Message, providers: dict[str, str]) -> tuple[str, ...]:
    """The packages that fulfil a package's dependencies. `providers` has a package for each name."""
    fields = ", ".join(stanza.get(field, "") for field in ("Pre-Depends", "Depends"))
    found = {ALSO[stanza["Package"]]} if stanza["Package"] in ALSO else set()
    for names in names_of(fields):
        having = [providers[name] for name in names if name in providers]
        if not having:
            raise LabError(f"{stanza['Package']} depends on {' | '.join(names)}, which apt-get did not choose")
        found.add(having[0])
    return tuple(sorted(found - {stanza["Package"]}))


def packages_of(stanzas: list[Message]) -> dict[str, Package]:
    """The packages of apt-cache's records."""
    large_first = sorted(stanzas, key=lambda s: -int(s.get("Installed-Size", "0")))  # so the smallest one counts
    providers = {name: s["Package"] for s in large_first for names in names_of(s.get("Provides", "")) for name in names}
    providers |= {s["Package"]: s["Package"] for s in stanzas}
    return {
        s["Package"]: Package(
            s["Package"],
            s["Version"],
            int(s.get("Installed-Size", "0")),
            int(s["Size"]),
            s["SHA256"],
            s["Filename"],
            depends(s, providers),
        )
        for s in stanzas
    }


def resolved(folder: Path, roots: Iterable[str]) -> list[Message]:
    """apt-cache's records of these packages and all that they depend on."""
    wanted = [*roots, *(ALSO[name] for name in roots if name in ALSO)]
    uris = asked(folder, "apt-get", "install", "-y", "-qq", "--print-uris", *wanted)
    names = [line.split()[1].split("_")[0] for line in uris.splitlines() if line.startswith("'")]
    text = asked(folder, "apt-cache", "show", "--no-all-versions", *names)
    return [Parser().parsestr(stanza) for stanza in text.split("\n\n") if stanza.strip()]


def renewed(old: Listing, more: Iterable[str], folder: Path, lines: str) -> Listing:
    """The list for the old one's names and `more`, from the sources in `lines`. Raises LabError if a name does not
    exist or Debian cannot be asked."""
    apt.prepare(folder, lines)
    asked(folder, "apt-get", "update")
    roots = tuple(sorted({*old.roots, *more}))
    check_names(folder, roots)
    return Listing(packages_of(resolved(folder, roots)), roots, time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()))
