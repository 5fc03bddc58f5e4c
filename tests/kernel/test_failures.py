"""fail=: the Nth read, write or allocation fails. All N are tried, one after another (tests/kernel/fail).

A failing case prints its command: `nth KIND N N calls CASE`, in a boot made like in `try_all`, reproduces the failure.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ext2
import pytest
from guest import Result, boot
from progress import Tried, image_key
from soak import soak_but
from test_policies import POLICIES
from tidemark.machine import qemu

LINKS = "fstools=chmod,mount,umount"
PLAIN = ["fork", "exec", "mmap", "huge", "ramfs", "tmpfs", "shm", "pipe", "proc", "descriptors"]
ON_EXT2 = ["ext2", "kept", "mapped", "moves", "direct"]
LARGE: dict[str, dict[str, Any]] = {"huge": {"mem": "64M"}}  # for blocks of 4 MiB
SWAPPING: dict[str, dict[str, Any]] = {"swap": {"frames": 60}, "pressure": {"frames": 60}, "shmswap": {"mem": "4M"}}
# test_hostile tests what a disk that fails for good does to a file system.
CASES = [
    *((case, "alloc") for case in (*PLAIN, *ON_EXT2, *SWAPPING)),
    *((case, kind) for case in ON_EXT2 for kind in ("read", "read+", "write")),
    *((case, kind) for case in SWAPPING for kind in ("read", "read+", "write")),
    # Shared memory that is not mapped is not charged to any process: the out-of-memory killer would take nth.
    ("swap", "write+"),
    ("pressure", "write+"),
]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to boot from, whose first file system has nth and calls."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "build").mkdir()
    (folder / "build/tidemark.elf").symlink_to(qemu.ROOT / qemu.KERNEL)
    names = ("init", "sh", "true", "cat", "nth", "calls", "fstools", "shared")
    ours = [qemu.ROOT / "build/user" / name for name in names]
    pack: list[str | Path] = [
        sys.executable,
        qemu.ROOT / "tools/mkinitramfs.py",
        "--names",
        LINKS,
        folder / "build/initramfs.cpio",
        *ours,
    ]
    subprocess.run(pack, check=True)
    return folder


def disk_for(case: str, folder: Path) -> Path | None:
    """The image that a case uses as sda."""
    if case in ON_EXT2:
        content = folder / "content"
        content.mkdir()
        shutil.copy(qemu.ROOT / "build/user/true", content)
        return ext2.make(folder / "image", "1M", "-b", "1024", content=content)
    if case != "swap":
        return None
    head = bytearray(4096)
    head[1024:1036] = b"\1\0\0\0" + (1023).to_bytes(4, "little") + bytes(4)
    head[-10:] = b"SWAPSPACE2"
    image = folder / "image"
    image.write_bytes(bytes(head) + bytes(1023 * 4096))
    return image


def try_all(case: str, kind: str, programs: Path, folder: Path, *, last: int = 2000, **more: Any) -> Result:
    """Tries each N up to `last`, or until nothing is left to fail, in one boot; checks the disk afterwards."""
    disk = disk_for(case, folder)
    settings = {
        "mem": "16M",
        "swap": "sim:ssd,size=16M",
        "timeout": 900,
        "image": programs,
        **(LARGE | SWAPPING).get(case, {}),
    }
    slack = "-s 8 " if more.get("vm") else ""  # any page of init may be evicted
    command = f"nth {slack}{kind} 1 {last} calls {case}"
    more = {"disk": disk, "disk_kind": "sim:ssd" if disk else None, "cmdline": "slab_poison=1", **settings, **more}
    result = boot(command, **more).check_exit()
    result.check_lines([f"^R nth kind={kind.replace('+', '[+]')} tried=[1-9].* wrong=0"])
    print(*(line for line in result.console.splitlines() if line.startswith("R nth")), case, more.get("vm", ""))
    if (
        disk and case in ON_EXT2 and kind != "read+"
    ):  # inodes that were not freed remain on a disk that could not be read
        ext2.check(disk)
    return result


def all_but_sample() -> Iterator[object]:
    """The cases; `make check` runs two of them."""
    return iter(soak_but(CASES, ("fork", "alloc"), ("ext2", "write")))


@pytest.mark.parametrize(("case", "kind"), all_but_sample())
def test_each_failure_is_its_own_programs_only(case: str, kind: str, programs: Path, tmp_path: Path) -> None:
    """Errors are EIO, ENOMEM, SIGBUS or the killer; the machine continues, nothing leaks, no data is lost."""
    tried = Tried("failures", image_key(programs))
    if not tried.done(f"{case} {kind}"):
        try_all(case, kind, programs, tmp_path)
        tried.add(f"{case} {kind}")


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["read", "write", "alloc"])
@pytest.mark.parametrize("policy", [policy for policy in POLICIES if policy != "2q"])
def test_each_failure_under_each_policy(policy: str, kind: str, programs: Path, tmp_path: Path) -> None:
    tried = Tried("failures-policies", image_key(programs))
    if not tried.done(f"{policy} {kind}"):
        try_all("pressure", kind, programs, tmp_path, vm=policy)
        tried.add(f"{policy} {kind}")


@pytest.mark.soak
def test_each_allocation_from_the_start_on(programs: Path) -> None:
    """An allocation that fails may harm only the program that asked for it."""
    tried = Tried("failures-start", image_key(programs))
    for n in range(1, 2000):
        if tried.done(n):
            continue
        result = boot("calls exec", image=programs, mem="16M", swap="none", cmdline=f"fail=alloc:{n}")
        if f"fail: alloc {n} never came" in result.console:
            break
        result.check_lines([rf"^fail: alloc {n} of \d+ failed \("])
        assert result.exit in (qemu.OK, qemu.FAILED), result.tail()
        tried.add(n)
    else:
        pytest.fail("no end to what may fail")


@pytest.mark.parametrize("n", soak_but(range(1, 40), 1, 6))
def test_machine_without_memory_ends_with_a_status(n: int) -> None:
    """From some allocation on none succeeds: init, or the command, gets an error, or is killed."""
    boot("echo hello", cmdline=f"fail=alloc:{n}+").check_exit(qemu.FAILED).check_lines([r"^fail: alloc \d+\+ of"])


def test_init_without_memory_ends_the_machine_in_words() -> None:
    """The fourth allocation, with each compiler, is for a page of init; others fail in a system call, which returns."""
    result = boot("echo hello", cmdline="fail=alloc:4+").check_exit(qemu.FAILED)
    result.check_lines(["^init: no memory for 1 s: the machine ends$", "^power off: status 1$"])


# --- the words ---


def test_what_failed_is_said_at_power_off() -> None:
    words = "fail=write:7,alloc:100000000"
    result = boot("thrash 2 8192 1", mem="12M", swap="sim:ssd", cmdline=words).check_exit()
    result.check_lines(
        [
            r"^fail: write 7 of \d+ failed \(sim, sector \d+, by (thrash|kswapd), process \d+\)$",
            r"^fail: alloc 100000000 never came: \d+ there were$",
        ]
    )


@pytest.mark.parametrize(
    ("text", "why"),
    soak_but(
        [
            ("read:0", "N is 0, and events count from 1"),
            ("alloc:-1", "N is not a number"),
            ("write:x", "N is not a number"),
            ("read:", "N is not a number"),
            ("read:4294967296", "N is not a number"),
            ("read:3-2", "M is less than N"),
            ("read", "a word is not kind:N"),
            ("flush:1", "no such kind of event"),
            ("read:1,read:2", "a kind of event is there twice"),
            ("", "a word is not kind:N"),
        ],
        ("read:0", "N is 0, and events count from 1"),
    ),
)
def test_wrong_words_are_refused(text: str, why: str) -> None:
    result = boot("true", cmdline=f"fail={text}").check_exit(qemu.REFUSED)
    result.check_lines([f"^command line: fail={text}: {why}; valid: none, or read:N, write:N, alloc:N"])


def test_fail_and_cut_are_not_used_together() -> None:
    """The kernel refuses both at once: one could not tell which of the two caused a failure."""
    boot("true", cmdline="fail=read:9 cut=3").check_exit(qemu.REFUSED).check_lines(["^command line: .*cut"])
