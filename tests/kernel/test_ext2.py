"""The kernel's ext2 over images, as a program of the host (tests/host/ext2), judged by e2fsprogs and by a model."""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ext2
import pytest
from ext2 import Model, Node, Refused, quoted
from guest import boot
from soak import soak_but
from tidemark import qemu

SEED = int(os.environ.get("SEED", "0")) or random.randrange(1, 1 << 30)
BLOCKS = ["1024", "2048", "4096"]


class Random:
    """Operations on few names, so that they meet; what the model answers beside what a script says."""

    def __init__(self, seed: int, far: int) -> None:
        print(f"SEED={seed}")
        self.random, self.model, self.far = random.Random(seed), Model(), far
        self.script: list[str] = []
        self.wanted: list[str] = []
        self.names = [b"a", b"b", b"a longer name", b"\xff\x01\n%", b"n" * 255, *(b"name-%d" % i for i in range(40))]

    def path(self) -> bytes:
        """Often one that is there."""
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
        """A script that looks at every file, and what it should answer, as patterns."""
        kinds = {"file": "100644", "dir": "40(700|755)", "link": "120777", "fifo": "10600", "node": "20600"}
        files = {path: node for path, node in self.model.all().items() if path != b"/lost+found"}
        sizes = {"file": lambda node: node.size, "dir": lambda node: r"\d+", "link": lambda node: len(node.target)}
        return [f"stat {quoted(path)}" for path in files], [
            rf"{kinds[node.kind]} {node.nlink} {sizes.get(node.kind, lambda node: 0)(node)} \d+ "
            rf"{'441' if node.kind == 'node' else '0'} 0"
            for node in files.values()
        ]


@pytest.mark.parametrize("block,case", soak_but([(b, i) for b in BLOCKS for i in range(20)], *[(b, 0) for b in BLOCKS]))
def test_random_operations_do_what_the_model_does(tmp_path: Path, block: str, case: int) -> None:
    image = ext2.make(tmp_path / "image", "24M", "-b", block, "-N", "800")
    there = Random(SEED + case, far=70 << 20)
    there.run(400)
    looks, states = there.states()
    answers, printed = ext2.run(image, [*there.script, "drop", *looks])
    assert printed == ""
    wanted = ["0", *there.wanted, "0"]
    for line, answer, want in zip(["mount", *there.script], answers, wanted):
        assert answer == want, line
    for line, answer, pattern in zip(looks, answers[len(wanted) :], states, strict=True):
        assert re.fullmatch(pattern, answer), line
    ext2.check(image)
    ext2.compare_dump(image, there.model, tmp_path / "out")


class Crash:
    """Files that are made, synced, renamed and removed until the power is cut; what must be there afterwards."""

    def __init__(self, seed: int) -> None:
        print(f"SEED={seed}")
        self.random = random.Random(seed)
        self.script = ["mkdir /d0", "mkdir /d1", "mkdir /d2"]
        self.names: dict[str, int] = {}  # file by its name now
        self.content: dict[int, tuple[int, int]] = {}  # length and seed of each file's one write
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

    def run(self) -> None:
        for _ in range(25):
            self.make(0.9)
            self.change()
        self.do(f"cut {self.random.randrange(60)} {self.random.randrange(1 << 20)}")
        for _ in range(60):
            self.random.choice([lambda: self.make(0.1), self.change, self.change])()
            if self.random.random() < 0.5:
                self.do(f"flush {self.random.randrange(1, 4)} {self.random.randrange(1 << 20)}")
        self.do("sync")

    def must_be_there(self, nr_done: int) -> dict[int, set[str]]:
        """The synced files that no call took since, each with the names that it had since; the first `nr_done` calls
        were answered, and one more was under way."""
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


