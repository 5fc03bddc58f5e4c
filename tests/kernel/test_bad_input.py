"""Bad input leads to an answer, a message, or the death of the right process; never to a hang, a crash or a lost
page."""

from __future__ import annotations

import os
import re
import signal
import time

import pytest
from guest import Guest, Result, boot
from soak import soak_but
from tidemark.machine import qemu

CHECK = "cat /proc/vm/check"

PARAMETERS = ["vm", "mem", "swap", "disk", "block.elevator", "frames", "run", "seed", "lowmem", "ktest", "crash"]


def lines(result: Result, pattern: str) -> list[str]:
    return [line for line in result.console.splitlines() if re.search(pattern, line)]


# --- the command line ---


def test_unknown_parameter_is_refused_with_the_list() -> None:
    result = boot("echo reached", cmdline="nosuch=1").check_exit(qemu.REFUSED)
    assert not lines(result, "^reached$")
    said = "\n".join(lines(result, "nosuch") + lines(result, "valid"))
    assert [name for name in PARAMETERS if not re.search(rf"\b{name}\b", said)] == [], said


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"vm": "nosuch"}, "vm=nosuch.*2q.*clock.*fifo.*ws"),
        ({"swap": "sim:floppy"}, "swap=sim:floppy.*sim:hdd.*sim:ssd"),
        ({"swap": "sim:hdd,spin=1"}, "swap=sim:hdd,spin=1.*seek.*rotation"),
        ({"swap": "sim:hdd,size=4K"}, "swap=sim:hdd,size=4K.*64K"),
        ({"swap": "tape"}, "swap=tape.*none.*sim:hdd"),
        ({"cmdline": f"swap={'x' * 200}"}, "swap=x*: too long"),
        ({"cmdline": f"fail={'read:1,' * 20}"}, "fail=.*: too long"),
        ({"cmdline": "disk=floppy"}, "disk=floppy: unknown kind of disk"),
        ({"cmdline": "block.elevator=paternoster"}, "block.elevator=paternoster.*deadline"),
        ({"frames": 2}, "frames=2.*3"),
        ({"cmdline": "ws.tau_ms=0"}, r"ws\.tau_ms=0.*1\.\.60000"),
        ({"cmdline": "vm.page_cluster=many"}, r"vm\.page_cluster=many.*0\.\.5"),
        ({"cmdline": "telemetry=maybe"}, "telemetry=maybe"),
        ({"cmdline": "crash=twice"}, r"crash=twice.*stack\|null"),
    ],
    ids=lambda value: "_".join(value.values()) if isinstance(value, dict) and "frames" not in value else None,
)
def test_wrong_value_is_refused_with_the_valid_ones(choices: dict, said: str) -> None:
    result = boot("echo reached", **choices).check_exit(qemu.REFUSED).check_lines([said])
    assert not lines(result, "^reached$")


def test_value_written_to_proc_is_checked() -> None:
    result = boot(
        "echo 9 >/proc/sys/vm/page-cluster; echo status $?; echo x >/proc/sys/vm/min_free_kbytes; echo status $?;"
        "cat /proc/sys/vm/page-cluster"
    ).check_exit()
    assert len(lines(result, "Invalid argument")) == 2 and len(lines(result, "^status 1$")) == 2
    result.check_lines(["^3$"])
    refused = "echo 9 >/proc/sys/vm/drop_caches; echo nonsense >/proc/params; echo 2 >/proc/sys/vm/frames"
    refused += "; cat /bin/sh >/proc/params"
    taken = "echo 900 >/proc/sys/vm/frames; echo read:99999 >/proc/fail"
    result = boot(f"{refused}; {taken}; cat /proc/sys/vm/frames; cat /proc/params").check_exit()
    assert len(lines(result, "Invalid argument")) == 4
    result.check_lines(["^900$", "^fail=read:99999\t"])


# --- memory ---


