"""Disks for files: each kind keeps its data, partitions are found, errors are reported, exact runs repeat.

The guest's writes are checked on the host, in the image.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import struct
import subprocess
import zlib
from pathlib import Path

import pytest
from guest import Result, boot, settings
from soak import soak_but
from tidemark.machine import disk, qemu

SECTOR = 512
WRITTEN = 512  # sectors at the end that the kernel's tests write
SHOW = "cat /proc/partitions"
CHECK = "cat /proc/vm/check"


def pattern(sector: int, flip: int = 0) -> bytes:
    """The content that kernel/drivers/block_ktest.c expects in a sector; it writes the same with all bits inverted."""
    return struct.pack("<128I", *((sector * 2654435761 + word & 0xFFFFFFFF) ^ flip for word in range(128)))


def with_pattern(path: Path, sectors: int) -> Path:
    path.write_bytes(b"".join(pattern(n) for n in range(sectors)))
    return path


def entry(kind: int, start: int, sectors: int) -> bytes:
    """An entry of an MBR."""
    return struct.pack("<B3xB3xII", 0, kind, start, sectors)


def table(*entries: bytes) -> bytes:
    """A sector with an MBR."""
    return bytes(446) + b"".join(entries).ljust(64, b"\0") + b"\x55\xaa"


def image(path: Path, sectors: int, parts: dict[int, bytes]) -> Path:
    """An image with these bytes at these sectors."""
    data = bytearray(sectors * SECTOR)
    for at, part in parts.items():
        data[at * SECTOR : at * SECTOR + len(part)] = part
    path.write_bytes(data)
    return path


def gpt(sectors: int, partitions: list[tuple[int, int]]) -> dict[int, bytes]:
    """Both copies of a table with partitions (first, last); see image."""
    entries = b"".join(struct.pack("<16s16sQQ80x", b"\xe5" * 16, b"\x01" * 16, *part) for part in partitions)
    entries = entries.ljust(128 * 128, b"\0")
    parts = {0: table(entry(0xEE, 1, sectors - 1))}
    for own, other, at in ((1, sectors - 1, 2), (sectors - 1, 1, sectors - 33)):
        fields = [own, other, 34, sectors - 34, b"\x02" * 16, at, 128, 128, zlib.crc32(entries)]
        rest = struct.pack("<QQQQ16sQIII", *fields)
        crc = zlib.crc32(struct.pack("<8sIIII", b"EFI PART", 0x10000, 92, 0, 0) + rest)
        parts |= {own: struct.pack("<8sIIII", b"EFI PART", 0x10000, 92, crc, 0) + rest, at: entries}
    return parts


def has_line(result: Result, expression: str) -> bool:
    return re.search(expression, result.console, re.MULTILINE) is not None


# --- disks keep their data ---


KINDS = [("sim:ssd", "sim:hdd", "deadline"), ("ide", "hda", "fifo"), ("virtio", "none", "deadline")]


@pytest.mark.parametrize("kind, swap, elevator", KINDS)
def test_every_kind_reads_and_writes(tmp_path: Path, kind: str, swap: str, elevator: str) -> None:
    """With swap=hda the disk is the other unit of the same channel. The image does not end at a page boundary. Other
    kernel tests, about time, need not pass when time depends on the host."""
    file = with_pattern(tmp_path / "disk", 8191)
    cmdline = f"ktest block.elevator={elevator}"
    result = boot("", cmdline=cmdline, disk=file, disk_kind=kind, swap=swap)
    assert result.exit == qemu.OK or kind in disk.REAL, result.tail()
    tests = ("parts_of_pages_are_read", "beyond_its_end_is_an_error", "many_at_once_are_written_and_read")
    result.check_lines([rf"^ +ok \d {name}$" for name in tests])
    data = file.read_bytes()
    for n in range(8191):
        flip = 0xFFFFFFFF if n >= 8191 - WRITTEN else 0
        assert data[n * SECTOR : (n + 1) * SECTOR] == pattern(n, flip), f"sector {n}"


# --- partitions ---


def test_primary_and_logical_partitions_are_found(tmp_path: Path) -> None:
    parts = {
        0: table(entry(0x83, 63, 1000), entry(0x82, 1063, 2000), entry(5, 4000, 4000)),
        4000: table(entry(0x83, 63, 937), entry(5, 2000, 2000)),
        6000: table(entry(0x83, 63, 1937)),
    }
    result = boot(SHOW, disk=image(tmp_path / "disk", 8192, parts), swap="none").check_exit()
    result.check_lines(
        [
            "^disk: sda, 4096 KiB; .*; partitions: sda1 sda2 sda5 sda6$",
            *(f"^   8 {minor:8} {kib:10} sda{minor or ''}$" for minor, kib in enumerate((4096, 500, 1000))),
            "^   8        5        468 sda5$",
            "^   8        6        968 sda6$",
        ]
    )


@pytest.mark.parametrize(
    "bad, said", [((), ""), ((1,), "its checksum is wrong; its copy is used"), ((1, 8191), "ignored")]
)
def test_gpt_is_checked(tmp_path: Path, bad: tuple[int, ...], said: str) -> None:
    file = image(tmp_path / "disk", 8192, gpt(8192, [(64, 1063), (2048, 4095)]))
    with file.open("r+b") as data:
        for header in bad:
            data.seek(header * SECTOR + 40)
            data.write(b"\x23")
    result = boot(SHOW, disk=file, swap="none").check_exit()
    assert has_line(result, r"partitions: sda1 sda2$") == (len(bad) < 2), result.tail()
    assert has_line(result, "bad partition table: .*" + said) == bool(bad), result.tail()


def test_partition_beyond_the_end_is_ignored(tmp_path: Path) -> None:
    """As in an image that was truncated."""
    file = image(tmp_path / "disk", 4096, {0: table(entry(0x83, 63, 1000), entry(0x83, 2048, 2049))})
    result = boot(SHOW, disk=file, swap="none").check_exit()
    result.check_lines(["partitions: none$", "bad partition table: a partition goes beyond the end of the disk; it is"])


# --- swap on a disk by its name ---


def partitioned(folder: Path, sectors: int = 40000) -> Path:
    parts = {0: table(entry(0x83, 64, 1000), entry(0x82, 1064, sectors - 1065)), sectors - 1: b"\xc5" * SECTOR}
    return image(folder / "disk", sectors, parts | {64: b"\xc5" * SECTOR * 1000})


@pytest.mark.parametrize("kind, name", soak_but([("sim:ssd", "sda2"), ("virtio", "vda2")], ("sim:ssd", "sda2")))
def test_swap_on_a_partition_keeps_to_it(tmp_path: Path, kind: str, name: str) -> None:
    file = partitioned(tmp_path)
    before = file.read_bytes()
    result = boot(
        f"thrash 4 4096 1; {CHECK}; cat /proc/swaps /proc/diskstats",
        mem="12M",
        swap=name,
        disk=file,
        disk_kind=kind,
        exact=kind not in disk.REAL,
        telemetry=True,
    ).check_exit()
    result.check_lines([f"^swap: {name}, 19464 KiB", "^R thrash .*lost=0 corrupt=0", "^ok$", f"^/dev/{name} .* 19460 "])
    after = file.read_bytes()
    assert after[: 1064 * SECTOR] == before[: 1064 * SECTOR] and after[-SECTOR:] == before[-SECTOR:]
    assert after != before
    numbers = {words[2]: [int(word) for word in words[3:]] for words in diskstats(result)}
    last = next(d for d in result.telemetry[-2]["block"] if d["name"] == name[:-1])
    assert numbers[name][0] == last["swap_reads"] > 0 and numbers[name][4] == last["swap_writes"] > 0
    assert numbers[name[:-1]][0] == last["swap_reads"] + last["meta_reads"]


def diskstats(result: Result) -> list[list[str]]:
    """The words of each line: major, minor, name, eleven numbers."""
    lines = [line.split() for line in result.console.splitlines() if re.match(r" +\d+ +\d+ [hsv]\w+ \d", line)]
    assert lines and all(len(words) == 14 for words in lines), lines
    return lines


def test_missing_partition_is_refused(tmp_path: Path) -> None:
    result = boot("true", swap="sda3", disk=partitioned(tmp_path)).check_exit(qemu.REFUSED)
    result.check_lines(["^command line: swap=sda3: there is no disk sda3, but .*sda2, 19467 KiB"])


def test_disk_that_is_not_there_is_refused() -> None:
    boot("true", cmdline="disk=virtio").check_exit(qemu.REFUSED).check_lines(
        ["^command line: disk=virtio: there is none"]
    )
    result = boot("true", cmdline="disk=sim:hdd,at=1G,size=1M").check_exit(qemu.REFUSED)
    result.check_lines(["^command line: disk=sim:hdd,at=1G,size=1M: its image is not in memory above mem="])


def test_read_only_disk_is_no_swap(tmp_path: Path) -> None:
    drive = shlex.join(["-drive", f"if=virtio,readonly=on,format=raw,file={with_pattern(tmp_path / 'disk', 128)}"])
    result = boot("true", swap="vda", qemu_flags=drive, exact=False).check_exit(qemu.REFUSED)
    result.check_lines(["^command line: swap=vda: 64 KiB, read-only, but two pages to write to are needed"])


# --- requests that fail ---


def test_virtio_disk_without_an_answer_is_given_up() -> None:
    """The guest's limit is in virtual time, and an exact run skips idle time. What was evicted by then depends on the
    host: if it was a page of init, the machine stops, as docs/reference/reliability.md says."""
    drive = "-drive if=virtio,driver=null-co,read-zeroes=on,size=32M,snapshot=on,throttling.bps-total=64"
    result = boot(f"thrash 4 4096 1; {CHECK}", mem="12M", swap="vda", qemu_flags=drive)
    given_up = r"^vda: no answer for 30 s: given up"
    if result.exit == qemu.PANICKED:
        result.check_lines([given_up, r"^init\[1\]: SIGBUS", "^panic: init died: signal 7$"])
    else:
        result.check_exit().check_lines([given_up, r"^R thrash .*corrupt=0", "^ok$"])


def test_failed_requests_of_both_modelled_disks_are_counted(tmp_path: Path) -> None:
    file = partitioned(tmp_path)
    result = boot(
        f"thrash 4 4096 2; {CHECK}",
        mem="12M",
        swap="sim:ram",
        disk=file,
        disk_kind="sim:ram",
        cmdline="fail=read:1,write:9",
        telemetry=True,
    ).check_exit()
    result.check_lines(
        ["^disk: sda: bad partition table: its first sector cannot be read; it is ignored", "lost=0 corrupt=0", "^ok$"]
    )
    errors = {d["name"]: d["errors"] for d in result.telemetry[-2]["block"]}
    assert errors["sda"] == 1 and errors["sim"] > 0


# --- exact runs ---


def test_sector_takes_its_share_of_a_pages_time(tmp_path: Path) -> None:
    """The sector that is read is the first, under the head. In addition to its time there is the time of the copy."""
    sectors = with_pattern(tmp_path / "disk", 128)
    result = boot("true", disk=sectors, disk_kind="sim:seek=9,transfer=800", telemetry=True).check_exit()
    sda = next(d for d in result.telemetry[-2]["block"] if d["name"] == "sda")
    assert sda["meta_reads"] == sda["sectors_read"] == 1 and 100 <= sda["busy_us"] <= 104


def run_on_partition(folder: Path, cmdline: str) -> tuple[str, bytes, bytes]:
    file = partitioned(folder)
    result = boot("thrash 4 4096 2", mem="12M", swap="sda2", disk=file, cmdline=cmdline, telemetry=True).check_exit()
    return result.console, result.raw_telemetry, file.read_bytes()


def test_exact_runs_repeat_to_the_byte(tmp_path: Path) -> None:
    first = run_on_partition(tmp_path, "block.elevator=deadline")
    assert run_on_partition(tmp_path, "block.elevator=deadline") == first
    assert run_on_partition(tmp_path, "block.elevator=deadline jitter=1")[0] != first[0]


def test_nothing_changes_without_a_disk() -> None:
    command = shlex.join(qemu.qemu_command(settings()))
    assert "memory-backend" not in command and "disk=" not in command and "-drive" not in command


# --- the image on the host ---


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "of files"
    (place / "sub").mkdir(parents=True)
    (place / "note.txt").write_text("hello\n")
    (place / "sub/large").write_bytes(b"x" * 3_000_000)
    return place


def test_folder_becomes_an_image_with_room(folder: Path, tmp_path: Path) -> None:
    made = disk.image_of(str(folder), tmp_path / "images")
    assert made == str(tmp_path / "images/of files.img") and disk.size_of(made) == 9 << 20
    checked = subprocess.run(["/usr/sbin/e2fsck", "-fn", made], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
    shown = subprocess.run(["/usr/sbin/debugfs", "-R", "cat /note.txt", made], capture_output=True, text=True)
    assert shown.stdout == "hello\n"


def test_image_does_not_depend_on_when_the_files_were_read(folder: Path, tmp_path: Path) -> None:
    """mke2fs reads them, too."""
    first = disk.image_of(str(folder), tmp_path / "first")
    os.utime(folder / "note.txt", (1_900_000_000, (folder / "note.txt").stat().st_mtime))
    again = disk.image_of(str(folder), tmp_path / "again")
    assert Path(first).read_bytes() == Path(again).read_bytes()


def test_folder_is_a_setting_whose_image_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(qemu, "IMAGES", tmp_path / "images")
    given = qemu.settings_from({"DISK": str(folder), "MEM": "16M", "SWAP": "sim:ram,size=1M"})
    ready = qemu.prepared(given)
    assert qemu.command_line(ready).endswith(f"exact disk=sim:hdd,at={17 << 20},size={9 << 20} mount=sda")
    assert qemu.machine_mib(ready) == 16 + 1 + 9 + 32
    qemu.say_where(given, ready)
    assert "images/of files.img is the disk as the guest left it" in capsys.readouterr().err
    qemu.say_where(ready, qemu.prepared(ready))
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    "kind,swap,cmdline,word",
    [
        ("sim:hdd", "sim:hdd", "", "mount=sda"),
        ("virtio", "sim:hdd", "", "mount=vda"),
        ("ide", "sim:hdd", "", "mount=hda"),
        ("ide", "hda", "", "mount=hdb"),
        ("sim:hdd", "sim:hdd", "root=sda", ""),
        ("sim:hdd", "sim:hdd", "jitter=1 mount=none", "mount=none"),
    ],
)
def test_disk_is_mounted_unless_told_otherwise(tmp_path: Path, kind: str, swap: str, cmdline: str, word: str) -> None:
    disk = str(with_pattern(tmp_path / "disk", 128))
    given = {"DISK": disk, "DISK_KIND": kind, "SWAP": swap, "CMDLINE": cmdline, "EXACT": "0"}
    line = qemu.command_line(qemu.settings_from(given))
    assert re.findall(r"mount=\S+", line) == ([word] if word else [])


def test_missing_mke2fs_is_named(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk.shutil, "which", lambda *_, **__: None)
    with pytest.raises(FileNotFoundError) as error:
        disk.image_of(str(folder), tmp_path)
    assert error.value.filename == "mke2fs"


@pytest.mark.parametrize("kind", ["", "sim:", "scsi", "sim:hdd,at=1M", "sim:ssd,size=1M", "sim: hdd"])
def test_kind_that_makes_no_sense_is_refused(tmp_path: Path, kind: str) -> None:
    with pytest.raises(qemu.BadSetting, match="DISK_KIND"):
        disk.check(str(tmp_path), kind)


def test_image_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    with pytest.raises(qemu.BadSetting, match="it is not a folder, an image or a size"):
        disk.check(str(tmp_path / "nothing"), "sim:hdd")
    small = with_pattern(tmp_path / "small", 127)
    with pytest.raises(qemu.BadSetting, match="64 KiB"):
        disk.check(str(small), "sim:hdd")
    big = with_pattern(tmp_path / "big", 128)
    once = disk.memory({0: str(big)}, 1)
    with once, pytest.raises(qemu.BadSetting, match="another run"), disk.memory({0: str(big)}, 1):
        pass


def test_a_second_disk_is_there_and_keeps_its_changes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also behind a first one with a cache, whose memory lies between the two images."""
    monkeypatch.setattr(qemu, "IMAGES", tmp_path / "images")
    line = (
        "mkdir /two; mount -t ext2 /dev/sdb /two; cat /two/note.txt; cat /two/note.txt > /two/copy; sync; umount /two"
    )
    for kind in ("sim:ram", "sim:ssd,cache=1M"):
        given = qemu.settings_from({"DISK": "1M", "DISK2": str(folder), "DISK_KIND": kind, "RUN": line, "MEM": "16M"})
        ready = qemu.prepared(given)
        console = io.BytesIO()
        assert qemu.run_command(ready, console)[0] == qemu.OK, console.getvalue()
        assert re.search(rb"(?m)^hello\r?$", console.getvalue())
        shown = subprocess.run(["/usr/sbin/debugfs", "-R", "cat /copy", ready.disk2], capture_output=True, text=True)
        assert shown.stdout == "hello\n"
        assert qemu.image2_at(ready) >= qemu.image_at(ready) + disk.size_of(ready.disk)
        qemu.say_where(given, ready)
        assert "DISK2=" in capsys.readouterr().err


