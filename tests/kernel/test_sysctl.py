"""The settings under /proc/sys/vm: each has the effect that Linux's documentation describes."""

from __future__ import annotations

import re
from pathlib import Path

import ext2
import pytest
from guest import Result, boot
from tidemark.machine import qemu

VM = "/proc/sys/vm"


def number(result: Result, pattern: str) -> int:
    """The number that the pattern's group finds."""
    found = re.search(pattern, result.console, re.MULTILINE)
    assert found, f"no {pattern!r}:\n{result.tail()}"
    return int(found[1])


def zone(result: Result, name: str, what: str) -> int:
    """A number of /proc/zoneinfo, in pages."""
    return number(result, rf"zone +{name}\n(?: .*\n)*? +(?:pages )?{what} +(\d+)$")


def reads(cluster: int) -> tuple[int, int]:
    """Pages read from swap, and requests for them."""
    command = f"echo {cluster} > {VM}/page-cluster; cat {VM}/page-cluster; seqscan 8192 3"
    result = boot(command, mem="10M", swap="sim:ssd", vm="fifo").check_exit().check_lines([f"^{cluster}$"])
    return number(result, r"swap: (\d+) pages in"), number(result, r"by (\d+) reads")


def test_page_cluster_is_how_much_is_read_at_once() -> None:
    pages, requests = reads(0)
    assert pages == requests > 1000
    pages, requests = reads(3)
    assert pages > 4 * requests


def test_block_dump_says_who_reads_what() -> None:
    """One line for each counted request; none before it is switched on."""
    command = f"seqscan 8192 2; echo BEGIN; echo 1 > {VM}/block_dump; seqscan 8192 2"
    result = boot(command, mem="10M", swap="sim:ssd", vm="fifo").check_exit()
    before, after = result.console.split("BEGIN", 1)
    assert not re.search(r"(READ|WRITE) block", before)
    assert len(re.findall(r"^seqscan\(\d+\): READ block \d+ on sim \(\d+ sectors\)", after, re.MULTILINE)) > 100


def test_swappiness_is_2qs() -> None:
    result = boot(f"echo 7 > {VM}/swappiness; cat /proc/params").check_exit()
    result.check_lines([r"^2q\.swappiness=7\t"])


def test_min_free_kbytes_sets_the_watermarks() -> None:
    command = f"echo 4096 > {VM}/min_free_kbytes; hog 16384 1 & sleep 0.9; cat /proc/zoneinfo /proc/meminfo; wait"
    result = boot(command, mem="16M", swap="sim:ssd").check_exit()
    assert 1000 <= sum(zone(result, name, "min") for name in ("DMA", "Normal")) <= 1024
    assert number(result, r"^MemFree: +(\d+) kB") >= 5120


def test_watermarks_are_shares_of_min_free_kbytes() -> None:
    """1,024 frames are divided among the zones; low is a quarter above min, high a half."""
    command = f"echo 4096 > {VM}/min_free_kbytes; cat {VM}/min_free_kbytes /proc/zoneinfo"
    result = boot(command, mem="64M", cmdline="lowmem=32M").check_exit().check_lines(["^4096$"])
    managed = {name: zone(result, name, "managed") for name in ("DMA", "Normal", "HighMem")}
    for name, frames in managed.items():
        least = 1024 * frames // sum(managed.values())
        assert zone(result, name, "min") == least
        assert zone(result, name, "low") == least + least // 4
        assert zone(result, name, "high") == least + least // 2


