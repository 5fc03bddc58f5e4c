"""O_DIRECT: each case of the program `direct` has the same result as on Linux; no page enters the cache; the disk's
image contains what was written; also when memory is short, and when requests fail.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import ext2
import pytest
from guest import Result, boot
from soak import soak_but
from tidemark.machine import disk, qemu

PROGRAM = qemu.ROOT / "build/user/direct"
CASES = ["both", "ends", "refused", "mapped", "faults", "forked", "together"]
FAST = "sim:ssd,size=16M"
KIB = 3000  # of `big`, and a few bytes


def image(folder: Path, *options: str) -> Path:
    content = folder / "content"
    content.mkdir()
    shutil.copy(PROGRAM, content / "direct")
    (content / "big").write_bytes(b"".join(n.to_bytes(4, "little") for n in range(KIB * 256)) + b"the end")
    (content / "file").write_bytes(b"x" * 8192)
    return ext2.make(folder / "image", "16M", *options, content=content)


def in_guest(disk: Path, command: str, kind: str = "sim:ssd", **more: Any) -> Result:
    """Runs a command line in /mnt, where the image is mounted, and checks it afterwards; no error may be printed."""
    line = f"mkdir /mnt; mount -t ext2 /dev/sda /mnt; cd /mnt; {command}; cd /; umount /mnt; cat /proc/vm/check"
    line = line.replace("sda", {"virtio": "vda", "ide": "hda"}.get(kind, "sda"))
    result = boot(line, disk=disk, disk_kind=kind, **{"mem": "16M", "swap": FAST, **more})
    result.check_exit().check_lines(["^ok$"])
    assert "direct: " not in result.console, result.tail()
    ext2.check(disk)
    return result


def cached_pages(result: Result) -> list[int]:
    return [int(n) for n in re.findall(r"^nr_file_pages (\d+)$", result.console, re.M)]


def file_in(image: Path, name: str, to: Path) -> bytes:
    """A file's content, read by debugfs."""
    ext2.tool("debugfs", "-R", f"dump /{name} {to}", image)
    return to.read_bytes()


def test_each_case_is_as_on_linux(tmp_path: Path) -> None:
    for case in [*CASES, "swapped"]:
        done = subprocess.run([PROGRAM, case], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        if "Invalid argument" not in done.stderr:  # a file system without O_DIRECT
            assert (done.returncode, done.stderr) == (0, ""), "the case is wrong, or this is no Linux"
    # `failing` comes first: in a file system in which little was freed, the first 12 blocks of a file are contiguous.
    in_guest(image(tmp_path, "-b", "4096"), "; ".join(f"./direct {case}" for case in ["failing", *CASES]))


@pytest.mark.parametrize("kind", soak_but(["sim:hdd", "virtio", "ide"], "sim:hdd"))
@pytest.mark.parametrize("size", [pytest.param(1024), pytest.param(2048, marks=pytest.mark.soak)])
def test_other_disks_and_blocks_and_high_memory(tmp_path: Path, kind: str, size: int) -> None:
    commands, real = "; ".join(f"./direct {case}" for case in CASES), kind in disk.REAL
    in_guest(image(tmp_path, "-b", str(size)), commands, kind, exact=not real, cmdline="lowmem=8M")


@pytest.mark.parametrize("policy", soak_but(["2q", "fifo", "ws", "mglru"], "fifo"))
def test_a_buffer_larger_than_memory(tmp_path: Path, policy: str) -> None:
    """The buffer's pages are swapped out and in again, while another process takes as much memory as it can."""
    result = in_guest(image(tmp_path), "thrash 1 3000 6 & ./direct swapped 1700; wait", mem="8M", vm=policy)
    result.check_lines(["^R thrash .*lost=0 corrupt=0"])
    assert re.search(r"swap: [1-9]\d{3,} pages in", result.console), result.tail()


@pytest.mark.parametrize("frames", soak_but([3, 6, 40], 6))
def test_a_buffer_larger_than_the_cap_on_frames(tmp_path: Path, frames: int) -> None:
    """A call leaves at least one page for the next; two calls at once do not starve each other
    either."""
    copy = "dd if=big bs=131072 count=3 iflag=direct oflag=direct"
    result = in_guest(image(tmp_path), f"{copy} of=one & {copy} of=two; wait", frames=frames, vm="fifo")
    assert "killed process" not in result.console
    data = (tmp_path / "content/big").read_bytes()[: 3 << 17]
    assert (
        file_in(tmp_path / "image", "one", tmp_path / "o") == file_in(tmp_path / "image", "two", tmp_path / "t") == data
    )


def test_no_page_enters_the_cache(tmp_path: Path) -> None:
    """A copy that bypasses the cache on both sides, on neither, and on one; the end of `big` is not a whole sector."""
    made, size = image(tmp_path, "-b", "4096"), KIB * 1024
    copy, look = "dd if=big bs=8192 of={} {}", "cat /proc/vmstat"
    direct = "; ".join(
        [copy.format("both", "iflag=direct oflag=direct"), look, copy.format("/dev/null", "iflag=direct")]
    )
    plain = "; ".join([copy.format("in", "iflag=direct"), look, copy.format("out", "oflag=direct")])
    result = in_guest(made, f"{look}; {direct}; {look}; {plain}; {look}", mem="32M")
    start, both, read, plain_in, plain_out = cached_pages(result)
    assert both - start <= 12 and read == both, "but blocks of metadata, and the end of the copy"
    pages = size // 4096
    assert pages <= plain_in - read <= pages + 12 and pages <= plain_out - plain_in <= pages + 12
    data = (tmp_path / "content/big").read_bytes()
    for name in ("both", "in", "out"):
        assert file_in(made, name, tmp_path / name) == data


def test_the_file_of_a_device(tmp_path: Path) -> None:
    """A file system uses the device: its own cached metadata is kept, and stays valid."""
    made = image(tmp_path)
    read = "dd if=/dev/sda of=/dev/null bs=65536 iflag=direct; dd if=/dev/sda of=super bs=1024 skip=1 count=1"
    result = in_guest(made, f"{read}; dd if=super of=/dev/sda bs=1024 seek=1 oflag=direct; touch new; cat /proc/vmstat")
    result.check_lines([f"^{16 << 20} bytes", "^1024 bytes", "^1024 bytes"])
    assert cached_pages(result)[0] < 1000


@pytest.mark.soak
def test_half_of_a_disk_over_the_other(tmp_path: Path) -> None:
    made = image(tmp_path)
    before = made.read_bytes()
    line = "dd if=/dev/sda bs=1048576 iflag=direct of=/dev/sda oflag=direct seek=8 count=8; cat /proc/vmstat"
    result = boot(line, disk=made, disk_kind="sim:ssd", mem="16M", swap="none").check_exit()
    assert cached_pages(result)[0] < 1000
    assert made.read_bytes() == before[: 8 << 20] * 2


def test_a_file_in_memory_has_none() -> None:
    line = "mkdir /t; mount -t tmpfs x /t; cd /t; dd if=/bin/sh of=f; dd if=f of=/dev/null iflag=direct"
    result = boot(f"{line}; dd if=/bin/sh of=/dev/null iflag=direct").check_exit(qemu.FAILED)
    assert len(re.findall(r"^dd: .*: Invalid argument", result.console, re.M)) == 2
