"""A swap area in a file on ext2: by its extents, whole or in pieces; what is refused; and what protects the file."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from guest import Result
from test_swap_areas import CHECK, SWAPS, areas, boot, sound

MKE2FS = shutil.which("mke2fs", path="/usr/sbin:/sbin:/usr/bin:/bin")
E2FSCK = shutil.which("e2fsck", path="/usr/sbin:/sbin:/usr/bin:/bin")
DEBUGFS = shutil.which("debugfs", path="/usr/sbin:/sbin:/usr/bin:/bin")
MOUNT = "mkdir /mnt; mount -t ext2 /dev/sda /mnt"

pytestmark = pytest.mark.skipif(not (MKE2FS and E2FSCK and DEBUGFS), reason="e2fsprogs are missing")


def noise(pages: int) -> bytes:
    """Random bytes without a page of zeros, so that mke2fs makes no hole."""
    return random.Random(pages).randbytes(pages * 4096)


def ext2(folder: Path, files: dict[str, bytes], mib: int, block: int = 1024) -> str:
    """An image with these files."""
    root, image = folder / "root", folder / "disk.img"
    root.mkdir()
    for name, data in files.items():
        (root / name).write_bytes(data)
    with image.open("wb") as file:
        file.truncate(mib << 20)
    subprocess.run([str(MKE2FS), "-q", "-t", "ext2", "-b", str(block), "-d", str(root), str(image)], check=True)
    return str(image)


def intact(image: str) -> None:
    """Checks that the file system is consistent."""
    checked = subprocess.run([str(E2FSCK), "-fn", image], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def shown(result: Result) -> list[tuple[str, str]]:
    """Name and type of each line of `cat /proc/swaps`."""
    return [(w[0], w[1]) for w in map(str.split, result.console.splitlines()) if len(w) == 5 and w[0].startswith("/")]


@pytest.mark.parametrize("block", [1024, 4096])
def test_file_in_one_piece(tmp_path: Path, block: int) -> None:
    disk = ext2(tmp_path, {"swap": noise(2048)}, 16, block)
    command = (
        f"{MOUNT}; mkswap /mnt/swap; swapon -p 7 /mnt/swap; hog 14336 1 & sleep 0.8; {SWAPS}; {CHECK};"
        f" swapoff /mnt/swap; {SWAPS}; wait; {CHECK}; umount /mnt"
    )
    result = sound(boot(command, disk))
    assert shown(result) == [("/dev/sim", "partition"), ("/mnt/swap", "file"), ("/dev/sim", "partition")]
    intact(disk)


def test_file_in_pieces(tmp_path: Path) -> None:
    """The file gets the blocks of every second file that filled the disk; the remaining files must not change."""
    files = {str(i): noise(20) for i in range(100)}
    disk = ext2(tmp_path, {**files, "from": noise(960)}, 13)
    remove = "cd /mnt; rm " + " ".join(str(i) for i in range(0, 100, 2)) + "; cd /"
    command = (
        f"{MOUNT}; {remove}; cp /mnt/from /mnt/swap; mkswap /mnt/swap; swapon -p 7 /mnt/swap; cat /proc/vmallocinfo;"
        f" hog 14336 1 & sleep 0.8; {SWAPS}; {CHECK}; swapoff /mnt/swap; wait; {CHECK}; umount /mnt"
    )
    sound(boot(command, disk)).check_lines(["swap file", "^/mnt/swap +file"])
    intact(disk)
    for i in range(1, 100, 2):
        dump = [str(DEBUGFS), "-R", f"cat /{i}", disk]
        assert subprocess.run(dump, capture_output=True, check=True).stdout == files[str(i)]


def test_what_is_refused(tmp_path: Path) -> None:
    """Holes, a file in memory, one without a header, one in use; and writing to it, truncating it."""
    disk = ext2(tmp_path, {"swap": noise(64), "holes": b"x" + bytes(64 * 4096)}, 8)
    command = (
        f"{MOUNT}; swapon /mnt/swap; mkswap /mnt/holes; swapon /mnt/holes; cp /mnt/swap /ram; swapon /ram;"
        " mkdir /t; mount -t tmpfs none /t; cp /mnt/swap /t/shared; swapon /t/shared;"
        " mkswap /mnt/swap; swapon /mnt/swap; swapon /mnt/swap; echo x > /mnt/swap; echo x >> /mnt/swap; umount /mnt;"
        f" swapoff /mnt/swap; echo x > /mnt/swap && umount /mnt; {SWAPS}"
    )
    result = boot(command, disk).check_exit()
    result.check_lines(
        [
            "^swapon: /mnt/swap: Invalid argument",
            "^swapon: /mnt/holes: Invalid argument",
            "^swapon: /ram: Invalid argument",
            "^swapon: /t/shared: Invalid argument",
            "^swapon: /mnt/swap: Resource busy",
            "Text file busy",
            "^umount: /mnt: Resource busy",
        ]
    )
    assert list(areas(result)[-1]) == ["/dev/sim"]
    intact(disk)


def test_name_stays_while_it_is_used(tmp_path: Path) -> None:
    """As on Linux: swapoff identifies the area by its name."""
    disk = ext2(tmp_path, {"swap": noise(64), "other": b"x"}, 8)
    names = "rm /mnt/swap || mv /mnt/swap /mnt/new || mv /mnt/other /mnt/swap || ls /mnt"
    command = f"{MOUNT}; mkswap /mnt/swap; swapon /mnt/swap; {names}; swapoff /mnt/swap && rm /mnt/swap; umount /mnt"
    result = boot(command, disk).check_exit()
    result.check_lines(["^rm: .*not permitted", "^mv: .*not permitted", "^mv: .*not permitted", "^other$", "^swap$"])
    intact(disk)


def test_name_that_is_too_long_to_show(tmp_path: Path) -> None:
    """/proc/swaps has room for 127 bytes."""
    disk = ext2(tmp_path, {"swap": noise(64)}, 8)
    name = "d" * 130
    command = f"{MOUNT}; mkswap /mnt/swap; cd /mnt; mkdir {name}; cd {name}; mv /mnt/swap swap; swapon swap; {SWAPS}"
    boot(command, disk).check_exit().check_lines([r"^\(too long\) +file +252 "])
