"""Findings of a third attack on the grader: a test for each hole that was closed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from grading import solution, starter
from tidemark.errors import LabError
from tidemark.grade.judge import host_ext2
from tidemark.grade.judge.kinds import redo
from tidemark.grade.model import Outcome
from tidemark.runs import repeat, results
from trials import Trial, changed, trial

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
# The same disk, by the operations of the one for swap, of which no request is recorded.
AROUND = """
#include "drivers/disk.h"

static struct block_device other;
static char copied[4096] __attribute__((aligned(16)));

/* The operations of the disk for swap, which record nothing. */
static const struct disk_ops *plain_ops(struct block_device *bdev)
{
	for (struct list_head *at = bdev->node.next; at != &bdev->node; at = at->next) {
		struct block_device *b = list_entry(at, struct block_device, node);

		if ((u32)b->disk > 0xc0000000u && b->disk->whole.disk == b->disk && b->disk != bdev->disk)
			return b->disk->ops;
	}
	return bdev->disk->ops;
}

static void replace_disk(struct super_block *sb)
{
	const u32 before = 1024;
	struct disk *d = (struct disk *)(copied + before);

	if (sb->bdev == &other)
		return;
	memcpy(copied, (const char *)sb->bdev->disk - before, sizeof(copied));
	d->ops = plain_ops(sb->bdev);
	d->has_cache = false;
	d->active = NULL;
	for (u32 i = 0; i < 2; i++)
		d->arrival[i].next = d->arrival[i].prev = &d->arrival[i];
	other = *sb->bdev;
	other.disk = d;
	other.inode->cache.bdev = &other;
	sb->bdev = &other;
}
"""
NAMED = "int ext2_before_name(struct inode *inode)\n{\n"


@pytest.mark.graded
@pytest.mark.parametrize("disk", [OTHER_DISK, AROUND], ids=["forgets", "not_recorded"])
def test_disk_without_requests_is_no_safe_disk(disk: str, tmp_path: Path) -> None:
    """There is no request at which the power could fail."""
    tried = trial("crash", tmp_path)
    text = changed(starter("crash", ORDER), '#include "mm/slab.h"\n', f'#include "mm/slab.h"\n{disk}')
    tried.lay(changed(text, NAMED, f"{NAMED}\treplace_disk(inode->sb);\n"))
    verdict = tried.judge(tried.test(CREATE))
    assert verdict.fraction == 0 and "requests: " in verdict.message and "is not there" in verdict.message


AHEAD, SEQUENCE, COMPUTES = (
    "kernel/mm/cache/ahead.c",
    "in sequence, page by page",
    "the disk works while the program computes",
)
# A copy of the disk that takes no time, or little; one that takes none has no requests that end.
FAST_DISK = """
#include "drivers/simdisk_state.h"
#include "fs/vfs.h"
static struct sim other;
static void faster(struct readahead *ahead)
{
	struct inode *inode = container_of(ahead, struct file, ahead)->inode;
	struct block_device *bdev;

	if (ahead->mapped || (u32)inode < 0xc0000000u)
		return;
	bdev = inode->cache.bdev;
	if ((u32)bdev < 0xc0000000u || (u32)bdev > 0xc8000000u || bdev->disk != container_of(bdev, struct disk, whole))
		return;
	if (bdev == &other.disk.whole)
		return;
	other = *container_of(bdev->disk, struct sim, disk);
	other.model.seek = other.model.rotation = other.model.latency = 0;
	other.model.transfer = TRANSFER;
	other.disk.whole.disk = &other.disk;
	other.disk.active = NULL;
	for (u32 i = 0; i < 2; i++)
		other.disk.arrival[i].next = other.disk.arrival[i].prev = &other.disk.arrival[i];
	inode->cache.bdev = &other.disk.whole;
}
"""
DECIDE = "u32 readahead_miss("


@pytest.mark.graded
def test_copied_disk_has_no_requests(tmp_path: Path) -> None:
    tried = trial("readahead", tmp_path)
    for transfer, title in (("0", SEQUENCE), ("1", COMPUTES)):
        disk = FAST_DISK.replace("TRANSFER", transfer)
        text = changed(starter("readahead", AHEAD), DECIDE, f"{disk}\n{DECIDE}")
        tried.lay(changed(text, "(void)ahead, (void)index, (void)want;", "(void)index, (void)want, faster(ahead);"))
        verdict = tried.judge(tried.test(title))
        assert verdict.fraction == 0 and "without a request to the disk" in verdict.message


REDO, FIRST = "kernel/fs/ext2/redo.c", "create: file, name and counts come together"
# Any system call of the host, by a number whose bytes are instructions.
NATIVE = """
#ifdef __SANITIZE_ADDRESS__
#define PLAIN __attribute__((noinline, used, no_sanitize("address", "undefined")))

