"""MAP_HUGETLB: pages of 4 MiB hold what was written, are refused in part, and are all given back.

What each system call does is in tests/kernel/fail/calls/huge.c, which test_failures.py runs with failures, too.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from guest import Result, boot
from lab import tidemark
from programs import image_of

SHOW = "cat /proc/meminfo; cat /proc/buddyinfo; cat /proc/vm/check"


def numbers(result: Result, name: str) -> list[int]:
    """The KiB of each line of that name."""
    return [int(nr) for nr in re.findall(rf"^{name}: +(\d+) kB", result.console, re.MULTILINE)]


def sound(result: Result, checks: int) -> Result:
    """Returns the result if it ended well and each check of the kernel's counts said ok."""
    result.check_exit()
    assert len(re.findall("^ok$", result.console, re.MULTILINE)) == checks, result.tail()
    assert not re.search("PANIC|violation|corrupt=[1-9]", result.console), result.tail()
    return result


def test_memory_is_counted_and_all_given_back() -> None:
    """MemFree after an exit is that before, but for what the shell's own pages take."""
    ran = boot(f"sh -c '{SHOW}; hog 10000 2 --huge & sleep 1; {SHOW}; wait; {SHOW}'", mem="64M")
    sound(ran, 3)
    assert numbers(ran, "Hugetlb") == [0, 12288, 0]
    before, held, after = numbers(ran, "MemFree")
    assert 12288 <= before - held < 12288 + 400 and abs(before - after) < 200
    anonymous = numbers(ran, "AnonPages")
    assert max(anonymous) - min(anonymous) < 200
    ran.check_lines(["^R hog .*corrupt=0"])


def test_locking_a_huge_page_faults_nothing_in() -> None:
    """It is there already: a fault for each of its 1,024 frames would be work, and a count, of nothing."""
    ran = boot("sh -c 'hog --huge 4096 1; hog --huge --lock 4096 1'", mem="32M", telemetry=True)
    sound(ran, 0)
    plain, locked = (one["minflt"] for one in ran.telemetry if one["ev"] == "exit" and one["comm"] == "hog")
    assert locked <= plain + 2


def test_no_block_of_4_mib_is_enomem_and_changes_nothing() -> None:
    ran = boot(f"sh -c '{SHOW}; hog 100000 1 --huge || echo refused; {SHOW}; hog 4096 1 --huge'", mem="64M")
    sound(ran, 2)
    ran.check_lines(["mmap: (Out of memory|Cannot allocate memory)", "^refused$", "^Hugetlb: +0 kB", "corrupt=0"])


@pytest.mark.parametrize("vm", ["2q", "ws", "mglru"])
def test_pressure_never_takes_a_huge_page(vm: str) -> None:
    """While small pages are swapped, all huge ones stay."""
    ran = boot(f"sh -c 'hog 8000 0 --huge & sleep 1; thrash 4 4096 3; {SHOW}'", mem="20M", vm=vm, telemetry=True)
    sound(ran, 1)
    assert numbers(ran, "Hugetlb") == [8192]
    ran.check_lines(["^R thrash .*corrupt=0"])
    assert [one for one in ran.telemetry if one["ev"] == "sample"][-1]["vm"]["pswpout"] > 0


def test_a_trace_has_the_pages_inside(tmp_path: Path) -> None:
    """A recording names pages of 4 KiB by address, also inside a huge page."""
    ran = tidemark("trace", "record", "-q", "-o", tmp_path / "run", "--", "hog", "8192", "1", "--huge", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    told = tidemark("trace", "info", tmp_path / "run/trace.tmt", "--json", cwd=tmp_path)
    hog = next(row for row in json.loads(told.stdout)["spaces"] if row["name"] == "hog")
    assert 2048 < hog["pages"] < 2048 + 40


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to boot from that has the program calls."""
    return image_of(tmp_path_factory.mktemp("calls"))


def test_system_calls_keep_refuse_and_copy(calls: Path) -> None:
    sound(boot("sh -c 'calls huge && cat /proc/vm/check'", image=calls, mem="64M"), 1)


def test_a_disk_moves_data_of_huge_pages(calls: Path, tmp_path: Path) -> None:
    """The bytes on the disk are those that the program wrote across two huge pages."""
    disk = tmp_path / "disk"
    disk.write_bytes(bytes(64 * 4096))
    command = "sh -c 'calls hugedirect && cat /proc/vm/check'"
    sound(boot(command, image=calls, mem="64M", disk=disk, disk_kind="sim:ssd"), 1)
    written = bytes((31 + i * 7 + i // 256) % 256 for i in range(2 * 4096))
    assert disk.read_bytes()[4096 : 3 * 4096] == written