@pytest.mark.parametrize("policy", soak_but(["fifo", "clock", "2q", "ws"], "2q", "ws"))
def test_who_asks_for_more_than_there_is_dies_and_the_others_finish(policy: str) -> None:
    """One process needs 32 MiB, more than 16 MiB of memory and 8 MiB of swap. The other needs 4 MiB and succeeds."""
    run = f"hog 32768 2 & hog 4096 2 & wait; {CHECK}"
    result = boot(run, vm=policy, mem="16M", swap="sim:ssd,size=8M", telemetry=True)
    result.check_exit().check_lines(
        [
            r"Out of memory: \d+ frames free, \d+ swap slots free: killed process \d+ \(hog\), the one with the most: "
            r"\d+ KiB resident",
            r"^R hog kb=4096 .*corrupt=0",
            "^ok$",
        ]
    )
    assert len(lines(result, "Out of memory")) == 1, result.tail()
    assert not lines(result, "policy violation")
    events = [record for record in result.telemetry if record["ev"] == "oom"]
    assert [event["comm"] for event in events] == ["hog"]
    assert sorted(row["EXIT"] for row in summary(result) if row["COMMAND"] == "hog") == ["-9", "0"]


def summary(result: Result) -> list[dict[str, str]]:
    """The rows of the table at the end of the run, by column title."""
    head = next(i for i, line in enumerate(result.console.splitlines()) if re.match(r"\s*PID\s+COMMAND", line))
    titles, *rows = (line.split() for line in result.console.splitlines()[head:])
    return [dict(zip(titles, row)) for row in rows if row and row[0].isdigit()]


def test_without_swap_only_memory_counts() -> None:
    result = boot(f"hog 32768; echo status $?; {CHECK}", mem="16M", swap="none").check_exit()
    result.check_lines(["Out of memory: .*0 swap slots free", "^status 137$", "^ok$"])


def test_full_swap_area_is_no_end() -> None:
    """Memory and swap are used to the last slots, but everything fits: no process is killed, nothing is lost."""
    run = f"thrash 4 4416 2; cat /proc/swaps; {CHECK}"
    result = boot(run, mem="16M", swap="sim:ssd,size=6M", telemetry=True)
    result.check_exit().check_lines([r"^R thrash .*corrupt=0", "^ok$"])
    assert not lines(result, "Out of memory"), result.tail()
    samples = [record for record in result.telemetry if record["ev"] == "sample"]
    assert samples


@pytest.mark.soak
def test_runs_a_workload_in_8_MiB() -> None:
    result = boot(f"thrash 4 4096 1; {CHECK}", mem="8M", swap="sim:ssd").check_exit()
    result.check_lines([r"^R thrash .*corrupt=0", "^ok$"])


@pytest.mark.soak
def test_boots_in_2_GiB() -> None:
    result = boot(f"hog 262144 1; cat /proc/meminfo; {CHECK}", mem="2G", swap="none").check_exit()
    result.check_lines(
        [r"^R hog kb=262144 .*corrupt=0", r"^MemTotal: +20\d{5} kB", r"^HighTotal: +1[01]\d{5} kB", "^ok$"]
    )


# --- processes ---


def answers(guest: Guest, command: str) -> list[str]:
    """The lines that a command typed at the prompt prints."""
    return [line.strip() for line in guest.sh(command).splitlines()]


def test_shell_answers_after_a_fork_bomb() -> None:
    with Guest(mem="24M") as guest:
        output = guest.sh("forkbomb")
        assert re.search(r"R forkbomb forked=[1-9]\d+ errno=EAGAIN", output), output
        assert "still here" in answers(guest, "echo still here")
        assert "ok" in answers(guest, CHECK)


@pytest.mark.soak
def test_shell_answers_while_a_fork_bomb_holds() -> None:
    """The bomb keeps its processes; the shell runs commands, or says that it cannot create a process."""
    with Guest(mem="24M") as guest:
        output = guest.sh("forkbomb --hold 20 & sleep 1; ls /; wait")
        assert re.search(r"(?s)errno=EAGAIN.*(\bbin\b|fork: ).*Done", output), output
        assert "still here" in answers(guest, "echo still here")
        assert "ok" in answers(guest, CHECK)


def test_hostile_programs_are_refused_or_die_alone() -> None:
    result = boot(f"badelf; {CHECK}").check_exit()
    result.check_lines([r"^R badelf files=[1-9]\d+ refused=[1-9]\d* segv=\d+ other=0$", "^ok$"])