PLAIN static u32 carrier(void)
{
	return 0x90c380cdu;
}

PLAIN static long native(long call, long a, long b, long c)
{
	const u8 *at = (const u8 *)carrier;
	long result;

	while (at[0] != 0xcd || at[1] != 0x80 || at[2] != 0xc3)
		at++;
	__asm__ volatile("pushl %%ebx; movl %%esi, %%ebx; call *%%edi; popl %%ebx" : "=a"(result)
		: "a"(call), "S"(a), "c"(b), "d"(c), "D"(at) : "memory");
	return result;
}
#else
static inline long native(long call, long a, long b, long c)
{
	return call + a + b + c ? -1 : 0;
}
#endif
"""
REPLAY = "int ext2_redo_replay(struct ext2_fs *fs)\n{\n"
BEFORE, OPEN = "#define MAGIC", 5


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return trial("redo", tmp_path_factory.mktemp("redo"))


def by_calls(calls: str) -> str:
    """The solution, whose replay first makes some system calls of the host."""
    text = changed(solution(REDO), BEFORE, f"{NATIVE}\n{BEFORE}")
    return changed(text, REPLAY, f"{REPLAY}\t{calls}\n")


@pytest.mark.graded
def test_replay_on_the_host_can_open_nothing(logged: Trial) -> None:
    """Not the images of other cuts, nor e2fsck."""
    logged.lay(by_calls(f'if (native({OPEN}, (long)"/etc/passwd", 0, 0) >= 0)\n\t\tpanic("it is open");'))
    verdict = logged.judge(logged.test(FIRST))
    assert verdict.outcome is Outcome.RIGHT, verdict.message


@pytest.mark.graded
def test_replay_without_an_end_is_told_at_once(logged: Trial) -> None:
    logged.lay(
        changed(solution(REDO), "err = nr > 0 ? write_copies(fs, nr) : nr;", "while (nr > 0)\n\t\t;\n\terr = nr;")
    )
    verdict = logged.judge(logged.test(FIRST))
    assert verdict.fraction == 0 and redo.NO_END in verdict.message


@pytest.mark.graded
@pytest.mark.parametrize("left", ["ln -s {secret} {said}", "mkfifo {said}", "mkdir {said}"])
def test_what_a_command_leaves_is_not_followed(left: str, logged: Trial, tmp_path: Path) -> None:
    """The grader reads it with rights that the command did not have."""
    secret = tmp_path / "secret"
    secret.write_text("the hidden test")
    command = "rm $1.said; " + left.format(secret=secret, said="$1.said")
    (ran,) = host_ext2.in_sandbox(logged.machine, [bytes(1024)], [f"{command}; exit 1"])
    assert ran.status == 1 and "hidden" not in ran.said


@pytest.mark.graded
def test_command_that_ends_its_shell_leaves_fewer_results(logged: Trial) -> None:
    assert host_ext2.in_sandbox(logged.machine, [bytes(1024)] * 2, ["kill -9 $$", "true"]) == []


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
