"""Images of ext2: made and repaired by e2fsprogs, and read."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tidemark.errors import BAD_INPUT, NO_TOOL, LabError
from tidemark.machine import disk

PLACES = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
ROOT_INODE, DIRECT, SUPER = 2, 12, 1024
DIRECTORY, REGULAR = 0o040000, 0o100000
DEEPEST, LARGEST = 32, 1 << 26  # of directories; bytes of a file


class BadImage(Exception):
    """The image cannot be read; the text says why."""


def program(name: str) -> str:
    """The path of a program of e2fsprogs. Raises LabError if it is not installed."""
    found = shutil.which(name, path=PLACES)
    if not found:
        raise LabError(f"{name} is not installed; it is in the package e2fsprogs", NO_TOOL)
    return found


def run(name: str, *words: str | Path, born: bool = False, text: str = "") -> tuple[int, str]:
    """Runs a program of e2fsprogs on a text; returns its status, and its output. born: its clock shows the start of the
    guest's clock, so that equal commands make equal images."""
    done = subprocess.run(
        [program(name), *map(str, words)],
        input=text.encode(),
        capture_output=True,
        timeout=60,
        env={**os.environ, "E2FSPROGS_FAKE_TIME": disk.BORN} if born else None,
    )
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def make(path: Path, size: str, *options: str, content: Path | None = None) -> Path:
    """Makes an image with mke2fs. size: as for mke2fs ("4M"), less than 512M; content: a folder of files to copy into
    it. Raises LabError if that fails."""
    inside = ["-d", str(content)] if content else []
    fixed = ["-U", disk.UUID, "-E", f"hash_seed={disk.UUID}"]
    if "-b" not in options:
        fixed += ["-b", str(disk.SMALL_BLOCK)]
    status, said = run("mke2fs", "-q", "-F", "-t", "ext2", *fixed, *options, *inside, path, size, born=True)
    if status:
        raise LabError(f"mke2fs {path}: {said.strip()}", BAD_INPUT)
    return path


class Image:
    """The files of an image that e2fsck has repaired. Nothing in it is trusted: all errors are BadImage."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.per_group, magic = self.numbers("<I", SUPER + 40)[0], self.numbers("<H", SUPER + 56)[0]
        if magic != 0xEF53 or not self.per_group:
            raise BadImage("there is no ext2 on it")
        self.first, log = self.numbers("<II", SUPER + 20)
        if log > 2:
            raise BadImage("its blocks are too large")
        self.block = 1024 << log
        revision, self.inode_size = self.numbers("<I", SUPER + 76)[0], self.numbers("<H", SUPER + 88)[0]
        self.inode_size = self.inode_size if revision else 128

    def numbers(self, form: str, at: int) -> tuple[int, ...]:
        """Numbers at an offset."""
        try:
            return struct.unpack_from(form, self.data, at)
        except struct.error:
            raise BadImage(f"it has no byte {at}") from None

    def inode(self, number: int) -> tuple[int, int, tuple[int, ...]]:
        """(mode, size, slots) of an inode."""
        group, index = divmod(number - 1, self.per_group)
        table = self.numbers("<I", (self.first + 1) * self.block + group * 32 + 8)[0]
        at = table * self.block + index * self.inode_size
        return self.numbers("<H", at)[0], self.numbers("<I", at + 4)[0], self.numbers("<15I", at + 40)

    def blocks(self, slot: int, level: int) -> Iterator[int]:
        """The blocks of data below a slot; 0: a hole."""
        per_block = self.block // 4
        if level == 0 or not slot:
            yield from (slot for _ in range(per_block**level))
            return
        for below in self.numbers(f"<{per_block}I", slot * self.block):
            yield from self.blocks(below, level - 1)

    def content(self, size: int, slots: tuple[int, ...]) -> bytes:
        """The content of a file."""
        if size > LARGEST:
            raise BadImage(f"a file has {size} bytes")
        pieces: list[bytes] = []
        levels = [*((slot, 0) for slot in slots[:DIRECT]), *zip(slots[DIRECT:], (1, 2, 3))]
        for slot, level in levels:
            for block in self.blocks(slot, level):
                if len(pieces) * self.block >= size:
                    return b"".join(pieces)[:size]
                here = self.data[block * self.block : (block + 1) * self.block] if block else b""
                pieces.append(here.ljust(self.block, b"\0"))
        return b"".join(pieces)[:size]

    def entries(self, number: int) -> Iterator[tuple[str, int]]:
        """(name, inode) of each entry of a directory, without . and .."""
        _, size, slots = self.inode(number)
        data, at = self.content(size, slots), 0
        while at + 8 <= len(data):
            inode, length, name_length = struct.unpack_from("<IHB", data, at)
            name = data[at + 8 : at + 8 + name_length].decode("latin-1")
            if inode and name not in (".", ".."):
                yield name, inode
            if length < 8:
                raise BadImage(f"directory {number} has an entry of {length} bytes")
            at += length

    def files(self, number: int = ROOT_INODE, path: str = "") -> dict[str, bytes | None]:
        """All files below a directory, by path; None: a directory. Other kinds of files are left out."""
        found: dict[str, bytes | None] = {}
        if path.count("/") > DEEPEST:
            raise BadImage("its directories are too deep")
        for name, inode in self.entries(number):
            mode, size, slots = self.inode(inode)
            if mode & 0o170000 == DIRECTORY:
                found |= {f"{path}/{name}": None, **self.files(inode, f"{path}/{name}")}
            elif mode & 0o170000 == REGULAR:
                found[f"{path}/{name}"] = self.content(size, slots)
        return found
