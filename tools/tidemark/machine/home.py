"""Where the files are that `tidemark` works on: the tree that it is part of, or those that a wheel brought.

In a tree (a clone, or a student's release) the package lies in tools/. A wheel (`make wheel`) has no tree: it brings
the reference image, and the page, in the package's folder `wheel`. `prepare` makes a folder in the user's cache that
looks like a built tree without sources: reference/, and the unpacked image in build/. Its name has the sum of the
image, so that two versions do not share one. What needs sources, a compiler or QEMU's plugin says so in one sentence.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
TREE, WHEEL = PACKAGE.parents[1], PACKAGE / "wheel"
INSTALLED = WHEEL.is_dir()
REFERENCE, PAGE, SUMS = "reference", "page", "SHA256SUMS"

SOURCES = "the policies' sources and a compiler"
PLUGIN = "QEMU's plugin, which is built in a tree"
LABS = "the assignments' files"
NOT_HERE = {
    **dict.fromkeys(("sim", "compare", "worst", "evaluate", "board"), SOURCES),
    **dict.fromkeys(("min", "why", "viva", "trace", "alloc", "contention"), PLUGIN),
    **dict.fromkeys(("lab", "grade", "grade-class", "export-grade", "hand-in", "rubric", "class-stats"), LABS),
    **dict.fromkeys(("export-jplag", "release", "quiz", "break-code"), LABS),
    "gdb": "gdb's commands and the kernel's sources",
    "paper": "the disk with programs of Debian",
}


def cache() -> Path:
    """The folder in the user's cache for the files of this wheel."""
    parent = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return parent / "tidemark" / sha256((WHEEL / REFERENCE / SUMS).read_bytes()).hexdigest()[:12]


ROOT = cache() if INSTALLED else TREE
BROWSER = (WHEEL / PAGE if INSTALLED else TREE / "build/page") / "index.html"


def not_here(words: Sequence[str]) -> str:
    """Why a command line cannot be carried out without a tree; empty if it can."""
    command = next((word for word in words if not word.startswith("-")), "")
    if not INSTALLED or command not in NOT_HERE or {"-h", "--help"} & set(words):
        return ""
    return f"{command} needs {NOT_HERE[command]}, which a wheel does not have: use `make lab` in a clone of Tidemark"


def prepare() -> None:
    """Put the files of a wheel into the cache, unless they are there. Nothing to do in a tree. Raises LabError if the
    image cannot be unpacked, or the cache cannot be written."""
    if not INSTALLED:
        return
    from tidemark.errors import NO_SPACE, LabError

    try:
        copy()
    except OSError as error:
        raise LabError(
            f"{ROOT} cannot be written ({error.strerror}): set XDG_CACHE_HOME to a folder that can", NO_SPACE
        ) from None


def copy() -> None:
    """As `prepare`, in a wheel."""
    from tidemark.files import write_atomically
    from tidemark.machine import reference_image

    for path in (WHEEL / REFERENCE).iterdir():
        place = ROOT / REFERENCE / path.name
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists() or place.stat().st_size != path.stat().st_size:
            write_atomically(place, path.read_bytes())
    unpacked = reference_image.unpacked(ROOT) / "build"
    for name in reference_image.FILES:
        place = ROOT / "build" / name
        if not place.exists() or place.stat().st_mtime_ns != (unpacked / name).stat().st_mtime_ns:
            place.unlink(missing_ok=True)
            os.link(unpacked / name, place)
