"""Scripts for ext2 (tests/host/ext2/main.c describes their commands): random operations with a model's answers, and
operations until the power fails, with the files that must exist afterwards."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import ext2
from ext2 import Model, Node, Refused, quoted

SEED = int(os.environ.get("SEED") or 1)  # make check SEED=N tries others
BLOCKS = ["1024", "2048", "4096"]


class Random:
    """Operations on few names, so that they interact; with the model's answer to each."""

    def __init__(self, seed: int, far: int) -> None:
        print(f"SEED={seed}")
        self.random, self.model, self.far = random.Random(seed), Model(), far
        self.script: list[str] = []
        self.wanted: list[str] = []
        self.names = [b"a", b"b", b"a longer name", b"\xff\x01\n%", b"n" * 255, *(b"name-%d" % i for i in range(40))]

    def path(self) -> bytes:
        """Returns a path, often an existing one."""
        dirs = [path for path, node in self.model.all().items() if node.kind == "dir"]
        there = list(self.model.all())
        if there and self.random.random() < 0.6:
            return self.random.choice(there)
        return self.random.choice([b"", *dirs]) + b"/" + self.random.choice(self.names)

    def expect(self, line: str, answer: Callable[[], str | None]) -> None:
        self.script.append(line)
        try:
            self.wanted.append(answer() or "0")
        except Refused as refused:
            self.wanted.append(str(refused))

    def make(self) -> None:
        path, kind = self.path(), self.random.choice(["create", "create", "mkdir", "fifo", "node", "symlink"])
        if kind == "symlink":
            node = Node("link", target="t" * self.random.choice([1, 59, 60, 61, 1000]))
            self.expect(f"symlink {node.target} {quoted(path)}", lambda: self.model.add(path, node))
        elif kind == "node":
            self.expect(f"node c 4 65 {quoted(path)}", lambda: self.model.add(path, Node("node")))
        else:
            node = Node({"create": "file", "mkdir": "dir"}.get(kind, kind))
            self.expect(f"{kind} {quoted(path)}", lambda: self.model.add(path, node))

    def file(self) -> bytes | None:
        files = [path for path, node in self.model.all().items() if node.kind == "file"]
        return self.random.choice(files) if files else None

    def write(self) -> None:
        path = self.file()
        if path is None:
            return
        node, length = self.model.walk(path), self.random.choice([1, 700, 4096, 30000])
        offset = self.random.choice([0, node.size, self.random.randrange(200000), self.random.randrange(2000000)])
        if self.random.random() < 0.02:
            offset = self.random.randrange(self.far)
        seed = self.random.randrange(256)

        def answer() -> str:
            node.write(offset, ext2.written(length, seed))
            return str(length)

        self.expect(f"write {quoted(path)} {offset} {length} {seed}", answer)

    def truncate(self) -> None:
        path = self.file()
        if path is None:
            return
        node = self.model.walk(path)
        size = self.random.choice([0, node.size // 2, node.size - node.size % 1024, node.size + 3000])
        self.expect(f"truncate {quoted(path)} {size}", lambda: node.truncate(size))

    def read(self) -> None:
        path = self.file()
        if path is None:
            return
        node = self.model.walk(path)
        offset, length = self.random.randrange(max(node.size, 1)), self.random.randrange(20000)

        def answer() -> str:
            content = node.read(offset, length)
            return f"{ext2.checksum(content):08x} {len(content)}"

        self.expect(f"read {quoted(path)} {offset} {length}", answer)

    def remove(self) -> None:
        path, kind = self.path(), self.random.choice(["file", "dir"])
        self.expect(f"{'rmdir' if kind == 'dir' else 'unlink'} {quoted(path)}", lambda: self.model.remove(path, kind))

    def two(self) -> None:
        old, new = self.path(), self.path()
        if self.random.random() < 0.3:
            self.expect(f"link {quoted(old)} {quoted(new)}", lambda: self.model.link(old, new))
        else:
            self.expect(f"rename {quoted(old)} {quoted(new)}", lambda: self.model.rename(old, new))

    def run(self, steps: int) -> None:
        weighted = [self.make] * 5 + [self.write] * 4 + [self.truncate, self.read, self.remove, self.two, self.two]
        for _ in range(steps):
            self.random.choice(weighted)()
            if self.random.random() < 0.05:
                self.expect(self.random.choice(["sync", "drop", "flush 5 1"]), lambda: None)

    def states(self) -> tuple[list[str], list[str]]:
        """A script that inspects every file, with the expected answers, as patterns."""
        kinds = {"file": "100644", "dir": "40(700|755)", "link": "120777", "fifo": "10600", "node": "20600"}
        files = {path: node for path, node in self.model.all().items() if path != b"/lost+found"}
        sizes = {"file": lambda node: node.size, "dir": lambda node: r"\d+", "link": lambda node: len(node.target)}
        return [f"stat {quoted(path)}" for path in files], [
            rf"{kinds[node.kind]} {node.nlink} {sizes.get(node.kind, lambda node: 0)(node)} \d+ "
            rf"{'441' if node.kind == 'node' else '0'} 0"
            for node in files.values()
        ]


class Crash:
    """Files that are made, synced, renamed and removed until the power fails, and the files that must exist
    afterwards."""

    def __init__(self, seed: int) -> None:
        print(f"SEED={seed}")
        self.random = random.Random(seed)
        self.script = ["mkdir /d0", "mkdir /d1", "mkdir /d2"]
        self.names: dict[str, int] = {}  # the current file of each name
        self.content: dict[int, tuple[int, int]] = {}  # length and seed of each file's only write
        self.events: list[tuple[str, int, set[str]]] = [("", 0, set())] * (len(self.script) + 1)

    def do(self, line: str, what: str = "", file: int = 0, names: set[str] | None = None) -> None:
        self.script.append(line)
        self.events.append((what, file, names or set()))

    def of(self, file: int) -> set[str]:
        return {name for name, one in self.names.items() if one == file}

    def name(self) -> str:
        return f"/d{self.random.randrange(3)}/{self.random.randrange(25)}{'-' * self.random.choice([0, 100, 200])}"

    def make(self, synced: float) -> None:
        name, file = self.name(), len(self.content) + 1
        if name in self.names:
            return
        self.content[file] = (self.random.choice([0, 100, 5000, 40000]), file % 256)
        self.names[name] = file
        self.do(f"create {name}")
        self.do(f"write {name} 0 {self.content[file][0]} {file % 256}")
        if self.random.random() < synced:
            self.do(f"fsync {name}", "synced", file, self.of(file))

    def change(self) -> None:
        if not self.names:
            return
        old, new = self.random.choice(sorted(self.names)), self.name()
        file, kind = self.names[old], self.random.choice(["rename", "rename", "link", "unlink"])
        if kind == "unlink":
            del self.names[old]
            self.do(f"unlink {old}", "named" if self.of(file) else "gone", file, self.of(file))
        elif kind == "rename":
            lost = self.names.get(new)
            if lost == file:
                return
            del self.names[old]
            self.names[new] = file
            if lost:
                self.do("close", "named" if self.of(lost) else "gone", lost, self.of(lost))
            self.do(f"rename {old} {new}", "named", file, self.of(file))
        elif new not in self.names:
            self.names[new] = file
            self.do(f"link {old} {new}", "named", file, self.of(file))

    def run(self, before: int, after: int) -> None:
        """Mostly syncs files before the drive begins to count its last writes; mostly other operations after that."""
        for _ in range(before):
            self.make(0.9)
            self.change()
        self.do(f"cut {self.random.randrange(60)} {self.random.randrange(1 << 20)}")
        for _ in range(after):
            self.random.choice([lambda: self.make(0.1), self.change, self.change])()
            if self.random.random() < 0.5:
                self.do(f"flush {self.random.randrange(1, 4)} {self.random.randrange(1 << 20)}")
        self.do("sync")

    def must_be_there(self, nr_done: int) -> dict[int, set[str]]:
        """The synced files that no call removed since, each with the names that it had since. The first `nr_done` calls
        were answered, and one more was in progress."""
        there: dict[int, set[str]] = {}
        for what, file, names in self.events[:nr_done]:
            if what == "synced":
                there[file] = set(names)
            elif file in there:
                there[file] |= names
        for what, file, names in self.events[nr_done : nr_done + 1]:
            if file in there and what != "synced":
                there[file] |= names
        gone = {file for what, file, _ in self.events[: nr_done + 2] if what == "gone"}
        return {file: names for file, names in there.items() if file not in gone}

    def judge(self, image: Path, nr_done: int) -> int:
        """e2fsck repairs what is left of an image, and then no file is missing. Returns the number of required
        files."""
        ext2.tool("e2fsck", "-fy", image, ok=(0, 1))
        ext2.check(image)
        wanted = self.must_be_there(nr_done)
        script = [f"read {name} 0 100000" for names in wanted.values() for name in sorted(names)]
        found = dict(zip(script, ext2.run(image, script)[0][1:]))
        for file, names in wanted.items():
            content = ext2.written(*self.content[file])
            good = f"{ext2.checksum(content):08x} {len(content)}"
            assert good in [found[f"read {name} 0 100000"] for name in names], (file, names)
        return len(wanted)
