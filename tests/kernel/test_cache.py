"""Pages of files with a store on disk, tested on a modelled disk that is larger than memory: each word has its expected
value, in the guest and in the image, under every policy; failed writes are repeated; exact runs repeat."""

from __future__ import annotations

import os
import re
import shutil
import struct
from pathlib import Path

import ext2
import pytest
from guest import Result, boot
from soak import soak_but
from tidemark.machine import qemu

PAGE = 4096
PAGES = 3072  # of the disk, 12 MiB
CHECK = "cat /proc/vm/check"
FORESIGHT = ("min", "vmin")  # these need a file with the future
POLICIES = sorted(
    path.stem
    for path in (qemu.ROOT / "kernel/mm/policy").glob("*.c")
    if not path.stem.endswith("_test") and path.stem not in ("TEMPLATE", *FORESIGHT)
)


def word(page: int, number: int, seed: int) -> int:
    """The word that user/workloads/filescan.c writes."""
    return (page * 1024 + number) * 2654435761 + seed & 0xFFFFFFFF


def content(seed: int, first: int = 0) -> bytes:
    """The content of the whole disk as filled by filescan; `first`: added to the first word of each page by its
    passes."""
    pages = ([word(page, i, seed) + first * (i == 0) & 0xFFFFFFFF for i in range(1024)] for page in range(PAGES))
    return b"".join(struct.pack("<1024I", *words) for words in pages)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "disk.img"
    path.write_bytes(bytes(PAGES * PAGE))
    return path


def counter(result: Result, name: str) -> int:
    found = re.search(rf"^{name} (\d+)$", result.console, re.MULTILINE)
    assert found, result.tail()
    return int(found[1])


@pytest.mark.parametrize("policy", soak_but(POLICIES, "2q", "ws"))
def test_file_larger_than_memory_under_every_policy(policy: str, image: Path) -> None:
    """Written and read by calls and through mappings, sequentially and at random, with programs that use memory,
    too."""
    result = boot(
        "filescan /dev/sda 1 fill mmap write & thrash 2 3072 2; wait; filescan /dev/sda 2 fill --seed 5; "
        "filescan /dev/sda 2 mmap --seed 5 & seqscan 5120 3; wait; filescan /dev/sda 1 mmap random write --seed 5; "
        f"cat /proc/vmstat; {CHECK}",
        vm=policy,
        mem="10M",
        disk=image,
        disk_kind="sim:ssd",
    ).check_exit()
    result.check_lines([r"^R filescan .*corrupt=0"] * 4 + ["^policy_violation 0$", "^ok$"])
    assert counter(result, "pgpgin") > 4 * PAGES * 4, "it was too small for memory to be short"
    assert image.read_bytes() == content(seed=5, first=1)


def test_two_equal_runs_are_equal(image: Path) -> None:
    consoles = []
    for _ in range(2):
        image.write_bytes(bytes(PAGES * PAGE))
        run = boot("filescan /dev/sda 1 fill & thrash 2 4096 2; wait", mem="10M", disk=image)
        consoles.append(run.check_exit().console)
    assert consoles[0] == consoles[1]


def test_failed_writes_lose_nothing(image: Path) -> None:
    """The third write fails. A page that could not be written stays dirty, and is written again."""
    result = boot(
        "filescan /dev/sda 1 fill --seed 8; filescan /dev/sda 1 mmap --seed 8; cat /proc/vmstat; " + CHECK,
        mem="10M",
        disk=image,
        disk_kind="sim:ssd",
        cmdline="fail=write:3",
    ).check_exit()
    result.check_lines(["^R filescan .*corrupt=0"] * 2 + ["^policy_violation 0$", "^ok$"])
    assert counter(result, "pgpgout") > PAGES * 4, "no write has failed"


def test_reading_ahead_hides_the_disk(image: Path) -> None:
    """A sequential reader finds nearly all pages in memory, and nothing is read twice."""
    image.write_bytes(content(seed=0))
    result = boot("filescan /dev/sda; cat /proc/vmstat", mem="64M", disk=image).check_exit()
    result.check_lines(["^R filescan pages=3072 passes=1 corrupt=0"])
    ahead, hit = counter(result, "file_ra"), counter(result, "file_ra_hit")
    assert hit == ahead > PAGES * 9 / 10
    assert counter(result, "pgpgin") == PAGES * 4