@pytest.mark.parametrize(
    "block,case", soak_but([(b, i) for b in BLOCKS for i in range(60)], *[(b, i) for b in BLOCKS for i in range(3)])
)
def test_cut_of_power_loses_nothing_that_was_synced(tmp_path: Path, block: str, case: int) -> None:
    image = ext2.make(tmp_path / "image", "4M", "-b", block, "-N", "400")
    crash = Crash(SEED + case)
    crash.run()
    answers, _ = ext2.run(image, crash.script)
    assert set(answers[:-1]) - {"0", "100", "5000", "40000", "-38"} == set()
    ext2.tool("e2fsck", "-fy", image, ok=(0, 1))
    ext2.check(image)
    wanted = crash.must_be_there(len(answers) - (answers[-1] == "cut"))
    script = [f"read {name} 0 100000" for names in wanted.values() for name in sorted(names)]
    found = dict(zip(script, ext2.run(image, script)[0][1:]))
    for file, names in wanted.items():
        content = ext2.written(*crash.content[file])
        good = f"{ext2.checksum(content):08x} {len(content)}"
        assert good in [found[f"read {name} 0 100000"] for name in names], (file, names)


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of every depth of indirection (at 1 KiB a block), holes, links, odd names."""
    root = tmp_path_factory.mktemp("content")
    (root / "dir" / "deep").mkdir(parents=True)
    noise = random.Random(1)
    for size in (0, 1, 1023, 12 << 10, 13 << 10, 400_000):
        (root / "dir" / f"{size} bytes").write_bytes(noise.randbytes(size))
    with (root / "sparse").open("wb") as file:
        for at in (0, 300_000, 69 << 20):
            file.seek(at)
            file.write(noise.randbytes(3000))
    (root / "short").symlink_to("dir/deep")
    (root / "long").symlink_to("x" * 200)
    for i in range(200):
        (root / "dir" / "deep" / f"{i}{'-' * 60}").write_text(str(i))
    return root


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("revision", ["0", "1"])
def test_image_of_mke2fs_reads_back_equal(tmp_path: Path, content: Path, block: str, revision: str) -> None:
    options = ["-r", "0", "-O", "none"] if revision == "0" else []
    image = ext2.make(tmp_path / "image", "8M", "-b", block, *options, content=content)
    files = [path for path in sorted(content.rglob("*"))]
    script, wanted = ["list /", "list /dir/deep"], []
    for path in files:
        name = quoted("/" + str(path.relative_to(content)))
        if path.is_symlink():
            script.append(f"readlink {name}")
            wanted.append(f"{os.readlink(path)} 0")
        elif path.is_file():
            whole = path.read_bytes()
            for at in range(0, len(whole) + 1, 1 << 20):
                if at == 0 or any(whole[at : at + (1 << 20)]):
                    part = whole[at : at + (1 << 20)]
                    script.append(f"read {name} {at} {1 << 20}")
                    wanted.append((part, len(part)))  # type: ignore[arg-type]
    answers, printed = ext2.run(image, script, "ro")
    assert printed == "" and answers[1].endswith(" 5") and answers[2].endswith(" 200")
    before = image.read_bytes()
    assert [w if isinstance(w, str) else sum_of(*w) for w in wanted] == answers[3:]
    assert image.read_bytes() == before


def sum_of(part: bytes, length: int) -> str:
    # A large hole is as good as a small one.
    return f"{ext2.checksum(part):08x} {length}"


def test_full_disk_and_full_table_leave_nothing_half_done(tmp_path: Path) -> None:
    image = ext2.make(tmp_path / "image", "1M", "-b", "1024", "-N", "64")
    free = ext2.free_counts(image)
    files = [f"/dir/{i}" for i in range(80)]
    script = ["mkdir /dir", *(f"create {name}" for name in files), "write /dir/1 0 2000000 1", "statfs"]
    script += ["write /dir/2 0 1 1", "symlink " + "x" * 100 + " /slow", "rmdir /dir", "mkdir /dir/2"]
    answers, _ = ext2.run(image, script)
    made = answers[2:82].count("0")
    assert answers[2 : 2 + made] == ["0"] * made and set(answers[2 + made : 82]) == {"-28"}
    assert 900_000 < int(answers[82]) < 1_020_000
    assert answers[83].split()[1] == "0" and answers[84:] == ["-28", "-28", "-39", "-17"]
    ext2.check(image)
    removed = [f"unlink {name}" for name in files[:made]]
    assert ext2.run(image, [*removed, "rmdir /dir"])[0] == ["0"] * (made + 2)
    ext2.check(image)
    assert ext2.free_counts(image) == free


def test_no_more_links_than_ext2_has(tmp_path: Path) -> None:
    image = ext2.make(tmp_path / "image", "1M")
    ext2.run(image, ["create /file", "mkdir /dir", "mkdir /other"])
    for name in ("/file", "/dir"):
        ext2.tool("debugfs", "-w", "-R", f"set_inode_field {name} links_count 31999", image)
    script = ["link /file /1", "link /file /2", "mkdir /dir/1", "mkdir /dir/2", "rename /other /dir/3"]
    assert ext2.run(image, script)[0][1:] == ["0", "-31", "0", "-31", "-31"]


def test_file_that_is_open_lives_on(tmp_path: Path) -> None:
    image = ext2.make(tmp_path / "image", "1M")
    script = [
        "create /file",
        "write /file 0 50000 1",
        "statfs",
        "open /file",
        "unlink /file",
        "statfs",
        "close",
        "statfs",
    ]
    answers = ext2.run(image, script)[0]
    full, unlinked, closed = (int(answers[i].split()[1]) for i in (3, 6, 8))
    assert full == unlinked and closed > full + 45
    ext2.check(image)


def test_attributes_go_with_the_last_inode_that_has_them(tmp_path: Path) -> None:
    image = ext2.make(tmp_path / "image", "1M", "-I", "128")
    free = ext2.free_counts(image)
    ext2.run(image, ["create /a", "create /b"])
    for name in ("a", "b"):
        ext2.tool("debugfs", "-w", "-R", f"ea_set /{name} user.x {'value' * 20}", image)
    ext2.run(image, ["write /a 0 5000 1"])
    assert "user.x" in ext2.tool("debugfs", "-R", "ea_list /a", image)
    ext2.check(image)
    assert ext2.run(image, ["unlink /a", "unlink /b"])[0] == ["0"] * 3
    ext2.check(image)
    assert ext2.free_counts(image) == free


def test_indexed_directory_is_read_and_loses_its_index(tmp_path: Path, content: Path) -> None:
    image = ext2.make(tmp_path / "image", "8M", "-b", "1024", content=content)
    ext2.tool("e2fsck", "-fyD", image, ok=(0, 1))
    assert "0x1000" in ext2.tool("debugfs", "-R", "stat /dir/deep", image)
    names = [f"/dir/deep/{i}{'-' * 60}" for i in range(200)]
    script = ["list /dir/deep", *(f"stat {name}" for name in names), "create /dir/deep/new"]
    script += [f"unlink {name}" for name in names[::2]]
    answers = ext2.run(image, script)[0]
    assert answers[1].endswith(" 200") and answers[202:] == ["0"] * 101
    assert "0x1000" not in ext2.tool("debugfs", "-R", "stat /dir/deep", image)
    ext2.check(image)


@pytest.mark.parametrize(
    "field,value,options,answer,says",
    [
        ("feature_incompat", "0x2|0x40", [], "-22", "incompatible features 0x40"),
        ("feature_ro_compat", "0x3|0x10", [], "-30", "only be mounted to read: unknown features 0x10"),
        ("feature_ro_compat", "0x3|0x10", ["ro"], "0", ""),
        ("feature_compat", "0x4", [], "0", ""),
        ("rev_level", "2", [], "-22", "revision 2"),
        ("log_block_size", "3", [], "-22", "blocks larger than 4 KiB"),
        ("blocks_count", "99999", [], "-22", "more blocks than the device has"),
        ("state", "0", [], "0", "was not unmounted"),
        ("magic", "0", [], "-22", "no ext2 on it"),
    ],
)
def test_mount_looks_at_features_and_sizes(
    tmp_path: Path, field: str, value: str, options: list[str], answer: str, says: str
) -> None:
    places = {"feature_compat": 92, "feature_incompat": 96, "feature_ro_compat": 100, "rev_level": 76}
    places |= {"log_block_size": 24, "blocks_count": 4, "state": 58, "magic": 56}
    image = ext2.make(tmp_path / "image", "1M")
    raw = bytearray(image.read_bytes())
    width = 2 if field in ("state", "magic") else 4
    number = sum(int(part, 0) for part in value.split("|"))
    raw[1024 + places[field] : 1024 + places[field] + width] = number.to_bytes(width, "little")
    image.write_bytes(raw)
    answers, printed = ext2.run(image, ["create /file"], *options)
    assert answers[0] == answer and (says in printed if says else printed == "")


def test_state_and_times_say_who_uses_it(tmp_path: Path) -> None:
    image = ext2.make(tmp_path / "image", "1M")
    assert ext2.run(image, ["create /file", "fsync /file", "cut 0 1", "create /b", "sync"])[0][-1] == "cut"
    used = ext2.tool("dumpe2fs", "-h", image)
    assert "not clean" in used and re.search(r"Mount count: +1$", used, re.M)
    ext2.tool("e2fsck", "-fy", image, ok=(0, 1))
    ext2.run(image, [])
    unused = ext2.tool("dumpe2fs", "-h", image)
    assert re.search(r"Filesystem state: +clean$", unused, re.M) and "Nov 18" in unused.split("Last mount time:")[1]


def test_blocks_written_in_order_lie_in_order(tmp_path: Path) -> None:
    image = ext2.make(tmp_path / "image", "8M", "-b", "1024")
    appended = [f"write /{name} {at} 4096 1" for at in range(0, 400_000, 4096) for name in "ab"]
    ext2.run(image, ["create /a", "create /b", *appended, "create /c", "write /c 0 3000000 1"])
    runs = {
        name: len(re.findall(r"\(\d+[-)]", ext2.tool("debugfs", "-R", f"stat /{name}", image).split("BLOCKS:")[1]))
        for name in "abc"
    }
    assert max(runs["a"], runs["b"]) <= 16 and runs["c"] <= 20, runs


def fuzzed(image: Path, seed: int, count: int) -> None:
    print(f"SEED={seed}")
    done = subprocess.run([ext2.PROGRAM, "--fuzz", image, str(seed), str(count)], capture_output=True, timeout=280)
    assert done.returncode == 0, done.stderr[-3000:].decode()
    mounted = int(re.search(rb"(\d+) of them", done.stdout)[1])  # type: ignore[index]
    assert mounted > count * 0.8


@pytest.mark.parametrize(
    "block,count", soak_but([(b, n) for b in BLOCKS for n in (100, 3400)], *[(b, 100) for b in BLOCKS])
)
def test_damaged_images_do_no_harm(tmp_path: Path, block: str, count: int) -> None:
    folder = tmp_path / "content"
    (folder / "dir" / "deep").mkdir(parents=True)
    for i in range(9):
        (folder / "dir" / f"f{i}").write_bytes(random.Random(i).randbytes(i * 1500))
    (folder / "fast").symlink_to("target")
    (folder / "slow").symlink_to("x" * 100)
    with (folder / "sparse").open("wb") as file:
        for at in (0, 300_000, 69 << 20):
            file.seek(at)
            file.write(b"x" * 1000)
    image = ext2.make(tmp_path / "image", "600K" if block == "1024" else "1M", "-b", block, "-N", "64", content=folder)
    fuzzed(image, SEED, count)


# --- in the kernel ---

FSOPS = qemu.ROOT / "build/user/fsops"


def in_guest(image: Path, command: str, kind: str = "sim:ram", mem: str = "16M", **more: Any) -> str:
    """One command line with the image mounted at /mnt: what was printed. The kernel finds nothing wrong anywhere."""
    line = f"mkdir /mnt; mount -t ext2 /dev/sda /mnt; {command}; umount /mnt; cat /proc/vm/check"
    result = boot(line, disk=image, disk_kind=kind, mem=mem, **more).check_exit().check_lines(["^ok$"])
    assert "ext2:" not in result.console, result.console
    return result.console


def check_in_guest(folder: Path, block: str, trees: list[Random], size: str = "24M", **more: Any) -> None:
    """As many processes as there are trees, each in its own directory, at the same time; then the image is judged."""
    whole, content = Model(), folder / "content"
    content.mkdir()
    (content / "fsops").write_bytes(FSOPS.read_bytes())
    (content / "fsops").chmod(0o755)
    for n, there in enumerate(trees):
        (content / f"{n}").mkdir()
        (content / f"{n}" / "lost+found").mkdir()
        (content / f"script{n}").write_text("\n".join([*there.script, "drop", *there.states()[0]]) + "\n")
        whole.root.names[b"%d" % n] = there.model.root
    image = ext2.make(folder / "image", size, "-b", block, "-N", "1200", content=content)
    jobs = " & ".join(f"/mnt/fsops /mnt/{n} /mnt/script{n} >/mnt/answers{n}" for n in range(len(trees)))
    in_guest(image, f"{jobs} & wait; rm /mnt/fsops", **more)
    ext2.check(image)
    for n, there in enumerate(trees):
        answers = ext2.tool("debugfs", "-R", f"cat /answers{n}", image).split("answers:\n")[1].split("\n")
        looks, states = there.states()
        for line, answer, want in zip([*there.script, "drop"], answers, [*there.wanted, "0"]):
            assert answer == want, line
        for line, answer, pattern in zip(looks, answers[len(there.script) + 1 :], states):
            assert re.fullmatch(pattern, answer), line
        assert answers[len(there.script) + 1 + len(looks)] == "end"
        for what in ("script", "answers"):
            ext2.tool("debugfs", "-w", "-R", f"rm /{what}{n}", image)
    ext2.compare_dump(image, whole, folder / "out")


@pytest.mark.parametrize(
    "block,case,policy",
    soak_but(
        [(b, i, p) for b in BLOCKS for i in range(4) for p in ("2q", "clock", "ws")],
        ("1024", 0, "2q"),
        ("4096", 0, "clock"),
    ),
)
def test_random_operations_in_the_kernel(tmp_path: Path, block: str, case: int, policy: str) -> None:
    there = Random(SEED + case, far=70 << 20)
    there.run(400)
    check_in_guest(tmp_path, block, [there], vm=policy)


@pytest.mark.parametrize(
    "block,case,policy,mem",
    soak_but(
        [(b, i, p, m) for b in BLOCKS for i in range(3) for p in ("2q", "lru", "ws") for m in ("5M", "16M")],
        ("1024", 0, "2q", "5M"),
    ),
)
def test_processes_share_a_slow_disk_and_little_memory(
    tmp_path: Path, block: str, case: int, policy: str, mem: str
) -> None:
    trees = [Random(SEED + 10 * case + n, far=3 << 20) for n in range(3)]
    for there in trees:
        there.run(250)
    check_in_guest(tmp_path, block, trees, kind="sim:hdd", mem=mem, vm=policy)


def test_full_disk_in_the_kernel(tmp_path: Path) -> None:
    image = ext2.make(tmp_path / "image", "2M", "-b", "1024")
    free = ext2.free_counts(image)
    in_guest(
        image,
        "mkdir /mnt/d; cp /bin/sh /mnt/d/0; "
        + "".join(f"cp /bin/sh /mnt/d/{n}; " for n in range(1, 21))
        + "mkdir /mnt/e; df",
    )
    ext2.check(image)
    assert ext2.free_counts(image)[0] == 0
    console = in_guest(image, "cat /mnt/d/0 | wc; rm -r /mnt/d; rm -r /mnt/e")
    assert str((qemu.ROOT / "build/user/sh").stat().st_size) in console
    ext2.check(image)
    assert ext2.free_counts(image) == free