@pytest.mark.parametrize(
    "given,said",
    [
        ({"DISK2": "1M"}, "give DISK, too"),
        ({"DISK": "1M", "DISK2": "/nowhere"}, "DISK2=/nowhere: it is not a folder"),
        ({"DISK": "1M", "DISK2": "1M", "DISK_KIND": "ide", "SWAP": "hdb", "EXACT": "0"}, "two IDE disks at most"),
        ({"DISK": "1M", "DISK2": "3G"}, "3072 at most"),
    ],
)
def test_a_second_disk_that_cannot_be_is_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(qemu.BadSetting, match=said):
        s = qemu.settings_from(given)
        disk.check(s.disk2, s.disk_kind, "DISK2")
        qemu.disk_arguments(s)


def test_third_modelled_disk_and_overlapping_ones_are_refused() -> None:
    one = "disk=sim:ram,at={at},size=1M"
    several = " ".join(one.format(at=f"{at}M") for at in (300, 301, 302))
    boot("true", cmdline=several).check_exit(qemu.REFUSED).check_lines(["there are two modelled disks already"])
    both = " ".join(one.format(at="80M") for _ in range(2))
    boot("true", cmdline=both, swap="sim:ram,size=1M", qemu_flags="-m 128M").check_exit(qemu.REFUSED)