@pytest.mark.parametrize(("ratio", "kept"), [("0 0 0", 0), ("4", 2048 // 4 * 2), ("8 8", 2048 // 8 * 2)])
def test_low_memory_is_kept_from_programs(ratio: str, kept: int) -> None:
    """16 MiB of low memory, all of it DMA, and 16 MiB of high memory: 4096 frames divided by the ratio."""
    command = f"echo {ratio} > {VM}/lowmem_reserve_ratio; hog 40960 1 & sleep 0.9; cat /proc/zoneinfo; wait"
    result = boot(command, mem="32M", swap="sim:ssd", cmdline="lowmem=16M").check_exit()
    free = zone(result, "DMA", "free")
    assert kept <= free - zone(result, "DMA", "min") + 16 and (kept or free < 300)


def test_percpu_pagelist_fraction_is_the_size_of_the_lists() -> None:
    """A list fills when frames are allocated and freed, and then there is less free memory; 0: no lists."""
    knob, look = f"{VM}/percpu_pagelist_fraction", "cat /proc/zoneinfo"
    command = (
        f"cat {knob}; {look}; echo 8 > {knob}; thrash 3 4096 2; {look}; echo 0 > {knob}; {look}; cat /proc/vm/check"
    )
    result = boot(command, mem="12M", swap="sim:ssd", vm="fifo").check_exit()
    result.check_lines(["^0$", "lost=0 corrupt=0", "^ok$"])
    expression = r"zone +DMA\n(?: .*\n)*? +managed +(\d+)\n(?: .*\n)*? +count: (\d+)\n +high: +(\d+)\n +batch: (\d+)"
    before, on, after = ([int(n) for n in found] for found in re.findall(expression, result.console))
    managed, nr, high, batch = on
    assert before[1:] == after[1:] == [0, 0, 0]
    assert (high, batch) == (managed // 8, min(managed // 8 // 4, 96)) and 0 < nr < high


def test_one_request_for_more_than_there_is_is_refused() -> None:
    command = f"echo 0 > {VM}/overcommit_memory; hog 65536 1"
    result = boot(command, mem="16M", swap="sim:ssd,size=16M").check_exit(qemu.FAILED)
    result.check_lines(["^hog: .*(Out of|Cannot allocate) memory"])


def test_everything_may_be_promised() -> None:
    command = f"cat {VM}/overcommit_memory; hog 65536 1"
    result = boot(command, mem="16M", swap="sim:ssd,size=16M").check_exit(qemu.FAILED)
    result.check_lines(["^1$", "^Out of memory: .*hog"])


def test_no_more_is_promised_than_the_limit() -> None:
    """Two processes of 12 MiB each are within 16 MiB of swap and half of the memory, a third is not; no process is
    killed."""
    setup = f"echo 2 > {VM}/overcommit_memory; echo 50 > {VM}/overcommit_ratio"
    command = f"{setup}; cat /proc/meminfo; hog 12288 1 & hog 6144 1 & sleep 0.5; hog 12288 1; cat /proc/meminfo; wait"
    result = boot(command, mem="16M", swap="sim:ssd,size=16M")
    result.check_lines(["^hog: .*(Out of|Cannot allocate) memory"])
    assert "killed process" not in result.console
    total, swap = number(result, r"^MemTotal: +(\d+)"), number(result, r"^SwapTotal: +(\d+)")
    assert abs(number(result, r"^CommitLimit: +(\d+)") - total // 2 - swap) <= 8
    promised = [int(n) for n in re.findall(r"^Committed_AS: +(\d+)", result.console, re.MULTILINE)]
    assert 18432 <= promised[1] - promised[0] <= 18432 + 512


def test_what_was_promised_is_taken_back() -> None:
    command = "cat /proc/meminfo; thrash 3 2048 1; cow 3 1024 200; torture 3 200 60; cat /proc/meminfo"
    result = boot(command, mem="16M", swap="sim:ssd").check_exit()
    before, after = re.findall(r"^Committed_AS: +(\d+)", result.console, re.MULTILINE)
    assert before == after


def test_a_fork_is_a_promise_too() -> None:
    command = f"echo 2 > {VM}/overcommit_memory; echo 0 > {VM}/overcommit_ratio; cow 3 6144 10"
    result = boot(command, mem="16M", swap="sim:ssd,size=16M").check_exit(qemu.FAILED)
    result.check_lines(["(Out of|Cannot allocate) memory"])


def test_max_map_count_bounds_the_regions() -> None:
    holes = "; ".join(f"0 u {page} {page}" for page in range(1, 60, 2))
    operations = " ".join(f"'{one}'" for one in f"0 m 0 60; {holes}".split("; "))
    assert boot(f"pages {operations}").exit == qemu.OK
    result = boot(f"echo 20 > {VM}/max_map_count; pages {operations}").check_exit(qemu.FAILED)
    result.check_lines(["(Out of|Cannot allocate) memory"])


def regions(result: Result) -> list[tuple[int, str]]:
    """Start and name of the regions in each /proc/PID/maps of the output."""
    found = re.findall(r"^([0-9a-f]+)-[0-9a-f]+ \S+ \S+ \S+ \S+(?: +(\S*))?\s*$", result.console, re.MULTILINE)
    return [(int(start, 16), name) for start, name in found]


@pytest.mark.parametrize(("legacy", "first"), [(0, 0xB7000000 - 64 * 4096), (1, 0x40000000)])
def test_legacy_va_layout_maps_from_below(legacy: int, first: int) -> None:
    """As Linux 2.4: the lowest hole from a third of the address space on, instead of the highest. The array of hog is
    the only region without a name there."""
    maps = " ".join(f"/proc/{pid}/maps" for pid in range(4, 10))
    command = f"cat {VM}/legacy_va_layout; echo {legacy} > {VM}/legacy_va_layout; hog 256 1 & sleep 0.5; cat {maps}"
    result = boot(f"{command}; torture 3 400 60; cow 2 512 100; cat /proc/vm/check; wait").check_exit()
    result.check_lines(["^0$", "^R torture .*corrupt=0", "^R cow .*corrupt=0", "^ok$"])
    assert first in [start for start, name in regions(result) if not name]


@pytest.mark.parametrize("enabled", [0, 1])
def test_vdso_enabled_maps_it_into_new_programs(enabled: int) -> None:
    """Programs work without it, by int $0x80."""
    command = f"cat {VM}/vdso_enabled; echo {enabled} > {VM}/vdso_enabled; cat /proc/self/maps; thrash 2 256 2"
    result = boot(command).check_exit().check_lines(["^1$", "lost=0 corrupt=0"])
    assert ("[vdso]" in [name for _, name in regions(result)]) == bool(enabled)


def test_nr_pdflush_threads_counts_the_threads_that_write_back(tmp_path: Path) -> None:
    """A machine without a disk for files has none, and one with a dirty page has one."""
    assert boot(f"cat {VM}/nr_pdflush_threads").check_exit().check_lines(["^0$"])
    command = f"mkdir /mnt; mount -t ext2 /dev/sda /mnt; echo x > /mnt/f; cat {VM}/nr_pdflush_threads"
    boot(command, disk=ext2.make(tmp_path / "image", "2M"), disk_kind="sim:ram").check_exit().check_lines(["^1$"])
    boot(f"echo 2 > {VM}/nr_pdflush_threads").check_exit(qemu.FAILED).check_lines([".*Permission denied"])


def test_swap_token_timeout_is_the_turn_of_the_token_in_seconds() -> None:
    file = f"{VM}/swap_token_timeout"
    boot(f"cat {file}; echo 30 > {file}; cat {file} /proc/params").check_exit().check_lines(
        ["^60$", "^30$", r"^token\.turn_ms=30000\t"]
    )


def test_panic_on_oom() -> None:
    command = f"echo 1 > {VM}/panic_on_oom; hog 65536 1"
    result = boot(command, mem="16M", swap="sim:ssd,size=16M").check_exit(qemu.PANICKED)
    assert "killed process" not in result.console


@pytest.mark.parametrize(
    "text",
    [
        "overcommit_memory 3",
        "page-cluster 6",
        "lowmem_reserve_ratio x",
        f"lowmem_reserve_ratio {0:040}",
        "panic_on_oom 2",
        "percpu_pagelist_fraction 7",
        "legacy_va_layout 2",
        "vdso_enabled 2",
        "swap_token_timeout 0",
        "swap_token_timeout 4294968",
        "swap_token_timeout x",
    ],
)
def test_what_is_out_of_range_is_refused(text: str) -> None:
    name, value = text.split()
    boot(f"cat {VM}/{name}; echo {value} > {VM}/{name}").check_exit(qemu.FAILED).check_lines([".*Invalid argument"])
