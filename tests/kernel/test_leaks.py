"""After a workload the machine has the same free frames, swap slots and slab objects as before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from guest import Result, boot
from tidemark.machine import disk

COUNTS = ("nr_free_pages", "nr_isolated", "nr_anon_pages", "nr_writeback", "nr_slab_objects", "nr_swap_free")
ROUNDS = 4
SHOW = "echo 3 >/proc/sys/vm/drop_caches; cat /proc/vmstat /proc/vm/check"

# Each command is repeated: the first runs fill permanent allocations (the pages of its file, per-CPU stacks), and
# unused pages of init and of the shell may be swapped out once.
COMMANDS = [
    "thrash 6 4096 2",
    "seqscan 24576 2 w",
    "phase 24576 4096 4 4000",
    "btree 24576 3000",
    "refstring 1-200 1-200",
    "hog 20480 1",
    "hog 262144",
    "forkbomb 200",
    "badelf",
    "badstack",
    "wild 5",
    "echo one | cat | cat | wc",
    "sh -c 'thrash 2 4096 1 & thrash 3 4096 1 & wait'",
    "cp /bin/sh /tmp/copy; wc /tmp/copy; rm /tmp/copy",
    "shared memfd 2 16384 600 io cut",
]
# The cases that `make check` runs.
SHORT = (
    "thrash15-2q",
    "hog10-ws",
    "forkbomb12-ws",
    "badelf6-2q",
    "badstack8-2q",
    "wild6-2q",
    "echo25-2q",
    "sh48-2q",
    "cp48-2q",
    "shared31-2q",
)


def counts(result: Result) -> list[dict[str, int]]:
    """The counts of every /proc/vmstat in the console, in order.

    The number of init's and the shell's resident pages varies: frames in use and free frames count together.
    """
    found: list[dict[str, int]] = []
    for line in result.console.splitlines():
        match = re.fullmatch(r"(\w+) (\d+)", line)
        if match and match[1] == COUNTS[0]:
            found.append({})
        if match and match[1] in COUNTS:
            found[-1][match[1]] = int(match[2])
    for one in found:
        one["frames"] = one.pop("nr_free_pages") + one.pop("nr_anon_pages")
    return found


def cases() -> Iterator[object]:
    """Every command under both policies."""
    for command in COMMANDS:
        name = command.split()[0] + str(len(command))
        for policy in ("2q", "ws"):
            marks = [] if f"{name}-{policy}" in SHORT else [pytest.mark.soak]
            yield pytest.param(command, policy, id=f"{name}-{policy}", marks=marks)


@pytest.mark.parametrize(("command", "policy"), cases())
def test_nothing_is_kept(command: str, policy: str) -> None:
    result = boot("; ".join([command, SHOW] * ROUNDS), vm=policy, mem="16M", swap="sim:ssd,size=32M")
    shown = counts(result)
    assert len(shown) == ROUNDS, result.tail()
    assert shown[-1] == shown[-2], result.tail()
    assert result.console.splitlines().count("ok") == ROUNDS, result.tail()


def test_nothing_is_kept_of_a_file_system(tmp_path: Path) -> None:
    """A file system's own blocks are evicted, too; its data structures are freed when it is unmounted."""
    one = "mount -t ext2 /dev/sda /mnt; mkdir /mnt/{0}; filescan /mnt/{0}/f 1 fill --kb 1500; hog 8192 1; umount /mnt"
    command = "mkdir /mnt; " + "; ".join(f"{one.format(n)}; cat /proc/vmstat" for n in range(4))
    result = boot(command, mem="8M", swap="sim:ssd,size=16M", disk=Path(disk.image_of("16M", tmp_path))).check_exit()
    objects = [shown["nr_slab_objects"] for shown in counts(result)]
    assert len(objects) == 4 and len(set(objects[1:])) == 1, objects
