"""A page that passes to another process, or to none, keeps the policy's data about it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bad_kernels import bad, bad_kernel  # noqa: F401  (fixtures)
from guest import Result, boot
from programs import image_with
from soak import soak_but
from test_policies import POLICIES
from tidemark.machine import disk, qemu

HOT, STREAM = "filescan /mnt/hot 1 mmap", "filescan /mnt/big 1"
FILL = "filescan /mnt/hot 1 fill --kb 4096; filescan /mnt/big 1 fill --kb 24576; filescan /mnt/hot 3 read"
NR_STREAMS, MOST_US = 4, 20_000  # from memory 8,000 with gcc, and 13,000 with clang, whose loop is longer


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An image of DISK=40M."""
    return Path(disk.image_of("40M", tmp_path_factory.mktemp("empty"))).read_bytes()


@pytest.mark.parametrize("vm", ["2q", "arc", "lirs", "clockpro", "s3fifo", "mglru"])
def test_hot_file_stays_beside_streams_though_each_reader_ends(tmp_path: Path, empty: bytes, vm: str) -> None:
    """A file of 4 MiB, mapped and read by one process after another; in between another process reads 24 MiB, which is
    more than memory."""
    path = tmp_path / "image"
    path.write_bytes(empty)
    command = "; ".join([FILL, HOT, *[STREAM, HOT] * NR_STREAMS])
    result = boot(command, vm=vm, mem="16M", disk=path, mounted=True).check_exit()
    found = re.findall(r"^R filescan pages=(\d+) passes=1 corrupt=0 us=(\d+)$", result.console, re.MULTILINE)
    hot = [int(us) for pages, us in found if pages == "1024"]
    streams = [int(us) for pages, us in found if pages == "6144"]
    assert len(hot) == 2 + NR_STREAMS and min(streams[1:]) > 500_000, "each stream is read from the disk"
    if vm == "mglru":  # protects pages used several times only after some of them had to be read back
        hot.pop(2)
    assert max(hot[1:]) <= MOST_US, hot


# --- what a policy is told: tests/kernel/policies ---


def shown(result: Result, *names: str) -> list[int]:
    """Numbers of /proc/vm/policy."""
    return [int(re.search(rf"^{name}: (\d+)$", result.console, re.MULTILINE)[1]) for name in names]


SHOW = "cat /proc/vm/policy /proc/vm/check"
MAPPED = "filescan /tmp/disk/f 1 fill --kb 2048; filescan /tmp/disk/f 1 mmap; filescan /tmp/disk/f 1 mmap"
MOUNT = "mkdir /tmp/disk; mount -t ext2 /dev/sda /tmp/disk"
FORKED, SHARED = "cow 4 6144 2000", "shared memfd 3 6144 1000"


def run(command: str, vm: str, folder: Path, empty: bytes) -> Result:
    """Runs `command` in 8 MiB, with a disk at /tmp/disk."""
    path = folder / "disk"
    path.write_bytes(empty)
    result = boot(f"{MOUNT}; {command}; {SHOW}", vm=vm, mem="8M", swap="sim:ssd", disk=path).check_exit()
    assert not re.search("corrupt=[1-9]|failed=[1-9]|violation:", result.console), result.tail()
    assert re.findall("^ok$", result.console, re.MULTILINE), result.tail()
    return result


@pytest.mark.usefixtures("bad")
def test_owner_of_a_page_changes_by_moved_alone(tmp_path: Path, empty: bytes) -> None:
    """For pages of files, of shared memory, after a fork, and in the swap area if their last user ended while another
    process still refers to the slots."""
    result = run("; ".join((FORKED, SHARED, MAPPED)), "mover", tmp_path, empty)
    first, passed, left, back, wrong = shown(
        result, "first_mapped", "passed_on", "left_by_all", "mapped_again_from_swap", "wrong"
    )
    assert min(first, left) > 1000 and passed > 100 and back > 50 and not wrong, result.tail()


@pytest.mark.usefixtures("bad")
def test_policy_with_lists_of_processes_that_does_not_know_moved(tmp_path: Path, empty: bytes) -> None:
    result = run("; ".join((FORKED, SHARED, MAPPED)), "deaf", tmp_path, empty)
    assert min(shown(result, "removed", "inserted")) > 1000, result.tail()


def test_process_that_leaves_for_another_program_has_its_clock_to_the_last(
    tmp_path: Path,
    bad_kernel: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If the clock had gone back to 0, it would show in the age of a page."""
    with monkeypatch.context() as patch:
        patch.setattr(qemu, "KERNEL", bad_kernel)
        image = image_with(Path(__file__).with_name("programs") / "leaver.c", tmp_path)
    result = boot(f"leaver; sleep .1; {SHOW}", vm="mover", image=image).check_exit()
    passed, wrong = shown(result, "passed_on", "wrong")
    assert passed and not wrong, result.tail()


@pytest.mark.parametrize("vm", soak_but(POLICIES, "pff", "vms", "linux20", "linux22", "ws", "wsclock"))
def test_pages_that_change_hands_are_not_lost(tmp_path: Path, empty: bytes, vm: str) -> None:
    run("; ".join((FORKED, SHARED, MAPPED)), vm, tmp_path, empty)
