"""ext2 images that are damaged before or after they are mounted (tests/kernel/hostile): only errors may follow.

A failure is reproduced by its number: SEED=number COUNT=1 make check TESTS=tests/kernel/test_hostile.py
"""

from __future__ import annotations

import os
import random
import re
import shutil
from pathlib import Path

import ext2
import pytest
from ext2_scripts import SEED
from guest import boot
from soak import soak_but
from test_block import SECTOR, entry, table
from tidemark.machine import qemu

TOOLS = 24 << 10  # sectors of the first partition
GUARD = 64
FIRST = 64 + TOOLS + GUARD
SIZE = 1536  # sectors of an image, which fills the second partition
END = FIRST + SIZE
IN_CHECK, IN_SOAK, BOOTS = int(os.environ.get("COUNT") or 40), 500, 21
SHAPES = {
    "1k": ["-b", "1024"],
    "groups": ["-b", "1024", "-g", "256"],
    "2k": ["-b", "2048", "-I", "256"],
    "4k": ["-b", "4096"],
    "old": ["-b", "1024"],
    "old4k": ["-b", "4096"],
    "index": ["-b", "1024", "-O", "dir_index,^filetype,^sparse_super,^resize_inode"],
}


def content(folder: Path) -> Path:
    """Files with every depth of indirection, links of both kinds, a program, a swap area."""
    (folder / "dir" / "deep").mkdir(parents=True)
    for i in range(8):
        (folder / f"f{i}").write_bytes(b"x" * (i * 900))
        (folder / "dir" / f"f{i}").write_bytes(random.Random(i).randbytes(i * 3000))
        (folder / "dir" / "deep" / f"f{i}").write_text("deep")
    (folder / "fast").symlink_to("dir/deep")
    (folder / "slow").symlink_to("dir/" + "./" * 40 + "f1")
    with (folder / "sparse").open("wb") as file:
        for at in (0, 300_000, 69 << 20):
            file.seek(at)
            file.write(b"x" * 1000)
    shutil.copy(qemu.ROOT / "build/user/true", folder / "prog")
    swap = bytearray(random.Random(1).randbytes(16 * 4096))
    swap[1024:1040] = (1).to_bytes(4, "little") + (15).to_bytes(4, "little") + bytes(8)
    swap[4086:4096] = b"SWAPSPACE2"
    (folder / "swap").write_bytes(swap)
    return folder


def shaped(folder: Path, files: Path, name: str) -> Path:
    """An undamaged image; two of its files share a block of attributes."""
    is_old = name.startswith("old")
    make = ext2.make_old if is_old else ext2.make
    image = make(folder / name, f"{SIZE // 2}K", "-N", "64", *SHAPES[name], content=files)
    if not is_old:
        ext2.tool("debugfs", "-w", "-R", f"ea_set /f1 user.x {'value' * 50}", image)
    if name == "index":
        ext2.tool("e2fsck", "-fyD", image, ok=(0, 1))
    return image


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A disk with a partition table, a partition with the program and the images, one to mount them on, and guards
    around it."""
    folder = tmp_path_factory.mktemp("hostile")
    files, tools = content(folder / "content"), folder / "tools"
    tools.mkdir()
    for name in SHAPES:
        shaped(tools, files, name)
    shutil.copy(qemu.ROOT / "build/user/hostile", tools / "hostile")
    first = ext2.make(folder / "first", f"{TOOLS // 2}K", content=tools).read_bytes()
    data = bytearray(b"\xc5" * ((END + GUARD) * SECTOR))
    data[:SECTOR] = table(entry(0x83, 64, TOOLS), entry(0x83, FIRST, SIZE))
    data[64 * SECTOR : (64 + TOOLS) * SECTOR] = first
    return bytes(data)


def hostile(folder: Path, disk: bytes, seed: int, count: int, options: str = "", kind: str = "sim:ram") -> None:
    """Tries `count` images from number `seed` on, in one boot."""
    print(f"SEED={seed} COUNT={count}")
    file = folder / "disk"
    file.write_bytes(disk)
    images = " ".join(f"/t/{name}" for name in SHAPES)
    line = f"mkdir /t; mount -o ro /dev/sda1 /t; /t/hostile {options} {seed} {count} {FIRST} {END} {images}; umount /t"
    result = boot(line, disk=file, disk_kind=kind, mem="10M", swap="sim:ram,size=16M", timeout=60 + count)
    last = result.console.rpartition("\nimage ")[2]
    result.check_exit()
    found = re.search(r"^(\d+) images, (\d+) of them could be mounted$", result.console, re.M)
    assert found and int(found[1]) == count, last
    assert count < 20 or int(found[2]) > count * 0.6
    print(found[0])
    after = file.read_bytes()
    assert after[: FIRST * SECTOR] == disk[: FIRST * SECTOR] and after[END * SECTOR :] == disk[END * SECTOR :]


@pytest.mark.parametrize("part", soak_but(range(BOOTS), 0))
def test_damaged_images_do_the_kernel_no_harm(tmp_path: Path, disk: bytes, part: int) -> None:
    count = IN_CHECK if part == 0 else IN_SOAK
    hostile(tmp_path, disk, SEED if part == 0 else part * 1_000_000 + SEED, count)


@pytest.mark.parametrize("kind", ["sim:ram", "sim:ssd"])
@pytest.mark.parametrize("part", soak_but(range(BOOTS), 0))
def test_mounted_images_may_be_damaged(tmp_path: Path, disk: bytes, part: int, kind: str) -> None:
    """Writes to the device damage an image while it is used; with sim:ssd also while a call waits for the disk."""
    count = IN_CHECK if part == 0 else IN_SOAK
    hostile(tmp_path, disk, SEED if part == 0 else part * 1_000_000 + SEED, count, "--live", kind)


def test_device_of_a_mounted_disk_is_written_to(tmp_path: Path) -> None:
    """During sync, umount and truncate; and so that directories form cycles, or names lead to removed files."""
    content = tmp_path / "content"
    content.mkdir()
    shutil.copy(qemu.ROOT / "build/user/raw", content)
    image = ext2.make(tmp_path / "image", "1M", "-b", "1024", "-O", "^filetype", content=content)
    line = "mkdir /mnt; mount -t ext2 /dev/sda /mnt; cp /mnt/raw /tmp; umount /mnt; /tmp/raw; cat /proc/vm/check"
    run = boot(line, disk=image, disk_kind="sim:ssd", mem="8M").check_exit()
    run.check_lines([r"^R raw checks=\d+ failures=0$", "^ok$"])
    assert " are lost" not in run.console  # pages dirty after the umount belong to the device's writer
