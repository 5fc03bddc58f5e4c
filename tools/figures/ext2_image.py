"""An ext2 image for the files that user/workloads/files.c reads, byte for byte the same each time."""

from __future__ import annotations

import array
import os
import subprocess
import tempfile
from pathlib import Path

BIG_MIB, RANDOM_MIB, IMAGE_MIB = 64, 16, 160
PAGE_WORDS, PAGES_PER_MIB = 1024, 256
DATE = "1704067200"
SEED = "5ec0de00-7469-4d61-726b-000000000001"


def pattern(nr_pages: int) -> bytes:
    """The words of `files`: word i of page p is p * 2654435761 + i."""
    words = array.array("I")
    for page in range(nr_pages):
        first = page * 2654435761
        words.extend((first + i) & 0xFFFFFFFF for i in range(PAGE_WORDS))
    return words.tobytes()


def make_image(path: Path) -> None:
    """Makes an ext2 file system with blocks of 4 KiB and the files `big` and `random`; needs e2fsprogs."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": DATE, "E2FSPROGS_FAKE_TIME": DATE}
    environment["PATH"] += ":/usr/sbin:/sbin"
    path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as folder:
        for name, mib in (("big", BIG_MIB), ("random", RANDOM_MIB)):
            file = Path(folder, name)
            file.write_bytes(pattern(mib * PAGES_PER_MIB))
            file.chmod(0o644)
            os.utime(file, (int(DATE), int(DATE)))
        os.utime(folder, (int(DATE), int(DATE)))
        make = ["mke2fs", "-q", "-t", "ext2", "-b", "4096", "-N", "16384", "-U", SEED, "-E", f"hash_seed={SEED}"]
        subprocess.run(
            [*make, "-d", folder, str(path), f"{IMAGE_MIB}M"], check=True, env=environment, stdout=subprocess.DEVNULL
        )
    # mke2fs copies an inode's change time from the host's file, where it cannot be set.
    times = "".join(f"set_inode_field {name} ctime @{DATE}\n" for name in ("/", "big", "random"))
    debugfs = ["debugfs", "-w", "-f", "/dev/stdin", str(path)]
    subprocess.run(debugfs, input=times.encode(), check=True, env=environment, capture_output=True)
