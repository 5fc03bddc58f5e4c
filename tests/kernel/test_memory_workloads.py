"""Options of workloads that hold memory or scan it: locked pages, pages written once, and work between pages."""

from __future__ import annotations

import pytest
from guest import Result, boot
from tidemark.machine import qemu


def column(result: Result, command: str, name: str) -> float:
    """A number of the first process with this name, from the table at the end of a run."""
    lines = [line.split() for line in result.console.splitlines()]
    (head,) = [words for words in lines if words[:2] == ["PID", "COMMAND"]]
    row = next(words for words in lines if len(words) == len(head) and words[1] == command)
    return float(row[head.index(name)])


def test_locked_memory_is_not_evicted() -> None:
    """A scan that is larger than the rest of memory evicts the pages of hog, but not if they are locked."""
    faults = {}
    for lock in ("", " --lock"):
        result = boot(f"hog 4096 4{lock} & sleep 0.5; seqscan 12288 3; wait", mem="12M", swap="sim:ssd", vm="fifo")
        result.check_exit().check_lines([r"^R hog kb=4096 seconds=4 .*checked=1024 corrupt=0$"])
        faults[lock] = column(result, "hog", "MAJFLT")
    assert faults[" --lock"] < 20 < 100 < faults[""]


def test_pages_that_are_written_once_are_not_read_again() -> None:
    result = boot("hog 20480 --once", mem="12M", swap="sim:ssd", vm="fifo").check_exit()
    result.check_lines([r"^R hog kb=20480 seconds=0 .*checked=0 corrupt=0$"])
    assert column(result, "hog", "MAJFLT") < 20
    assert column(result, "hog", "MINFLT") >= 5120


def test_work_between_pages_takes_the_process_s_own_time() -> None:
    """A turn of the loop has a load, a store and a comparison: at least three instructions, of 1 ns each."""
    without, with_work = (
        column(boot(f"seqscan 1024 10{work}").check_exit(), "seqscan", "USER_MS") for work in ("", " --work 1000")
    )
    assert with_work - without > 2560 * 1000 * 3e-6


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("seqscan 64 1 x", "seqscan: 'x' is not w, the only word after PASSES"),
        ("seqscan 64 1 --work", "seqscan: .*--work"),
        ("seqscan 64 1 --work -1", "seqscan: .*--work"),
        ("hog 64 1 --once", r"usage: hog KB \[SECONDS\] \[--lock\] \[--once\]"),
        ("hog 64 --luck", r"usage: hog KB \[SECONDS\] \[--lock\] \[--once\]"),
    ],
)
def test_bad_options_are_refused(command: str, said: str) -> None:
    boot(command).check_exit(qemu.FAILED).check_lines([f"^{said}"])
