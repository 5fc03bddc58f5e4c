"""What ext2 guarantees after a power failure: steps of a program on files, and a check of what is left of them.

sync makes all names durable as they are, and fsync of a file also its content. From then on, until the power fails:

    - a path that always existed exists, and leads to one of the files that it led to;
    - a file that was synced and always had a path is found under some path;
    - a synced file that was not changed since has its content; in a changed one each byte is an old or a new one, and
      no byte is lost unless a call removed it.

A step is a line: create PATH, mkdir PATH, write PATH OFFSET BYTES SEED, read PATH OFFSET BYTES, truncate PATH SIZE,
fsync PATH, sync, rename OLD NEW, link OLD NEW, unlink PATH, rmdir PATH.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np

LARGEST = 4096  # block; e2fsck lets a file with blocks behind its end reach to the end of the last block
LENGTHS = [0, 100, 5000, 15000, 40000]
ZEROS = 2000

Found = dict[str, bytes | None]  # by path: a file's content; None: a directory


class Lost(Exception):
    """Something that was guaranteed is not there; the text says what."""


@cache
def row(first: int) -> bytes:
    """256 bytes of `written`."""
    return bytes((first + i * 7) % 256 for i in range(256))


def written(length: int, seed: int) -> bytes:
    """The bytes of a step `write`: byte number i is seed + i * 7 + i / 256."""
    return b"".join(row((seed + i) % 256) for i in range(-(-length // 256)))[:length]


@dataclass(eq=False)
class File:
    """A regular file: its content after each step that changed it, and the steps that made it durable."""

    number: int
    history: list[tuple[int, bytes]] = field(default_factory=list)
    synced: list[int] = field(default_factory=list)

    @property
    def now(self) -> bytes:
        """The content after the last step."""
        return self.history[-1][1]

    def versions(self, done: int, last: int) -> list[bytes]:
        """The contents that may exist after the steps up to `last`, if `done` were answered; []: nothing was
        guaranteed."""
        safe = max((step for step in self.synced if step <= done), default=None)
        if safe is None:
            return []
        before = [content for step, content in self.history if step <= safe][-1:]
        return before + [content for step, content in self.history if safe < step <= last]

    def may_be(self, found: bytes, done: int, last: int) -> bool:
        """May the file have this content?"""
        versions = self.versions(done, last)
        if not versions or found in versions:
            return True
        least, most = min(map(len, versions)), max(map(len, versions))
        if len(versions) == 1 or not least <= len(found) <= -(-most // LARGEST) * LARGEST:
            return False
        return is_of(found[:least], versions) and self.has_only(found, versions, least)

    @staticmethod
    def has_only(found: bytes, versions: list[bytes], least: int) -> bool:
        """Does a file that has only become shorter have no other file's bytes, in the part that it may have lost?"""
        lengths = list(map(len, versions))
        if lengths != sorted(lengths, reverse=True):
            return True
        part = found[least : lengths[0]]
        return is_of(part, [bytes(len(part)), *(version[least:] for version in versions)])


def is_of(found: bytes, versions: list[bytes]) -> bool:
    """Is each byte that of some version, at the same place? Behind its end a version has zeros."""
    padded = b"".join(version[: len(found)].ljust(len(found), b"\0") for version in versions)
    rows = np.frombuffer(padded, np.uint8).reshape(len(versions), len(found))
    return bool((rows == np.frombuffer(found, np.uint8)).any(axis=0).all())


Tree = dict[str, File | str]  # a path leads to a file, or to "dir"


