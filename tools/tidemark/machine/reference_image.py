"""The reference image: the latest release's kernel and programs, stored in reference/.

    reference/tidemark.elf.xz, tidemark.elf.nm.xz, initramfs.cpio.xz    the image's files, compressed
    reference/SHA256SUMS    their sums before compression, in the format of sha256sum
    reference/build.txt     what they were built from: commit, compiler, linker, C library, flags

A machine with QEMU and Python runs this image without a compiler, and prints the numbers that the documents show.
tools/mkreference.py builds it. It is unpacked into build/reference-image, under the names that the files have in a
tree. Every use compares the unpacked files with SHA256SUMS, and unpacks a file again if its sum differs.
"""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Mapping
from pathlib import Path

from tidemark.errors import BAD_INPUT, USAGE, LabError
from tidemark.files import sha256, write_atomically
from tidemark.output import telling

NAME, BUILT = "reference", "built"  # the values of IMAGE
STORE, UNPACKED = "reference", "build/reference-image"
SUMS, ABOUT, PACKED = "SHA256SUMS", "build.txt", ".xz"
KERNEL, SYMBOLS, INITRD = FILES = ("tidemark.elf", "tidemark.elf.nm", "initramfs.cpio")
AS_BUILT = "kernel as built"  # in build.txt: the SHA-256 of build/tidemark.elf, which has debug information
RESTORE = f"`git checkout {STORE}/` restores it"


def sums(root: Path) -> dict[str, str]:
    """The SHA-256 of each file of the reference image. Raises LabError if the tree has no reference image."""
    path = root / STORE / SUMS
    try:
        words = [line.split() for line in path.read_text("ascii").splitlines()]
    except FileNotFoundError:
        raise LabError(
            f"{path} does not exist: this tree has no reference image (a student's release has none)"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(f"{path} cannot be read ({error}); {RESTORE}") from None
    found = {line[1]: line[0] for line in words if len(line) == 2}
    if sorted(found) != sorted(FILES) or len(words) != len(FILES):
        raise LabError(f"{path} must have one line for each of {', '.join(FILES)}; {RESTORE}")
    return found


def about(root: Path) -> dict[str, str]:
    """The lines `name: value` of build.txt; empty if there is none."""
    try:
        lines = (root / STORE / ABOUT).read_text("utf-8", "replace").splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, sign, value in (line.partition(":") for line in lines) if sign}


def content(root: Path, name: str, digest: str) -> bytes:
    """The bytes of a file of the image. Raises LabError if they do not have the SHA-256 `digest`."""
    path = root / STORE / (name + PACKED)
    try:
        data = lzma.decompress(path.read_bytes())
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise LabError(f"{path} cannot be unpacked ({error}); {RESTORE}") from None
    if hashlib.sha256(data).hexdigest() != digest:
        raise LabError(f"{path} does not have the SHA-256 in {STORE}/{SUMS}; {RESTORE}", BAD_INPUT)
    return data


def unpacked(root: Path) -> Path:
    """The folder of the reference image, unpacked and checked. Raises LabError if it cannot be used."""
    folder = root / UNPACKED
    for name, digest in sums(root).items():
        path = folder / "build" / name
        if path.is_file() and sha256(path) == digest:
            continue
        data = content(root, name, digest)
        with telling(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)
    return folder


def chosen(given: Mapping[str, str], root: Path) -> Path:
    """The folder of the image that make's variable IMAGE names. Raises LabError if the image cannot be used."""
    if given["IMAGE"] == BUILT:
        return root
    if given["IMAGE"] != NAME:
        raise LabError(f"IMAGE={given['IMAGE']}: it is {BUILT} or {NAME}", USAGE)
    if given["EXTRA"]:
        raise LabError(f"EXTRA: the reference image takes no more programs; IMAGE={BUILT} does", USAGE)
    return unpacked(root)


def that_made(image_sha256: str, otherwise: Path, root: Path) -> Path:
    """The folder of the image for repeating a result whose image has this SHA-256 (see image.describe): the reference
    image if it made the result and `otherwise` is only the default, the tree; else `otherwise`."""
    if otherwise != root or not (root / STORE / SUMS).exists():
        return otherwise
    found = sums(root)
    both = hashlib.sha256((found[KERNEL] + found[INITRD]).encode()).hexdigest()
    return unpacked(root) if both == image_sha256 else otherwise
