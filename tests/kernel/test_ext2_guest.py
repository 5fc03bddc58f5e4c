"""ext2 in the kernel: the same scripts as on the host, run by a program on the image, then checked by e2fsprogs."""

from __future__ import annotations

import random
import re
import struct
from pathlib import Path
from typing import Any

import ext2
import pytest
from ext2 import Model
from ext2_scripts import BLOCKS, SEED, Crash, Random
from guest import boot
from soak import soak_but
from tidemark.machine import qemu

FSOPS = qemu.ROOT / "build/user/fsops"


def in_guest(image: Path, command: str, kind: str = "sim:ram", mem: str = "16M", **more: Any) -> str:
    """Runs a command line with the image mounted at /mnt, and returns its output. The kernel's own checks find no
    fault."""
    line = f"mkdir /mnt; mount -t ext2 /dev/sda /mnt; {command}; umount /mnt; cat /proc/vm/check"
    result = boot(line, disk=image, disk_kind=kind, mem=mem, **more).check_exit().check_lines(["^ok$"])
    assert "ext2:" not in result.console, result.console
    return result.console


def check_in_guest(folder: Path, block: str, trees: list[Random], size: str = "24M", **more: Any) -> None:
    """Runs one process for each tree concurrently, each in its own directory; then checks the image."""
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
    check_in_guest(tmp_path, block, trees, kind="sim:hdd", mem=mem, vm=policy, swap="sim:hdd,size=16M")


def test_full_disk_in_the_kernel(tmp_path: Path) -> None:
    content = tmp_path / "content"
    content.mkdir()
    (content / "fsops").write_bytes(FSOPS.read_bytes())
    (content / "fsops").chmod(0o755)
    files = [f"/{n}" for n in range(50)]
    script = [line for name in files for line in (f"create {name}", f"write {name} {len(name)} 50000 1")]
    (content / "fill").write_text("\n".join([*script, "mkdir /d"]) + "\n")
    (content / "clear").write_text("\n".join([*(f"unlink {name}" for name in files), "rmdir /d"]) + "\n")
    image = ext2.make(tmp_path / "image", "2M", "-b", "1024", content=content)
    free = ext2.free_counts(image)
    console = in_guest(image, "/mnt/fsops /mnt /mnt/fill")
    ext2.check(image)
    assert ext2.free_counts(image)[0] < 4
    assert re.search(r"\n50000\n0\n[1-4]\d+\n(0\n-28\n)+(0|-28)\nend", console), console
    assert re.search(r"answers:\n(0\n)+(-2\n)?end", in_guest(image, "/mnt/fsops /mnt /mnt/clear"))
    ext2.check(image)
    assert ext2.free_counts(image) == (free[0] - 1, free[1])  # the root directory now has a second block


def damaged(image: Path, seed: int) -> None:
    """Changes some numbers in metadata, but no file becomes longer than 16 MiB; the files contain only x."""
    print(f"SEED={seed}")
    noise, raw = random.Random(seed), bytearray(image.read_bytes())
    used = [at for at in range(1024, len(raw), 1024) if set(raw[at : at + 1024]) - {0, ord("x")}]
    for _ in range(noise.randrange(1, 40)):
        at = noise.choice(used) + 4 * noise.randrange(256)
        if at >= 2048:  # most images with a damaged superblock cannot be mounted at all
            raw[at : at + 4] = noise.choice([noise.randrange(len(raw) // 1024), noise.getrandbits(24)]).to_bytes(
                4, "little"
            )
    image.write_bytes(raw)


@pytest.mark.parametrize("case", soak_but(range(40), 0))
def test_damaged_images_do_the_kernel_no_harm(tmp_path: Path, case: int) -> None:
    content = tmp_path / "content"
    (content / "dir" / "deep").mkdir(parents=True)
    for i in range(9):
        (content / "dir" / f"f{i}").write_bytes(b"x" * (i * 3000))
    (content / "dir" / "slow").symlink_to("x" * 100)
    image = ext2.make(tmp_path / "image", "600K", "-b", "1024", "-N", "64", content=content)
    damaged(image, SEED + case)
    files = " ".join(f"f{i}" for i in range(9))
    look = f"find /mnt; cd /mnt/dir; ls -l; cat {files} slow | wc"
    use = f"cp /bin/ls new; mv f8 /mnt/moved; ln f7 x; echo more >>f6; mkdir d; rm {files} slow; cat new | wc; rm new x"
    line = f"mkdir /mnt; mount -t ext2 /dev/sda /mnt; {look}; {use}; sync; cd /; umount /mnt; cat /proc/vm/check"
    result = boot(line, disk=image, disk_kind="sim:ram", mem="16M", timeout=60)
    assert result.exit in (qemu.OK, qemu.FAILED), result.tail()
    result.check_lines(["^ok$"])
    print(result.console)


@pytest.mark.soak
@pytest.mark.parametrize("case", range(12))
def test_end_of_the_machine_loses_nothing_that_was_synced(tmp_path: Path, case: int) -> None:
    crash = Crash(SEED + case)
    crash.run(8000, 0)
    content = tmp_path / "content"
    content.mkdir()
    (content / "fsops").write_bytes(FSOPS.read_bytes())
    (content / "fsops").chmod(0o755)
    (content / "script").write_text("\n".join(crash.script) + "\n")
    image = ext2.make(tmp_path / "image", "8M", "-b", BLOCKS[case % 3], "-N", "400", content=content)
    line = "mkdir /mnt; mount -t ext2 /dev/hda /mnt; /mnt/fsops /mnt /mnt/script"
    result = boot(line, disk=image, disk_kind="ide", exact=False, timeout=2 + case / 6)
    assert result.exit in (qemu.OK, qemu.TIMED_OUT), result.tail()
    answers = result.console.partition("answers:\n")[2].partition("end\n")[0].split("\n")[:-1]
    assert set(answers) - {"0", "100", "5000", "40000"} == set()
    print(f"{len(answers)} answers, {crash.judge(image, 1 + len(answers))} files had to be there")


def test_disk_is_mounted_at_boot_and_clean_at_the_end(tmp_path: Path) -> None:
    image = ext2.make(tmp_path / "image", "2M")
    boot("mount; echo hello > /mnt/file", disk=image, mounted=True).check_exit().check_lines(["^sda /mnt ext2 rw"])
    ext2.check(image)
    assert re.search(r"^Filesystem state: +clean$", ext2.tool("dumpe2fs", "-h", image), re.MULTILINE)
    assert "hello" in ext2.tool("debugfs", "-R", "cat /file", image)


def test_first_partition_with_a_file_system_is_mounted(tmp_path: Path) -> None:
    disk, part = tmp_path / "disk", ext2.make(tmp_path / "part", "1M").read_bytes()
    entries = b"".join(struct.pack("<4xB3xII", 0x83, at, 2048) for at in (8, 2056))
    disk.write_bytes(bytes(446) + entries + bytes(32) + b"\x55\xaa" + bytes(2055 * 512) + part)
    boot("mount", disk=disk, mounted=True).check_exit().check_lines(["^sda2 /mnt ext2 rw"])


def test_disk_that_cannot_be_mounted_is_told_and_the_boot_goes_on(tmp_path: Path) -> None:
    (tmp_path / "disk").write_bytes(bytes(1 << 20))
    result = boot("echo here", disk=tmp_path / "disk", mounted=True).check_exit()
    result.check_lines(["^mount: sda cannot be mounted on /mnt: error 22", "^here$"])
