"""cut=N: the power fails at the Nth write to sda. Tests the disk's content afterwards, and ext2's guarantees after
every N of a run."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import ext2
import pytest
from ext2_promises import Promises, left_on
from ext2_scripts import SEED
from guest import Result, boot
from progress import Tried
from tidemark.grade.judge.promises import Lost
from tidemark.machine import qemu

SECTOR = 512
NEVER = (1 << 32) - 1
FSOPS = qemu.ROOT / "build/user/fsops"
PARTS = 8  # of a soak's Ns, so that they run in parallel
LINE, DIRECT = 64, 12  # bytes of logger's lines; direct blocks of a file


def zeroed(image: Path) -> list[int]:
    """The sectors to which the guest has written zeros; none of the others is torn."""
    raw = image.read_bytes()
    sectors = [raw[at : at + SECTOR] for at in range(0, len(raw), SECTOR)]
    assert set(sectors) <= {b"x" * SECTOR, bytes(SECTOR)}
    return [n for n, sector in enumerate(sectors) if not any(sector)]


def written_until(folder: Path, cut: int, seed: int, kind: str) -> list[int]:
    """Three writes of 64 sectors, each followed by a flush; returns the sectors that are on the disk after a power
    failure."""
    image = folder / "raw"
    image.write_bytes(b"x" * (256 << 10))
    writes = [f"dd if=/dev/zero of=/dev/sda bs=32768 count=1 seek={n} conv=fsync" for n in range(3)]
    result = boot("; ".join(writes), disk=image, disk_kind=kind, mem="16M", cmdline=f"cut={cut} cut_seed={seed}")
    result.check_exit(qemu.CUT).check_lines([rf"^cut: power off at request {cut} \(.*cut_seed={seed}\)$"])
    return zeroed(image)


def test_request_is_torn_between_sectors(tmp_path: Path) -> None:
    there = written_until(tmp_path, 2, 5, "sim:ram")
    assert there[:64] == list(range(64)) and max(there) < 128
    assert 64 < len(there) < 128  # with this seed
    assert there == written_until(tmp_path, 2, 5, "sim:ram")
    assert there != written_until(tmp_path, 2, 6, "sim:ram")


def test_cache_is_lost_but_for_what_was_flushed(tmp_path: Path) -> None:
    # Requests: write, flush, write, flush, ...
    there = written_until(tmp_path, 4, 1, "sim:hdd,cache=64K")
    assert there[:64] == list(range(64)) and max(there) < 128
    assert 64 < len(there) < 128  # with this seed
    # A cache of 8 sectors holds no more than that of a finished write.
    assert set(range(120)) <= set(written_until(tmp_path, 4, 1, "sim:hdd,cache=4K"))


@pytest.mark.parametrize(
    "line,kind,why",
    [
        ("cut=0", "sim:ram", "cut=0: valid: 1..4294967295"),
        ("cut=x", "sim:ram", "cut=x: valid: 1..4294967295"),
        ("cut=3", None, "cut=3: there is no modelled disk for files"),
        ("", "sim:ram,cache=1", "cache is not a size from 4K to 16M"),
    ],
)
def test_cut_that_cannot_be(tmp_path: Path, line: str, kind: str | None, why: str) -> None:
    image = tmp_path / "raw"
    image.write_bytes(bytes(64 << 10))
    result = boot("true", disk=image if kind else None, disk_kind=kind, mem="16M", cmdline=line)
    result.check_exit(qemu.REFUSED)
    assert why in result.console


def test_cut_that_never_came_is_told_and_with_a_failure_it_is_refused(tmp_path: Path) -> None:
    image = tmp_path / "raw"
    image.write_bytes(bytes(64 << 10))
    line = "dd if=/dev/zero of=/dev/sda bs=4096 count=1"
    result = boot(line, disk=image, disk_kind="sim:ram", mem="16M", cmdline="cut=2")
    result.check_exit().check_lines([r"^cut: request 2 never came: 1 there were$"])
    result = boot(line, disk=image, disk_kind="sim:ram", mem="16M", cmdline="cut=2 fail=read:9")
    result.check_exit(qemu.REFUSED).check_lines(["^command line: fail= and cut= at once: give one of them$"])


class Mix:
    """Random steps with names and contents: the answers of fsops determine the guarantees."""

    def __init__(self, folder: Path, block: str, seed: int) -> None:
        self.there = Promises(seed)
        self.there.run(50)
        content = folder / "content"
        content.mkdir()
        shutil.copy(FSOPS, content)
        (content / "script").write_text("\n".join(self.there.script) + "\n")
        self.base = ext2.make(folder / "base", "3M", "-b", block, "-N", "400", content=content)
        self.line = "mkdir /mnt; mount -t ext2 /dev/sda /mnt; /mnt/fsops /mnt /mnt/script; umount /mnt"

    def judge(self, console: str, found: dict[str, bytes | None]) -> int:
        lines = console.partition("answers:\n")[2].partition("\ncut:")[0].splitlines()
        answers = [line for line in lines if line not in ("", "end")]
        assert answers == self.there.wanted[: len(answers)]
        return self.there.judge(
            {path: what for path, what in found.items() if path not in ("/fsops", "/script")}, len(answers)
        )


class Log:
    """A log that grows into its first indirect block. Each line is synced before the next one is appended."""

    def __init__(self, folder: Path, block: str, seed: int) -> None:
        content = folder / "content"
        content.mkdir()
        shutil.copy(FSOPS, content)
        self.base = ext2.make(folder / "base", "2M", "-b", block, "-N", "64", content=content)
        self.before = DIRECT * int(block) // LINE - 6
        mount = "mkdir /mnt; mount -t ext2 /dev/sda /mnt"
        boot(f"{mount}; logger /mnt/log {self.before}; umount /mnt", disk=self.base, disk_kind="sim:ram").check_exit()
        self.line = f"{mount}; {'; '.join(['logger /mnt/log 1'] * 14)}; umount /mnt"
        self.whole = folder / "whole"
        shutil.copy(self.base, self.whole)
        boot(self.line, disk=self.whole, disk_kind="sim:ram").check_exit()
        found = left_on(self.whole, folder / "found")["/log"]
        assert found and len(found) == (self.before + 14) * LINE
        self.log = found

    def judge(self, console: str, found: dict[str, bytes | None]) -> int:
        promised = self.before + len(re.findall(r"^R logger .* corrupt=0$", console, re.M))
        assert (found["/log"] or b"")[: promised * LINE] == self.log[: promised * LINE], promised
        return promised


def cut_run(work: Mix | Log, image: Path, n: int, kind: str, mem: str, seed: int, beside: str) -> Result:
    shutil.copy(work.base, image)
    return boot(
        beside + work.line,
        disk=image,
        disk_kind=kind,
        mem=mem,
        swap="sim:ram,size=32M",
        cmdline=f"cut={n} cut_seed={seed} {FLUSHER if 'hdd' in kind else ''}",
    )


def read_by_kernel(image: Path, found: dict[str, bytes | None]) -> None:
    """The kernel mounts the image that e2fsck has repaired, and reads the same as debugfs."""
    there = {
        path: content for path, content in found.items() if content is not None and path not in ("/fsops", "/script")
    }
    sums = [f"{ext2.checksum(content[:60000]):08x} {len(content[:60000])}" for content in there.values()]
    script = "".join(f"read {path} 0 60000\n" for path in there)
    folder = image.with_suffix(".script")
    folder.write_text(script)
    ext2.tool("debugfs", "-w", "-R", f"write {folder} looks", image)
    line = "mkdir /mnt; mount -t ext2 /dev/sda /mnt; /mnt/fsops /mnt /mnt/looks; umount /mnt; cat /proc/vm/check"
    result = boot(line, disk=image, disk_kind="sim:ram", mem="16M").check_exit()
    assert "ext2:" not in result.console, result.console
    assert result.console.partition("answers:\n")[2].splitlines()[: len(sums)] == sums
    ext2.check(image)


def try_cut(work: Mix | Log, folder: Path, n: int, kind: str, mem: str, seed: int, beside: str, read: bool) -> int:
    """Returns the number of required things, all of which were there."""
    image = folder / "image"
    result = cut_run(work, image, n, kind, mem, seed, beside).check_exit(qemu.CUT)
    try:
        found = left_on(image, folder / "found")
        nr = work.judge(result.console, found)
    except (AssertionError, Lost) as error:
        raise AssertionError(f"{result.command}\n{error}") from None
    if read:
        read_by_kernel(image, found)
    return nr


def nr_requests(work: Mix | Log, folder: Path, kind: str, mem: str, beside: str) -> int:
    whole = cut_run(work, folder / "image", NEVER, kind, mem, 1, beside).check_exit()
    left_on(folder / "image", folder / "found")
    never = re.search(r"^cut: request \d+ never came: (\d+) there were$", whole.console, re.M)
    assert never
    return int(never[1])


FLUSHER = "vm.dirty_writeback_centisecs=1 vm.dirty_expire_centisecs=1"  # random writeback in between
WORK: dict[str, type[Mix] | type[Log]] = {"mix": Mix, "log": Log}
THRASH = "thrash 2 6144 40 & "


@pytest.mark.parametrize("name,block,share", [("mix", "4096", (3, 4)), ("log", "1024", (2, 3))])
def test_some_cuts_lose_nothing_that_was_synced(tmp_path: Path, name: str, block: str, share: tuple[int, int]) -> None:
    work = WORK[name](tmp_path, block, SEED)
    last = nr_requests(work, tmp_path, "sim:ram,cache=256K", "16M", "")
    nr = try_cut(work, tmp_path, last * share[0] // share[1], "sim:ram,cache=256K", "16M", SEED, "", True)
    assert nr > 5


@pytest.mark.parametrize("flag,kept", [("sync", True), ("direct", False), ("direct conv=fsync", True)])
def test_what_was_written_and_synced_is_on_the_disk(tmp_path: Path, flag: str, kept: bool) -> None:
    """O_SYNC, or fsync after O_DIRECT: data, size and name bypass the disk's cache. The power fails at the next
    write."""
    content = tmp_path / "content"
    content.mkdir()
    (content / "in").write_bytes(bytes(range(256)) * 64)
    image, base = tmp_path / "image", ext2.make(tmp_path / "base", "1M", content=content)
    copy = f"mkdir /mnt; mount -t ext2 /dev/sda /mnt; dd if=/mnt/in of=/mnt/out bs=8192 oflag={flag}"
    line, kind = f"{copy}; cat /proc/diskstats; umount /mnt", "sim:ram,cache=256K"
    shutil.copy(base, image)
    whole = boot(line, disk=image, disk_kind=kind, mem="16M").check_exit()
    writes = re.search(r" sda \d+ \d+ \d+ \d+ (\d+) ", whole.console)
    assert writes
    shutil.copy(base, image)
    boot(line, disk=image, disk_kind=kind, mem="16M", cmdline=f"cut={int(writes[1]) + 1}").check_exit(qemu.CUT)
    assert (left_on(image, tmp_path / "found").get("/out") == bytes(range(256)) * 64) == kept


@pytest.mark.soak
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("seed", range(SEED, SEED + 3))
@pytest.mark.parametrize(
    "name,block,kind,mem,beside",
    [
        *[(name, block, "sim:ram,cache=256K", "16M", "") for name in WORK for block in ("1024", "4096")],
        ("mix", "1024", "sim:hdd", "16M", ""),
        ("mix", "1024", "sim:hdd,cache=256K", "8M", THRASH),
    ],
)
def test_every_cut_loses_nothing_that_was_synced(
    tmp_path: Path, name: str, block: str, kind: str, mem: str, beside: str, seed: int, part: int
) -> None:
    work = WORK[name](tmp_path, block, seed)
    last = nr_requests(work, tmp_path, kind, mem, beside)
    tried = Tried(f"cut-{name}-{block}-{kind}-{mem}-{seed}-{part}")
    for n in range(1 + part, last + 1, PARTS):
        if not tried.done(n):
            nr = try_cut(work, tmp_path, n, kind, mem, seed, beside, n % (4 * PARTS) <= PARTS)
            tried.add(n)
            print(f"cut={n} of {last}: {nr} things had to be there", flush=True)