class History:
    """Steps, each with the state of all names after it. A directory that is not empty must not be renamed."""

    def __init__(self) -> None:
        self.tree: Tree = {}
        self.states: list[Tree] = [{}]  # after each step; states[0]: mounted
        self.script: list[str] = []
        self.wanted: list[str] = []
        self.flushed = [0]
        self.nr_files = 0

    def step(self, line: str, answer: int = 0) -> int:
        """Adds a step whose effect on the tree has been made, and returns its number."""
        self.script.append(line)
        self.wanted.append(str(answer))
        self.states.append(dict(self.tree))
        return len(self.script)

    def files(self) -> dict[str, File]:
        """The paths of files."""
        return {path: file for path, file in self.tree.items() if isinstance(file, File)}

    def perform(self, line: str) -> None:
        """Adds the step of a line. Raises ValueError if it is not a step, KeyError if it names no file."""
        word, *rest = line.split()
        names: dict[str, Callable[..., object]] = {
            "create": self.create,
            "mkdir": self.mkdir,
            "fsync": self.fsync,
            "sync": self.sync,
            "rename": self.move,
            "link": self.link,
            "unlink": self.remove,
            "rmdir": self.remove,
        }
        if word == "write":
            self.write(rest[0], *map(int, rest[1:]))
        elif word == "truncate":
            self.truncate(rest[0], int(rest[1]))
        elif word == "read":
            self.read(rest[0], *map(int, rest[1:]))
        elif word in names:
            names[word](*rest)
        else:
            raise ValueError(f"{line}: no such step")

    def mkdir(self, path: str) -> None:
        """Adds a directory."""
        self.tree[path] = "dir"
        self.step(f"mkdir {path}")

    def create(self, path: str) -> File:
        """Adds an empty file."""
        self.nr_files += 1
        file = self.tree[path] = File(self.nr_files)
        file.history.append((self.step(f"create {path}"), b""))
        return file

    def write(self, path: str, at: int, length: int, seed: int) -> None:
        """Writes into a file."""
        file = self.files()[path]
        content = file.now[:at] + written(length, seed) + file.now[at + length :]
        file.history.append((self.step(f"write {path} {at} {length} {seed}", length), content))

    def read(self, path: str, at: int, length: int) -> None:
        """Reads from a file, which only changes its time of access."""
        self.step(f"read {path} {at} {length}", len(self.files()[path].now[at : at + length]))

    def truncate(self, path: str, size: int) -> None:
        """Cuts a file, or extends it with zeros."""
        file = self.files()[path]
        content = file.now[:size] + bytes(max(0, size - len(file.now)))
        file.history.append((self.step(f"truncate {path} {size}"), content))

    def fsync(self, path: str) -> None:
        """Makes all names durable, and a file's content."""
        step = self.step(f"fsync {path}")
        self.flushed.append(step)
        what = self.tree[path]
        if isinstance(what, File):
            what.synced.append(step)

    def sync(self) -> None:
        """Makes everything durable."""
        step = self.step("sync")
        self.flushed.append(step)
        for file in self.files().values():
            file.synced.append(step)

    def remove(self, path: str) -> None:
        """Removes a name, or an empty directory."""
        kind = "rmdir" if self.tree.pop(path) == "dir" else "unlink"
        self.step(f"{kind} {path}")

    def move(self, old: str, new: str) -> None:
        """Renames a file or an empty directory."""
        self.tree[new] = self.tree.pop(old)
        self.step(f"rename {old} {new}")

    def link(self, old: str, new: str) -> None:
        """Gives a file one more name."""
        self.tree[new] = self.tree[old]
        self.step(f"link {old} {new}")

    def judge(self, found: Found, done: int) -> int:
        """Checks what is left; `done` steps were answered. Returns the number of required paths and files. Raises
        Lost."""
        last = min(done + 1, len(self.script))
        safe = max(step for step in self.flushed if step <= done)
        states, nr = self.states[safe : last + 1], 0
        for path in sorted({path for state in states for path in state}):
            bound = [state.get(path) for state in states]
            nr += None not in bound
            if path not in found:
                if None not in bound:
                    raise Lost(f"{path} is not there, although step {safe} has made its name durable")
            elif found[path] is None:
                if "dir" not in bound:
                    raise Lost(f"{path} is a directory")
            else:
                self.judge_content(path, [file for file in bound if isinstance(file, File)], found[path], done, last)
        for file in sorted(
            {file for file in states[0].values() if isinstance(file, File)}, key=lambda file: file.number
        ):
            if file.versions(done, last) and all(file in state.values() for state in states):
                there = [path for path, content in found.items() if content is not None and "lost+found" not in path]
                if not any(file.may_be(found[path] or b"", done, last) for path in there):
                    names = " or ".join(sorted({path for state in states for path in state if state[path] is file}))
                    raise Lost(f"the file that is {names} is under no name")
                nr += 1
        return nr

    def judge_content(self, path: str, files: list[File], found: bytes | None, done: int, last: int) -> None:
        """Checks the content at a path that led to these files. Raises Lost."""
        if found is None or not files:
            raise Lost(f"{path} is a file, but no step has made a file of this name: it leads to another inode")
        if not any(file.may_be(found, done, last) for file in files):
            sizes = sorted({len(version) for file in files for version in file.versions(done, last)})
            wanted = " or ".join(map(str, sizes))
            if str(len(found)) in wanted.split(" or "):
                raise Lost(f"{path} has the right size, {len(found)}, but bytes that it never had there")
            raise Lost(f"{path} has {len(found)} bytes; it was synced with {wanted}")


