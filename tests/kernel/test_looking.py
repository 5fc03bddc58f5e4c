"""Displays of memory and disks (smaps, meminfo, vmstat, iostat, slabtop), each compared with a number from another
source: the process's accounts, the size of an image, the text that a program converts.
"""

from __future__ import annotations

import re
from pathlib import Path

from guest import boot

IMAGE_KIB = 4096
HOG_KIB = 4096
SPLIT = "echo ===="
PIDS = range(1, 13)  # the processes' pids are among them


def kib(text: str, name: str) -> list[int]:
    """The numbers of all lines "name: n kB"."""
    return [int(n) for n in re.findall(rf"^{name}:\s+(\d+) kB$", text, re.MULTILINE)]


def pieces(command: str, **choices: object) -> list[str]:
    """The parts of a run's output after each SPLIT."""
    console = boot(command, **choices).check_exit().console  # type: ignore[arg-type]
    return console.split("====\n")[1:]


def image(folder: Path) -> Path:
    path = folder / "disk.img"
    path.write_bytes(bytes(IMAGE_KIB << 10))
    return path


def columns(head: str, line: str) -> dict[str, float]:
    return {name: float(value) for name, value in zip(head.split()[1:], line.split()[1:], strict=True)}


def test_smaps_adds_up_to_the_accounts_of_the_process() -> None:
    """Half of the process is swapped out: the sums over its regions, and the rollup, equal the counts in
    /proc/PID/status."""
    names = " ".join(f"{pid}/{name}" for pid in PIDS for name in ("smaps", "smaps_rollup", "status"))
    (text,) = pieces(f"hog 16384 40 & sleep 20; cd /proc; {SPLIT}; cat {names}; wait", mem="12M")
    each = r"(.*?)^(\S+ ---p [^\n]*\[rollup\]\n.*?)^(Name:.*?)^nonvoluntary"
    processes = re.findall(each, text, re.MULTILINE | re.DOTALL)
    ((smaps, rollup, status),) = [process for process in processes if "\thog\n" in process[2]]
    for name, account in (("Size", "VmSize"), ("Rss", "VmRSS"), ("Swap", "VmSwap"), ("Anonymous", "RssAnon")):
        assert sum(kib(smaps, name)) == kib(status, account)[0], name
    assert kib(status, "VmSwap")[0] > 4096
    parts = ("Shared_Clean", "Shared_Dirty", "Private_Clean", "Private_Dirty")
    for text in (smaps, rollup):
        assert sum(sum(kib(text, part)) for part in parts) == sum(kib(text, "Rss"))
    assert kib(rollup, "Rss") == kib(status, "VmRSS")
    assert kib(rollup, "Pss_Anon") == kib(status, "RssAnon")  # these pages are not shared


def test_pss_of_all_processes_is_the_memory_they_use() -> None:
    """Parent and child share pages after fork: shared pages count once."""
    show = " ".join(f"/proc/{pid}/smaps_rollup" for pid in PIDS)
    (sizes,) = pieces(f"cow 2 1024 2000 100000 & sleep 1; {SPLIT}; cat {show} /proc/meminfo; wait")
    pss, used = sum(kib(sizes, "Pss_Anon")), kib(sizes, "AnonPages")[0]
    assert sum(kib(sizes, "Anonymous")) > used + 1024
    assert abs(pss - used) <= len(kib(sizes, "Pss"))  # each value is rounded down


def test_files_of_disks_are_buffers_and_count_as_read(tmp_path: Path) -> None:
    command = f"{SPLIT}; vmstat; cat /proc/meminfo; {SPLIT}; cat /dev/sda > /dev/null; vmstat; cat /proc/meminfo"
    before, after = pieces(command, disk=image(tmp_path))
    line = after.splitlines()[2].split()
    assert kib(after, "Buffers")[0] - kib(before, "Buffers")[0] == IMAGE_KIB
    assert [int(line[4]), int(line[5])] == [kib(after, "Buffers")[0], kib(after, "Cached")[0]]
    assert kib(after, "Cached") == kib(before, "Cached")
    assert int(line[8]) > int(before.splitlines()[2].split()[8])  # bi


def test_available_is_what_linux_s_formula_says(tmp_path: Path) -> None:
    """Free memory and pages of files, less the high watermarks, and half these pages or at most the low watermarks."""
    info = "cat /proc/meminfo /proc/zoneinfo"
    command = f"{SPLIT}; {info}; {SPLIT}; hog 4096 1 & sleep 1; {info}; wait; {SPLIT}; cat /dev/sda > /dev/null; {info}"
    for shown in pieces(command, mem="16M", disk=image(tmp_path)):
        low, high = (
            4 * sum(map(int, re.findall(rf"^ +{mark} +(\d+)$", shown, re.MULTILINE))) for mark in ("low", "high")
        )
        (free,), (files,), (available,) = (kib(shown, name) for name in ("MemFree", "Buffers", "MemAvailable"))
        assert high > low > 0
        assert available == free + files - min(files // 2, low) - high


def test_dirty_pages_are_counted_until_they_are_written(tmp_path: Path) -> None:
    command = f"cp /bin/sh /dev/sda; {SPLIT}; cat /proc/meminfo; sync; {SPLIT}; cat /proc/meminfo; ls -l /bin/sh"
    dirty, clean = pieces(command, disk=image(tmp_path))
    size = int(re.findall(r"(\d+) \S+ \S+ /bin/sh$", clean, re.MULTILINE)[0])
    assert kib(dirty, "Dirty")[0] * 1024 >= size > kib(dirty, "Dirty")[0] * 1024 - 4096
    assert kib(clean, "Dirty") == kib(clean, "Writeback") == [0]


def test_iostat_shows_what_was_read_in_the_interval(tmp_path: Path) -> None:
    (report,) = pieces(f"{SPLIT}; iostat 5 2 & sleep 1; cat /dev/sda > /dev/null; wait", disk=image(tmp_path))
    head, *lines = report.splitlines()[report.splitlines().index("") + 1 :]
    sda = columns(head, next(line for line in lines if line.startswith("sda ")))
    assert abs(sda["rkB/s"] * 5 - IMAGE_KIB) < IMAGE_KIB / 100
    assert abs(sda["r/s"] * sda["rareq-sz"] - sda["rkB/s"]) < 5
    assert sda["r_await"] > 0 and 0 < sda["%util"] < 40 and sda["wkB/s"] == 0


def test_slabtop_lists_what_slabinfo_has_by_size() -> None:
    top, info = pieces(f"{SPLIT}; slabtop -o; {SPLIT}; cat /proc/slabinfo /proc/meminfo")
    rows = [line.split() for line in top.splitlines()[5:]]
    sizes = [int(row[6].rstrip("K")) for row in rows if len(row) == 8]
    caches = dict(re.findall(r"^(\S+) .* : slabdata +\d+ +(\d+)", info, re.MULTILINE))
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == kib(info, "Slab")[0]
    assert {row[7]: row[4] for row in rows if len(row) == 8} == caches
