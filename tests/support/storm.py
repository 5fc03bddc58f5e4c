"""Random system calls in the guest: a run of the program `storm`, its errors, and the shortest run that fails.

As a program: makes one run, and with --shrink prints the command of a shorter one that fails in the same way.

    python tests/support/storm.py 20000 --seed 3 --vm ws --shrink
"""

from __future__ import annotations

import argparse
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import ext2
from guest import Result, boot
from shrink import shrink, smaller
from tidemark.machine import qemu

PROGRAM = qemu.ROOT / "build/user/storm"
PAGE, SECTOR, FIRST = 4096, 512, 8
SWAP_PAGES = 512
ROUND = 4000  # main.c
Range = tuple[int, int]


@dataclass(frozen=True)
class Storm:
    """A run. `keep` are ranges of the random calls to make; none: all. `weight`: the frequencies of calls, as for the
    program; with `raw` there is another disk to mount, and e2fsck does not check it afterwards."""

    calls: int
    seed: int = 1
    keep: tuple[Range, ...] = ()
    workers: int = 6
    vm: str = "2q"
    mem: str = "6M"
    swap: str = "sim:ssd,size=24M"
    disk: str = "sim:ssd"
    cmdline: str = ""
    after: str = ""
    timeout: float = 900
    qemu_flags: str = ""
    weight: str = ""

    def command(self) -> str:
        """The command that repeats this run."""
        keep = f" --keep {ranges_text(self.keep)}" if self.keep else ""
        more = f" --cmdline '{self.cmdline}'" if self.cmdline else ""
        more += f" --weight {self.weight}" if self.weight else ""
        return (
            f"PYTHONPATH=tools python tests/support/storm.py {self.calls} --seed {self.seed} --vm {self.vm}"
            f" --workers {self.workers} --mem {self.mem} --swap {self.swap} --disk {self.disk}{more}{keep}"
        )


@dataclass
class Outcome:
    """The result of a run. `wrong` is one line about what is wrong, without numbers that change; empty: nothing."""

    result: Result
    image: bytes
    wrong: str


def ranges_text(keep: tuple[Range, ...]) -> str:
    return ",".join(f"{a}-{b}" if a != b else str(a) for a, b in keep)


def joined(keep: tuple[Range, ...]) -> tuple[Range, ...]:
    """The calls of `keep` in as few ranges as possible."""
    whole: list[Range] = []
    for first, last in keep:
        if whole and whole[-1][1] + 1 == first:
            first = whole.pop()[0]
        whole.append((first, last))
    return tuple(whole)


def ranges(text: str) -> tuple[Range, ...]:
    """Parses the output of ranges_text."""
    found = (part.partition("-") for part in text.split(",") if part)
    return tuple((int(a), int(b or a)) for a, _, b in found)


def to_damage(folder: Path) -> Path:
    """Makes a small ext2 of two groups, with files of the names that the storm uses below its mounts."""
    files = folder / "files"
    (files / "d").mkdir(parents=True)
    (files / "a").write_bytes(b"a" * 90_000)
    (files / "b").write_bytes(b"b" * 5_000)
    return ext2.make(folder / "two", "512K", "-b", "1024", "-g", "256", content=files)