def test_wild_pointers_get_efault() -> None:
    result = boot(f"wild; {CHECK}").check_exit()
    result.check_lines([r"^R wild calls=[1-9]\d+ efault=[1-9]\d+ failures=0$", "^ok$"])


def test_bad_accesses_end_in_sigsegv() -> None:
    result = boot(f"badstack; {CHECK}").check_exit()
    assert len(lines(result, r"^R badstack mode=\w+ signal=11$")) == 5
    result.check_lines([r"badstack\[\d+\]: SIGSEGV at address 0xbf[78]", "^ok$"])


# --- the disk ---


def test_page_that_cannot_be_read_is_a_bus_error_for_its_process() -> None:
    result = boot(
        f"thrash 4 4096 3; {CHECK}", mem="12M", swap="sim:ssd", cmdline="vm.page_cluster=0 fail=read:50"
    ).check_exit()
    died = [row for row in summary(result) if row["EXIT"] == "-7"]
    assert died and {row["COMMAND"] for row in died} == {"thrash"}, result.tail()
    result.check_lines([r"^R thrash .*lost=[1-4] corrupt=0", "^ok$"])


@pytest.mark.soak
def test_page_that_cannot_be_written_stays() -> None:
    result = boot(f"thrash 4 4096 3; {CHECK}", mem="12M", swap="sim:ssd", cmdline="fail=write:5").check_exit()
    result.check_lines([r"^R thrash .*lost=0 corrupt=0", "^ok$"])
    assert not lines(result, "Out of memory|policy violation"), result.tail()


def test_disk_that_takes_nothing_is_like_none() -> None:
    """A process is killed, because nothing can be swapped out; no policy is blamed for it."""
    result = boot(f"thrash 4 4096 3; {CHECK}", mem="12M", swap="sim:ssd", cmdline="fail=write:1+").check_exit()
    result.check_lines(["Out of memory", r"^R thrash .*corrupt=0", "^ok$"])
    assert not lines(result, "policy violation"), result.tail()


# --- mistakes of the kernel itself ---

MISTAKES = {
    "stack": ("^panic: .*stack", "use_up_stack", qemu.PANICKED),
    "null": ("^panic: page fault in the kernel at address 00000000", "crash_null", qemu.PANICKED),
    "jump": ("^panic: page fault in the kernel at address 00000000", "00000000", qemu.PANICKED),
    "assert": (r"^panic: kernel/proc/crash\.c:\d+: assertion failed: zero", "crash_assert", qemu.PANICKED),
    "hang": ("^hang: no progress for 2 s", "crash_hang", qemu.HUNG),
    "loop": ("^hang: no progress for 2 s", "crash_loop", qemu.HUNG),
}


@pytest.mark.parametrize("mistake", soak_but(MISTAKES, "stack", "null", "jump", "assert"))
def test_mistake_of_the_kernel_is_reported(mistake: str) -> None:
    said, where, code = MISTAKES[mistake]
    result = boot("sleep 100", cmdline=f"crash={mistake}").check_exit(code)
    result.check_lines([said, r"^task: crash \(pid \d+\)", "^backtrace:", where])


@pytest.mark.parametrize("mistake", soak_but(["hang", "loop"], "loop"))
def test_hang_is_reported_where_time_is_the_hosts(mistake: str) -> None:
    boot("sleep 100", cmdline=f"crash={mistake}", exact=False).check_exit(qemu.HUNG).check_lines([MISTAKES[mistake][0]])


def test_time_that_the_host_takes_is_no_hang() -> None:
    """QEMU is stopped twice for longer than the watchdog's limit, while its clock advances and a program runs."""
    with Guest(exact=False) as guest:
        guest.sh("seqscan 32768 1000000 &")  # runs until the guest is stopped
        for _ in range(2):
            os.kill(guest.terminal.pid, signal.SIGSTOP)
            time.sleep(3)
            os.kill(guest.terminal.pid, signal.SIGCONT)
            assert guest.sh("echo on") == "on\n"
