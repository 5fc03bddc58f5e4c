"""The ext2 image of a folder, as the kernel reads it: blocks of 4 KiB, inodes of 128 bytes, no journal.

An ordinary user's files would belong to that user in the image, too; and the host sets the time of an inode's last
change. So the inodes are changed after mke2fs has made them: they belong to root, and all their times are that of the
last change of the content.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

from tidemark import files, output
from tidemark.errors import NO_SPACE, NO_TOOL, USAGE, LabError
from tidemark.machine import disk

MIB = 1 << 20
BLOCK, INODE, DESCRIPTOR = 4096, 128, 32
SPARE_INODES = 8192


def tool(name: str) -> str:
    """The path of a program of e2fsprogs. Raises LabError if it is not installed."""
    found = shutil.which(name, path=os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin")
    if not found:
        raise LabError(f"{name} is not installed; it is part of the package e2fsprogs", NO_TOOL)
    return found


def check_size(size: str) -> None:
    """Raises LabError if SIZE is given and not a size."""
    if size and not disk.empty_bytes(size):
        raise LabError(
            f"SIZE={size} is not a size such as 512M or 1G; without SIZE, the image has room for work", USAGE
        )


def bytes_of(size: str, least: int, usual: int) -> int:
    """Bytes of SIZE, or the usual size without one. Raises LabError if it is not a size, or too small."""
    check_size(size)
    hint = f"SIZE={usual // MIB}M leaves room for work; without SIZE, that size is used"
    if not size:
        return usual
    asked = disk.empty_bytes(size)
    if asked < least:
        raise LabError(
            f"SIZE={size} is too small: the files take {-(-least // MIB)} MiB. {hint}; or name fewer PKGS", USAGE
        )
    return asked


def date(tree: Path) -> None:
    """Date folders, and files without a date of their own, at the start of the guest's clock."""
    born = int(disk.BORN)
    for path in (tree, *tree.rglob("*")):
        if path.is_symlink() or path.is_dir() or path.stat().st_mtime > born:
            os.utime(path, (born, born), follow_symlinks=False)


def own_by_root(image: Path) -> None:
    """Give all files of an image to root, and set their times to those of their content."""
    with image.open("r+b") as file:
        superblock = os.pread(file.fileno(), 1024, 1024)
        blocks, per_group, inodes = struct.unpack_from("<I24xI4xI", superblock, 4)
        for group in range(-(-blocks // per_group)):
            file.seek(BLOCK + group * DESCRIPTOR + 8)
            table = struct.unpack("<I", file.read(4))[0] * BLOCK
            file.seek(table)
            data = bytearray(file.read(inodes * INODE))
            for at in range(0, len(data), INODE):
                written = data[at + 16 : at + 20]
                data[at + 2 : at + 4] = data[at + 24 : at + 26] = bytes(2)
                data[at + 8 : at + 16] = written * 2
                data[at + 120 : at + 124] = bytes(4)
            file.seek(table)
            file.write(data)


def make(tree: Path, image: Path, size: str) -> int:
    """Make the image of the folder; returns its bytes. Raises LabError if it cannot be made, or is too small."""
    usual = disk.room_for(tree)
    least = (usual - 4 * MIB) * 2 // 3
    asked = bytes_of(size, least, usual)
    date(tree)
    nr = sum(1 for _ in tree.rglob("*")) + SPARE_INODES
    fixed = ["-U", disk.UUID, "-E", f"root_owner=0:0,hash_seed={disk.UUID}"]
    words = [tool("mke2fs"), "-q", "-F", "-t", "ext2", "-b", str(BLOCK), "-I", str(INODE), "-m", "0", "-N", str(nr)]
    environment = {**os.environ, "E2FSPROGS_FAKE_TIME": disk.BORN}
    with output.written(image, files.suffix()) as out:
        made = subprocess.run(
            [*words, *fixed, "-d", str(tree), str(out.partial), f"{asked >> 10}k"],
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        if made.returncode:
            hint = f"; SIZE={usual // MIB}M may be needed" if size else ""
            raise LabError(f"mke2fs could not make the image: {made.stderr.strip()}{hint}", NO_SPACE)
        own_by_root(out.partial)
        checked = subprocess.run([tool("e2fsck"), "-fn", str(out.partial)], capture_output=True, text=True)
        if checked.returncode:
            raise LabError(f"e2fsck finds faults in the image:\n{checked.stdout}")
    return asked
