"""From power-on to the prompt, and exact repetition."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest
from debugger import session
from guest import Guest, boot
from soak import soak_but
from tidemark.machine import qemu


def cpu_seconds(pid: int) -> float:
    """Host CPU time that a process has used (utime + stime of proc(5)'s stat)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("choices", [{}, {"mem": "4608K"}, {"exact": False}], ids=["default", "4.5_MiB", "real_time"])
def test_boots_to_prompt(choices: dict) -> None:
    with Guest(**choices) as guest:
        assert guest.sh("echo hello") == "hello\n"


@pytest.mark.parametrize("mem", ["64M", "24M", "8M"])
def test_what_the_banner_says_to_try_shows_thrashing(mem: str) -> None:
    with Guest(mem=mem) as guest:
        small, large = re.findall(r"time thrash \d+ \d+ \d+", guest.console)
        assert re.search(r"(?m)^faults \d+ minor, 0 major$", guest.sh(small))
        assert int(re.search(r"(?m)^faults \d+ minor, (\d+) major$", guest.sh(large))[1]) > 50


def test_time_of_a_background_job_comes_by_itself() -> None:
    """Nothing is typed while the job runs."""
    with Guest() as guest:
        assert re.fullmatch(r"\[1\] \d+\n", guest.sh("time thrash 2 512 3 &"))
        guest.expect(r"real \d\.\d{3}s\s+user [^f]*faults [1-9]\d{2,} minor, 0 major")
        assert "[1] Done  time thrash 2 512 3\n" in guest.sh("true")


def test_boot_names_the_policy() -> None:
    boot("true", vm="clock").check_exit().check_lines(["^policy: clock, "])


def test_a_program_that_does_nothing_has_few_faults() -> None:
    """The program's page tables are in use from its first instruction on."""
    run = boot("time true; time true").check_exit()
    faults = [int(minor) for minor in re.findall(r"(?m)^faults (\d+) minor, 0 major$", run.console)]
    assert len(faults) == 2 and max(faults) < 100, faults


def test_banner_suggests_nothing_where_swap_is_too_small() -> None:
    with Guest(swap="none") as guest:
        assert "poweroff" in guest.console and "thrash" not in guest.console


def test_idle_prompt_leaves_the_host_idle() -> None:
    """Without an armed timer QEMU waits for a key; with one, in virtual time, it would skip from tick to tick for
    ever."""
    with Guest() as guest:
        guest.sh("echo hello")
        before = cpu_seconds(guest.terminal.pid)
        assert guest.terminal.expect([pexpect.TIMEOUT, pexpect.EOF], timeout=1) == 0, guest.console
        used = cpu_seconds(guest.terminal.pid) - before
    assert used < 0.3, f"QEMU used {used:.2f} s of CPU in 1 s at an idle prompt"


def test_exact_runs_repeat() -> None:
    first, second = (boot("echo one two", telemetry=True).check_exit() for _ in range(2))
    assert first.console == second.console
    assert first.raw_telemetry == second.raw_telemetry
    assert first.telemetry[-1]["ev"] == "end"


def test_power_off_from_the_prompt_is_a_clean_end() -> None:
    with Guest() as guest:
        guest.send("poweroff\n")
        assert guest.wait_end() == 0


@pytest.mark.parametrize("shift", soak_but([1, 3, 6], 3))
@pytest.mark.parametrize("said", soak_but([None, "exact"], "exact"))
def test_clock_in_nanoseconds_does_not_make_a_machine_exact(shift: int, said: str | None) -> None:
    """Here, too, the TSC counts nanoseconds, but an instruction takes 2, 8 or 64 of them."""
    flags = f"-icount shift={shift},sleep=off"
    result = boot("sleep 0.1; thrash 2 8192 1", mem="12M", exact=False, cmdline=said, qemu_flags=flags, timeout=60)
    result.check_exit().check_lines([r"^R thrash .*corrupt=0"])


def test_memory_that_the_loader_did_not_clear(tmp_path: Path) -> None:
    """QEMU's loader clears .bss; other bytes are written there before the kernel's first instruction."""
    garbage = tmp_path / "garbage"
    garbage.write_bytes(b"\xa5" * (1 << 20))
    steps = [
        "hbreak *&_start",
        "continue",
        "set $from = (unsigned)&__bss_start - 0xc0000000",
        "set $size = (unsigned)&__bss_end - (unsigned)&__bss_start",
        f"restore {garbage} binary $from 0 $size",
        "delete",
        "continue",
    ]
    ended = session("echo reached", "init", *steps)
    assert "Breakpoint 1" in ended.output and "Restoring binary file" in ended.output, ended.output
    assert "\nreached\n" in ended.console, ended.console


@pytest.mark.parametrize("machine", ["-cpu 486", "-cpu pentium", "-machine isapc -cpu pentium"])
def test_cpu_that_is_too_old_is_refused(machine: str) -> None:
    result = boot("echo reached", qemu_flags=machine, timeout=30)
    assert (result.exit, "needs a CPU with" in result.console) == (qemu.REFUSED, True)


def test_initramfs_and_its_files_need_not_fit_together(tmp_path: Path) -> None:
    """9 MiB of files in 16 MiB of memory; one of them is larger than what is free at first."""
    data = random.Random(1).randbytes(8 << 20)
    (tmp_path / "build").mkdir()
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "large").write_bytes(data)
    (tmp_path / "build/tidemark.elf").symlink_to(qemu.ROOT / qemu.KERNEL)
    programs = sorted(path for path in (qemu.ROOT / "build/user").iterdir() if not path.suffix)
    pack = [sys.executable, qemu.ROOT / "tools/mkinitramfs.py", "--dir", tmp_path / "root"]
    subprocess.run([*pack, tmp_path / "build/initramfs.cpio", *programs], check=True)
    result = boot("wc -c /large", mem="16M", image=tmp_path).check_exit()
    assert re.search(rf"^ *{len(data)}\b", result.console, re.MULTILINE), result.tail()
