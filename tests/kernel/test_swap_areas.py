"""Several swap areas: priorities, what swapon refuses, and swapoff while the machine thrashes."""

from __future__ import annotations

import io
import re
import struct
from pathlib import Path

import pytest
from guest import Result, settings
from soak import soak_but
from tidemark.machine import qemu

PAGE, SECTOR = 4096, 512
CHECK = "cat /proc/vm/check"
SWAPS = "cat /proc/swaps"
POLICIES = sorted(p.stem for p in (qemu.ROOT / "kernel/mm/policy").glob("*.c"))
POLICIES = [p for p in POLICIES if not p.endswith(("_test", "TEMPLATE")) and p not in ("min", "vmin")]
USUAL = ("clock", "2q", "ws")


def header(pages: int, bad: tuple[int, ...] = (), version: int = 1, signature: bytes = b"SWAPSPACE2") -> bytes:
    """The first page of a swap area of `pages` pages, as written by Linux's mkswap."""
    page = bytearray(PAGE)
    struct.pack_into("<III", page, 1024, version, pages - 1, len(bad))
    struct.pack_into(f"<{len(bad)}I", page, 1536, *bad)
    page[-len(signature) :] = signature
    return bytes(page)


def image(folder: Path, pages: int, first: bytes) -> str:
    """A disk of `pages` pages that begins with these bytes."""
    file = Path(folder, "disk.img")
    file.write_bytes(first + bytes(pages * PAGE - len(first)))
    return str(file)


def partitioned(folder: Path, nr: int, pages: int) -> str:
    """A disk with nr logical partitions, sda5 and so on, each a swap area of `pages` pages."""
    size, start = pages * PAGE // SECTOR, 8
    step = size + 8
    file = Path(folder, "disk.img")
    disk = bytearray((start + nr * step) * SECTOR)
    tables = [[(5, start, nr * step)]]  # type, first sector, number of sectors
    tables += [[(0x82, 8, size), (5, (i + 1) * step, step)] for i in range(nr - 1)] + [[(0x82, 8, size)]]
    for i, table in enumerate(tables):
        at = SECTOR * (start + (i - 1) * step) if i else 0
        for j, (kind, first, sectors) in enumerate(table):
            struct.pack_into("<BxxxBxxxII", disk, at + 446 + 16 * j, 0, kind, first, sectors)
        disk[at + 510 : at + 512] = b"\x55\xaa"
        if i:
            disk[at + 8 * SECTOR : at + 8 * SECTOR + PAGE] = header(pages)
    file.write_bytes(disk)
    return str(file)


def boot(command: str, disk: str, kind: str = "sim:ssd", **choices: object) -> Result:
    """Runs `command` with a second modelled disk, sda."""
    choices = {"mem": "12M", "swap": "sim:ssd,size=32M", "timeout": 120, **choices}
    s = settings(run=command, disk=disk, disk_kind=kind, **choices)
    console = io.BytesIO()
    code, _ = qemu.run_command(s, console)
    return Result(
        code, console.getvalue().decode("ascii", "replace").replace("\r\n", "\n"), command=qemu.command_line(s)
    )


def areas(result: Result) -> list[dict[str, tuple[int, ...]]]:
    """For each `cat /proc/swaps`, every area's size, use (KiB), and priority."""
    tables: list[dict[str, tuple[int, ...]]] = []
    for line in result.console.splitlines():
        if line.startswith("Filename"):
            tables.append({})
        elif found := re.match(r"(/dev/\w+) +partition +(\d+) +(\d+) +(-?\d+)$", line):
            tables[-1][found[1]] = tuple(int(n) for n in found.groups()[1:])
    return tables


def sound(result: Result) -> Result:
    """Returns the result if no page was lost and all checks said ok."""
    result.check_exit().check_lines([r"^R \w+ .*corrupt=0"])
    assert not re.search("lost=[1-9]|violation|Out of memory:|PANIC", result.console), result.tail()
    assert len(re.findall("^ok$", result.console, re.MULTILINE)) == result.command.count(CHECK), result.tail()
    return result


