"""Random system calls by several processes in little memory, with files, mounts, swap areas and signals.

None of them may stop the kernel, affect an unrelated process, leave an image with faults for e2fsck, or leak anything.
Every error must be one that the documentation lists for the call. The soak makes a million calls under each policy; a
failing run is shortened, and the failure shows it as a command.
"""

from __future__ import annotations

import errno
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import storm
from bad_kernels import kernel_of
from guest import boot
from progress import Tried
from soak import soak_but
from storm import Storm
from test_extremes import GUARDS
from test_leaks import SHOW, counts
from test_swap_areas import POLICIES
from tidemark.machine import qemu

SEED = int(os.environ.get("SEED") or 1)
MILLION, SAMPLE, HUNDREDTH, JUDGED = 1_000_000, 1_200, 10_000, 8_000
PAGES = 32  # of random code per call: code.c
DOCUMENT = qemu.ROOT / "docs/reference/syscalls.md"
PATH = "ENOENT ENOTDIR ELOOP ENAMETOOLONG EFAULT EIO ENOMEM"
MEANS = {"*path*": PATH, "*name*": f"{PATH} EPERM EROFS EEXIST EBUSY ENOSPC EMLINK"}
# Calls that never succeed: setting the clock, power off, a return without a signal frame, sockets.
NEVER = {"none", "pause", "sigsuspend", "rt_sigsuspend", "stime", "settimeofday", "clock_settime", "clock_settime64"}
NEVER |= {"reboot", "fallocate", "chroot", "setxattr", "lsetxattr", "fsetxattr", "getxattr", "lgetxattr", "fgetxattr"}
NEVER |= {"removexattr", "lremovexattr", "fremovexattr"}
NEVER |= {"socketcall", "socket", "socketpair", "bind", "connect", "listen", "accept4", "getsockopt", "setsockopt"}
NEVER |= {"getsockname", "getpeername", "sendto", "sendmsg", "sendmmsg", "recvfrom", "recvmsg", "recvmmsg", "shutdown"}
NEVER |= {"recvmmsg_time64", "raw"}  # raw only with a weight


def documented() -> dict[str, set[str]]:
    """For each call, the errors that the documentation lists."""
    found: dict[str, set[str]] = {}
    table = DOCUMENT.read_text().split("## Errors\n")[1].split("\n## ")[0]
    for calls, errors in re.findall(r"^\| (`.*`) \| (.*) \|$", table, re.M):
        for short, long in MEANS.items():
            errors = errors.replace(short, long)
        found |= {name: set(errors.split()) for name in re.findall(r"`(\w+)`", calls)}
    return found


def undocumented(table: dict[str, dict[str, int]]) -> list[str]:
    """Errors that are not in the documentation."""
    allowed = documented()
    wrong = []
    for name, counted in table.items():
        if name in ("touch", "sysctl", "none", "raw", "code"):
            continue
        extra = set(counted) - {"ok"} - allowed.get(name.split()[0], set())
        wrong += [f"{name}: {error}" for error in sorted(extra)]
    return wrong


def check(run: Storm) -> dict[str, dict[str, int]]:
    """Makes a run that must not fail, and returns its table. A failing run is shortened first."""
    print(run.command())
    outcome = storm.run(run)
    if outcome.wrong:
        short = storm.shortest(run, outcome.wrong)
        commands = f"{run.command()}\nshorter, and fails so, too:\n{short.command()}"
        pytest.fail(f"{outcome.wrong}\n{commands}\n{outcome.result.tail()}")
    table = storm.table(outcome.result.console)
    assert undocumented(table) == []
    return table


def test_a_sample() -> None:
    check(Storm(SAMPLE, SEED))


@pytest.mark.soak
@pytest.mark.parametrize("policy", POLICIES)
def test_a_million_calls(policy: str) -> None:
    """Two of three calls that can succeed do; the tables are in the output (-s)."""
    tried = Tried("storm")
    if tried.done((policy, SEED)):
        pytest.skip("has passed with this image")
    table = check(Storm(MILLION, SEED, vm=policy, timeout=3600))
    print(storm.covered([table]))
    assert {name for name, counted in table.items() if not counted["ok"]} == NEVER
    tried.add((policy, SEED))


