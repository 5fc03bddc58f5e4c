"""The small kernel: docs/guide/core.txt and tests/kernel/core/small.txt link alone, boot to the shell and thrash."""

from __future__ import annotations

import io
import re
import shutil
from pathlib import Path

import pytest
from guest import Result, boot
from making import make
from tidemark.machine import qemu

CORE = qemu.ROOT / "docs/guide/core.txt"
SMALL = qemu.ROOT / "tests/kernel/core/small.txt"
STUBS = qemu.ROOT / "tests/kernel/core/stubs.c"
MOST_LINES = 20_000  # of the files that the two lists name
MOST_STUBS = 60  # lines
FRAMES = 700  # too few for thrash: pages are evicted
MOST_APART = 2  # faults, of more than 1,300


def listed(text: Path) -> list[str]:
    """The files that a list names."""
    lines = [line.strip() for line in text.read_text().splitlines()]
    return [line for line in lines if "/" in line and not line.startswith("#")]


def length(file: str | Path) -> int:
    """The number of lines of a file."""
    return len((qemu.ROOT / file).read_text().splitlines())


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder from which QEMU boots the small kernel, with the programs of the full one."""
    made = make("build/core/tidemark.elf", timeout=600)
    assert made.returncode == 0, made.stdout + made.stderr
    folder = tmp_path_factory.mktemp("small")
    (folder / "build").mkdir()
    shutil.copy(qemu.ROOT / "build/core/tidemark.elf", folder / qemu.KERNEL)
    shutil.copy(qemu.ROOT / qemu.INITRD, folder / qemu.INITRD)
    return folder


def test_lists_are_short_and_disjoint() -> None:
    files = listed(CORE) + listed(SMALL)
    assert sorted(set(files)) == sorted(files)
    assert sum(map(length, files)) <= MOST_LINES
    assert length(STUBS) < MOST_STUBS


def test_full_kernel_has_every_system_call_of_the_table() -> None:
    """A call without an implementation would answer -ENOSYS, because the table's names are weak."""
    symbols = (qemu.ROOT / "build/tidemark.elf.nm").read_text()
    assert re.findall(r" W (sys_\w+)", symbols) == []
    assert re.search(r" T sys_open$", symbols, re.MULTILINE)


def test_boots_to_the_shell(small: Path) -> None:
    console = io.BytesIO()
    qemu.run_typed(qemu.Settings(image=small, timeout=60), b"echo forty-two > f; cat f | cat\n", console)
    shown = console.getvalue().decode("ascii", "replace").replace("\r", "")
    assert "tidemark$ echo forty-two > f; cat f | cat\nforty-two\ntidemark$ " in shown, shown
    assert shown.rstrip().endswith("power off"), shown


def faults(result: Result) -> list[int]:
    """Minor and major faults, from the line of the shell's `time` that counts them."""
    (found,) = re.findall(r"^faults (\d+) minor, (\d+) major$", result.check_exit().console, re.MULTILINE)
    return list(map(int, found))


@pytest.mark.parametrize("vm", ["fifo", "clock", "2q", "ws"])
@pytest.mark.parametrize("frames", [None, FRAMES])
def test_thrash_faults_as_in_the_full_kernel(small: Path, vm: str, frames: int | None) -> None:
    """With too few frames it matters, too, when a tick comes, and the small kernel takes less time for some calls."""
    full, alone = (
        faults(boot("time thrash 4 1024 2", vm=vm, frames=frames, image=where)) for where in (qemu.ROOT, small)
    )
    assert all(abs(one - other) <= (MOST_APART if frames else 0) for one, other in zip(full, alone)), (full, alone)
    assert bool(full[1]) == bool(frames)
