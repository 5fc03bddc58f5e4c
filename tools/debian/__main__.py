"""`make image` and `make image-list`; the settings are make's variables, in the environment."""

from __future__ import annotations

import argparse
import os
import shutil
import sys

from tidemark.errors import INTERRUPTED, OK, LabError
from tidemark.machine import qemu

from debian import apt, fetch, image, packages, renew, tree

IMAGE = qemu.ROOT / "build/image.ext2"
USUAL = "bash coreutils gcc make sqlite3 lua5.4 python3-minimal git"
INITRAMFS = qemu.ROOT / qemu.INITRD


def make_image(names: list[str], size: str) -> None:
    """Make build/image.ext2 with these packages."""
    listing = packages.read()
    chosen = packages.needed(listing, names)
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
    names, size = os.environ.get("PKGS", "").split(), os.environ.get("SIZE", "")
    try:
        make_image(names or USUAL.split(), size) if what == "image" else make_list(names)
    except LabError as error:
        print(f"make {'image' if what == 'image' else 'image-list'}: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print("stopped; what was downloaded is kept, and the next run continues", file=sys.stderr)
        return INTERRUPTED
    return OK


if __name__ == "__main__":
    sys.exit(main())