@pytest.mark.soak
@pytest.mark.parametrize("guard", GUARDS)
def test_under_a_guard(guard: str) -> None:
    check(Storm(HUNDREDTH, SEED, cmdline=f"guard={guard}"))


def code(pages: int, seed: int, policy: str = "2q") -> None:
    """Executes this number of pages of random code."""
    calls = -(-pages // PAGES)
    run = Storm(calls, seed, vm=policy, weight="code=1000000")
    outcome = storm.run(run)
    assert not outcome.wrong, f"{outcome.wrong}\n{run.command()}\n{outcome.result.tail()}"
    ran = re.search(r"^R storm .* pages=(\d+) ", outcome.result.console, re.M)
    assert ran and int(ran[1]) > 0.95 * calls * PAGES  # a call that takes too long is abandoned


def test_random_code_does_the_kernel_no_harm() -> None:
    code(4_000, SEED)


@pytest.mark.soak
@pytest.mark.parametrize("policy", POLICIES)
def test_a_million_pages_of_random_code(policy: str) -> None:
    """Split among all policies, each with its own pages."""
    code(MILLION // len(POLICIES) + 1, SEED + POLICIES.index(policy), policy)


def test_a_mounted_disk_is_written_to() -> None:
    """By a worker, through its device, while others mount, use, sync, truncate on and unmount its file system."""
    check(Storm(4 * SAMPLE, SEED, weight="raw=400"))


@pytest.mark.soak
@pytest.mark.parametrize("policy", POLICIES)
def test_mounted_disks_are_written_to_under_each_policy(policy: str) -> None:
    check(Storm(5 * HUNDREDTH, SEED, vm=policy, weight="raw=200"))


@pytest.mark.soak
def test_disks_that_answer_at_once() -> None:
    """Readers and writers do not sleep, so other tasks run only at the kernel's preemption points."""
    check(Storm(10 * HUNDREDTH, SEED, swap="sim:ram,size=24M", disk="sim:ram"))


@pytest.mark.soak
def test_freed_objects_are_not_touched() -> None:
    check(Storm(10 * HUNDREDTH, SEED, cmdline="slab_poison=1"))


@pytest.mark.soak
def test_equal_runs_are_equal() -> None:
    """Console and disk are byte for byte the same."""
    first, second = (storm.run(Storm(HUNDREDTH, SEED)) for _ in range(2))
    assert first.result.console == second.result.console
    assert first.image == second.image


@pytest.mark.parametrize("calls", soak_but([SAMPLE, HUNDREDTH], SAMPLE))
def test_nothing_is_left_behind(calls: int) -> None:
    """A second storm, with other calls, leaves as many frames, slots and objects as the first, except nodes of trees,
    which hold the shadows of evicted pages. Pages of the shell may have been swapped in or out: /proc/vm/check, which
    says "ok", compares the slots with the page tables."""
    again, show = f"/mnt/storm {calls} --seed {SEED + 1} /mnt /tmp", f"sync; {SHOW} /proc/slabinfo"
    outcome = storm.run(Storm(calls, SEED, after=f"{show}; {again}; {show}; {again}; {show}; "))
    assert not outcome.wrong, outcome.result.tail()
    shown, nodes = counts(outcome.result), re.findall(r"^radix_node +(\d+) ", outcome.result.console, re.M)
    for one, nr in zip(shown, nodes, strict=True):
        one["nr_slab_objects"] -= int(nr)
        del one["nr_swap_free"]
    assert len(shown) == 3 and shown[1] == shown[2]
    assert outcome.result.console.splitlines().count("ok") == 4, outcome.result.tail()


def answers(text: str) -> dict[int, tuple[str, str, int]]:
    """The output of `storm --judge`: for each call its name, its arguments, and its error or 0."""
    found = re.findall(r"^judge: (\d+) (\S+) (\d+) (\(.*\))$", text, re.M)
    return {int(i): (name, args, int(error)) for i, name, error, args in found}


def test_some_of_the_calls() -> None:
    outcome = storm.run(Storm(SAMPLE, SEED, keep=((100, 140), (500, 500)), timeout=60))
    assert not outcome.wrong, outcome.result.tail()
    assert re.search(r"^R storm .* calls=[1-9]\d? .* failures=0$", outcome.result.console, re.M)


def forget_a_case(copy: Path) -> None:
    """Inserts a bug that needs two calls: MCL_FUTURE, then MADV_DONTNEED by the same process."""
    path = copy / "kernel/syscall/mem.c"
    call = "\treturn do_madvise("
    mistake = f'\tif (current->mm->def_flags && advice == 4)\n\t\tpanic("forgotten");\n{call}'
    path.write_text('#include "lib/assert.h"\n' + path.read_text().replace(call, mistake))


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_a_failure_is_made_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qemu, "KERNEL", kernel_of("mistake", forget_a_case))
    run = Storm(2 * HUNDREDTH, SEED)
    wrong = storm.run(run).wrong
    assert wrong == "panic: forgotten"
    short = storm.shortest(run, wrong, tries=120)
    assert sum(last - first + 1 for first, last in short.keep) == 2


@pytest.fixture
def terminal() -> Iterator[int]:
    """A terminal that every user may open, unlike the console, which is root's."""
    master, slave = os.openpty()
    yield slave
    os.close(slave)
    os.close(master)


def test_harmless_calls_answer_as_on_linux(tmp_path: Path, terminal: int) -> None:
    """Except for different names in /proc, process groups that only one machine has, missing timers and clocks
    (ITIMER_PROF, those of a process), lseek's limits, and calls that Linux forbids to users other than root.

    The calls are always the same: each difference has been checked.
    """
    command = f"storm {JUDGED} --judge --seed 3"
    with tempfile.TemporaryDirectory(prefix="tidemark-storm-") as folder:  # a short path, like in the guest
        words = [str(storm.PROGRAM), *command.split()[1:], folder]
        done = subprocess.run(words, stdin=terminal, capture_output=True, timeout=60)
    linux = answers(done.stdout.decode())
    disk, _ = storm.make_disk(tmp_path, ())
    line = f"mkdir /mnt; mount -t ext2 /dev/sda1 /mnt; /mnt/{command} /mnt"
    here = answers(boot(line, disk=disk, disk_kind="sim:ram", mem="16M").check_exit().console)
    assert len(linux) == len(here) > JUDGED // 12
    differ = [
        f"{i} {linux[i]} here {here[i][2]}" for i in linux if linux[i][2] != here[i][2] and not known(linux[i], here[i])
    ]
    assert differ == [], "\n".join(differ)


def known(linux: tuple[str, str, int], here: tuple[str, str, int]) -> bool:
    """Is this a documented difference, or one in the machines' names?"""
    assert linux[0] == here[0], "the same call; its arguments may name processes"
    name, args = linux[0], linux[1]
    if name in ("lseek", "_llseek"):
        null = re.match(r"\((0|0x1|0x2|0xf), ", args)  # /dev/null, /dev/zero, /dev/full
        end_of_directory = re.match(r"\(0x[67], .*0x2[,)]", args)
        hole = re.search(r"0x[34], 0|0x[34]\)", args)
        return bool(null or end_of_directory or hole) or linux[2] == errno.EINVAL
    if name.startswith("clock_get") and re.match(r"\(0x[89a-f][0-9a-f]{7}[,)]", args):  # negative: a process's clock,
        return here[2] == errno.EINVAL  # and Linux answers by whether it has such a process
    if "access" in name and (linux[2], here[2]) == (errno.EACCES, 0):
        return os.getuid() != 0
    if name == "getpriority":
        return args.startswith("(0x1, ") and errno.ESRCH in (linux[2], here[2])
    return name == "getitimer" or errno.ENOENT in (linux[2], here[2])


def test_every_call_is_made_and_has_its_errors() -> None:
    calls = Path(qemu.ROOT / "tests/kernel/storm/calls.c").read_text()
    made = set(re.findall(r'^\t\{ "(\w+)"', calls, re.M))
    there = set(re.findall(r"^(?:SYSCALL0?|SAME)\(\d+, (\w+)", (qemu.ROOT / "kernel/syscall/list.h").read_text(), re.M))
    assert there - made == set()
    assert set(documented()) <= made
