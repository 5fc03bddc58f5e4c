"""What a long proof has tried already, so that it goes on there after Ctrl-C, or tomorrow.

A run is exact: what passed will pass again while the kernel and its programs are the same. So for each proof a file in
build/soak names what has passed, a line each, below the image that it passed with. With another image nothing counts.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from pathlib import Path

from tidemark import qemu

FOLDER = qemu.ROOT / "build/soak"


def image_key(image: Path = qemu.ROOT) -> str:
    """A hash of the kernel and the first file system of a built tree."""
    return hashlib.sha256(b"".join((image / name).read_bytes() for name in (qemu.KERNEL, qemu.INITRD))).hexdigest()


class Tried:
    """What has passed in the proof `name`, with what `key` stands for; other keys' are forgotten by the first `add`.

    Several processes may add to the same proof."""

    def __init__(self, name: str, key: str | None = None, folder: Path = FOLDER) -> None:
        """Reads what is known. `key`: that of the built image, if not given."""
        self.file = folder / name
        self.key = image_key() if key is None else key
        known = self.file.read_text() if self.file.exists() else ""  # empty, too, if it was stopped just then
        first, *passed = known.splitlines() or [""]
        self.passed = set(passed) if first == self.key else set()

    def done(self, item: object) -> bool:
        """Has it passed? An item is known by its text, which is one line."""
        return str(item) in self.passed

    def add(self, item: object) -> None:
        """It has passed. OSError when that cannot be written: then the file is as it was."""
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
