"""Records what a long proof has tried already, so that it continues there after Ctrl-C, or the next day.

A run is exact: what passed will pass again while the kernel and its programs are unchanged. So each proof has a file in
build/soak with one line for each item that passed, below the image that it passed with. Another image invalidates all.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from pathlib import Path

from tidemark.machine import qemu

FOLDER = qemu.ROOT / "build/soak"


def image_key(image: Path = qemu.ROOT) -> str:
    """A hash of the kernel and the first file system of a built tree."""
    return hashlib.sha256(b"".join((image / name).read_bytes() for name in (qemu.KERNEL, qemu.INITRD))).hexdigest()


class Tried:
    """The items that passed in the proof `name` with the content that `key` stands for. The first `add` with another
    key deletes the old items.

    Several processes may add to the same proof."""

    def __init__(self, name: str, key: str | None = None, folder: Path = FOLDER) -> None:
        """Reads the recorded items. `key` defaults to that of the built image."""
        self.file = folder / name
        self.key = image_key() if key is None else key
        known = self.file.read_text() if self.file.exists() else ""  # also empty if it was interrupted just then
        first, *passed = known.splitlines() or [""]
        self.passed = set(passed) if first == self.key else set()

    def done(self, item: object) -> bool:
        """Has the item passed? An item is identified by its text, which is one line."""
        return str(item) in self.passed

    def add(self, item: object) -> None:
        """Records that the item has passed. Raises OSError if that cannot be written; the file is then unchanged."""
        line = str(item)
        assert line and "\n" not in line, line
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a+b", buffering=0) as out:
            fcntl.flock(out, fcntl.LOCK_EX)
            out.seek(0)
            known = out.read().startswith(f"{self.key}\n".encode())
            length = out.tell()
            if not known:
                out.truncate(0)
            new = line if known else f"{self.key}\n{line}"
            try:
                written = out.write(f"{new}\n".encode())
                if written < len(f"{new}\n".encode()):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.file))
            except OSError:
                out.truncate(length if known else 0)
                raise
        self.passed.add(line)