# --- on, by priority ---


def test_the_highest_priority_is_filled_first(tmp_path: Path) -> None:
    disk = image(tmp_path, 2048, header(2048))
    result = boot(f"swapon -p 7 /dev/sda; hog 20480 1 & sleep 0.8; {SWAPS}; wait; {CHECK}", disk)
    first = areas(sound(result))[0]
    assert first["/dev/sda"][0::2] == (2047 * 4, 7)
    assert first["/dev/sda"][1] > 2000 * 4, "but for what the shell has got back"
    assert first["/dev/sim"][0::2] == (8191 * 4, -2) and first["/dev/sim"][1] > 0


def test_alone_in_the_place_of_the_first(tmp_path: Path) -> None:
    disk = image(tmp_path, 4096, header(4096))
    command = (
        "swapoff /dev/sim; swapon /dev/sda; swapoff /dev/sda; swapon -p 3 /dev/sda; hog 12288 1 & sleep 0.5;"
        f" {SWAPS}; wait; {CHECK}"
    )
    used = areas(sound(boot(command, disk)))[0]
    assert list(used) == ["/dev/sda"] and used["/dev/sda"][1] > 0


def test_bad_pages_are_not_used(tmp_path: Path) -> None:
    """Only 30 of 64 pages are good, and the last one is bad: no more can be in use, and nothing is lost."""
    disk = image(tmp_path, 64, header(64, (*range(1, 33), 63)))
    result = boot(f"swapon -p 7 /dev/sda; hog 14336 1 & sleep 0.8; {SWAPS}; wait; {CHECK}", disk)
    size, used, _ = areas(sound(result))[0]["/dev/sda"]
    assert size == 30 * 4 and 20 * 4 < used <= size


def test_equal_priorities_take_turns_and_there_are_eight(tmp_path: Path) -> None:
    disk = partitioned(tmp_path, nr=8, pages=512)
    seven = " ".join(f"/dev/sda{n}" for n in range(5, 12))
    command = f"swapon -p 2 {seven} && swapon /dev/sda12 || hog 12288 1 & sleep 0.8; {SWAPS}; wait; {CHECK}"
    result = sound(boot(command, disk).check_lines(["^swapon: /dev/sda12: Operation not permitted"]))
    used = [area[1] for name, area in areas(result)[0].items() if name != "/dev/sim"]
    assert len(used) == 7 and min(used) > 256
    assert max(used) - min(used) <= 2 * 32 * 4, "a group of 32 slots each in turn, but for what came back"


# --- refused ---


@pytest.mark.parametrize(
    "first",
    [
        b"",
        header(2048, signature=b"SWAP-SPACE"),
        header(2048, version=2),
        header(2049),
        header(1),
        header(2048, bad=(0,)),
        header(2048, bad=(2048,)),
    ],
    ids=["zeros", "signature", "version", "too_large", "empty", "header_is_bad", "bad_page_beyond_the_end"],
)
def test_junk_is_refused(tmp_path: Path, first: bytes) -> None:
    result = boot(f"swapon /dev/sda || {SWAPS}; {CHECK}", image(tmp_path, 2048, first))
    result.check_lines(["^swapon: /dev/sda: Invalid argument", "^Filename", "^/dev/sim", "^ok$"])
    assert "/dev/sda" not in areas(result)[0]


def test_what_is_used_or_unknown_is_refused(tmp_path: Path) -> None:
    command = "swapon /dev/sda && swapon /dev/sda || swapon /dev/nothing || swapoff /dev/nothing || swapoff /dev/null"
    result = boot(f"{command} || {CHECK}", image(tmp_path, 64, header(64)))
    result.check_lines(
        [
            "^swapon: /dev/sda: (Device or )?[Rr]esource busy",
            "^swapon: /dev/nothing: ",
            "^swapoff: /dev/nothing: ",
            "^swapoff: /dev/null: ",
            "^ok$",
        ]
    )


