"""The lab `redo`: each mistake in a log is named by a power cut after which the disk is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest
from grading import solution, starter
from soak import soak_but
from tidemark.errors import LabError
from tidemark.grade import grading
from tidemark.grade.judge import media
from tidemark.grade.judge.kinds import cut, redo
from tidemark.grade.model import Outcome
from trials import Trial, changed, trial

pytestmark = pytest.mark.graded

REDO = "kernel/fs/ext2/redo.c"
CREATE, RENAME, CUT, MANY, RANDOM, AGAIN, TORN, STALE, FEW = (
    "create: file, name and counts come together",
    "rename and link: a file has one name, and the right number of them",
    "truncate and unlink: what is freed is free, and nothing else",
    "more changes than the log has room for",
    "random steps",
    "the power fails during the replay, too",
    "a transaction of which one sector is missing",
    "a log of an earlier mount",
    "few flushes",
)
FOUND = "after the next mount e2fsck finds: "
NO_MOUNT = "the disk cannot be mounted any more"  # a descriptor of a group is torn
COMMIT = "\tif (!err)\n\t\terr = block_flush(fs->sb->bdev);\n\treturn err ? err : ext2_write_home(fs);\n"
# Possible mistakes of a student: a piece of the solution, its replacement, the test that detects it, the message.
MISTAKES = {
    "no_checksum": ("if (err || checksum(fs, 1 + h->nr) != sum)", "if (err)", TORN, NO_MOUNT),
    "checksum_of_the_header_only": (
        "for (u32 i = 0; i < nr; i++) {\n\t\tconst u8",
        "for (u32 i = 0; i < 1; i++) {\n\t\tconst u8",
        TORN,
        NO_MOUNT,
    ),
    "home_before_the_flush": (COMMIT, "\treturn err ? err : ext2_write_home(fs);\n", CREATE, FOUND),
    "home_before_the_log": (
        "\terr = ext2_log_write(fs, 0, 1 + nr);\n" + COMMIT,
        "\terr = ext2_write_home(fs);\n\tif (!err)\n\t\terr = ext2_log_write(fs, 0, 1 + nr);\n"
        "\treturn err ? err : block_flush(fs->sb->bdev);\n",
        CREATE,
        FOUND,
    ),
    "log_over_what_is_not_at_home": (
        "int err = block_flush(fs->sb->bdev);\n\n\tif (err || !nr)",
        "int err = nr ? 0 : block_flush(fs->sb->bdev);\n\n\tif (err || !nr)",
        CREATE,
        "/d is not there, although step 4",
    ),
    "no_replay": ("err = nr > 0 ? write_copies(fs, nr) : nr;", "err = MIN(nr, 0);", CREATE, FOUND),
    "one_copy_is_forgotten": (
        "for (u32 i = 0; i < nr; i++) {\n\t\terr = buf_read",
        "for (u32 i = 0; i + 1 < nr; i++) {\n\t\terr = buf_read",
        CREATE,
        FOUND,
    ),
    "old_log": (" || h->mtime != fs->es.mtime || h->mnt_count != fs->es.mnt_count)", ")", STALE, "a later mount"),
    "header_destroyed_by_the_replay": (
        "\treturn ext2_write_home(fs);\n}\n\nint ext2_redo_replay",
        "\tmemset(ext2_log_block(fs, 0), 0, fs->sb->block_size);\n\terr = ext2_log_write(fs, 0, 1);\n"
        "\treturn err ? err : ext2_write_home(fs);\n}\n\nint ext2_redo_replay",
        AGAIN,
        FOUND,
    ),
    "more_than_the_log_holds": ("return MIN(fs->log->nr - 1, room);", "return room;", MANY, "panicked"),
    "always_clean": (
        "h->mnt_count != fs->es.mnt_count)\n\t\treturn 0;",
        "h->mnt_count != fs->es.mnt_count)\n\t\treturn 1;",
        STALE,
        "the disk is called clean",
    ),
    "full_log_is_not_replayed": (
        "if (h->nr > ext2_redo_capacity(fs))",
        "if (h->nr >= ext2_redo_capacity(fs))",
        MANY,
        FOUND,
    ),
    "flushes_always": (
        "return err ? err : ext2_write_home(fs);\n}\n/* lab: end */\n\n/* lab: replay */",
        "err = err ? err : ext2_write_home(fs);\n\treturn err ? err : block_flush(fs->sb->bdev);\n}\n"
        "/* lab: end */\n\n/* lab: replay */",
        FEW,
        "more flushes than ours in ",
    ),
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return trial("redo", tmp_path_factory.mktemp("redo"))


@pytest.mark.parametrize("name", soak_but(MISTAKES, "no_checksum", "always_clean"))
def test_mistake_is_named(name: str, tried: Trial) -> None:
    old, new, title, said = MISTAKES[name]
    tried.lay(changed(solution(REDO), old, new))
    verdict = tried.judge(tried.test(title))
    assert verdict.fraction < 1 and said in verdict.message


@pytest.mark.soak
@pytest.mark.parametrize("title", [CREATE, RENAME, CUT, MANY, RANDOM, AGAIN, FEW])
def test_starter_leaves_something_to_repair(title: str, tried: Trial) -> None:
    tried.lay(starter("redo", REDO))
    verdict = tried.judge(tried.test(title))
    assert verdict.outcome is Outcome.WRONG and verdict.fraction == 0


@pytest.mark.parametrize("title", soak_but([TORN, STALE], STALE))
def test_log_that_is_never_written_gets_no_points(title: str, tried: Trial) -> None:
    """Nothing can be torn or stale then."""
    tried.lay(starter("redo", REDO))
    verdict = tried.judge(tried.test(title))
    assert verdict.fraction == 0 and "the log was never written" in verdict.message


def test_mount_that_panics_is_told(tried: Trial) -> None:
    """In the kernel's own run there is nothing to replay."""
    old = "err = nr > 0 ? write_copies(fs, nr) : nr;"
    tried.lay(changed(solution(REDO), old, 'if (nr > 0)\n\t\tpanic("there are %d\\n", nr);'))
    verdict = tried.judge(tried.test(CREATE))
    assert (
        verdict.fraction == 0 and "the mount does not end well:" in verdict.message and "there are" in verdict.message
    )


def test_steps_with_flushes_are_those_of_the_solution(tried: Trial) -> None:
    tried.lay(solution(REDO))
    test = tried.test(FEW)
    history = cut.history_of(test)
    assert tried.machine.make(*grading.KERNEL).status == 0
    log = redo.recorded(test, tried.machine, history, redo.disk_of(test))
    assert isinstance(log, media.Log) and cut.flushes_by_step(history, log) == test.options["ours"]


def test_case_that_does_not_exist(tried: Trial) -> None:
    test = tried.test(STALE)
    with pytest.raises(LabError, match="there is no case 'old'"):
        redo.judge(replace(test, options={**test.options, "case": "old"}), tried.machine)


def test_all_sectors_but_one_are_written() -> None:
    image = bytes(4 * media.SECTOR)
    new = [bytes([n]) * media.SECTOR for n in (1, 2, 3)]
    requests = [media.Request((), [(0, new[0])]), media.Request(()), media.Request((), [(1, new[1]), (2, new[2])])]
    zero = image[: media.SECTOR]
    assert list(media.all_but_one(image, requests)) == [
        (1, 0, image),
        (3, 1, new[0] + zero + new[2] + zero),
        (3, 2, new[0] + new[1] + zero + zero),
    ]
