"""The records of pressure, compared with external observations: page transfers, regions, processes."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
from guest import Result, boot
from tidemark.grade.witness import evidence
from tidemark.machine import plugin, qemu

MIB = 1 << 20
THRASH, MEM = "thrash 5 2048 4 300", 12
LARGE = 20  # a process counts if it demands at least 1/20 of the largest demand


def pressure(result: Result) -> list[dict]:
    return [record for record in result.telemetry if record["ev"] == "pressure"]


def thrashing(**more: str) -> Result:
    return boot(THRASH, vm="2q", mem=f"{MEM}M", swap="sim:hdd", telemetry=True, **more).check_exit()


def test_there_is_one_every_tenth_of_a_second_and_one_at_the_end() -> None:
    """Whether the machine works or waits; if it waits, at the next interrupt of the disk."""
    records = pressure(thrashing())
    times = [0, *(record["t_us"] for record in records)]
    assert all(100_000 <= after - before < 120_000 for before, after in itertools.pairwise(times[:-1]))
    assert times[-1] - times[-2] < 120_000
    working = pressure(boot("thrash 1 64 2000 2000", cmdline="sample_ms=0", telemetry=True).check_exit())
    assert len(working) > 3 and all(record["full_us"] == record["read"] == record["evicted"] == 0 for record in working)


def test_pages_read_are_those_that_are_copied_from_the_store(tmp_path: Path) -> None:
    names = ("directory", "copy", "sectors", "clear", "death")
    functions = ("kernel_pgdir", "copy_page", "copy_sectors", "clear_page", "pgd_destroy")
    addresses = dict(zip(names, map(hex, plugin.addresses(qemu.ROOT, *functions))))
    options = {"out": tmp_path / "seen", "store": str(MEM * MIB), "refs": "0", **addresses}
    last = pressure(thrashing(qemu_flags=plugin.flags("evidence", **options)))[-1]
    kinds = np.fromfile(tmp_path / "seen", evidence.EVENT)["kind"]
    assert last["read"] == np.count_nonzero(kinds == evidence.READ) > 100


def test_evictions_are_the_calls_of_the_hook_and_the_first_is_told(tmp_path: Path) -> None:
    """By the plugin's own clock, which does not stand still while the kernel takes samples."""
    main, clock, evicted = plugin.addresses(qemu.ROOT, "kernel_main", "clock_start", "policy_call_evicted")
    options = {"out": tmp_path / "past", "main": str(main), "clock": str(clock), "pcs": str(evicted)}
    records = pressure(thrashing(qemu_flags=plugin.flags("past", **options)))
    places_us = [int(line.split()[1]) / 1e3 for line in (tmp_path / "past").read_text().splitlines()]
    assert records[-1]["evicted"] == len(places_us) > 100
    assert 0 <= places_us[0] - records[0]["evicting_us"] < 1000
    assert records[0]["evicted"] > 0 and all(
        (record["evicting_us"] > 0) == grew for record, grew in with_growth(records)
    )


def with_growth(records: list[dict]) -> list[tuple[dict, bool]]:
    """Each record, and whether pages were evicted since the previous one."""
    before = [0, *(record["evicted"] for record in records)]
    return [(record, record["evicted"] > old) for record, old in zip(records, before)]


def wanted(maps: str) -> int:
    """Pages of the regions in /proc/PID/maps that are anonymous, or private and writable."""
    total = 0
    for low, high, rights, name in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+ *(.*)$", maps, re.MULTILINE):
        if rights[1::2] == "wp" or not name or name in ("[heap]", "[stack]"):
            total += (int(high, 16) - int(low, 16)) // 4096
    return total


def test_demand_is_the_regions_of_the_processes_that_count() -> None:
    """Three processes and their parents run at once; before and afterwards, fewer do."""
    pids = [4, 8, *range(10, 13)]  # the shell; thrash and its children
    show = "; ".join(f"echo; echo pid {pid}; cat /proc/{pid}/maps" for pid in pids)
    run = f"thrash 2 8192 1 1; thrash 3 8192 9 5000 & sleep 0.1; {show}; wait; thrash 1 8192 1 1"
    result = boot(run, mem="64M", cmdline="sample_ms=0", telemetry=True).check_exit()
    _, *texts = re.split(r"^pid \d+$", result.console, flags=re.MULTILINE)
    demands = list(map(wanted, texts))
    large = [pages for pages in demands if pages * LARGE >= max(demands)]
    last = pressure(result)[-1]
    assert (last["demand"], last["wanting"]) == (sum(large), len(large))
    assert len(large) == 3 and min(demands) > 0 and len(demands) == len(pids)


def test_demand_of_a_moment_is_seen_without_a_sample() -> None:
    """Five processes for less than a millisecond; before and afterwards one."""
    brief, alone = "thrash 5 4096 1 1", "thrash 1 4096 5 5000"
    result = boot(f"{alone}; {brief}; {alone}", mem="64M", cmdline="sample_ms=10000", telemetry=True).check_exit()
    records = pressure(result)
    assert records[-1]["wanting"] == 5 and records[-1]["demand"] > 5 * 1024
    assert records[0]["wanting"] == 1 and records[0]["demand"] < 1200


def test_held_back_at_once_is_the_most_that_any_sample_sees() -> None:
    result = boot(
        "thrash 8 4096 3 300", vm="ws", mem="16M", cmdline="sample_ms=1 sample_percent=100", telemetry=True
    ).check_exit()
    seen = max(record["held"] for record in result.telemetry if record["ev"] == "sample")
    assert 1 < seen <= pressure(result)[-1]["held"] <= 8