def test_a_header_that_cannot_be_read(tmp_path: Path) -> None:
    disk = image(tmp_path, 64, header(64))
    result = boot(f"swapon /dev/sda || swapon /dev/sda || {SWAPS}", disk, kind="sim:ssd", cmdline="fail=read:1+")
    result.check_lines(["^swapon: /dev/sda: I/O error", "^swapon: /dev/sda: I/O error", "^/dev/sim"])


# --- off ---


@pytest.mark.parametrize("policy", soak_but(POLICIES, *USUAL))
def test_off_in_the_middle_of_thrashing(tmp_path: Path, policy: str) -> None:
    """The pages on sda move to memory and to the other area; the processes keep every page."""
    disk = image(tmp_path, 2048, header(2048))
    command = (
        f"swapon -p 7 /dev/sda; thrash 6 4096 2 & sleep 0.08; {SWAPS}; swapoff /dev/sda && {SWAPS};"
        f" wait; {CHECK}; swapon /dev/sda; {SWAPS}; {CHECK}"
    )
    before, after, again = areas(sound(boot(command, disk, vm=policy)))
    assert before["/dev/sda"][1] > 512, "the area was hardly used"
    assert list(after) == ["/dev/sim"]
    assert again["/dev/sda"] == (2047 * 4, 0, -3)


def test_off_with_pages_that_processes_share(tmp_path: Path) -> None:
    """Copies after a fork: several page tables refer to a slot, and refer to one frame afterwards."""
    disk = image(tmp_path, 4096, header(4096))
    command = f"swapon -p 7 /dev/sda; cow 5 8192 6000 & sleep 0.1; {SWAPS}; swapoff /dev/sda && {SWAPS}; wait; {CHECK}"
    before, after = areas(sound(boot(command, disk)))
    assert before["/dev/sda"][1] > 512 and list(after) == ["/dev/sim"]


@pytest.mark.parametrize("policy", soak_but(POLICIES, "clock"))
def test_off_with_shared_memory(tmp_path: Path, policy: str) -> None:
    """Slots to which files refer, not page tables: memory from mmap, and a file that is also read and written."""
    disk = image(tmp_path, 4096, header(4096))
    command = (
        "swapon -p 7 /dev/sda; shared anon 2 6144 9000 & shared memfd 2 6144 9000 io & sleep 0.06;"
        f" {SWAPS}; swapoff /dev/sda && {SWAPS}; wait; {CHECK}"
    )
    before, after = areas(sound(boot(command, disk, vm=policy)))
    assert list(after) == ["/dev/sim"]
    assert before["/dev/sda"][1] > 512 or policy != "clock", "of others, some have ended by then"


def test_off_without_room_changes_nothing(tmp_path: Path) -> None:
    disk = image(tmp_path, 4096, header(4096))
    command = (
        f"swapon -p 7 /dev/sda; hog 16384 1 & sleep 0.8; {SWAPS}; swapoff /dev/sda; {SWAPS}; {CHECK}; wait; {CHECK}"
    )
    result = sound(boot(command, disk, swap="sim:ssd,size=1M"))
    result.check_lines(["^swapoff: /dev/sda: (Out of|Cannot allocate) memory"])
    before, after = areas(result)
    assert after == before and before["/dev/sda"][1] > 4096


def test_off_with_a_disk_that_fails(tmp_path: Path) -> None:
    disk = image(tmp_path, 2048, header(2048))
    command = f"swapon -p 7 /dev/sda; hog 16384 9 & sleep 0.8; swapoff /dev/sda || {SWAPS}; {CHECK}"
    result = boot(command, disk, kind="sim:ssd", cmdline="fail=read:20+").check_exit()
    result.check_lines(["^swapoff: /dev/sda: I/O error", "^/dev/sda", "^ok$"])
    assert 0 < areas(result)[0]["/dev/sda"][1] < 8188 - 1024, "what could be read has come back"


