"""ext2 with a redo log (mount -o redo): after a power cut and a replay, e2fsck finds nothing to repair, and all that
was promised is there. Mostly by the program on the host; the last tests run the kernel."""

from __future__ import annotations

import random
import re
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import ext2
import pytest
from ext2_promises import Promises
from ext2_scripts import SEED
from guest import Result, boot
from soak import soak_but
from tidemark.grade.judge.promises import Found, History
from tidemark.machine import ext2 as images
from tidemark.machine import qemu

LOG, MAGIC, FIRST_HOME = "/redo.log", b"redo", 20
STATE = 1024 + 58  # in the superblock
BLOCKS = ("1024", "4096")
NO_LOG, TOO_SMALL, HOLE = "is missing", "is not a file of 32 blocks or more", "has a hole"


def made(folder: Path, size: str, block: str, inodes: int, log: int = 64, *options: str) -> Path:
    """An image with a log of `log` blocks, full of bytes that are not zero."""
    content = folder / "content"
    content.mkdir(exist_ok=True)
    (content / "redo.log").write_bytes(b"\xee" * (int(block) * log))
    return ext2.make(folder / "image", size, "-b", block, "-N", str(inodes), *options, content=content)


def remounted(image: Path) -> Found:
    """Mounts, which replays the log, and unmounts. e2fsck finds nothing to repair. Returns what is on the disk."""
    assert ext2.run(image, ["statfs"], "redo")[0][0] == "0"
    ext2.check(image)
    found: Found = images.Image(image.read_bytes()).files()
    assert found.pop(LOG)
    return found


def answered(there: History, answers: list[str]) -> int:
    """The number of steps with the right answer before the power failed."""
    done = len(answers) - 1 - (answers[-1] == "cut")
    assert answers[1 : 1 + done] == there.wanted[:done]
    return done


@pytest.mark.parametrize(
    "block,log,case",
    soak_but(
        [(b, n, i) for b in BLOCKS for n in (32, 200) for i in range(150)],
        *[(b, n, i) for b in BLOCKS for n in (32, 200) for i in range(3)],
    ),
)
def test_cut_leaves_nothing_to_repair(tmp_path: Path, block: str, log: int, case: int) -> None:
    there, noise = Promises(SEED + case), random.Random(SEED + case)
    there.run(10)
    there.step(f"cut {noise.randrange(300)} {noise.randrange(1 << 20)}")
    there.run(50, noise=True)
    image = made(tmp_path, "4M", block, 400, log)
    answers, printed = ext2.run(image, there.script, "redo")
    assert printed == ""
    there.judge(remounted(image), answered(there, answers))


def pending(folder: Path, seed: int) -> tuple[Path, Promises, int]:
    """An image whose log must be replayed, the steps, and how many of them were answered."""
    for n in range(seed, seed + 40):
        there = Promises(n)
        there.run(12)
        there.sync()
        there.step(f"cut {12 + n % 9} {n}")
        there.run(12)
        there.sync()
        image = made(folder, "1M", "1024", 128)
        shutil.copy(image, folder / "before")
        answers, _ = ext2.run(image, there.script, "redo")
        state = images.Image(image.read_bytes())
        if answers[-1] == "cut" and images.run("e2fsck", "-fn", image)[0]:
            return image, there, answered(there, answers)
    raise AssertionError(f"no cut that needs a replay: {state}")


def log_at(raw: bytes) -> int:
    """The position of a log's header in an image."""
    return raw.index(MAGIC + raw[1024 + 44 : 1024 + 48])


@pytest.mark.parametrize("seed", soak_but(range(10), 1))
def test_replay_is_repeated_after_a_cut(tmp_path: Path, seed: int) -> None:
    image, there, done = pending(tmp_path, SEED + 100 * seed)
    raw, n, cut = image.read_bytes(), 0, True
    while cut:
        image.write_bytes(raw)
        cut = ext2.run(image, ["statfs"], "redo", str(n), str(seed))[0] == ["cut"]
        there.judge(remounted(image), done)
        n += 1
    assert n > 3


def checksum(raw: bytes, at: int) -> int:
    """The checksum of the log in an image."""
    (nr,) = struct.unpack_from("<I", raw, at + 12)
    return ext2.checksum(raw[at : at + 16] + bytes(4) + raw[at + 20 : at + 1024 * (1 + nr)])