def make_disk(folder: Path, keep: tuple[Range, ...], damaged: bool = False) -> tuple[Path, list[Path]]:
    """Makes a disk with the program on ext2 (sda1), an ext2 to mount (sda2), a swap area (sda3); returns it and the
    parts.

    damaged: the run will damage the second part, so the first part has a copy of it (`raw`).
    """
    content = folder / "content"
    content.mkdir()
    subprocess.run(["strip", "-o", content / "storm", PROGRAM], check=True)
    (content / "keep").write_text(ranges_text(keep) + "\n")
    second = to_damage(folder) if damaged else ext2.make(folder / "two", "2M", "-b", "1024")
    if damaged:
        shutil.copy(second, content / "raw")
    parts = [ext2.make(folder / "one", "6M", "-b", "1024", content=content), second]
    ext2.set_times(parts[0], *(path.name for path in content.iterdir()))
    area = bytearray(SWAP_PAGES * PAGE)
    struct.pack_into("<III", area, 1024, 1, SWAP_PAGES - 1, 0)
    area[PAGE - 10 : PAGE] = b"SWAPSPACE2"
    (folder / "swap").write_bytes(area)
    disk = bytearray(FIRST * SECTOR)
    for n, part in enumerate([*parts, folder / "swap"]):
        raw = part.read_bytes()
        kind = 0x82 if part.name == "swap" else 0x83
        struct.pack_into("<BxxxBxxxII", disk, 446 + 16 * n, 0, kind, len(disk) // SECTOR, len(raw) // SECTOR)
        disk += raw
    disk[510:512] = b"\x55\xaa"
    (folder / "disk").write_bytes(disk)
    return folder / "disk", parts


def judge_disk(disk: Path, parts: list[Path]) -> str:
    """e2fsck's complaint, or an empty string."""
    raw, at = disk.read_bytes(), FIRST * SECTOR
    for part in parts:
        size = part.stat().st_size
        part.write_bytes(raw[at : at + size])
        at += size
        try:
            ext2.check(part)
        except AssertionError as error:
            return f"e2fsck {part.name}: " + re.sub(r"\d+", "N", str(error).splitlines()[2])
    return ""


def judge_console(result: Result) -> str:
    """The line on the console that must not occur, or an empty string."""
    if panic := re.search(r"^panic: (.*)$", result.console, re.M):
        return panic[0]
    if result.exit == qemu.TIMED_OUT:
        return "does not end"
    if found := re.search(r"^(?:storm|umount): (?!.*=).*$", result.console, re.M):
        return re.sub(r"\d+", "N", found[0])
    if result.exit != qemu.OK or "failures=0" not in result.console or "\nok\n" not in result.console:
        return f"exit {result.exit}"
    return ""


def run(storm: Storm) -> Outcome:
    """Makes one run."""
    with tempfile.TemporaryDirectory(prefix="tidemark-storm-") as name:
        damaged = "raw=" in storm.weight
        disk, parts = make_disk(Path(name), storm.keep, damaged)
        options = " --keep /mnt/keep" if storm.keep else ""
        options += f" --weight {storm.weight}" if storm.weight else ""
        result = boot(
            "mkdir /mnt; mount -t ext2 /dev/sda1 /mnt; "
            f"/mnt/storm {storm.calls} --seed {storm.seed} --workers {storm.workers}{options} /mnt /tmp; {storm.after}"
            "umount /mnt; cat /proc/vm/check",
            disk=disk,
            disk_kind=storm.disk,
            mem=storm.mem,
            swap=storm.swap,
            vm=storm.vm,
            cmdline=storm.cmdline or None,
            timeout=storm.timeout,
            qemu_flags=storm.qemu_flags,
        )
        wrong = judge_console(result) or judge_disk(disk, parts[:1] if damaged else parts)
        return Outcome(result, disk.read_bytes(), wrong)


def table(console: str) -> dict[str, dict[str, int]]:
    """For each call, the number of successes (ok), and of failures by error."""
    found = {}
    for name, counts in re.findall(r"^storm: ([\w ]+): (ok=.*)$", console, re.M):
        found[name] = {key: int(n) for key, n in re.findall(r"(\w+)=(\d+)", counts)}
    return found


def covered(tables: list[dict[str, dict[str, int]]]) -> str:
    """The sum of the tables of several runs, as text: each call, its successes, its failures by error."""
    lines = []
    for name in tables[0]:
        sums: dict[str, int] = {}
        for one in tables:
            for key, n in one[name].items():
                sums[key] = sums.get(key, 0) + n
        failed = " ".join(f"{key}={n}" for key, n in sums.items() if key != "ok")
        lines.append(f"{name:24} {sums['ok']:8}  {failed}")
    return "\n".join(lines)


class Shrinking:
    """Tries shorter runs, and keeps the best that fails in the same way; after its limit of tries or time, no more.

    Leaving out calls changes the time of the others, so a shorter run may well not fail: only `best` is known to fail.
    Halves of what was left out before are the same calls, and are not tried again.
    """

    def __init__(self, storm: Storm, wrong: str, tries: int, seconds: float, say: Callable[[str], None]) -> None:
        self.best, self.wrong, self.say = storm, wrong, say
        self.left, self.end = tries, time.monotonic() + seconds
        self.passed: set[Storm] = set()

    def fails(self, **change: object) -> bool:
        tried = replace(self.best, **change)  # type: ignore[arg-type]
        if self.left <= 0 or time.monotonic() > self.end or tried in self.passed:
            return False
        self.left -= 1
        failed = run(tried).wrong == self.wrong
        self.say(f"{self.left} tries left: {'fails' if failed else 'not so'}: {tried.command()}")
        if failed:
            self.best = tried
        else:
            self.passed.add(tried)
        return failed

    def fails_with(self, keep: list[Range]) -> bool:
        return bool(keep) and self.fails(keep=joined(tuple(keep)))

    def rounds(self) -> list[Range]:
        calls = self.best.calls
        return list(self.best.keep) or [(a, min(a + ROUND, calls) - 1) for a in range(0, calls, ROUND)]

    def cut_end(self) -> None:
        """Cuts off what comes after the failure: up to there the run is the same."""
        smaller(-(-self.best.calls // ROUND), lambda n: self.fails(calls=min(n * ROUND, self.best.calls)), 1)

    def cut_beginning(self) -> None:
        """Keeps the last round, the last two, four, ..."""
        items, n = self.rounds(), 1
        while n < len(items) and not self.fails_with(items[-n:]):
            n *= 2

    def cut_workers(self) -> None:
        for workers in range(1, self.best.workers):
            if self.fails(workers=workers):
                return

    def cut_within(self) -> None:
        """Leaves out whole rounds, then halves of what is left, down to single calls."""
        items = shrink(self.rounds(), self.fails_with)
        while self.left > 0 and any(a < b for a, b in items):
            halves = [((a, (a + b) // 2), ((a + b) // 2 + 1, b)) if a < b else ((a, b),) for a, b in items]
            items = shrink([part for pair in halves for part in pair], self.fails_with)


def shortest(
    storm: Storm, wrong: str, tries: int = 60, seconds: float = 1800, say: Callable[[str], None] = print
) -> Storm:
    """The same run with fewer calls and processes that fails in the same way, found within these numbers of tries and
    seconds."""
    work = Shrinking(storm, wrong, tries, seconds, say)
    if not storm.keep:
        work.cut_end()
    work.cut_beginning()
    work.cut_workers()
    work.cut_within()
    return work.best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("calls", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=6, help="number of processes that make calls concurrently")
    parser.add_argument("--vm", default="2q")
    parser.add_argument("--mem", default="6M")
    parser.add_argument("--swap", default="sim:ssd,size=24M")
    parser.add_argument("--disk", default="sim:ssd", help="kind of the disk of the files")
    parser.add_argument("--cmdline", default="")
    parser.add_argument("--weight", default="", help="frequencies of calls: raw=60,mount=60")
    parser.add_argument("--keep", type=ranges, default=())
    parser.add_argument("--timeout", type=float, default=900, help="s of this machine's time")
    parser.add_argument("--qemu-flags", default="", help="more arguments for QEMU, such as -s for gdb")
    parser.add_argument(
        "--shrink", action="store_true", help="find the shortest list of calls that fails in the same way"
    )
    options = vars(parser.parse_args())
    shrinks = options.pop("shrink")
    storm = Storm(**options)
    outcome = run(storm)
    print(outcome.result.console)
    print(f"{outcome.wrong}\n{storm.command()}" if outcome.wrong else "nothing is wrong")
    if outcome.wrong and shrinks:
        print(f"shortest that failed so:\n{shortest(storm, outcome.wrong).command()}")
    return bool(outcome.wrong)


if __name__ == "__main__":
    sys.exit(main())