def test_one_area_after_the_other(tmp_path: Path) -> None:
    """While one area is switched off, another cannot be; it can be afterwards."""
    disk = partitioned(tmp_path, nr=2, pages=2048)
    off = "swapoff /dev/sda5 & sleep 0.01; swapoff /dev/sda6 || wait %2; swapoff /dev/sda6 &&"
    command = f"swapon -p 7 /dev/sda5 /dev/sda6; hog 16384 1 & sleep 0.8; {off} {SWAPS}; {CHECK}"
    result = boot(command, disk, kind="sim:hdd").check_exit()
    result.check_lines(["^swapoff: /dev/sda6: Resource busy", "^ok$"])
    assert list(areas(result)[-1]) == ["/dev/sim"]


def test_off_ends_by_a_signal(tmp_path: Path) -> None:
    disk = image(tmp_path, 2048, header(2048))
    command = (
        "swapon -p 7 /dev/sda; hog 16384 3 & sleep 2; swapoff /dev/sda & sleep 0.1; kill -INT %2;"
        f" wait %2; {SWAPS}; {CHECK}; wait; {CHECK}"
    )
    result = sound(boot(command, disk, kind="sim:hdd"))
    assert "/dev/sda" in areas(result)[0]


def test_the_first_area_off_and_on_again(tmp_path: Path) -> None:
    """The first area's tables are used for sda in the meantime."""
    disk = image(tmp_path, 8192, header(8192))
    command = (
        "thrash 6 3072 2 & sleep 0.15; swapon /dev/sda; swapoff /dev/sim && cat /proc/swaps /proc/vmallocinfo;"
        f" {CHECK}; wait; swapoff /dev/sda; swapon /dev/sda; cat /proc/swaps /proc/vmallocinfo; {CHECK}"
    )
    result = sound(boot(command, disk))
    on_vmalloc, on_boot_tables = areas(result)
    assert list(on_vmalloc) == list(on_boot_tables) == ["/dev/sda"]
    assert result.console.count("swap tables") == 1


def test_shared_memory_that_came_back_leaves_again(tmp_path: Path) -> None:
    """The policy owns it again, although it has not been used; and it is freed with its file."""
    disk = image(tmp_path, 2048, header(2048))
    command = (
        "swapon -p 7 /dev/sda; mkdir /mnt; mount -t tmpfs -o size=9M none /mnt; dd if=/dev/zero of=/mnt/f bs=65536"
        f" count=40; hog 8192 1; {SWAPS}; swapoff /dev/sda; {SWAPS}; hog 8192 1; {SWAPS}; rm /mnt/f; {SWAPS}; {CHECK}"
    )
    first, off, again, gone = areas(sound(boot(command, disk, vm="fifo")))
    assert first["/dev/sda"][1] > 1500 > off["/dev/sim"][1]
    assert again["/dev/sim"][1] > 1500 > gone["/dev/sim"][1]


def test_off_reads_back_what_a_sleeper_has_there(tmp_path: Path) -> None:
    """The last of several processes, which touches nothing meanwhile."""
    disk = image(tmp_path, 2048, header(2048))
    command = (
        f"swapon -p 7 /dev/sda; hog 9216 30 & sleep 0.5; hog 9216 1; {SWAPS}; swapoff /dev/sda; {SWAPS}; {CHECK}; wait"
    )
    result = sound(boot(command, disk, mem="16M", vm="fifo"))
    before, after = areas(result)
    took = re.search(r"(?m)^ +\d+ swapoff +0 +([\d.]+) ", result.console)
    assert before["/dev/sda"][1] > 2000 and list(after) == ["/dev/sim"]
    assert took and float(took[1]) < 5000
