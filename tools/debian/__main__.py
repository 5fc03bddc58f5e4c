"""`make image` and `make image-list`; the settings are make's variables, in the environment."""

from __future__ import annotations

import argparse
import os
import shutil
import sys

from tidemark.errors import INTERRUPTED, NO_SPACE, NO_TOOL, OK, LabError
from tidemark.machine import qemu

from debian import apt, fetch, image, packages, renew, tree

IMAGE = qemu.ROOT / "build/image.ext2"
USUAL = "bash coreutils gcc make sqlite3 lua5.4 python3-minimal git"
INITRAMFS = qemu.ROOT / qemu.INITRD


TOOLS = {apt.HELPER: "apt", "dpkg-deb": "dpkg", "tar": "tar"}  # and e2fsprogs, which image.py looks for


def check_tools() -> None:
    """Raises LabError if the host lacks a program, before anything is downloaded."""
    missing = [name for name in TOOLS if not shutil.which(name)]
    if missing:
        of = " ".join(dict.fromkeys(TOOLS[name] for name in missing))
        raise LabError(f"not installed: {', '.join(missing)}. On Debian or Ubuntu: apt install {of}", NO_TOOL)
    for name in ("mke2fs", "e2fsck"):
        image.tool(name)


def make_image(names: list[str], size: str) -> None:
    """Make build/image.ext2 with these packages."""
    listing = packages.read()
    chosen = packages.needed(listing, names)
    image.check_size(size)
    check_tools()
    archives = fetch.fetch(chosen, fetch.places(listing))
    folder = apt.CACHE / "tree"
    try:
        tree.make(archives, INITRAMFS, folder)
        made = image.make(folder, IMAGE, size)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{os.path.relpath(IMAGE)}: {made >> 20} MiB. To boot into it: make qemu DISK=build/image.ext2 ROOT=1")


def make_list(names: list[str]) -> None:
    """Make packages.txt again, with these packages besides."""
    old = packages.read()
    new = renew.renewed(old, names, apt.CACHE / "index", renew.sources())
    packages.write(new)
    for name in sorted({*old.packages, *new.packages}):
        before, after = (
            listing.packages[name].version if name in listing.packages else "absent" for listing in (old, new)
        )
        if before != after:
            print(f"{name}: {before} -> {after}")
    print(f"{os.path.relpath(packages.PACKAGES)}: {len(new.packages)} packages; `make image` uses them")


def main() -> int:
    """The exit status is one of tidemark.errors."""
    parser = argparse.ArgumentParser(prog="python -m debian", description=__doc__)
    parser.add_argument("what", choices=["image", "list"])
    what = parser.parse_args().what
    target = {"image": "image", "list": "image-list"}[what]
    names, size = os.environ.get("PKGS", "").split(), os.environ.get("SIZE", "")
    try:
        make_image(names or USUAL.split(), size) if what == "image" else make_list(names)
    except LabError as error:
        print(f"make {target}: {error}", file=sys.stderr)
        return error.code
    except OSError as error:
        place = error.filename or os.path.relpath(apt.CACHE.parent)
        advice = "free space, or let this user write to build/; what was downloaded, and the last image, are kept"
        print(f"make {target}: {place}: {error.strerror}: {advice}", file=sys.stderr)
        return NO_SPACE
    except KeyboardInterrupt:
        print("stopped; what was downloaded is kept, and the next run continues", file=sys.stderr)
        return INTERRUPTED
    return OK


if __name__ == "__main__":
    sys.exit(main())