class Random(History):
    """Random steps on few names, so that they interact."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.random = random.Random(seed)
        for name in ("/d0", "/d1"):
            self.mkdir(name)

    def new_path(self) -> str:
        """A path in a directory that exists."""
        dirs = [path for path, what in self.tree.items() if what == "dir"]
        name = f"{self.random.randrange(12)}{'-' * self.random.choice([0, 0, 100, 200])}"
        return f"{self.random.choice(['', *dirs])}/{name}"

    def make_some(self) -> None:
        """Makes a file."""
        path = self.new_path()
        if path in self.tree:
            return
        self.create(path)
        self.write_some(path, 0, self.random.choice(LENGTHS))
        if self.random.random() < 0.6:
            self.fsync(path)

    def write_some(self, path: str, at: int, length: int) -> None:
        """Writes random bytes."""
        self.write(path, at, length, self.random.randrange(256))

    def sync_some(self) -> None:
        """Syncs all, or something."""
        if self.random.random() < 0.3:
            self.sync()
        elif self.tree:
            self.fsync(self.random.choice(sorted(self.tree)))

    def change_some(self) -> None:
        """Changes the content of a file: overwrites, extends or truncates it."""
        if not self.files():
            return
        path = self.random.choice(sorted(self.files()))
        size = len(self.files()[path].now)
        if self.random.random() < 0.5:
            self.write_some(path, self.random.choice([size, size, self.random.randrange(size + 1)]), 3000)
        else:
            self.truncate(path, self.random.choice([0, size // 2, size // 3, size + ZEROS]))

    def remove_some(self) -> None:
        """Removes a name."""
        if not self.tree:
            return
        path = self.random.choice(sorted(self.tree))
        if not any(other.startswith(path + "/") for other in self.tree):
            self.remove(path)

    def rename_some(self) -> None:
        """Renames something, perhaps over a file."""
        if not self.tree:
            return
        old = self.random.choice(sorted(self.tree))
        files = sorted(self.files())
        new = self.random.choice(files) if files and self.random.random() < 0.5 else self.new_path()
        what, there = self.tree[old], self.tree.get(new)
        if old == new or (there is not None and (there is what or "dir" in (what, there))) or new.startswith(old + "/"):
            return
        if any(path.startswith(old + "/") for path in self.tree):
            return
        if isinstance(what, File) and there and self.random.random() < 0.7:
            self.fsync(old)
        self.move(old, new)

    def link_some(self) -> None:
        """Gives a file one more name."""
        new = self.new_path()
        if self.files() and new not in self.tree:
            self.link(self.random.choice(sorted(self.files())), new)

    def mkdir_some(self) -> None:
        """Makes a directory."""
        path = self.new_path()
        if path not in self.tree and path.count("/") < 3:
            self.mkdir(path)

    def run(self, steps: int, noise: bool = False) -> None:
        """noise: the host's program writes some random metadata in between, and evicts inodes."""
        choice = [self.make_some] * 5 + [self.change_some] * 4 + [self.rename_some] * 3
        choice += [self.remove_some, self.remove_some, self.link_some, self.mkdir_some, self.sync_some]
        for _ in range(steps):
            self.random.choice(choice)()
            if noise and self.random.random() < 0.3:
                self.step(f"flush {self.random.randrange(1, 4)} {self.random.randrange(1 << 20)}")
            if noise and self.random.random() < 0.1:
                self.step("drop")
