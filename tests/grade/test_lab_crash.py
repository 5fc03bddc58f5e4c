"""The lab `crash`: the grader computes the medium that a power cut leaves, and names each mistake."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from ext2_promises import left_on
from grading import solution, starter
from guest import boot
from soak import soak_but
from tidemark.errors import LabError
from tidemark.grade import grading
from tidemark.grade.judge import media, promises
from tidemark.grade.judge.kinds import cut, overlap
from tidemark.grade.model import Outcome, Test
from tidemark.machine import ext2 as images
from tidemark.machine import qemu
from trials import Trial, changed, trial

pytestmark = pytest.mark.graded

ORDER = "kernel/fs/ext2/order.c"
STEPS = ("mkdir /d", "create /a", "write /a 0 9000 3", "fsync /a", "rename /a /d/b", "truncate /d/b 2000", "sync")
CREATE, LINK, RENAME, CUT, GROW, FULL, MEANWHILE, FAILS, FEW = (
    "create: a name that was synced has its file",
    "link and unlink: a file keeps a name",
    "rename: a file has one of its names",
    "truncate and unlink: what stays keeps its bytes",
    "grow: no file points to former data",
    "a full disk gives back what was freed",
    "a flush that began before the files changed",
    "a flush that fails, and a write",
    "few flushes",
)
# Possible mistakes of a student: a piece of the solution, its replacement, the test that detects it, the message.
MISTAKES = {
    "names_before_inodes": (
        "\treturn ext2_write_inode(inode);\n",
        "\treturn 0;\n",
        CREATE,
        "is not there, although step",
    ),
    "forgets_links": ("fs->named_before = fs->flushes_begun + 1;", "fs->named_before = 0;", LINK, "is under no name"),
    "moves_at_once": ("return entered == removed ? 0 : ext2_flush(sb);", "return 0;", RENAME, "is under no name"),
    "reuses_blocks": ("return k ? (const void *)k->map : map->data;", "return map->data;", CUT, "the power fails at"),
    "points_at_data": ("return is_promised ? ext2_flush(inode->sb) : 0;", "return 0;", GROW, "/b is not there"),
    "keeps_for_ever": (
        "return list_empty(&fs->kept) ? -ENOSPC : ext2_flush(fs->sb);",
        "return -ENOSPC;",
        FULL,
        "`create /f`, failed: it returned ENOSPC",
    ),
    "drops_what_a_flush_did_not_cover": (
        "if (!sb->freeing && fs->flushed >= fs->freed_before)",
        "if (!sb->freeing)",
        MEANWHILE,
        "/a has the right size, 20000, but bytes that it never had there",
    ),
    "frees_an_inode_before_the_flush": (
        "\tstruct kept *k;\n\n\tfs->freed_before = fs->flushes_begun + 1;\n",
        "\tstruct kept *k;\n\n\tfs->freed_before = fs->flushes_begun;\n",
        MEANWHILE,
        "/d/b has ",
    ),
    "trusts_the_flush_during_the_freeing": (
        "\t\tinode_mark_dirty(inode);\n\tfs->freed_before = fs->flushes_begun + 1;",
        "\t\tinode_mark_dirty(inode);\n\tfs = fs;",
        MEANWHILE,
        "/c has the right size, 12000, but bytes that it never had there",
    ),
    "takes_a_flush_for_a_later_one": (
        "\tif (ext2_write_inode(inode)) /* sleeps: a flush may begin meanwhile */\n"
        "\t\tinode_mark_dirty(inode);\n\tfs->freed_before = fs->flushes_begun + 1;",
        "\tfs->freed_before = fs->flushes_begun + 1;\n\tif (ext2_write_inode(inode))\n\t\tinode_mark_dirty(inode);",
        MEANWHILE,
        "/g has the right size, 20000, but bytes that it never had there",
    ),
    "ignores_a_failed_flush": ("if (err || err2)", "if (err && err2)", FAILS, "`fsync /a`, failed: it returned 0"),
    "ignores_a_failed_write": (
        "int err = buf_sync_all(sb->bdev), err2 = block_flush(sb->bdev);",
        "int err = 0, err2 = (buf_sync_all(sb->bdev), block_flush(sb->bdev));",
        FAILS,
        "`fsync /b`, failed: it returned 0, and should return EIO",
    ),
    "flushes_always": (
        "return entered == removed ? 0 : ext2_flush(sb);",
        "return ext2_flush(sb);",
        FEW,
        "more flushes than ours in step 5, `rename /b /c`: 1 (ours 0); ",
    ),
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return trial("crash", tmp_path_factory.mktemp("crash"))


@pytest.mark.parametrize(
    "name", soak_but(MISTAKES, "points_at_data", "trusts_the_flush_during_the_freeing", "flushes_always")
)
def test_mistake_is_named(name: str, tried: Trial) -> None:
    old, new, title, said = MISTAKES[name]
    tried.lay(changed(solution(ORDER), old, new))
    verdict = tried.judge(tried.test(title))
    assert verdict.fraction < 1 and said in verdict.message


@pytest.mark.soak
@pytest.mark.parametrize("title", [CREATE, LINK, RENAME, CUT, GROW, FULL, MEANWHILE, FAILS, FEW])
def test_starter_loses_files(title: str, tried: Trial) -> None:
    tried.lay(starter("crash", ORDER))
    verdict = tried.judge(tried.test(title))
    assert verdict.outcome is Outcome.WRONG and verdict.fraction == 0


def test_steps_with_flushes_are_those_of_the_solution(tried: Trial) -> None:
    tried.lay(solution(ORDER))
    test = tried.test(FEW)
    history = cut.history_of(test)
    assert tried.machine.make(*grading.KERNEL).status == 0
    log = cut.log_of(cut.ran(test, tried.machine, cut.disk_of(test), history), history)
    assert cut.flushes_by_step(history, log) == test.options["ours"]


def test_disk_after_the_cut_is_kept(tried: Trial, tmp_path: Path) -> None:
    tried.lay(changed(solution(ORDER), "if (!sb->freeing && fs->flushed >= fs->freed_before)", "if (!sb->freeing)"))
    tried.machine.build_results.clear()
    keeping = replace(tried.machine, keep=tmp_path / "crash-8")
    grading.prepare(keeping, [tried.test(MEANWHILE)])
    verdict = overlap.judge(tried.test(MEANWHILE), keeping)
    assert f"`e2fsck -fn {tmp_path}/crash-8/disk`" in verdict.message
    assert (tmp_path / "crash-8/disk").stat().st_size == 256 << 10


def test_flush_covers_what_was_written_before_it_began() -> None:
    one, two = (bytes([n]) * media.SECTOR for n in (1, 2))
    printed = f"0\nwrite 0 {one.hex()}\n0\nwrite 1 {two.hex()}\nwrite 2 {two.hex()}\n-5\nflush 2\n"
    log, answers = overlap.log_of(printed)
    assert answers == ["0", "-5"] and [request.marks for request in log.requests] == [(), (0,), (0, 1)]
    assert log.requests[1].sectors == [(1, two), (2, two)] and log.flushes == 1
    cuts = media.all_cuts(bytes(3 * media.SECTOR), [*log.requests, media.Request((0, 1))], cut.CACHE, 40)
    left = {medium for number, _, medium in cuts if number == 4}
    assert {medium[: media.SECTOR] for medium in left} == {one}
    assert {medium[media.SECTOR : 2 * media.SECTOR] for medium in left} == {two, bytes(media.SECTOR)}


def test_computed_medium_is_that_of_a_power_cut(tried: Trial, tmp_path: Path) -> None:
    """The same run, recorded once, and cut by the kernel itself."""
    tried.lay(solution(ORDER))
    history = promises.History()
    for line in STEPS:
        history.perform(line)
    content = tmp_path / "content"
    content.mkdir()
    shutil.copy(qemu.ROOT / cut.PROGRAM, content / "fsops")
    (content / "script").write_text("\n".join(history.script) + "\n")
    base = images.make(tmp_path / "base", "512K", "-b", "1024", "-N", "64", content=content)
    line = f"mkdir /mnt; mount -t ext2 /dev/sda /mnt; /mnt/fsops /mnt /mnt/script {cut.MARKS << 12:#x}; umount /mnt"
    kind = f"sim:ram,cache={cut.CACHE >> 10}K"
    assert tried.machine.make(qemu.KERNEL, qemu.INITRD).status == 0
    run = tried.machine.boot(line, disk=base, disk_kind=kind, writes=True)
    log = cut.log_of(run, history)
    assert cut.undone(history, log, run) is None
    expected = {(n, seed): medium for n, seed, medium in media.all_cuts(base.read_bytes(), log.requests, cut.CACHE, 2)}
    assert len(set(expected.values())) > len(log.requests) // 2
    for n in range(3, len(log.requests) + 1, 4):
        image = Path(shutil.copy(base, tmp_path / "image"))
        boot(line, disk=image, disk_kind=kind, mem="16M", cmdline=f"cut={n} cut_seed=2").check_exit(qemu.CUT)
        assert image.read_bytes() == expected[n, 2], n


def test_files_are_those_that_debugfs_finds(tmp_path: Path) -> None:
    content = tmp_path / "content"
    (content / "d/e").mkdir(parents=True)
    (content / "d/e/small").write_bytes(b"x" * 700)
    (content / "d/large").write_bytes(os.urandom(400_000))  # with two levels of addresses
    with (content / "hole").open("wb") as file:
        file.seek(300_000)
        file.write(b"end")
    (content / "link").symlink_to("hole")
    for block in ("1024", "4096"):
        image = images.make(tmp_path / f"image{block}", "2M", "-b", block, content=content)
        found = images.Image(image.read_bytes()).files()
        wanted = left_on(image, tmp_path / f"found{block}")
        del wanted["/link"]
        assert found == wanted


def test_images_that_cannot_be_read() -> None:
    for data in (b"", bytes(4096), os.urandom(1 << 16)):
        with pytest.raises(images.BadImage):
            images.Image(data).files()


@pytest.mark.parametrize("steps", ["jump /a", "write /a 0 10 1", "create", "unlink /a"])
def test_step_that_cannot_be_done(steps: str, tried: Trial) -> None:
    with pytest.raises(LabError, match="cannot be done"):
        cut.history_of(Test("x", 1, "cut", {"steps": steps}))


def test_step_that_fails_is_told(tried: Trial) -> None:
    """The disk is too small for the file."""
    tried.lay(solution(ORDER))
    test = tried.test(FULL)
    steps = "create /a\nwrite /a 0 65000 1\nwrite /a 65000 65000 1\nwrite /a 130000 65000 1\nwrite /a 195000 65000 1"
    verdict = tried.judge(replace(test, options={"steps": steps}))
    assert verdict.fraction == 0 and "step 5, `write /a 195000 65000 1`, failed" in verdict.message


def test_what_is_no_disk_cannot_be_repaired(tried: Trial, tmp_path: Path) -> None:
    image = images.make(tmp_path / "image", "256K").read_bytes()
    repaired, nothing = cut.repaired(tried.machine, [image, bytes(len(image))])
    assert nothing is None and repaired and images.Image(repaired).files() == {"/lost+found": None}
