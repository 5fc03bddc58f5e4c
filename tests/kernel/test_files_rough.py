"""Unusual operations on files on ext2: each case of the program `rough` must have the same result as on Linux, e2fsck
must find no fault, and the kernel's counts must agree.
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
from test_extremes import GUARDS
from tidemark.machine import qemu

PROGRAM = qemu.ROOT / "build/user/rough"
CASES = ["truncated", "unlinked", "writers", "growing", "cut", "position", "running", "deep", "many", "bomb"]
POLICIES = ["clock", "2q", "ws", "mglru", "arc"]
SWITCHED = [*POLICIES, "lirs", "js2q", "wsclock", "linux24", "car", "pff", "vms", "clockpro", "s3fifo"]
FAST = "sim:ssd,size=16M"
DROP = "echo 3 > /proc/sys/vm/drop_caches; sleep 0.01\n"
WORK = """filescan /mnt/big 2 --kb 7000 fill mmap write &
filescan /mnt/mix 2 --kb 5000 fill random &
/mnt/rough truncated; /mnt/rough growing 40 & /mnt/rough writers 5 &
thrash 2 2500 4 &
"""


def image(folder: Path, size: str, *options: str, script: str = "") -> Path:
    """An image with the program, a file `f`, and a script `s`."""
    content = folder / "content"
    content.mkdir()
    shutil.copy(PROGRAM, content / "rough")
    (content / "f").write_bytes(b"x" * 20000)
    (content / "s").write_text(script)
    return ext2.make(folder / "image", size, *options, content=content)


def in_guest(disk: Path, command: str, kind: str = "sim:ssd", **more: Any) -> Result:
    """Runs a command line in /mnt, where the image is mounted, and checks the image afterwards."""
    line = f"mkdir /mnt; mount -t ext2 /dev/sda /mnt; cd /mnt; {command}; cd /; umount /mnt; cat /proc/vm/check"
    result = boot(line, disk=disk, disk_kind=kind, **{"mem": "16M", "swap": FAST, **more})
    result.check_exit().check_lines(["^ok$"])
    ext2.check(disk)
    return result


def expect_quiet(result: Result) -> None:
    """Checks that `rough` reports nothing, and that every word of filescan and thrash is correct."""
    for bad in ("rough: tests/", "SIGBUS", "umount:", "ext2:", "Out of memory"):
        assert bad not in result.console, result.tail()
    assert result.console.count("corrupt=") == result.console.count("corrupt=0")


def test_each_case_is_as_on_linux(tmp_path: Path) -> None:
    """Also all of `vfs`, which covers names of 255 bytes and more, and loops of links, on ext2."""
    here = tmp_path / "here"
    here.mkdir()
    for case in CASES:
        done = subprocess.run([PROGRAM, case], cwd=here, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, ""), "the case is wrong, or this is no Linux"
    disk = image(tmp_path, "8M")
    result = in_guest(disk, "; ".join(f"/mnt/rough {case}" for case in CASES) + "; vfs; cd /tmp; /mnt/rough running")
    expect_quiet(result)
    result.check_lines([r"^R vfs checks=\d+ failures=0"])


@pytest.mark.parametrize("policy", soak_but(POLICIES, "2q"))
def test_many_writers_on_a_full_disk_in_little_memory(tmp_path: Path, policy: str) -> None:
    disk = image(tmp_path, "2M", "-b", "1024")
    bombs = "/mnt/rough bomb & thrash 2 2500 2 & wait; /mnt/rough bomb; rm /mnt/b0 /mnt/b1; /mnt/rough bomb 3"
    expect_quiet(in_guest(disk, bombs, mem="8M", vm=policy))


def test_disk_that_takes_nothing_fails_its_writers_only(tmp_path: Path) -> None:
    """Memory does not fill with pages that can never be written: writers get EIO, no process is killed."""
    disk = image(tmp_path, "24M")
    fills = "filescan /mnt/g 1 --kb 16000 fill; filescan /mnt/h 1 --kb 6000 fill; /mnt/rough failing; thrash 2 1000 1"
    result = in_guest(disk, fills, mem="10M", cmdline="fail=write:1+")
    result.check_lines(["^filescan: write: I/O error"] * 2 + ["^R thrash .*lost=0 corrupt=0"])
    assert "Out of memory" not in result.console


@pytest.mark.parametrize("mem", soak_but(["4M", "5M", "6M", "7M"], "5M"))
def test_root_on_a_disk_and_hardly_any_memory(tmp_path: Path, mem: str) -> None:
    content = tmp_path / "root"
    for name in ("proc", "dev", "tmp", "bin"):
        (content / name).mkdir(parents=True)
    for name in ("sh", "ls", "cat", "thrash", "rough"):
        shutil.copy(qemu.ROOT / "build/user" / name, content / "bin")
    shutil.copy(qemu.ROOT / "build/user/init", content / "init")
    disk = ext2.make(tmp_path / "image", "4M", content=content)
    more = {"mem": mem, "swap": FAST, "cmdline": "root=sda", "disk": disk, "disk_kind": "sim:ssd"}
    result = boot("cd /tmp; rough many; thrash 2 600 2; cat /proc/vm/check", **more).check_exit()
    result.check_lines(["^R thrash .*lost=0 corrupt=0", "^ok$"])
    expect_quiet(result)
    ext2.check(disk)


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["sim:ssd", "sim:hdd"])
def test_policies_change_and_caches_go_in_the_middle(tmp_path: Path, kind: str) -> None:
    changes = "".join(f"echo {policy} > /proc/sys/vm/policy; sleep 0.015\n{DROP}" for policy in SWITCHED)
    disk = image(tmp_path, "24M", script=WORK + changes * 3 + "wait\n")
    expect_quiet(in_guest(disk, "sh s", kind, mem="8M"))


@pytest.mark.soak
@pytest.mark.parametrize("guard", GUARDS)
def test_guards_leave_files_whole(tmp_path: Path, guard: str) -> None:
    disk = image(tmp_path, "24M", script=WORK + DROP * 3 + "wait\n")
    expect_quiet(in_guest(disk, "sh s", mem="8M", cmdline=f"guard={guard}"))


@pytest.mark.soak
def test_two_equal_runs_leave_equal_images(tmp_path: Path) -> None:
    changes = "".join(f"echo {policy} > /proc/sys/vm/policy; sleep 0.015\n" for policy in SWITCHED)
    disk, found = image(tmp_path, "24M", script=WORK + changes + DROP * 3 + "wait\n"), []
    before = disk.read_bytes()
    for _ in range(2):
        disk.write_bytes(before)
        result = in_guest(disk, "sh s", "sim:hdd", mem="8M", telemetry=True)
        found.append((result.console, result.raw_telemetry, disk.read_bytes()))
    assert found[0] == found[1]


@pytest.mark.soak
@pytest.mark.parametrize("fail", ["read:7", "read:31", "write:5", "read:20,write:6"])
def test_disk_that_fails_once_does_the_kernel_no_harm(tmp_path: Path, fail: str) -> None:
    """Programs get errors, or are killed by SIGBUS; the image and the kernel's counts are correct."""
    disk = image(tmp_path, "24M", script=WORK + DROP * 3 + "/mnt/rough many; /mnt/rough deep 10; wait\n")
    in_guest(disk, "sh s; sync; sync; sync", mem="8M", cmdline=f"fail={fail}")


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """After a second round of everything, and umount, the slabs hold the same as after the first round."""
    cases = "".join(f"/mnt/rough {case} &\n" for case in ("truncated", "unlinked", "writers 3", "growing 10", "bomb 3"))
    work = f"{cases}wait\n/mnt/rough many 50; rm /mnt/many/*; rm many; /mnt/rough deep 20; /mnt/rough running\n"
    disk = image(tmp_path, "4M", script=work)
    round = "mount -t ext2 /dev/sda /mnt; cd /mnt; sh s; cd /; umount /mnt"
    look = "echo 3 > /proc/sys/vm/drop_caches; echo slabs; cat /proc/slabinfo"
    line = f"mkdir /mnt; {round}; {look}; {round}; {look}; cat /proc/vm/check"
    result = boot(line, disk=disk, disk_kind="sim:ssd", mem="12M", swap=FAST).check_exit().check_lines(["^ok$"])
    before, after = (re.findall(r"^(\S+) +(\d+) ", text, re.M) for text in result.console.split("slabs\n")[1:])
    assert before and after[: len(before)] == before
    ext2.check(disk)


