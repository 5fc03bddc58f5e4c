"""The text of a shared library is replaced by every policy and comes back right, and may be cut short while mapped."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import ext2
import pytest
from guest import boot
from tidemark.machine import qemu

PAGES = 512  # of the library
POLICIES = sorted(p.stem for p in (qemu.ROOT / "kernel/mm/policy").glob("*.c"))
POLICIES = [p for p in POLICIES if not p.endswith(("_test", "TEMPLATE")) and p not in ("min", "vmin")]


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An image of a file system with the program, and with space for its library."""
    content = tmp_path_factory.mktemp("content")
    shutil.copy(qemu.ROOT / "build/user/library", content / "library")
    return ext2.make(content.with_name("image"), "4M", content=content)


@pytest.mark.parametrize("policy", POLICIES)
def test_text_of_a_library_is_replaced_and_comes_back(disk: Path, tmp_path: Path, policy: str) -> None:
    image = Path(shutil.copy(disk, tmp_path / "image"))
    command = "mkdir /mnt; mount -t ext2 /dev/sda /mnt; /mnt/library; umount /mnt; cat /proc/vm/check"
    run = boot(command, vm=policy, mem="8M", swap="sim:ssd", disk=image, disk_kind="sim:ssd").check_exit()
    run.check_lines([r"^R library checks=\d+ failures=0$", "^ok$"])
    assert int(re.findall(r"(?m)^major faults: (\d+)$", run.console)[0]) > PAGES // 8, "few were replaced"
    assert not re.search("violation|Out of memory:", run.console), run.tail()
