"""Kernel code that no other test reaches: rare system calls, keys, high memory, writing while the disk runs."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from pathlib import Path

import ext2
import pytest
from guest import Guest, Result, boot
from tidemark.machine import qemu

TEXTS = (
    "cmdline",
    "uptime",
    "loadavg",
    "1/cmdline",
    "1/comm",
    "1/statm",
    "1/maps",
    "self/stat",
    "sys/vm/vfs_cache_pressure",
    "buddyinfo",
    "1/vm",
    "sched",
    "syscalls",
)


def run_program(tmp_path: Path, program: str, **choices: str) -> Result:
    """Runs one of the programs of tests/kernel/rare, with its arguments, from a disk."""
    content = tmp_path / "content"
    content.mkdir()
    shutil.copy(qemu.ROOT / "build/user" / program.split()[0], content)
    image = ext2.make(tmp_path / "image", "1M", content=content)
    command = "mkdir /mnt; mount -t ext2 /dev/sda /mnt; touch /etc/group /etc/passwd; "
    command += f"/mnt/{program}; cat /proc/vm/check"
    return boot(command, disk=image, disk_kind="sim:ram", **choices)


@pytest.mark.parametrize("choices", [{}, {"mem": "96M", "cmdline": "lowmem=64M"}], ids=["low", "high"])
def test_rare_calls_answer_as_linux_does(tmp_path: Path, choices: dict[str, str]) -> None:
    """Also for files in high memory, to which the kernel has no permanent addresses."""
    run = run_program(tmp_path, "rare", **choices).check_exit()
    run.check_lines([r"^R rare checks=\d+ failures=0$", "^ok$"])


def test_corners_are_where_linux_has_them(tmp_path: Path) -> None:
    """On this machine's Linux the same program finds no difference either, at the same limits."""
    run = run_program(tmp_path, "corners", mem="32M").check_exit()
    run.check_lines([r"^R corners checks=\d+ failures=0$", "^ok$"])
    linux = subprocess.run([qemu.ROOT / "build/user/corners"], capture_output=True, text=True)
    assert re.fullmatch(r"R corners checks=\d+ failures=0\n", linux.stdout), linux.stdout + linux.stderr


def test_far_calls_and_returns_fault_as_a_program_does(tmp_path: Path) -> None:
    """QEMU before 9.1 makes these stack accesses with the kernel's privileges."""
    run = run_program(tmp_path, "far", mem="12M", swap="sim:ssd").check_exit()
    run.check_lines([r"^R far checks=\d+ failures=0$", "^ok$"])
    linux = subprocess.run([qemu.ROOT / "build/user/far"], capture_output=True, text=True)
    assert re.fullmatch(r"R far checks=\d+ failures=0\n", linux.stdout), linux.stdout + linux.stderr


@pytest.mark.parametrize(
    "name",
    [
        "waiting",
        "altstack",
        "selfproc",
        "transfer",
        "bounded",
        "identity",
        "pipesize",
        "descriptors",
        "interpreters",
        "remapped",
        "attributes",
        "rooted",
    ],
)
def test_program_finds_what_it_finds_on_linux(tmp_path: Path, name: str) -> None:
    run = run_program(tmp_path, name).check_exit()
    run.check_lines([rf"^R {name} checks=\d+ failures=0$", "^ok$"])
    linux = subprocess.run([qemu.ROOT / "build/user" / name], capture_output=True, text=True)
    assert re.fullmatch(rf"R {name} checks=\d+ failures=0\n", linux.stdout), linux.stdout + linux.stderr


@pytest.mark.parametrize("choices", [{}, {"mem": "5M"}, {"vm": "fifo", "mem": "5M"}], ids=["room", "2q", "fifo"])
def test_large_copies_leave_registers_alone(tmp_path: Path, choices: dict[str, str]) -> None:
    """Large copies move data by SSE registers, which belong to a process."""
    run = run_program(tmp_path, "wide", swap="sim:ssd", **choices).check_exit()
    run.check_lines([r"^R wide checks=\d+ failures=0$", "^ok$"])
    linux = subprocess.run([qemu.ROOT / "build/user/wide"], capture_output=True, text=True)
    assert re.fullmatch(r"R wide checks=\d+ failures=0\n", linux.stdout), linux.stdout + linux.stderr


@pytest.mark.parametrize("vm", ["2q", "ws"])
def test_holes_of_files_in_memory_take_none(tmp_path: Path, vm: str) -> None:
    """In a ramfs and in /tmp, a tmpfs: files larger than memory and swap are read through a mapping."""
    content = tmp_path / "content"
    content.mkdir()
    shutil.copy(qemu.ROOT / "build/user/holes", content)
    image = ext2.make(tmp_path / "image", "1M", content=content)
    line = "mkdir /mnt /d; mount -t ext2 /dev/sda /mnt; /mnt/holes /d && /mnt/holes /tmp; cat /proc/vm/check"
    run = boot(line, vm=vm, mem="8M", swap="sim:ssd,size=8M", disk=image, disk_kind="sim:ram").check_exit()
    run.check_lines([r"^R holes checks=\d+ failures=0$", r"^R holes checks=\d+ failures=0$", "^ok$"])
    linux = subprocess.run([qemu.ROOT / "build/user/holes", tmp_path], capture_output=True, text=True)
    assert re.fullmatch(r"R holes checks=\d+ failures=0\n", linux.stdout), linux.stdout + linux.stderr


