"""ext2 images, checks of them by e2fsprogs, the kernel's own ext2 on them, and a model to compare both with."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tidemark.grade.judge.promises import written as written
from tidemark.machine import disk, qemu
from tidemark.machine import ext2 as images
from tidemark.machine.ext2 import make as make

PROGRAM = qemu.ROOT / "build/host/ext2"
PIECE = 1024

Shape = dict[str, tuple[str, int, bytes | None]]


def tool(name: str, *words: str | Path, ok: tuple[int, ...] = (0,), born: bool = False, text: str = "") -> str:
    """Runs a program of e2fsprogs on a text and returns its output; its exit status must be in `ok`.

    born: the program's clock shows the start of the guest's clock, so that equal commands make equal images."""
    status, said = images.run(name, *words, born=born, text=text)
    assert status in ok, f"{name} {' '.join(map(str, words))}: {status}\n{said}"
    return said


def make_old(path: Path, size: str, *options: str, content: Path | None = None) -> Path:
    """Makes an image of revision 0, which has no features. Newer versions of mke2fs only make revision 1."""
    make(path, size, "-O", "none", "-I", "128", *options, content=content)
    fields = "set_super_value rev_level 0\nset_super_value default_mount_opts 0\n"
    tool("debugfs", "-w", "-f", "-", path, born=True, text=fields)
    return path


def set_times(image: Path, *names: str) -> None:
    """Sets all three times of the files in the root directory to the start of the guest's clock."""
    fields = [f"sif {name} {which} @{disk.BORN}" for name in names for which in ("atime", "mtime", "ctime")]
    tool("debugfs", "-w", "-f", "-", image, born=True, text="\n".join(fields) + "\n")


def check(image: Path) -> None:
    """Checks that e2fsck finds no fault."""
    tool("e2fsck", "-fn", image)


def free_counts(image: Path) -> tuple[int, int]:
    """Free blocks and free inodes, according to the superblock."""
    text = tool("dumpe2fs", "-h", image)
    return tuple(int(re.findall(rf"^Free {what}: +(\d+)$", text, re.M)[0]) for what in ("blocks", "inodes"))  # type: ignore


def quoted(name: bytes | str) -> str:
    """A name or path, quoted for a script."""
    raw = name.encode() if isinstance(name, str) else name
    return "".join(chr(byte) if 32 < byte < 127 and byte != ord("%") else f"%{byte:02x}" for byte in raw)