COLD_PAGES = 256  # of the mapped file


def cold(tmp_path: Path, words: str = "", cmdline: str = "", mem: str = "64M") -> tuple[int, int]:
    """Major faults, and pages that no fault had asked for, when coldmap reads a mapped file from its end."""
    content = tmp_path / "content"
    content.mkdir(exist_ok=True)
    shutil.copy(qemu.ROOT / "build/user/coldmap", content)
    (content / "file").write_bytes(bytes(range(1, 256)) * (COLD_PAGES * PAGE // 255 + 1))
    os.truncate(content / "file", COLD_PAGES * PAGE)
    image = ext2.make(tmp_path / "image", "4M", content=content)
    line = f"mkdir /mnt; mount -t ext2 /dev/sda /mnt; /mnt/coldmap /mnt/file {words}; {CHECK}"
    result = boot(line, mem=mem, swap="sim:ssd", disk=image, disk_kind="sim:ssd", cmdline=cmdline).check_exit()
    result.check_lines(["^ok$"])
    found = re.search(rf"^R coldmap pages={COLD_PAGES} major=(\d+) ahead=(\d+)$", result.console, re.MULTILINE)
    assert found, result.tail()
    return int(found[1]), int(found[2])


@pytest.mark.parametrize("kb", [128, 64])
def test_fault_on_a_mapped_file_reads_around(kb: int, tmp_path: Path) -> None:
    """Each miss also brings the half of a window that lies before its page."""
    faults, ahead = cold(tmp_path, cmdline=f"vm.readaround_kb={kb}")
    half = kb // 4 // 2
    assert faults <= -(-COLD_PAGES // (half + 1))
    assert faults + ahead == COLD_PAGES


@pytest.mark.parametrize(("words", "cmdline"), [("random", ""), ("", "vm.readaround_kb=0")])
def test_nothing_is_read_around_against_advice(words: str, cmdline: str, tmp_path: Path) -> None:
    assert cold(tmp_path, words, cmdline) == (COLD_PAGES, 0)


def test_nothing_is_evicted_to_read_around(tmp_path: Path) -> None:
    """The program has filled memory before, so that only evictions make frames free. The few pages that are read
    ahead are the program's own: it faults on them in sequence."""
    with_it, without = (cold(tmp_path, "--kb 16384", f"vm.readaround_kb={kb}", mem="12M") for kb in (128, 0))
    assert with_it == without
    assert 0 <= with_it[0] - COLD_PAGES <= 1  # a page of the program itself may be evicted, too
    assert with_it[1] < COLD_PAGES / 16


TWICE = "cat /dev/sda >/dev/null; cat /dev/sda >/dev/null; cat /proc/vmstat"


@pytest.mark.parametrize(("mem", "refaults"), [("12M", PAGES), ("8M", 0)])
def test_refault_of_a_file_is_of_a_page_that_twice_the_memory_had_kept(image: Path, mem: str, refaults: int) -> None:
    """In a loop, the number of evictions before a page returns is the number of pages that do not fit: below the
    frames, or above."""
    result = boot(TWICE, vm="fifo", mem=mem, disk=image, disk_kind="sim:ssd").check_exit()
    assert counter(result, "workingset_refault_file") == refaults


def test_kswapd_takes_32_pages_and_looks_again(image: Path) -> None:
    """Each time 32 pages are enough: the low and high watermarks are less than 32 frames apart."""
    result = boot(TWICE, vm="fifo", mem="8M", disk=image, disk_kind="sim:ssd", cmdline="vm.min_free_kbytes=256")
    freed, woken = counter(result.check_exit(), "pgsteal_kswapd"), counter(result, "kswapd_wake")
    assert 30 * woken < freed < 40 * woken


@pytest.mark.parametrize("file", ["/dev/sda", "/t/file"])
def test_policy_knows_what_is_dirty(file: str, image: Path) -> None:
    """vms keeps pages that need a write in a list of their own. Pages that exist only in memory belong there, too."""
    run = f"mkdir /t; mount -t tmpfs none /t; dd if=/dev/zero of={file} bs=65536 count=16; cat /proc/vm/policy"
    result = boot(run, vm="vms", disk=image).check_exit()
    assert counter(result, "modified_list:") >= 256 > counter(result, "free_list:")