def test_room_is_made_in_advance(tmp_path: Path) -> None:
    """fallocate in a ramfs, a tmpfs and on ext2, also until the disk is full."""
    content = tmp_path / "content"
    content.mkdir()
    shutil.copy(qemu.ROOT / "build/user/room", content)
    image = ext2.make(tmp_path / "image", "2M", content=content)
    line = (
        "mkdir /mnt /d; mount -t ext2 /dev/sda /mnt; cd /mnt; ./room /d; ./room /tmp; ./room /mnt; cat /proc/vm/check"
    )
    run = boot(f"{line}; cd /; umount /mnt", mem="12M", disk=image, disk_kind="sim:ssd").check_exit()
    run.check_lines([r"^R room checks=44 failures=0$"] * 3 + ["^ok$"])
    checked = subprocess.run(["/usr/sbin/e2fsck", "-fn", image], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
    linux = subprocess.run([qemu.ROOT / "build/user/room", "/dev/shm"], capture_output=True, text=True)
    assert re.fullmatch(r"R room checks=\d+ failures=0\n", linux.stdout), linux.stdout + linux.stderr


def test_tmp_is_evicted_to_swap() -> None:
    """The file and the processes need more than there is."""
    line = "dd if=/dev/zero of=/tmp/x bs=4096 count=1300; thrash 2 3000 2; wc /tmp/x; cat /proc/mounts /proc/vm/check"
    run = boot(line, mem="12M", swap="sim:ssd").check_exit()
    run.check_lines([r" 5324800 /tmp/x$", r"^tmpfs /tmp tmpfs rw,", "^ok$", r"swap: [1-9]\d\d+ pages in,"])


def test_virtual_8086_mode_ends_in_sigsegv(tmp_path: Path) -> None:
    """No program may enter this mode, but QEMU lets iret do so. The kernel must recognize that a program was
    running."""
    run = run_program(tmp_path, "vm86").check_exit()
    run.check_lines([r"^R vm86 checks=48 failures=0$", "^ok$"])
    linux = subprocess.run([qemu.ROOT / "build/user/vm86"], capture_output=True, text=True)
    assert linux.stdout == "R vm86 checks=48 failures=0\n", linux.stdout + linux.stderr


def test_handlers_learn_where_signals_come_from(tmp_path: Path) -> None:
    run_program(tmp_path, "origin").check_exit().check_lines([r"^R origin checks=\d+ failures=0$", "^ok$"])
    linux = subprocess.run([qemu.ROOT / "build/user/origin"], capture_output=True, text=True)
    assert re.fullmatch(r"R origin checks=\d+ failures=0\n", linux.stdout), linux.stdout + linux.stderr


def test_a_copy_that_cannot_end_can_be_killed(tmp_path: Path) -> None:
    """The copy needs two pages at once while all but one frame is locked; no task sleeps, because the store has no
    latency."""
    run = run_program(tmp_path, "straddle", mem="6M", swap="sim:ram,size=24M").check_exit()
    run.check_lines([r"^R straddle locked=[1-9]\d\d status=9$", "^ok$"])


def test_what_is_in_the_swap_area(tmp_path: Path) -> None:
    """Shared memory that will be needed is read ahead; if slots are scarce, a page that is swapped in frees its
    slot."""
    run = run_program(tmp_path, "swapped", mem="12M", swap="sim:ssd,size=8M").check_exit()
    run.check_lines([r"^R swapped checks=\d+ failures=0$", "^ok$"])


@pytest.mark.parametrize("vm", ["2q", "linux20", "mglru"])
def test_mremap_moves_what_others_still_find(tmp_path: Path, vm: str) -> None:
    """linux20 looks at the pages of a process in the order of their addresses."""
    run = run_program(tmp_path, "moved", mem="12M", swap="sim:ssd", vm=vm).check_exit()
    run.check_lines([r"^R moved checks=\d+ failures=0$", "^ok$"])
    linux = subprocess.run([qemu.ROOT / "build/user/moved"], capture_output=True, text=True)
    assert re.fullmatch(r"R moved checks=\d+ failures=0\n", linux.stdout), linux.stdout + linux.stderr


def test_proc_can_be_read() -> None:
    reads = "; ".join(f"cat /proc/{name}; echo" for name in TEXTS)
    run = boot(f"ls /proc; ls /proc/1; {reads}", cmdline="profile_hz=0").check_exit()
    run.check_lines(
        ["meminfo", "oom_score|statm", "profile_hz=0", r"^\d+\.\d\d \d+\.\d\d$", r"^(\d\.\d\d ){3}\d+/\d+ \d+$"]
    )
    run.check_lines([r"^init$", r"^\d+ \d+ \d+ \d+ 0 \d+ 0$", r" r-xp .*/init$", r"^\d+ \(cat\) R 4 ", r"^100$"])
    regions = re.findall(r"(?m)^([0-9a-f]{8})-([0-9a-f]{8}) ", run.console)  # together they are what statm says first
    run.check_lines([f"^{sum(int(end, 16) - int(start, 16) for start, end in regions) // 4096} "])
    run.check_lines(
        ["^Node 0, zone +DMA +[1-9]", r"^mad \d+$", r"^fault_page_s \d+\.", "^nr_running 1 ", r"^ +5 +\d+ open$"]
    )


def test_file_in_memory_is_appended_to() -> None:
    boot("echo one >/f; echo two >>/f; cat /f").check_exit().check_lines(["^one$", "^two$"])


def test_files_in_high_memory() -> None:
    """Frames above the direct map are used first: the copy of a program lies there, and runs."""
    run = boot("cp /bin/sh /tmp/sh; wc /tmp/sh /bin/sh; /tmp/sh -c 'free'", mem="1G").check_exit()
    first, second = re.findall(r"(?m)^ *(\d+ +\d+ +\d+) /\w+/sh$", run.console)
    assert first == second and "Mem: " in run.console


def test_laptop_mode_writes_while_the_disk_runs(tmp_path: Path) -> None:
    """A dirty page waits for half a minute or, with laptop_mode, for a second after a read of the disk."""
    content = tmp_path / "content"
    content.mkdir()
    (content / "text").write_text("text\n")
    dirty = []
    for mode in (0, 1):
        image = ext2.make(tmp_path / f"image{mode}", "1M", content=content)
        line = f"echo {mode} > /proc/sys/vm/laptop_mode; mkdir /mnt; mount -t ext2 /dev/sda /mnt; echo new > /mnt/new"
        run = boot(f"{line}; cat /mnt/text; sleep 4; cat /proc/meminfo", disk=image).check_exit()
        dirty.append(int(re.search(r"(?m)^Dirty: +(\d+) kB$", run.console)[1]))  # type: ignore[index]
    assert dirty[0] > 0 and dirty[1] == 0


def test_idle_machine_writes_what_is_dirty(tmp_path: Path) -> None:
    """Only the writeback timer can wake the machine, and no other timer may do that in its place."""
    image = ext2.make(tmp_path / "image", "1M")
    soon = "mount=none vm.dirty_expire_centisecs=30 vm.dirty_writeback_centisecs=30"
    with Guest(disk=image, disk_kind="virtio", cmdline=soon) as guest:
        guest.sh("mkdir /mnt; mount -t ext2 /dev/vda /mnt; echo dirty words >/mnt/file")
        end = time.monotonic() + 30
        while b"dirty words\n" not in image.read_bytes():
            assert time.monotonic() < end
            time.sleep(0.05)


def test_lines_are_edited_as_they_are_typed() -> None:
    with Guest() as guest:
        assert guest.sh("echo one twx\x7fo thee  \x17three").endswith("one two three\n")
        assert guest.sh("nonsense\x15echo left").endswith("left\n")
        guest.send("cat\nread\n")
        guest.expect("read\\s+read\\s")
        guest.send("never read\x03")
        guest.expect("\\^C\\s+tidemark\\$ ")
        assert guest.sh("echo $?").endswith("130\n")
        guest.send("cat\nsome\x04\x04")
        guest.expect("somesometidemark\\$ ")


def test_screen_understands_escapes_and_goes_on() -> None:
    """Clear, move, erase a line, and unknown sequences; the screen is not visible, but the kernel must survive them."""
    with Guest() as guest:
        for escape in ("[2J", "[H", "[12;34H", "[K", "[1m", "x", "[J"):
            assert guest.sh(f"echo '\x1b{escape}'").endswith(f"\x1b{escape}\n")


def test_keys_are_typed() -> None:
    """The key names of QEMU's monitor: shift, caps lock, control and the rest."""
    keys = ["ctrl-u", "e", "c", "h", "o", "spc", "shift-h", "caps_lock", "i", "caps_lock", "2", "x", "backspace", "f1"]
    with Guest(exact=False) as guest:
        guest.send("\x01c")
        guest.expect(r"\(qemu\) ")
        for key in [*keys, "ret"]:
            guest.send(f"sendkey {key}\n")
            guest.expect(r"\(qemu\) ")
        guest.send("\x01c")
        guest.expect(r"HI2\s")
        guest.expect("tidemark\\$ ")


@pytest.mark.soak
def test_clock_that_often_stands_still_is_no_hang(tmp_path: Path) -> None:
    """At each timer interrupt of an idle machine the kernel's clock stands still, and the watchdog's does not."""
    run = run_program(tmp_path, "sleepers 900", mem="128M").check_exit()
    run.check_lines([r"^R sleepers checks=\d+ failures=0$", "^ok$"])