@pytest.mark.soak
def test_ten_thousand_files_in_a_directory(tmp_path: Path) -> None:
    disk = image(tmp_path, "8M", "-N", "12000")
    result = in_guest(disk, "/mnt/rough many 10000; ls /mnt/many | wc; mv many m2; find m2 | wc", "sim:ram")
    expect_quiet(result)
    result.check_lines([r"^ +8571 ", r"^ +8572 "])


def test_fsync_says_once_that_a_write_failed(tmp_path: Path) -> None:
    expect_quiet(in_guest(image(tmp_path, "4M"), "/mnt/rough failing", cmdline="fail=write:3"))


def test_mounts_that_are_refused(tmp_path: Path) -> None:
    """A device twice, the directory below a mount, a mount in use; then a truncated image."""
    disk = image(tmp_path, "4M")
    again = "mount -t ext2 /dev/sda /mnt; mount -t ext2 /dev/sda /tmp; mkdir d; mount -t ramfs x d; rm -r d; mv d e; "
    result = in_guest(disk, f"{again}umount /mnt; umount d; cat >open & umount /mnt; kill %1; wait; rm open")
    for line in ("mount: /mnt", "mount: /tmp", "mv: d", "umount: /mnt"):
        assert re.search(rf"^{line}: (Device or r|R)esource busy", result.console, re.M), result.tail()
    disk.write_bytes(disk.read_bytes()[: 1 << 20])
    cut = boot("mkdir /mnt; mount -t ext2 /dev/sda /mnt", disk=disk, mem="16M")
    cut.check_lines(["more blocks than the device has", "^mount: /mnt: Invalid argument"])


