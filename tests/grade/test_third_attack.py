"""Findings of a third attack on the grader: a test for each hole that was closed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from grading import starter
from tidemark.errors import LabError
from tidemark.runs import repeat, results
from trials import changed, trial

ORDER, CREATE = "kernel/fs/ext2/order.c", "create: a name that was synced has its file"
# Another disk, which forgets all, in place of the one that the grader records.
OTHER_DISK = """
#include "drivers/disk.h"

static struct block_device other;
static struct disk other_disk;

static bool forget(struct disk *d, struct request *rq, int *error)
{
	(void)d, (void)rq;
	*error = 0;
	return true;
}

static const struct disk_ops forgetful = { .start = forget };

static void replace_disk(struct super_block *sb)
{
	if (sb->bdev == &other)
		return;
	other = *sb->bdev;
	other.disk = &other_disk;
	other_disk.ops = &forgetful;
	other_disk.max_pieces = other_disk.max_sectors = 1u << 30;
	for (u32 i = 0; i < 2; i++)
		other_disk.arrival[i].next = other_disk.arrival[i].prev = &other_disk.arrival[i];
	other.inode->cache.bdev = &other;
	sb->bdev = &other;
}
"""
NAMED = "int ext2_before_name(struct inode *inode)\n{\n"


@pytest.mark.graded
def test_disk_that_gets_nothing_is_no_safe_disk(tmp_path: Path) -> None:
    """There is no request at which the power could fail."""
    tried = trial("crash", tmp_path)
    text = changed(starter("crash", ORDER), '#include "drivers/block.h"\n', f'#include "drivers/block.h"\n{OTHER_DISK}')
    tried.lay(changed(text, NAMED, f"{NAMED}\treplace_disk(inode->sb);\n"))
    verdict = tried.judge(tried.test(CREATE))
    assert verdict.fraction == 0 and "requests: " in verdict.message and "is not there" in verdict.message


REDO, FIRST = "kernel/fs/ext2/redo.c", "create: file, name and counts come together"


def result_with(tmp_path: Path, **settings: Any) -> results.Result:
    """A result that says that it was made with these settings."""
    meta = {"schema": 1, "kind": "run", "state": "done", "settings": {"exact": True, "cmdline": "", **settings}}
    (tmp_path / results.META).write_text(json.dumps(meta))
    return results.load(tmp_path)


@pytest.mark.parametrize("name", ["prefix", "qemu_flags"])
def test_result_of_a_student_starts_no_program(name: str, tmp_path: Path) -> None:
    """A viva repeats a student's run."""
    made = result_with(tmp_path, **{name: ["touch", "/tmp/it-was-here"]}).settings()
    assert not getattr(made, name)


def test_second_disk_of_a_result_is_no_file_of_the_reader(tmp_path: Path) -> None:
    """The run that is repeated could write to it."""
    other = tmp_path / "other.img"
    other.write_bytes(bytes(1 << 16))
    with pytest.raises(LabError, match="may have written to its disk"):
        repeat.check_repeatable(result_with(tmp_path, disk="1M", disk2=str(other)), {})