def wrong_logs(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Images with a log that must not be replayed. (what, image)"""
    at = log_at(raw)
    (nr,) = struct.unpack_from("<I", raw, at + 12)
    assert checksum(raw, at) == struct.unpack_from("<I", raw, at + 16)[0] and nr > 2

    def changed(offset: int, new: bytes) -> bytes:
        return raw[: at + offset] + new + raw[at + offset + len(new) :]

    def sealed(image: bytes) -> bytes:
        return image[: at + 16] + struct.pack("<I", checksum(image, at)) + image[at + 20 :]

    yield "zeros", changed(0, bytes(1024 * (1 + nr)))
    yield "garbage", changed(0, random.Random(nr).randbytes(1024 * (1 + nr)))
    yield "garbage behind the magic number", changed(12, random.Random(nr).randbytes(1000))
    for sector in range(2 * (1 + nr)):
        yield f"sector {sector} is an old one", changed(512 * sector, b"\xee" * 512)
    yield "another mount", sealed(changed(8, struct.pack("<I", 77)))
    yield "another time", sealed(changed(4, struct.pack("<I", 77)))
    yield "too many", changed(12, struct.pack("<I", 64))
    yield "far too many", changed(12, struct.pack("<I", 0xFFFFFFF0))
    for wrong in (0, 1024, 0x7FFFFFFF, 0xFFFFFFFF):
        yield f"home {wrong}", sealed(changed(FIRST_HOME + 4, struct.pack("<I", wrong)))


def test_log_that_is_torn_stale_or_wrong_changes_nothing(tmp_path: Path) -> None:
    """The disk is larger than the file system, which ends at block 1024."""
    image, _, _ = pending(tmp_path, SEED)
    raw = image.read_bytes() + b"x" * 4096
    room = range(log_at(raw), log_at(raw) + 64 * 1024)

    def rest(image: bytes) -> bytes:
        """All but the log, and the superblock's state: a torn log still shows that the last mount used it."""
        return image[:STATE] + image[STATE + 2 : room.start] + image[room.stop :]

    first, *others = wrong_logs(raw)
    image.write_bytes(first[1])
    assert ext2.run(image, [], "redo")[0][0] == "0"
    without = rest(image.read_bytes())
    assert len(others) > 16
    for what, wrong in others:
        image.write_bytes(wrong)
        assert ext2.run(image, [], "redo")[0][0] == "0"
        assert rest(image.read_bytes()) == without, what


def test_stale_log_is_not_replayed_over_later_changes(tmp_path: Path) -> None:
    """e2fsck has repaired the disk, or a mount without redo has changed it, before the log is used again."""
    image, _, _ = pending(tmp_path, SEED)
    ext2.tool("e2fsck", "-fy", image, ok=(0, 1))
    repaired = images.Image(image.read_bytes()).files()
    del repaired[LOG]
    assert remounted(image) == repaired
    image, _, _ = pending(tmp_path, SEED)
    ext2.tool("e2fsck", "-fy", image, ok=(0, 1))
    assert ext2.run(image, ["create /new", "write /new 0 5000 1"])[0] == ["0", "0", "5000"]
    assert remounted(image)["/new"] == ext2.written(5000, 1)


def test_disk_is_clean_after_a_replay(tmp_path: Path) -> None:
    image, _, _ = pending(tmp_path, SEED)
    assert ext2.run(image, ["statfs"], "redo")[1] == ""
    assert "Filesystem state:         clean" in ext2.tool("dumpe2fs", "-h", image)


@pytest.mark.parametrize("n", soak_but(range(1, 400, 3), 40, 151, 274))
def test_broken_disk_is_consistent_when_it_works_again(tmp_path: Path, n: int) -> None:
    """The nth read of metadata, write of metadata or flush fails, and all after it."""
    there = Promises(SEED + n)
    there.run(10)
    there.sync()
    image = made(tmp_path, "2M", "1024", 128)
    script = [*there.script, f"broken {n}"]
    there.run(40)
    answers, _ = ext2.run(image, script + there.script[len(script) - 1 :], "redo")
    got = answers[1 : len(script)] + answers[len(script) + 1 :]
    right = [a == b for a, b in zip(got, there.wanted)]
    done = right.index(False) if False in right else len(right)
    there.judge(remounted(image), done)


@pytest.mark.parametrize("case", soak_but(range(40), 0, 7))
def test_more_is_freed_than_can_be_remembered(tmp_path: Path, case: int) -> None:
    """There are places for 64 runs. After that, what is freed is free at once, and the next allocation commits."""
    there = History()
    for n in range(100):
        there.create(f"/{n}")
        there.write(f"/{n}", 0, 1500, n)
    there.sync()
    for n in range(0, 100, 2):
        there.remove(f"/{n}")
    there.step(f"cut {case * 3} {case}")
    for n in range(40):
        there.create(f"/new{n}")
        there.write(f"/new{n}", 0, 3000, n)
    there.sync()
    image = made(tmp_path, "1M", "1024", 200)
    answers, printed = ext2.run(image, there.script, "redo")
    assert printed == ""
    there.judge(remounted(image), answered(there, answers))


def test_full_disk_gives_back_what_was_freed(tmp_path: Path) -> None:
    """A call that finds nothing free but what was freed since the last commit is tried again after a commit."""
    there = History()
    image = made(tmp_path, "256K", "1024", 24, 32)
    there.create("/a")
    there.write("/a", 0, 120000, 1)
    for name in "bcdefghijk":
        there.create(f"/{name}")
    there.sync()
    for name in "abc":
        there.remove(f"/{name}")
    for name in "lmn":
        there.create(f"/{name}")
    there.write("/l", 0, 100000, 3)
    there.truncate("/l", 1000)
    there.write("/m", 0, 120000, 5)
    there.sync()
    answers, printed = ext2.run(image, there.script, "redo")
    assert printed == "" and answered(there, answers) == len(there.script)
    there.judge(remounted(image), len(there.script))


def test_call_larger_than_the_log_is_told(tmp_path: Path) -> None:
    """A file with blocks in 40 groups is removed, so 40 bitmaps change; the log has room for 31 blocks."""
    image = made(tmp_path, "10M", "1024", 64, 32, "-g", "256", "-O", "^resize_inode")
    script = ["create /a", *(f"write /a {n * 250000} 250000 1" for n in range(32)), "sync", "unlink /a", "sync"]
    answers, printed = ext2.run(image, script, "redo")
    assert answers == ["0", "0", *["250000"] * 32, "0", "0", "0"]
    assert re.fullmatch(r"ext2: image: \d+ blocks at once are too many for the log: not atomic\n", printed)
    assert set(remounted(image)) == {"/lost+found"}


def refused(image: Path, why: str) -> None:
    answers, printed = ext2.run(image, [], "redo")
    assert answers == ["-22"] and printed == f"ext2: image: cannot be mounted with redo: {LOG} {why}\n"
    ext2.check(image)


def test_file_that_cannot_be_a_log(tmp_path: Path) -> None:
    refused(ext2.make(tmp_path / "image", "256K", "-b", "1024"), NO_LOG)
    refused(made(tmp_path, "256K", "1024", 16, 31), TOO_SMALL)
    image = ext2.make(tmp_path / "image", "256K", "-b", "1024")
    assert ext2.run(image, ["mkdir /redo.log"])[0] == ["0", "0"]
    refused(image, TOO_SMALL)
    image = ext2.make(tmp_path / "image", "256K", "-b", "1024")
    ext2.run(image, ["create /redo.log", "write /redo.log 0 20000 1", "write /redo.log 30000 30000 1"])
    refused(image, HOLE)


def test_log_cannot_be_changed_while_it_is_used(tmp_path: Path) -> None:
    image = made(tmp_path, "256K", "1024", 16, 32)
    script = ["write /redo.log 0 9 1", "truncate /redo.log 0", "unlink /redo.log", "create /a", "rename /redo.log /b"]
    script += ["rename /a /redo.log", "drop", "truncate /redo.log 1"]
    assert ext2.run(image, script, "redo")[0] == ["0", "-26", "-26", "-1", "0", "-1", "-1", "0", "-26"]
    assert ext2.run(image, ["truncate /redo.log 0", "unlink /redo.log"])[0] == ["0", "0", "0"]


# The kernel.

KIND = "sim:ram,cache=256K"
MOUNT = "mkdir /mnt; mount -t ext2 -o redo /dev/sda /mnt"
FLUSHER = "vm.dirty_writeback_centisecs=1 vm.dirty_expire_centisecs=1"  # commits in between


class Steps:
    """Random steps in the kernel."""

    def __init__(self, folder: Path, block: str, seed: int) -> None:
        self.there = Promises(seed)
        self.there.run(50)
        content = folder / "content"
        content.mkdir()
        shutil.copy(qemu.ROOT / "build/user/fsops", content)
        (content / "script").write_text("\n".join(self.there.script) + "\n")
        self.image = made(folder, "3M", block, 400, 64)
        self.raw = self.image.read_bytes()

    def cut(self, n: int, kind: str, beside: str = "") -> Result:
        self.image.write_bytes(self.raw)
        line = f"{beside}{MOUNT}; /mnt/fsops /mnt /mnt/script; umount /mnt"
        options = f"cut={n} cut_seed={n} {FLUSHER if 'hdd' in kind else ''}"
        mem = "8M" if beside else "16M"
        return boot(line, disk=self.image, disk_kind=kind, mem=mem, swap="sim:ram,size=32M", cmdline=options)

    def judge(self, console: str) -> int:
        """Mounts once more; e2fsck finds nothing to repair."""
        result = boot(f"{MOUNT}; umount /mnt", disk=self.image, disk_kind=KIND, mem="16M").check_exit()
        assert "cannot" not in result.console
        ext2.check(self.image)
        found = images.Image(self.image.read_bytes()).files()
        lines = console.partition("answers:\n")[2].partition("\ncut:")[0].splitlines()
        answers = [line for line in lines if line not in ("", "end")]
        assert answers == self.there.wanted[: len(answers)]
        own = (LOG, "/fsops", "/script")
        return self.there.judge({path: what for path, what in found.items() if path not in own}, len(answers))


@pytest.mark.parametrize(
    "block,kind,part",
    soak_but(
        [(b, k, i) for b in BLOCKS for k in (KIND, "sim:hdd,cache=256K") for i in range(20)],
        ("1024", KIND, 13),
        ("4096", "sim:hdd,cache=256K", 8),
    ),
)
def test_cut_kernel_leaves_nothing_to_repair(tmp_path: Path, block: str, kind: str, part: int) -> None:
    steps = Steps(tmp_path, block, SEED)
    never = re.search(r"never came: (\d+) there", steps.cut(1 << 30, kind).check_exit().console)
    assert never
    ext2.check(steps.image)
    console = steps.cut(int(never[1]) * part // 20 + 1, kind).check_exit(qemu.CUT).console
    assert steps.judge(console) >= part // 8


@pytest.mark.parametrize("n", soak_but(range(10, 400, 20), 90))
def test_cut_while_memory_is_short(tmp_path: Path, n: int) -> None:
    steps = Steps(tmp_path, "1024", SEED + n)
    result = steps.cut(n, "sim:hdd,cache=256K", "thrash 2 6144 40 & ")
    assert result.exit in (0, qemu.CUT), result.console
    steps.judge(result.console)


def test_log_cannot_be_changed_past_the_cache(tmp_path: Path) -> None:
    image = made(tmp_path, "256K", "1024", 16, 32)
    line = "dd if=/dev/zero of=/mnt/redo.log bs=4096 count=1 oflag=direct conv=notrunc; rm /mnt/redo.log; ls /mnt"
    result = boot(f"{MOUNT}; {line}; umount /mnt", disk=image, disk_kind=KIND, mem="16M").check_exit()
    assert "redo.log" in result.console.splitlines()
    assert images.Image(image.read_bytes()).files()[LOG]


def test_mounts_show_the_option(tmp_path: Path) -> None:
    image = made(tmp_path, "256K", "1024", 16, 32)
    shown = "cat /proc/mounts /proc/self/mountinfo"
    line = f"{MOUNT}; {shown}; umount /mnt; mount -t ext2 /dev/sda /mnt; {shown}"
    found = boot(line, disk=image, disk_kind=KIND, mem="16M").check_exit().console
    assert re.findall(r"/dev/sda .*rw.*", found) == [
        "/dev/sda /mnt ext2 rw,relatime,redo 0 0",
        "/dev/sda rw,redo",
        "/dev/sda /mnt ext2 rw,relatime 0 0",
        "/dev/sda rw",
    ]


def test_many_inodes_are_committed_in_pieces(tmp_path: Path) -> None:
    """Reading sets the times of 400 files, whose records lie in 50 blocks; the log has room for 31."""
    image = made(tmp_path, "2M", "1024", 512, 32)
    script = [line for n in range(400) for line in (f"create /{n}", f"write /{n} 0 1 1")]
    assert ext2.run(image, script, "redo")[0] == ["0", *["0", "1"] * 400]
    line = f"{MOUNT}; cat /mnt/[0-9]* >/dev/null; sync; umount /mnt"
    result = boot(line, disk=image, disk_kind=KIND, mem="16M").check_exit()
    assert "ext2:" not in result.console
    assert len(remounted(image)) == 401