def test_mount_options_and_features(tmp_path: Path) -> None:
    """An unknown option is refused; a feature that forbids writing also forbids a remount for writing."""
    disk = image(tmp_path, "2M")
    raw = bytearray(disk.read_bytes())
    raw[1024 + 100] |= 0x10
    disk.write_bytes(raw)
    tries = "mount /dev/sda /mnt; mount -o ro,acl /dev/sda /mnt; mount -o ro,noatime /dev/sda /mnt; cat /mnt/f | wc"
    result = boot(
        f"mkdir /mnt; {tries}; mount -o remount,rw /mnt; touch /mnt/x; cat /proc/mounts", disk=disk, mem="16M"
    )
    result.check_lines(
        [
            "can only be mounted to read: unknown features 0x10",
            "^mount: /mnt: Read-only file system",
            "^ext2: sda: unknown options: acl",
            "^mount: /mnt: Invalid argument",
            "^ +0 +1 +20000$",
            "^mount: /mnt: Read-only file system",
            "^touch: /mnt/x: Read-only file system",
            "^/dev/sda /mnt ext2 ro,",
        ]
    )
    assert disk.read_bytes() == bytes(raw)


def test_read_only_in_the_midst_of_changes(tmp_path: Path) -> None:
    """Nothing changes between the last write and the moment when the file system becomes read-only."""
    for kind in ("sim:hdd", "sim:ssd"):
        (tmp_path / kind).mkdir()
        expect_quiet(in_guest(image(tmp_path / kind, "2M", "-b", "1024"), "/mnt/rough closing", kind))


def test_two_remounts_at_once(tmp_path: Path) -> None:
    """The second remount must not mistake the first one's mark, that the disk is in use, for the previous state."""
    mount, again = "mount /dev/sda /mnt", "mount -o remount,rw /mnt"
    commands = f"mkdir /mnt; {mount}; mount -o remount,ro /mnt; {again} & {again} & sleep 0.5; umount /mnt"
    result = boot(
        f"{commands}; {mount}; umount /mnt", disk=image(tmp_path, "2M"), disk_kind="sim:hdd", mem="16M"
    ).check_exit()
    assert "run e2fsck" not in result.console


def test_a_directory_goes_while_something_is_mounted_on_it(tmp_path: Path) -> None:
    """While the superblock is read: the mount fails, and the disk is free. Otherwise there would be no path to the
    mount."""
    mount = "mount -t ext2 /dev/sda"
    commands = (
        f"mkdir /tmp/d /tmp/e; {mount} /tmp/d & sleep 0.0001; rmdir /tmp/d; wait; {mount} /tmp/e && umount /tmp/e"
    )
    result = boot(commands, disk=image(tmp_path, "2M"), disk_kind="sim:ssd", mem="16M").check_exit()
    assert "mount: /tmp/d: No such file or directory" in result.console