def run(image: Path, script: list[str], *options: str) -> tuple[list[str], str]:
    """Runs a script on the kernel's ext2. Returns its answers, that to mounting first, and what the kernel printed."""
    done = subprocess.run(
        [PROGRAM, image, *options], input="\n".join(script) + "\n", capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


def checksum(content: bytes) -> int:
    """FNV-1a, as printed by a script's `read`."""
    value = 2166136261
    for byte in content:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


@dataclass(eq=False)
class Node:
    """A file of the model: its kind and its content; parts of a regular file by number, a missing part is a hole."""

    kind: str
    nlink: int = 1
    names: dict[bytes, Node] = field(default_factory=dict)
    target: str = ""
    size: int = 0
    pieces: dict[int, bytearray] = field(default_factory=dict)

    def write(self, offset: int, content: bytes) -> None:
        for at in range(offset, offset + len(content)):
            piece = self.pieces.setdefault(at // PIECE, bytearray(PIECE))
            piece[at % PIECE] = content[at - offset]
        self.size = max(self.size, offset + len(content))

    def truncate(self, size: int) -> None:
        self.pieces = {n: piece for n, piece in self.pieces.items() if n * PIECE < size}
        if size % PIECE and size // PIECE in self.pieces:
            self.pieces[size // PIECE][size % PIECE :] = bytes(PIECE - size % PIECE)
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        first, end = offset // PIECE, min(offset + length, self.size)
        if offset >= end:
            return b""
        whole = b"".join(bytes(self.pieces.get(n, bytes(PIECE))) for n in range(first, (end - 1) // PIECE + 1))
        return whole[offset - first * PIECE : end - first * PIECE]

    def same(self, other: Path) -> bool:
        """Does a regular file have the same bytes as `other`?"""
        if other.stat().st_size != self.size:
            return False
        with other.open("rb") as file:
            for n in range((self.size + PIECE - 1) // PIECE):
                want = bytes(self.pieces.get(n, b""))[: self.size - n * PIECE]
                piece = file.read(PIECE)
                if piece != want and (n in self.pieces or piece.count(0) != len(piece)):
                    return False
        return True


ERRNO = {"ENOENT": 2, "EEXIST": 17, "ENOTDIR": 20, "EISDIR": 21, "EINVAL": 22, "ENOTEMPTY": 39, "EPERM": 1}


class Refused(Exception):
    """An operation of the model fails."""


def refuse(why: str) -> Refused:
    return Refused(-ERRNO[why])


class Model:
    """A tree of files in Python, written independently of the kernel's."""

    def __init__(self) -> None:
        self.root = Node("dir", 2)
        self.root.names[b"lost+found"] = Node("dir", 2)
        self.root.nlink = 3

    def walk(self, path: bytes) -> Node:
        node = self.root
        for name in filter(None, path.split(b"/")):
            if node.kind != "dir":
                raise refuse("ENOTDIR")
            if name not in node.names:
                raise refuse("ENOENT")
            node = node.names[name]
        return node

    def parent(self, path: bytes) -> tuple[Node, bytes]:
        folder, _, name = path.rpartition(b"/")
        node = self.walk(folder)
        if node.kind != "dir":
            raise refuse("ENOTDIR")
        return node, name

    def add(self, path: bytes, node: Node) -> None:
        where, name = self.parent(path)
        if name in where.names:
            raise refuse("EEXIST")
        where.names[name] = node
        if node.kind == "dir":
            node.nlink = 2
            where.nlink += 1

    def link(self, old: bytes, new: bytes) -> None:
        node = self.walk(old)
        self.parent(new)
        if node.kind == "dir":
            raise refuse("EPERM")
        self.add(new, node)
        node.nlink += 1

    def remove(self, path: bytes, kind: str) -> None:
        where, name = self.parent(path)
        if name not in where.names:
            raise refuse("ENOENT")
        node = where.names[name]
        if (node.kind == "dir") != (kind == "dir"):
            raise refuse("ENOTDIR" if kind == "dir" else "EISDIR")
        if node.names:
            raise refuse("ENOTEMPTY")
        del where.names[name]
        node.nlink -= 1
        if kind == "dir":
            node.nlink -= 1
            where.nlink -= 1

    def rename(self, old: bytes, new: bytes) -> None:
        (source, old_name), (to, new_name) = self.parent(old), self.parent(new)
        if old_name not in source.names:
            raise refuse("ENOENT")
        node, there = source.names[old_name], to.names.get(new_name)
        if there is node:
            return
        if new.startswith(old + b"/"):
            raise refuse("EINVAL")
        if old.startswith(new + b"/"):
            raise refuse("ENOTEMPTY")
        if there is not None:
            if (there.kind == "dir") != (node.kind == "dir"):
                raise refuse("ENOTDIR" if node.kind == "dir" else "EISDIR")
            if there.names:
                raise refuse("ENOTEMPTY")
            self.remove(new, there.kind)
        del source.names[old_name]
        to.names[new_name] = node
        if node.kind == "dir":
            source.nlink -= 1
            to.nlink += 1

    def all(self) -> dict[bytes, Node]:
        """Every file, by its path."""
        found: dict[bytes, Node] = {}

        def visit(path: bytes, node: Node) -> None:
            for name, child in node.names.items():
                found[path + b"/" + name] = child
                visit(path + b"/" + name, child)

        visit(b"", self.root)
        return found


def compare_dump(image: Path, model: Model, to: Path) -> None:
    """Checks that what debugfs reads from an image equals the model."""
    to.mkdir()
    tool("debugfs", "-R", f"rdump / {to}", image)
    # rglob would follow links, and a target may be longer than a name can be.
    paths = [Path(folder, name) for folder, dirs, files in os.walk(to) for name in (*dirs, *files)]
    found = {os.fsencode(path)[len(os.fsencode(to)) :]: path for path in paths}
    wanted = model.all()
    assert set(found) == {path for path, node in wanted.items() if node.kind in ("file", "dir", "link")}
    for name, path in found.items():
        node = wanted[name]
        if node.kind == "link":
            assert os.readlink(path) == node.target, name
        elif node.kind == "file":
            assert node.same(path), name
        else:
            assert path.is_dir() and not path.is_symlink(), name
    shutil.rmtree(to)
