"""The settings for files under /proc/sys/vm: each has the effect that Linux's documentation describes."""

from __future__ import annotations

import re
from pathlib import Path

import ext2
import pytest
from guest import Result, boot

VM = "/proc/sys/vm"
NAMES = " ".join(f"n{i}" for i in range(12))


def on_disk(tmp_path: Path, command: str, kind: str = "sim:ssd", **more: object) -> Result:
    """Runs a command on an empty file system, mounted on /mnt."""
    image = ext2.make(tmp_path / "image", "24M", "-b", "4096")
    line = f"mkdir /mnt; mount -t ext2 /dev/sda /mnt; cd /mnt; {command}; cd /; umount /mnt"
    return boot(line, disk=image, disk_kind=kind, **{"mem": "32M", "swap": "sim:ssd,size=16M", **more}).check_exit()  # type: ignore[arg-type]


def counts(result: Result, name: str) -> list[int]:
    """A number of each /proc/vmstat in the output."""
    return [int(n) for n in re.findall(rf"^{name} (\d+)$", result.console, re.MULTILINE)]


def put(**knobs: int) -> str:
    return "; ".join(f"echo {value} > {VM}/{name}" for name, value in knobs.items())


WRITE = "dd if=/dev/zero of=f bs=65536 count=96"  # 6 MiB, 1,536 pages
LOOK = "cat /proc/vmstat"


@pytest.mark.parametrize("ratio", [5, 60])
def test_dirty_background_ratio_is_when_writing_begins(tmp_path: Path, ratio: int) -> None:
    """Below the limit, pages stay dirty; above it they are written at once, although no process waits for the
    writes."""
    knobs = put(dirty_ratio=90, dirty_background_ratio=ratio)
    result = on_disk(tmp_path, f"{knobs}; {WRITE}; sleep 1; {LOOK}", "sim:hdd")
    dirty, free, cached = (counts(result, name)[0] for name in ("nr_dirty", "nr_free_pages", "nr_file_pages"))
    if ratio == 5:
        assert 0 < dirty <= (free + cached) * 5 // 100
    else:
        assert dirty >= 1536


def test_dirty_ratio_is_how_much_a_writer_may_leave(tmp_path: Path) -> None:
    """With 5 % the writer waits for a slow disk, and leaves no more; with 90 % it does not wait, and everything stays
    dirty."""
    left, took = [], []
    for ratio in 5, 90:
        result = on_disk(
            tmp_path, f"{put(dirty_background_ratio=ratio, dirty_ratio=ratio)}; {WRITE}; {LOOK}", "sim:hdd"
        )
        left.append(counts(result, "nr_dirty")[0] + counts(result, "nr_writeback")[0])
        took += [float(ms) for ms in re.findall(r"^ +\d+ dd +0 +([\d.]+) ", result.console, re.MULTILINE)]
    assert left[0] <= 8192 * 5 // 100 and left[1] > 1000
    assert took[0] > 5 * took[1]


def test_dirty_expire_centisecs_is_how_old_it_gets(tmp_path: Path) -> None:
    """One second, with ten checks per second; and then the default, half a minute."""
    knobs, write = put(dirty_expire_centisecs=100, dirty_writeback_centisecs=10), "echo text > g"
    look = f"sleep 0.5; {LOOK}; sleep 1; {LOOK}"
    result = on_disk(
        tmp_path, f"sleep 2; {knobs}; {write}; {look}; {put(dirty_expire_centisecs=3000)}; {write}; {look}"
    )
    assert [n > 0 for n in counts(result, "nr_dirty")] == [True, False, True, True]


def test_dirty_writeback_centisecs_is_how_often_somebody_looks(tmp_path: Path) -> None:
    """All pages are old at once. 0: never; 3 s: not in the first two seconds, but in the next two. A setting holds at
    once."""
    write = "echo text > g"
    never = f"{put(dirty_expire_centisecs=0, dirty_writeback_centisecs=0)}; {write}; sleep 60; {LOOK}; sync"
    often = f"{put(dirty_writeback_centisecs=300)}; {write}; sleep 2; {LOOK}; sleep 2; {LOOK}"
    result = on_disk(tmp_path, f"{never}; {often}")
    assert [n > 0 for n in counts(result, "nr_dirty")] == [True, True, False]


def inodes(result: Result) -> list[int]:
    """Inodes in memory, in each /proc/slabinfo in the output."""
    return [int(n) for n in re.findall(r"^inode +(\d+) ", result.console, re.MULTILINE)]


def test_drop_caches_takes_what_is_clean(tmp_path: Path) -> None:
    """1: pages of files; 2: names and inodes; 3: both; dirty ones stay."""
    look, drop = f"{LOOK}; cat /proc/slabinfo", "echo {} > " + f"{VM}/drop_caches"
    drops = "; ".join(f"{drop.format(n)}; {look}" for n in (1, 2, 3))
    dirty = "dd if=/dev/zero of=h bs=4096 count=50"
    result = on_disk(tmp_path, f"{WRITE}; touch {NAMES}; sync; {look}; {dirty}; {drops}")
    pages, slab = counts(result, "nr_file_pages"), inodes(result)
    assert pages[0] + 50 - pages[1] >= 1536 and slab[0] + 1 == slab[1]
    assert slab[1] - slab[2] >= len(NAMES.split()) and counts(result, "nr_dirty")[-1] >= 50


def test_vfs_cache_pressure_is_how_names_and_inodes_fare(tmp_path: Path) -> None:
    """While a process needs more memory than there is: 0 keeps them all, 100 frees some, 1000 frees more."""
    left = []
    for pressure in 0, 100, 1000:
        line = f"{put(vfs_cache_pressure=pressure)}; touch {NAMES}; sync; cat /proc/slabinfo; seqscan 12000 2"
        result = on_disk(tmp_path, f"{line}; cat /proc/slabinfo", mem="10M", vm="2q")
        before, after = inodes(result)
        left.append(before - after)
    assert 0 == left[0] < left[1] < left[2]


def test_swappiness_is_programs_against_files(tmp_path: Path) -> None:
    """A process sleeps, a file is read again and again, and together they exceed memory: 0 spares the process as long
    as there are pages of files, 100 does not."""
    out = []
    for swappiness in 0, 100:
        line = f"filescan f 0 fill --kb 8192; sync; hog 7000 3 & sleep 0.5; filescan f 10; {LOOK}; wait"
        result = on_disk(tmp_path, f"{put(swappiness=swappiness)}; {line}", mem="14M", vm="2q")
        out += counts(result, "pswpout")
    assert out[1] > 5 * (out[0] + 1)
