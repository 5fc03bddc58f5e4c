"""What ext2 guarantees after a power failure, on images, in a program on the host: each sector written since the last
flush is on the disk or is not. tests/kernel/test_powercut.py tests the same with the kernel."""

from __future__ import annotations

import random
from pathlib import Path

import ext2
import pytest
from ext2_promises import Promises, left_on
from ext2_scripts import SEED
from soak import soak_but

BLOCKS = ("1024", "4096")


@pytest.mark.parametrize(
    "block,case",
    soak_but([(b, i) for b in BLOCKS for i in range(200)], *[(b, i) for b in BLOCKS for i in (1, 5, 28, 30)]),
)
def test_cut_keeps_what_was_promised(tmp_path: Path, block: str, case: int) -> None:
    there, noise = Promises(SEED + case), random.Random(SEED + case)
    there.run(10)
    there.step(f"cut {noise.randrange(120)} {noise.randrange(1 << 20)}")
    there.run(50, noise=True)
    image = ext2.make(tmp_path / "image", "2M", "-b", block, "-N", "400")
    answers, printed = ext2.run(image, there.script)
    assert printed == ""
    done = len(answers) - 1 - (answers[-1] == "cut")
    assert answers[1 : 1 + done] == there.wanted[:done]
    there.judge(left_on(image, tmp_path / "found"), done)


def names_left(folder: Path, block: str, script: list[str], seed: int) -> set[str]:
    """The names that are left after some metadata was written and the power failed."""
    image = ext2.make(folder / "image", "1M", "-b", block, "-N", "128")
    answers, _ = ext2.run(image, [*script, f"flush 20 {seed}", f"cut 0 {seed}", "sync"])
    assert answers[-1] == "cut" and set(answers[:-1]) <= {"0", "5000"}
    return set(left_on(image, folder / "found"))


@pytest.mark.parametrize(
    "block,case", soak_but([(b, i) for b in BLOCKS for i in range(150)], ("1024", 27), ("4096", 7), ("4096", 50))
)
def test_torn_directory_loses_no_other_name(tmp_path: Path, block: str, case: int) -> None:
    noise = random.Random(case)
    names = [f"/d/{i}{'x' * noise.randrange(90)}" for i in range(40)]
    first = noise.randrange(2, 25)
    gone = names[first : first + 13]
    moved, removed, *kept = [name for name in names if name not in gone]
    new = [f"/d/n{i}{'y' * noise.randrange(60)}" for i in range(noise.randrange(3, 12))]
    script = ["mkdir /d", *(f"create {name}" for name in names), "sync"]
    script += [*(f"unlink {name}" for name in gone), "sync", *(f"create {name}" for name in new), f"unlink {removed}"]
    script += [f"rename {moved} /d/moved"] if case % 2 else []  # rename may flush
    left = names_left(tmp_path, block, script, case)
    assert set(kept) <= left
    assert left & {moved, "/d/moved"}


@pytest.mark.parametrize("case", soak_but(range(60), 0, 14))
def test_further_name_is_safe_before_the_first_one_goes(tmp_path: Path, case: int) -> None:
    made = ["mkdir /d", "create /d/a", "write /d/a 0 5000 1", "sync"]
    left = names_left(tmp_path, "1024", [*made, "link /d/a /b", "drop", "unlink /d/a"], case)
    assert left & {"/d/a", "/b"}


@pytest.mark.parametrize("case", soak_but(range(60), 3, 27))
def test_growing_file_never_points_to_former_data(tmp_path: Path, case: int) -> None:
    """The file's first block of addresses is a block that had another file's data: read as addresses, they are wrong,
    and e2fsck clears a file with many wrong addresses."""
    left = [
        "create /a",
        "write /a 0 3000 1",
        "create /c",
        "write /c 0 40000 1",
        "sync",
        "unlink /a",
        "unlink /c",
        "sync",
    ]
    kept = ["create /b", "write /b 0 6000 2", "fsync /b"]
    grown = ["write /b 6000 30000 3", f"cut {case % 12} {case}", "fsync /b"]
    image = ext2.make(tmp_path / "image", "1M", "-b", "1024", "-N", "128")
    ext2.run(image, [*left, *kept, *grown])
    found = left_on(image, tmp_path / "found").get("/b")
    assert found and found[:6000] == ext2.written(6000, 2)
