"""A disk that stops answering, at any request: after 30 s of the guest's time it is given up, who needed it is told
(EIO, SIGBUS), and the machine goes on; its file system can be unmounted, and what is lost is said."""

from __future__ import annotations

import shutil
from pathlib import Path

import ext2
import pytest
from guest import Result, boot
from soak import soak_but
from tidemark import qemu

FAST = "sim:ssd,size=16M"
AFTER = "thrash 2 1000 1; cat /proc/mounts /proc/vm/check"
DEVICE = {"ide": "hda", "virtio": "vda"}
LOST = r"ext2: .da: \d+ pages and inodes could not be written and are lost"
CASES = ["reading", "mapped", "running", "syncing", "writing"]


def image(folder: Path) -> Path:
    """An image with the program, a file, a script, a directory."""
    content = folder / "content"
    (content / "dir").mkdir(parents=True)
    shutil.copy(qemu.ROOT / "build/user/gone", content / "gone")
    shutil.copy(qemu.ROOT / "build/user/true", content / "prog")
    (content / "f").write_bytes(b"x" * 20000)
    (content / "s").write_text("echo script\n")
    return ext2.make(folder / "image", "4M", content=content)


def run(disk: Path, command: str, kind: str = "sim:ssd", **more: object) -> Result:
    """A command line in /mnt, where the image is mounted; then it is unmounted. The machine is as it should be."""
    device = DEVICE.get(kind, "sda")
    line = f"mkdir /mnt; mount -t ext2 /dev/{device} /mnt; cp /mnt/gone /tmp; cd /mnt; {command}; cd /; umount /mnt; {AFTER}"
    result = boot(line, disk=disk, disk_kind=kind, mem="12M", swap=FAST, exact=True, **more)  # type: ignore[arg-type]
    result.check_exit().check_lines(["^R thrash .*lost=0 corrupt=0", "^ok$"])
    for bad in ("line ", "umount:", " /mnt ", "Out of memory"):
        assert bad not in result.console, result.tail()
    return result


@pytest.mark.parametrize(
    "kind,case", soak_but([(k, c) for k in ("sim:ssd", *DEVICE) for c in CASES], *[("sim:ssd", c) for c in CASES])
)
def test_silent_disk_is_given_up(tmp_path: Path, kind: str, case: str) -> None:
    result = run(image(tmp_path), f"/tmp/gone {case}", kind)
    result.check_lines([f"^{DEVICE.get(kind, 'sda')}: no answer for 30 s: given up", LOST])


def test_fsync_tells_each_open_file_once(tmp_path: Path) -> None:
    disk = image(tmp_path)
    run(disk, "/tmp/gone told")
    ext2.check(disk)
