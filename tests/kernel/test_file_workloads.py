"""Workloads on a file system on the modelled disk: what they write is on the disk, and runs repeat byte for byte."""

from __future__ import annotations

import re
from pathlib import Path

import ext2
import pytest
from guest import Result, boot
from tidemark.machine import disk

MOUNT = "mkdir /mnt; mount -t ext2 /dev/sda /mnt"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An image like that of DISK=24M."""
    return Path(disk.image_of("24M", tmp_path_factory.mktemp("empty"))).read_bytes()


def run(command: str, folder: Path, image: bytes, vm: str = "2q") -> tuple[Result, bytes]:
    """A run with a copy of the image; returns also the final content of the image."""
    path = folder / "image"
    path.write_bytes(image)
    result = boot(f"{MOUNT}; {command}; umount /mnt", vm=vm, mem="8M", disk=path, telemetry=True).check_exit()
    return result, path.read_bytes()


def number(result: Result, name: str) -> float:
    """The number after name= in the workload's line."""
    found = re.search(rf"^R \w+ .*\b{name}=([\d.]+)", result.console, re.MULTILINE)
    assert found, result.tail()
    return float(found[1])


def test_two_runs_are_equal_to_the_byte(tmp_path: Path, empty: bytes) -> None:
    (one, disk_one), (two, disk_two) = (run("filemix /mnt/f 1024 12288 2 8", tmp_path, empty) for _ in range(2))
    one.check_lines([r"^R filemix hot_kb=1024 file_kb=12288 passes=2 every=8 .*corrupt=0$"])
    assert number(one, "run_us") > 2 * 3072 * 100, "the disk takes 100 us for a page"
    assert (one.console, one.raw_telemetry, disk_one) == (two.console, two.raw_telemetry, disk_two)
    assert disk_one != empty


@pytest.mark.parametrize("vm", ["2q", "arc", "clockpro", "lirs"])
def test_hot_set_stays_beside_a_scan(tmp_path: Path, empty: bytes, vm: str) -> None:
    assert number(run("filemix /mnt/f 1536 12288 2 1", tmp_path, empty, vm)[0], "kept") >= 95


@pytest.mark.parametrize("vm", ["clock", "fifo"])
def test_scan_takes_the_hot_set(tmp_path: Path, empty: bytes, vm: str) -> None:
    assert number(run("filemix /mnt/f 1536 12288 2", tmp_path, empty, vm)[0], "kept") <= 5


def test_index_finds_every_row_beside_a_scan(tmp_path: Path, empty: bytes) -> None:
    result, image = run("dbscan /mnt/t 12288 200 2", tmp_path, empty)
    result.check_lines([r"^R dbscan table_kb=12288 index_kb=1272 lookups=200 scan=2 .*corrupt=0$"])
    (tmp_path / "after").write_bytes(image)
    ext2.check(tmp_path / "after")


def test_log_is_found_by_the_next_run(tmp_path: Path, empty: bytes) -> None:
    first, image = run("logger /mnt/log 20", tmp_path, empty)
    first.check_lines([r"^R logger found=0 lines=20 .*corrupt=0$"])
    second, _ = run("logger /mnt/log 5", tmp_path, image)
    second.check_lines([r"^R logger found=20 lines=5 .*corrupt=0$"])
    assert number(first, "run_us") > 20 * 4000, "a line takes a turn of the disk"


def test_log_that_was_changed_is_noticed(tmp_path: Path, empty: bytes) -> None:
    _, image = run("logger /mnt/log 3", tmp_path, empty)
    changed = image.replace(b"00000001 ", b"00000007 ")
    assert changed != image
    (tmp_path / "image").write_bytes(changed)
    result = boot(f"{MOUNT}; logger /mnt/log 0", mem="8M", disk=tmp_path / "image")
    result.check_lines([r"^R logger found=3 lines=0 .*corrupt=1$"])
