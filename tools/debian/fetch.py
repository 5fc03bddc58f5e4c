"""Packages' archives, downloaded once into build/debian/archives.

apt-helper downloads one file, continues one that is incomplete, and compares its SHA-256; a file gets its final name
only then. So Ctrl-C loses nothing, and a file that was damaged later is downloaded again.

Debian's archive keeps one version of a package. If a pinned version is gone there, snapshot.debian.org, which keeps
all, is asked for the archive as it was when the list was made.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from tidemark import files, output
from tidemark.errors import LabError

from debian import apt
from debian.packages import Listing, Package

SNAPSHOT = "http://snapshot.debian.org/archive/debian"
MB = 1e6
UNREACHABLE = re.compile("resolv|connect|timed? ?out|unreachable", re.IGNORECASE)  # so the next file fails, too


@dataclass(frozen=True)
class Places:
    """The cache, and where archives come from: the first address that has a file."""

    cache: Path
    addresses: Sequence[str]


def places(listing: Listing) -> Places:
    """The usual ones."""
    return Places(apt.CACHE, (apt.mirror(), f"{SNAPSHOT}/{listing.made}"))


def say(line: str) -> None:
    """One line of progress."""
    print(f"  {line}", file=sys.stderr, flush=True)


def kept(package: Package, cache: Path) -> bool:
    """Is the archive in the cache, and intact? One that is damaged is removed."""
    file = cache / "archives" / package.file
    if not file.is_file():
        return False
    if files.sha256(file) == package.sha256:
        return True
    file.unlink()
    return False


def download(package: Package, where: Places) -> str:
    """Download one archive; "" or why no address has it."""
    file = where.cache / "archives" / package.file
    partial = file.with_name(file.name + output.PARTIAL)
    why = ""
    for address in where.addresses:
        uri = f"{address}/{quote(package.path)}"
        done = apt.run(where.cache, apt.HELPER, "download-file", uri, str(partial), f"SHA256:{package.sha256}")
        if done.returncode == 0 and partial.is_file():
            files.copy_atomically(partial, file)
            partial.unlink()
            return ""
        errors = [line for line in done.stderr.splitlines() if line.startswith("E:")]
        if "Hash" in done.stderr:
            partial.unlink(missing_ok=True)
        why = why or (errors[0].removeprefix("E:").strip() if errors else f"status {done.returncode}")
    return why


def fail(gone: dict[str, str], nr: int) -> None:
    """Raise the error for packages that could not be downloaded."""
    lines = "".join(f"\n  {name}: {why}" for name, why in gone.items())
    raise LabError(
        f"{len(gone)} of {nr} packages could not be downloaded:{lines}\nWithout a network, try again later: what was "
        "downloaded is kept. If Debian has newer versions now, `make image-list` renews tools/debian/packages.txt."
    )


def fetch(packages: Sequence[Package], where: Places) -> list[Path]:
    """The archives of these packages, in the cache. Raises LabError, which names those that cannot be had."""
    apt.prepare(where.cache)
    missing = [package for package in packages if not kept(package, where.cache)]
    total, done, gone = sum(package.size for package in missing), 0, {}
    size, room = sum(package.size for package in packages), sum(package.installed for package in packages)
    unpacked = f"{room * 1024 / MB:.0f} MB unpacked, less without documentation"
    say(f"{len(packages)} packages: {size / MB:.0f} MB, {total / MB:.0f} MB of them to download; {unpacked}")
    for number, package in enumerate(missing, 1):
        share = f"{number} of {len(missing)}, {done / MB:.0f} of {total / MB:.0f} MB"
        say(f"GET   {package.name} {package.version} ({share})")
        why = download(package, where)
        if why:
            gone[f"{package.name} {package.version}"] = why
        if UNREACHABLE.search(why):
            break
        done += package.size
    if gone:
        fail(gone, len(packages))
    return [where.cache / "archives" / package.file for package in packages]
