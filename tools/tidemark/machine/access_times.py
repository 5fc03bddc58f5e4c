"""Access times in an ext2 image, and the times at which inodes changed. mke2fs copies those of the host's files.
Reading the files changes the first, and setting any time the second: so the next image of the same folder would be
another one, and a run with it not the same run.

Offsets: the second extended file system's documentation, as in Linux's fs/ext2/ext2.h.
"""

from __future__ import annotations

import struct
from pathlib import Path

SUPERBLOCK, DESCRIPTOR = 1024, 32  # where the first is, and the size of the second, in bytes
INODES, FIRST_BLOCK, BLOCK_SHIFT, INODES_PER_GROUP, INODE_SIZE, TABLE = 0, 20, 24, 40, 88, 8
ATIME, CTIME, MTIME = slice(8, 12), slice(12, 16), slice(16, 20)
CTIME_NS, MTIME_NS, ATIME_NS = slice(132, 136), slice(136, 140), slice(140, 144)  # of large inodes


def forget(image: Path) -> None:
    """Make each file's access time, and the time at which its inode changed, its modification time."""
    with image.open("r+b") as file:
        file.seek(SUPERBLOCK)
        head = file.read(1024)
        inodes, first, shift, per_group = (
            struct.unpack_from("<I", head, at)[0] for at in (INODES, FIRST_BLOCK, BLOCK_SHIFT, INODES_PER_GROUP)
        )
        (size,) = struct.unpack_from("<H", head, INODE_SIZE)
        block = 1024 << shift
        for group in range(inodes // per_group):
            file.seek((first + 1) * block + group * DESCRIPTOR + TABLE)
            (table,) = struct.unpack("<I", file.read(4))
            for nr in range(per_group):
                at = table * block + nr * size
                file.seek(at)
                inode = bytearray(file.read(size))
                before = bytes(inode)
                inode[ATIME] = inode[CTIME] = inode[MTIME]
                if size >= ATIME_NS.stop:
                    inode[ATIME_NS] = inode[CTIME_NS] = inode[MTIME_NS]
                if inode != before:
                    file.seek(at)
                    file.write(inode)
