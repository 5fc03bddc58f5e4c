"""layout=N: extents of the modelled disks. A stream pays for each broken border that it meets; 0 changes nothing."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from guest import Result, boot

MIB, SEEK_US, ROTATION_US, TRANSFER_US = 12, 8000, 4170, 100  # the last: for 4 KiB
MASK = (1 << 64) - 1
SDA = 8 << 8


@cache
def streamed(folder: Path, words: str, kind: str = "sim:hdd") -> Result:
    """Reads a whole disk, in order, with memory for all of it: reclaim would read some pages out of order."""
    disk = folder / "disk"
    if not disk.exists():
        disk.write_bytes(bytes(MIB << 20))
    cmdline = f"mount=none {words}".strip()
    return boot(
        "wc /dev/sda", mem="64M", swap="none", disk=disk, disk_kind=kind, cmdline=cmdline, telemetry=True
    ).check_exit()


def busy_us(result: Result) -> int:
    return next(d["busy_us"] for d in result.telemetry[-2]["block"] if d["name"] == "sda")


def mix64(z: int) -> int:
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


def broken(layout: int) -> int:
    """The number of broken borders inside the disk, as kernel/drivers/simdisk_layout.c draws them."""
    return sum(mix64((layout * 0x9E3779B97F4A7C15 + (SDA << 32 | border)) & MASK) >> 63 for border in range(1, MIB))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("layout")


@pytest.mark.parametrize("layout", [1, 2, 4_000_000_000])
def test_stream_pays_for_each_broken_border(folder: Path, layout: int) -> None:
    """Once, also where the head moves in any case: at the beginning, and after a page that was read out of order."""
    plain, laid_out = (busy_us(streamed(folder, words)) for words in ("", f"layout={layout}"))
    moves = (plain - MIB * 256 * TRANSFER_US) // (SEEK_US + ROTATION_US)
    # The drawing itself takes some instructions for each request, and a time to start at may be rounded.
    paid, rest = divmod(laid_out - plain + 100, SEEK_US + ROTATION_US)
    assert 0 < broken(layout) < MIB - 1 and moves < 5
    assert broken(layout) - moves <= paid <= broken(layout) and rest < 1000


def test_layouts_differ(folder: Path) -> None:
    assert len({busy_us(streamed(folder, f"layout={layout}")) for layout in (1, 2, 4_000_000_000)}) > 1


def test_0_is_the_disk_without_layout(folder: Path) -> None:
    """Also if it takes back another number. The longer command line takes time of its own."""
    plain, zero, taken_back = (streamed(folder, words) for words in ("", "layout=0", "layout=3 layout=0"))
    assert busy_us(zero) == busy_us(taken_back) == busy_us(plain)


def test_same_number_repeats_to_the_byte(folder: Path) -> None:
    once = streamed(folder, "layout=2")
    again = streamed.__wrapped__(folder, "layout=2")
    assert (again.console, again.raw_telemetry) == (once.console, once.raw_telemetry)


def test_disk_without_seeks_has_no_borders(folder: Path) -> None:
    plain, laid_out = (busy_us(streamed(folder, words, "sim:ssd")) for words in ("", "layout=1"))
    assert 0 <= laid_out - plain < 1000


def test_request_pays_once_though_it_would_have_moved_the_head(folder: Path) -> None:
    """The swap area of a process that cycles: most requests move the head in any case."""
    runs = [boot("seqscan 16384 2 w", mem="12M", cmdline=f"layout={n}", telemetry=True).check_exit() for n in (0, 1)]
    requests = [run.telemetry[-2]["disk"]["reads"] + run.telemetry[-2]["disk"]["writes"] for run in runs]
    more = runs[1].telemetry[-1]["t_us"] - runs[0].telemetry[-1]["t_us"]
    assert 0 < more < 0.1 * max(requests) * (SEEK_US + ROTATION_US)
