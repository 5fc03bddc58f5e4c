"""What a long proof has tried already, so that it goes on there after Ctrl-C, or tomorrow.

A run is exact: what passed will pass again while the kernel and its programs are the same. So for each proof a file in
build/soak names what has passed, a line each, below the image that it passed with. With another image nothing counts.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from tidemark import qemu

FOLDER = qemu.ROOT / "build/soak"


def image_key(image: Path = qemu.ROOT) -> str:
    """A hash of the kernel and the first file system of a built tree."""
    return hashlib.sha256(b"".join((image / name).read_bytes() for name in (qemu.KERNEL, qemu.INITRD))).hexdigest()


class Tried:
    """What has passed in the proof `name`, with what `key` stands for; other keys' are forgotten by the first `add`."""

    def __init__(self, name: str, key: str | None = None, folder: Path = FOLDER) -> None:
        """Reads what is known. `key`: that of the built image, if not given."""
        self.file = folder / name
        self.key = image_key() if key is None else key
        first, *passed = self.file.read_text().splitlines() if self.file.exists() else [""]
        self.known = first == self.key
        self.passed = set(passed) if self.known else set()

    def done(self, item: object) -> bool:
        """Has it passed? An item is known by its text, which is one line."""
        return str(item) in self.passed

    def add(self, item: object) -> None:
        """It has passed, and this is on the disk when `add` returns. OSError when it cannot be written."""
        line = str(item)
        assert "\n" not in line, line
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a" if self.known else "w") as out:
            out.write(f"{line}\n" if self.known else f"{self.key}\n{line}\n")
        self.known = True
        self.passed.add(line)
