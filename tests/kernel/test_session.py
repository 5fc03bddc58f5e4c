"""`make qemu` without a terminal: commands from standard input, then power-off."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from making import environment, make
from tidemark.machine import qemu

PROMPT = "tidemark$ "


def session(typed: bytes, **env: str) -> subprocess.CompletedProcess:
    """Runs `make qemu` with `typed` as its standard input."""
    command = [sys.executable, "-m", "tidemark.machine.qemu"]
    made = environment(PYTHONPATH=str(qemu.ROOT / "tools"), **env)
    return subprocess.run(command, input=typed, env=made, capture_output=True, timeout=120)


def test_commands_are_shown_and_run_in_order() -> None:
    result = make("qemu", stdin="echo one\ncd /proc\n\necho $? > /tmp/f; cat /tmp/f\n")
    assert result.returncode == 0, result.stderr
    shown = f"{PROMPT}echo one\none\n{PROMPT}cd /proc\n{PROMPT}\n{PROMPT}echo $? > /tmp/f; cat /tmp/f\n0\n{PROMPT}\n"
    assert shown in result.stdout.replace("\r", "")
    assert "ls /bin: the programs" in result.stdout and result.stdout.endswith("power off\n")


def test_no_commands_at_all_end_well() -> None:
    result = make("qemu")
    assert result.returncode == 0, result.stderr
    assert "Tidemark, policy 2q, memory" in result.stdout and result.stdout.endswith("power off\n")


def test_closed_input_is_no_commands() -> None:
    made = subprocess.run(
        ["sh", "-c", 'exec "$0" -m tidemark.machine.qemu <&-', sys.executable],
        env=environment(),
        capture_output=True,
        timeout=60,
    )
    assert made.returncode == 0 and made.stdout.endswith(b"power off\r\n")


@pytest.mark.soak
def test_sessions_repeat_to_the_byte() -> None:
    first, second = (session(b"thrash 4 2048 4\necho $?\n", MEM="8M") for _ in range(2))
    assert first.returncode == 0 and b"R thrash nproc=4" in first.stdout
    assert first.stdout == second.stdout


def test_status_is_that_of_the_last_command() -> None:
    assert session(b"true\nfalse").returncode == qemu.FAILED
    assert session(b"false\ntrue").returncode == qemu.OK
    assert session(b"nosuch\n").returncode == qemu.FAILED


def test_a_program_reads_the_lines_that_follow_and_none_hangs() -> None:
    result = session(b"wc\none two\nthree\n")
    assert result.returncode == qemu.OK and re.search(rb"wc\r\n +2 +3 +14\r\n", result.stdout)


def test_poweroff_in_the_middle_ends_it() -> None:
    result = session(b"poweroff\r\necho never\r\n")
    assert result.returncode == qemu.OK and b"never" not in result.stdout


@pytest.mark.parametrize(
    ("typed", "said"),
    [(b"echo a\0b\n", b"zero byte"), (b"#" * (qemu.MAX_TYPED + 1), b"more than 1 MiB")],
    ids=["zero", "long"],
)
def test_what_cannot_be_commands_is_refused(typed: bytes, said: bytes) -> None:
    result = session(typed)
    assert result.returncode == qemu.NO_QEMU and said in result.stderr and not result.stdout


def test_run_has_precedence_over_standard_input() -> None:
    result = session(b"echo typed\n", RUN="echo given")
    assert b"given" in result.stdout and b"typed" not in result.stdout


def test_grub_image_cannot_take_commands() -> None:
    command = [sys.executable, "-m", "tidemark.machine.qemu", "--iso"]
    made = subprocess.run(command, stdin=subprocess.DEVNULL, env=dict(os.environ), capture_output=True, timeout=60)
    assert made.returncode == qemu.NO_QEMU and b"RUN=" in made.stderr
