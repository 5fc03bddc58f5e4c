"""What is left of an ext2 image after a power failure, read by debugfs. What must be there:
tidemark.grade.judge.promises."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import ext2
from tidemark.grade.judge import promises


class Promises(promises.Random):
    """Random steps, with their seed printed."""

    def __init__(self, seed: int) -> None:
        print(f"SEED={seed}")
        super().__init__(seed)


def left_on(image: Path, to: Path) -> promises.Found:
    """e2fsck repairs an image, and then finds no fault. Returns its content: bytes of files, None for directories."""
    ext2.tool("e2fsck", "-fy", image, ok=(0, 1))
    ext2.check(image)
    to.mkdir()
    ext2.tool("debugfs", "-R", f"rdump / {to}", image)
    found: promises.Found = {}
    for folder, dirs, files in os.walk(to):
        for name in dirs:
            found[f"{folder}/{name}"[len(str(to)) :]] = None
        for name in files:
            found[f"{folder}/{name}"[len(str(to)) :]] = Path(folder, name).read_bytes()
    shutil.rmtree(to)
    return found
