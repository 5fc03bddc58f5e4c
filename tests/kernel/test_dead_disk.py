"""A disk that stops answering, at any request: after 30 s of the guest's time it is given up, programs that need it get
errors (EIO, SIGBUS), and the machine continues; its file system can be unmounted, and lost data are reported."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import ext2
import pytest
from guest import Result, boot
from progress import Tried
from soak import soak_but
from test_block import SECTOR, entry, table
from tidemark.machine import qemu

FAST = "sim:ssd,size=16M"
AFTER = "thrash 2 1000 1; cat /proc/mounts /proc/vm/check"
DEVICE = {"ide": "hda", "virtio": "vda"}
LOST = r"ext2: .da: \d+ pages and inodes could not be written and are lost"
CASES = ["reading", "mapped", "running", "syncing", "writing"]


def image(folder: Path) -> Path:
    """An image with the program, a file, a script, and a directory."""
    content = folder / "content"
    (content / "dir").mkdir(parents=True)
    shutil.copy(qemu.ROOT / "build/user/gone", content / "gone")
    shutil.copy(qemu.ROOT / "build/user/true", content / "prog")
    (content / "f").write_bytes(b"x" * 20000)
    (content / "s").write_text("echo script\n")
    return ext2.make(folder / "image", "4M", content=content)


def run(disk: Path, command: str, kind: str = "sim:ssd", **more: object) -> Result:
    """Runs a command line in /mnt, where the image is mounted; then unmounts it. The machine must be in order
    afterwards."""
    device = DEVICE.get(kind, "sda")
    mounted = f"mkdir /mnt; mount -t ext2 /dev/{device} /mnt; cp /mnt/gone /tmp; cd /mnt"
    line = f"{mounted}; {command}; cd /; umount /mnt; {AFTER}"
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


def test_what_is_freed_while_memory_is_short_is_free(tmp_path: Path) -> None:
    """A process that is killed for memory may be the last user of a file."""
    disk = image(tmp_path)
    run(disk, "/tmp/gone freeing")
    ext2.check(disk)


WORK = """cd /mnt; ./prog; cat s f | wc; echo more >>s; cp f g; filescan h 1 --kb 1500 fill mmap write random
mkdir dir/d; mv g dir/d; ln f dir/l; sync; rm dir/l; echo 3 > /proc/sys/vm/drop_caches; ./prog; cat dir/d/g | wc
thrash 2 4500 2; sh s; find . | wc
cd /; umount /mnt; mount -t ext2 /dev/sda1 /mnt; find /mnt | wc; umount /mnt
"""
REQUESTS = 340  # of all that, and some more


@pytest.fixture(scope="module")
def busy_disk(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A partition with files, and one with the swap area."""
    folder = tmp_path_factory.mktemp("dead")
    data = bytearray(((4 + 8) << 20) + 64 * SECTOR)
    data[:SECTOR] = table(entry(0x83, 64, 8192), entry(0x82, 64 + 8192, 16384))
    data[64 * SECTOR : 64 * SECTOR + (4 << 20)] = image(folder).read_bytes()
    return bytes(data)


@pytest.mark.parametrize("nth", soak_but(range(1, REQUESTS), 3, 60, 130))
def test_disk_may_die_at_any_request(tmp_path: Path, busy_disk: bytes, nth: int) -> None:
    """In the middle of mounting, reading, running programs, writing, swapping, or unmounting."""
    tried = Tried("dead-disk")
    if not tried.done(nth):
        die_at(nth, tmp_path, busy_disk)
        tried.add(nth)


def die_at(nth: int, folder: Path, busy_disk: bytes) -> None:
    disk = folder / "disk"
    disk.write_bytes(busy_disk)
    work = "; ".join(WORK.splitlines())
    line = f"mkdir /mnt; echo mute:{nth} >/proc/fail; mount -t ext2 /dev/sda1 /mnt; {work}; echo done; {AFTER}"
    result = boot(line, disk=disk, disk_kind="sim:ssd", mem="8M", swap="sda2")
    if "init died: signal 7" in result.console:  # its pages were in the swap area: as on Linux, this is the end
        return
    assert result.exit in (qemu.OK, qemu.FAILED), result.tail()
    never = "never came" in result.console
    result.check_lines(["^done$", "^R thrash .*corrupt=0", "^ok$"])
    assert " /mnt " not in result.console.partition("done\n")[2], result.tail()
    assert never or "sda: no answer for 30 s: given up" in result.console, result.tail()
    assert seconds(result) < 60, result.tail()
    assert never or nth < REQUESTS - 1, "there are more requests than are tried"


def seconds(result: Result) -> float:
    """The duration of the run in the machine's own time."""
    found = re.search(r"^system: ([\d.]+) s", result.console, re.M)
    assert found, result.tail()
    return float(found[1])
