"""Even with very few frames, every process makes progress, under every policy."""

from __future__ import annotations

from pathlib import Path

import ext2
import pytest
from guest import boot
from soak import soak_but
from test_policies import BELADY, POLICIES, lines

# The processes of each command fault in step with one another.
FEW = ("thrash 2 64 2", "thrash 3 16 1")
IN_STEP = ("thrash 2 64 2", "thrash 3 64 2", "thrash 7 32 1", "thrash 12 16 1")
POISON = "slab_poison=1"  # catches any access to a process that has ended during its turn


def all_get_on(policy: str, frames: int, commands: tuple[str, ...]) -> None:
    result = boot("; ".join(commands), vm=policy, mem="16M", frames=frames, cmdline=POISON, timeout=60).check_exit()
    done = lines(result, r"^R thrash .*lost=0 corrupt=0")
    assert len(done) == len(commands), result.tail()
    assert not lines(result, "violation|Out of memory"), result.tail()


@pytest.mark.parametrize("policy", soak_but(POLICIES, "fifo"))
def test_processes_in_step_all_get_on(policy: str) -> None:
    all_get_on(policy, 3, FEW)


@pytest.mark.soak
@pytest.mark.parametrize("frames", [3, 4, 5, 6])
@pytest.mark.parametrize("policy", POLICIES)
def test_many_processes_in_step_all_get_on(policy: str, frames: int) -> None:
    all_get_on(policy, frames, IN_STEP)


@pytest.mark.parametrize("policy", soak_but(POLICIES, "ws"))
def test_others_do_not_wait_for_a_process_that_ends_in_its_turn(policy: str) -> None:
    """Processes are killed while they starve; the remaining ones make progress."""
    kill = "thrash 5 64 8 & sleep 2; kill -9 %1 7 8 9 10 11; thrash 3 64 2"
    result = boot(kill, vm=policy, mem="16M", frames=3, cmdline=POISON, timeout=60).check_exit()
    assert lines(result, r"^R thrash nproc=3 .*lost=0 corrupt=0"), result.tail()


def test_lone_process_is_not_helped() -> None:
    """A lone process is never starved, so the faults of a string are the textbook's."""
    assert lines(boot(BELADY, vm="fifo", frames=3).check_exit(), "^faults: 9$")


def test_none_is_left_beside_the_pages_of_a_disk(tmp_path: Path) -> None:
    """Without swap no page of a program can be evicted: it is killed, and the frames of files are not charged to it."""
    disk = ext2.make(tmp_path / "image", "1M")
    line = "mkdir /mnt; mount -t ext2 /dev/sda /mnt; hog 1024 1; echo status $?; cat /proc/vm/check"
    result = boot(line, mem="16M", frames=60, swap="none", disk=disk, disk_kind="sim:ram").check_exit()
    result.check_lines(["^Out of memory: .*(hog)", "^status 137$", "^ok$"])


@pytest.mark.parametrize("guard", ["prefetch", "serialize"])
def test_guards_know_how_many_are_free(guard: str) -> None:
    result = boot("thrash 2 400 2", cmdline=f"guard={guard} prefetch.delay_ms=0", mem="16M", frames=100).check_exit()
    result.check_lines([r"^R thrash .*lost=0 corrupt=0"])
