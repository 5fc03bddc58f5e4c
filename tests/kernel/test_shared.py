"""Shared memory of any kind under pressure: no write of any process is lost, and no slot of the swap area."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from guest import Result, boot
from soak import soak_but
from tidemark.machine import qemu

CHECK = "cat /proc/vm/check"
TMPFS = "mkdir /mnt; mount -t tmpfs -o size=9M none /mnt"
KINDS = ("anon", "memfd", "shm", "/mnt/file")
POLICIES = sorted(p.stem for p in (qemu.ROOT / "kernel/mm/policy").glob("*.c"))
POLICIES = [p for p in POLICIES if not p.endswith(("_test", "TEMPLATE")) and p not in ("min", "vmin")]
USUAL = ("clock", "2q", "ws")


def run(command: str, **choices: object) -> Result:
    """Runs `command` on a machine in which 8 MiB of shared memory do not fit."""
    return boot(command, **{"mem": "12M", "swap": "sim:ssd", "timeout": 120, **choices})


def sound(result: Result) -> Result:
    """Returns the result if all memory had the right content, no rule was broken, and all checks said ok."""
    result.check_exit()
    assert not re.search("corrupt=[1-9]|failed=[1-9]|violation|Out of memory:|PANIC", result.console), result.tail()
    assert len(re.findall("^ok$", result.console, re.MULTILINE)) == result.command.count(CHECK), result.tail()
    return result


def used_slots(result: Result) -> list[int]:
    """The KiB of the swap area in use, from each `cat /proc/swaps`."""
    return [int(n) for n in re.findall(r"^/dev/\w+ +partition +\d+ +(\d+)", result.console, re.MULTILINE)]


# --- contents ---


@pytest.mark.parametrize("policy", soak_but(POLICIES, *USUAL))
def test_every_kind_keeps_what_was_written(policy: str) -> None:
    loads = "; ".join(f"shared {kind} 3 8192 2000{' io' if kind[0] in 'm/' else ''}" for kind in KINDS)
    result = sound(run(f"{TMPFS}; {loads}; umount /mnt; cat /proc/swaps; {CHECK}", vm=policy))
    result.check_lines([f"^R shared kind={kind} .*failed=0 corrupt=0$" for kind in KINDS])
    assert re.search(r"swap: \d{4,} pages in, [1-9]\d{2,} out", result.console), "it was too small"
    assert used_slots(result)[0] < 1024, "slots of files that are gone"


@pytest.mark.parametrize("policy", soak_but(POLICIES, "clock"))
def test_what_was_cut_off_comes_back_as_zeros(policy: str) -> None:
    """One process truncates and refills half of the file while its pages are swapped out and in."""
    result = sound(run(f"shared memfd 2 6144 1500 io cut; cat /proc/swaps; {CHECK}", vm=policy))
    result.check_lines(["^R shared kind=memfd .*failed=0 corrupt=0"])
    assert used_slots(result)[0] < 1024, "slots of pages that are gone"


def test_refault_had_to_wait_for_the_swap_area() -> None:
    """A page that was read together with another was in memory when a process needed it."""
    counted = re.search(r"(\d+) of them major, (\d+) refaults", sound(run("shared anon 3 8192 2000")).console)
    assert counted and 0 < int(counted[2]) <= int(counted[1])


@pytest.mark.soak
@pytest.mark.parametrize("guard", ["token", "tpf", "serialize", "loadctl", "prefetch", "mc75"])
def test_under_a_guard(guard: str) -> None:
    load = f"shared anon 3 9216 3000 & shared memfd 2 4096 3000 io & wait; {CHECK}"
    result = sound(run(load, cmdline=f"guard={guard}"))
    assert result.console.count("failed=0 corrupt=0") == 2, result.tail()


@pytest.mark.soak
def test_beside_private_memory_and_files() -> None:
    command = f"{TMPFS}; shared /mnt/file 3 6144 4000 io & thrash 2 4096 2 & cow 2 2048 2000 & wait; {CHECK}"
    result = sound(run(command, swap="sim:hdd"))
    result.check_lines(["^R thrash .*lost=0", "^R cow .*corrupt=0", "^R shared .*corrupt=0"])


@pytest.mark.soak
@pytest.mark.parametrize("cap", [64, 1024])
def test_a_cap_on_private_frames_is_not_one_of_shared_memory(cap: int) -> None:
    sound(run(f"shared anon 3 8192 2000; {CHECK}", frames=cap)).check_lines(["^R shared .*corrupt=0"])


def test_two_equal_runs_are_equal() -> None:
    one, other = (run(f"shared memfd 3 8192 1500 io & shared anon 2 4096 1500 & wait; {CHECK}") for _ in range(2))
    assert sound(one).console == sound(other).console


# --- if it cannot be written, or read ---


def test_failed_writes_lose_nothing() -> None:
    result = sound(
        run(f"shared anon 3 8192 1500; shared memfd 3 8192 1500 io; {CHECK}", swap="sim:ssd", cmdline="fail=write:5")
    )
    result.check_lines(["^R shared kind=anon", "^R shared kind=memfd"])


def test_a_failed_read_is_a_bus_error() -> None:
    result = run(
        f"shared anon 3 8192 3000; {CHECK}", swap="sim:ssd", cmdline="vm.page_cluster=0 fail=read:300"
    ).check_exit()
    result.check_lines([r"^shared\[\d+\]: SIGBUS", "^ok$"])
    assert not re.search("corrupt=[1-9]|violation|PANIC", result.console), result.tail()


def test_a_full_swap_area() -> None:
    """What fits has the right content; a process is killed for what does not fit, and nothing leaks."""
    command = f"shared anon 3 8192 1000; {CHECK}; shared memfd 3 16384 1000; cat /proc/swaps; {CHECK}"
    result = run(command, swap="sim:ssd,size=4M", vm="2q").check_exit()
    result.check_lines(["^R shared kind=anon .*failed=0 corrupt=0", "^ok$", "^Out of memory: ", "^ok$"])
    assert used_slots(result)[0] < 1024


def test_with_three_frames_nobody_is_killed() -> None:
    """More than a second after the start: pages are swapped in before they are evicted, and no other frame is free."""
    command = f"sleep 1; shared anon 3 256 300; {CHECK}"
    sound(run(command, mem="4608K", frames=3, vm="2q", swap="sim:hdd")).check_lines(["^R shared kind=anon "])


def test_tmpfs_has_a_size() -> None:
    command = (
        "mkdir /mnt; mount -t tmpfs -o size=100k none /mnt; df /mnt; cp /bin/shm /mnt/a; cp /bin/shm /mnt/b;"
        " cp /bin/shm /mnt/c || rm /mnt/c /mnt/b /mnt/a; df /mnt; mount -t tmpfs -o nonsense=1 none /tmp; true"
    )
    result = run(command, swap="none").check_exit()
    assert len(re.findall(r"^- +100 +0 +100 /mnt$", result.console, re.MULTILINE)) == 2, result.tail()
    result.check_lines(["^cp: /mnt/c: ", "^mount: /tmp: Invalid argument"])


# --- as on Linux ---


def test_same_answers_as_linux() -> None:
    """The program `shm` finds no failure in Tidemark, and none on the host's Linux."""
    result = sound(run(f"{TMPFS}; shm /mnt && shm /tmp; {CHECK}; cat /proc/sysvipc/shm"))
    lines = re.findall(r"^R shm checks=\d+ failures=0$", result.console, re.MULTILINE)
    assert len(lines) == 2 and lines[0] == lines[1]
    header = result.console[result.console.index("       key ") :].splitlines()
    assert "nattch" in header[0] and header[1] == "", "no segment is left"
    here = subprocess.run([Path(qemu.ROOT, "build/user/shm"), "/dev/shm"], capture_output=True, text=True, check=False)
    assert here.stdout.strip() == lines[0], here.stderr
