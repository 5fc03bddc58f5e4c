"""What ext2 guarantees after a power failure: a script for tests/host/ext2/main.c or fsops, a model with every state
that the files went through, and a check of what is left.

sync makes all names durable as they are, and fsync of a file also its content. From then on, until the power fails:

    - a path that always existed exists, and leads to one of the files that it led to;
    - a file that was synced and always had a path is found under some path;
    - a synced file that was not changed since has its content; in a changed one each byte is an old or a new one, and
      no byte is lost unless a call removed it.
"""

from __future__ import annotations

import os
import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import ext2

LARGEST = 4096  # block; e2fsck lets a file with blocks behind its end reach to the end of the last block
LENGTHS = [0, 100, 5000, 15000, 40000]


@dataclass(eq=False)
class File:
    """A regular file: its content after each step that changed it, and the steps that made it durable."""

    number: int
    history: list[tuple[int, bytes]] = field(default_factory=list)
    synced: list[int] = field(default_factory=list)

    @property
    def now(self) -> bytes:
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
        versions = self.versions(done, last)
        if not versions or found in versions:
            return True
        least, most = min(map(len, versions)), max(map(len, versions))
        if len(versions) == 1 or not least <= len(found) <= -(-most // LARGEST) * LARGEST:
            return False
        return all(found[at] in {version[at] for version in versions} for at in range(least))


Tree = dict[str, File | str]  # a path leads to a file, or to "dir"


class Promises:
    """Random steps on few names, so that they interact. Directories that are not empty are not renamed."""

    def __init__(self, seed: int) -> None:
        print(f"SEED={seed}")
        self.random = random.Random(seed)
        self.tree: Tree = {}
        self.states: list[Tree] = [{}]  # after each step; states[0]: mounted
        self.script: list[str] = []
        self.wanted: list[str] = []
        self.flushed = [0]
        self.nr_files = 0
        for name in ("/d0", "/d1"):
            self.make_dir(name)

    def step(self, line: str, answer: int = 0) -> int:
        """Adds a step whose effect on the tree has been made, and returns its number."""
        self.script.append(line)
        self.wanted.append(str(answer))
        self.states.append(dict(self.tree))
        return len(self.script)

    def files(self) -> dict[str, File]:
        return {path: file for path, file in self.tree.items() if isinstance(file, File)}

    def new_path(self) -> str:
        dirs = [path for path, what in self.tree.items() if what == "dir"]
        name = f"{self.random.randrange(12)}{'-' * self.random.choice([0, 0, 100, 200])}"
        return f"{self.random.choice(['', *dirs])}/{name}"

    def make_dir(self, path: str) -> None:
        self.tree[path] = "dir"
        self.step(f"mkdir {path}")

    def make(self) -> None:
        path = self.new_path()
        if path in self.tree:
            return
        self.nr_files += 1
        file = self.tree[path] = File(self.nr_files)
        file.history.append((self.step(f"create {path}"), b""))
        self.write(path, file, 0, self.random.choice(LENGTHS))
        if self.random.random() < 0.6:
            self.fsync(path)

    def write(self, path: str, file: File, at: int, length: int) -> None:
        seed = self.random.randrange(256)
        content = file.now[:at] + ext2.written(length, seed) + file.now[at + length :]
        file.history.append((self.step(f"write {path} {at} {length} {seed}", length), content))

    def fsync(self, path: str) -> None:
        step = self.step(f"fsync {path}")
        self.flushed.append(step)
        what = self.tree[path]
        if isinstance(what, File):
            what.synced.append(step)

    def sync_some(self) -> None:
        if self.random.random() < 0.3:
            step = self.step("sync")
            self.flushed.append(step)
            for file in self.files().values():
                file.synced.append(step)
        elif self.tree:
            self.fsync(self.random.choice(sorted(self.tree)))

    def change(self) -> None:
        """Changes the content of a file: overwrites, extends or truncates it."""
        if not self.files():
            return
        path = self.random.choice(sorted(self.files()))
        file = self.files()[path]
        size = len(file.now)
        if self.random.random() < 0.5:
            self.write(path, file, self.random.choice([size, size, self.random.randrange(size + 1)]), 3000)
        else:
            new = self.random.choice([0, size // 2, size // 3, size + 2000])
            file.history.append((self.step(f"truncate {path} {new}"), (file.now + bytes(2000))[:new]))

    def remove(self) -> None:
        if not self.tree:
            return
        path = self.random.choice(sorted(self.tree))
        if any(other.startswith(path + "/") for other in self.tree):
            return
        kind = "rmdir" if self.tree.pop(path) == "dir" else "unlink"
        self.step(f"{kind} {path}")

    def rename(self) -> None:
        if not self.tree:
            return
        old = self.random.choice(sorted(self.tree))
        new = (
            self.random.choice(sorted(self.files())) if self.files() and self.random.random() < 0.5 else self.new_path()
        )
        what, there = self.tree[old], self.tree.get(new)
        if old == new or (there is not None and (there is what or "dir" in (what, there))) or new.startswith(old + "/"):
            return
        if any(path.startswith(old + "/") for path in self.tree):
            return
        if isinstance(what, File) and there and self.random.random() < 0.7:
            self.fsync(old)
        self.tree[new] = self.tree.pop(old)
        self.step(f"rename {old} {new}")

    def link(self) -> None:
        new = self.new_path()
        if self.files() and new not in self.tree:
            old = self.random.choice(sorted(self.files()))
            self.tree[new] = self.tree[old]
            self.step(f"link {old} {new}")

    def dir(self) -> None:
        path = self.new_path()
        if path not in self.tree and path.count("/") < 3:
            self.make_dir(path)

    def run(self, steps: int, noise: bool = False) -> None:
        """noise: the host's program writes some random metadata in between, and evicts inodes."""
        choice = [self.make] * 5 + [self.change] * 4 + [self.rename] * 3
        choice += [self.remove, self.remove, self.link, self.dir, self.sync_some]
        for _ in range(steps):
            self.random.choice(choice)()
            if noise and self.random.random() < 0.3:
                self.step(f"flush {self.random.randrange(1, 4)} {self.random.randrange(1 << 20)}")
            if noise and self.random.random() < 0.1:
                self.step("drop")

    def judge(self, found: dict[str, bytes | None], done: int) -> int:
        """Checks what is left (None: a directory); `done` steps were answered. Returns the number of required paths and
        files."""
        last = min(done + 1, len(self.script))
        safe = max(step for step in self.flushed if step <= done)
        states, nr = self.states[safe : last + 1], 0
        for path in {path for state in states for path in state}:
            bound = [state.get(path) for state in states]
            nr += None not in bound
            if path not in found:
                assert None in bound, f"{path} is not there; steps {safe} to {last}"
            elif found[path] is None:
                assert "dir" in bound, f"{path} is a directory"
            else:
                self.judge_content(path, [file for file in bound if isinstance(file, File)], found[path], done, last)
        for file in {file for file in states[0].values() if isinstance(file, File)}:
            if file.versions(done, last) and all(file in state.values() for state in states):
                there = [path for path, content in found.items() if content is not None and "lost+found" not in path]
                assert any(file.may_be(found[path], done, last) for path in there), f"file {file.number} is nowhere"
                nr += 1
        return nr

    def judge_content(self, path: str, files: list[File], found: bytes | None, done: int, last: int) -> None:
        assert found is not None and files, f"{path} is a file"
        if not any(file.may_be(found, done, last) for file in files):
            wanted = [[len(v) for v in file.versions(done, last)] for file in files]
            raise AssertionError(f"{path}: {len(found)} bytes that were never there, of {wanted}; step {done}")


def left_on(image: Path, to: Path) -> dict[str, bytes | None]:
    """e2fsck repairs an image, and then finds no fault. Returns its content: bytes of files, None for directories."""
    ext2.tool("e2fsck", "-fy", image, ok=(0, 1))
    ext2.check(image)
    to.mkdir()
    ext2.tool("debugfs", "-R", f"rdump / {to}", image)
    found: dict[str, bytes | None] = {}
    for folder, dirs, files in os.walk(to):
        for name in dirs:
            found[f"{folder}/{name}"[len(str(to)) :]] = None
        for name in files:
            found[f"{folder}/{name}"[len(str(to)) :]] = Path(folder, name).read_bytes()
    shutil.rmtree(to)
    return found
