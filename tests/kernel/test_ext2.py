"""The kernel's ext2 on images, in a program on the host (tests/host/ext2), checked by e2fsprogs and by a model."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import ext2
import pytest
from ext2 import quoted
from ext2_scripts import BLOCKS, SEED, Crash, Random
from soak import soak_but

FEATURES = [(96, 0x2, "-22"), (100, 0x3, "-30")]  # offset in the superblock, known bits, answer to other bits


@pytest.mark.parametrize("block,case", soak_but([(b, i) for b in BLOCKS for i in range(20)], *[(b, 0) for b in BLOCKS]))
def test_random_operations_do_what_the_model_does(tmp_path: Path, block: str, case: int) -> None:
    groups = ["-g", "1024"] if block == "1024" else []  # many small ones
    image = ext2.make(tmp_path / "image", "24M", "-b", block, "-N", "800", *groups)
    there = Random(SEED + case, far=70 << 20)
    there.run(400)
    looks, states = there.states()
    answers, printed = ext2.run(image, [*there.script, "drop", *looks])
    assert printed == ""
    wanted = ["0", *there.wanted, "0"]
    for line, answer, want in zip(["mount", *there.script], answers, wanted):
        assert answer == want, line
    for line, answer, pattern in zip(looks, answers[len(wanted) :], states, strict=True):
        assert re.fullmatch(pattern, answer), line
    ext2.check(image)
    ext2.compare_dump(image, there.model, tmp_path / "out")


@pytest.mark.parametrize("block", BLOCKS)
def test_what_changes_while_all_is_written_is_written_again(tmp_path: Path, block: str) -> None:
    """A block that was marked, written while a task waited, and changed once more must be marked again."""
    image = ext2.make(tmp_path / "image", "24M", "-b", block, "-N", "800")
    there = Random(SEED, far=70 << 20)
    there.run(100)
    answers, printed = ext2.run(image, ["busy", *there.script, "drop"])
    assert printed == "" and answers[2:-1] == there.wanted
    ext2.check(image)


@pytest.mark.parametrize(
    "block,case", soak_but([(b, i) for b in BLOCKS for i in range(60)], *[(b, i) for b in BLOCKS for i in range(3)])
)
def test_cut_of_power_loses_nothing_that_was_synced(tmp_path: Path, block: str, case: int) -> None:
    image = ext2.make(tmp_path / "image", "4M", "-b", block, "-N", "400")
    crash = Crash(SEED + case)
    crash.run(25, 60)
    answers, _ = ext2.run(image, crash.script)
    assert set(answers[:-1]) - {"0", "100", "5000", "40000", "-38"} == set()
    crash.judge(image, len(answers) - (answers[-1] == "cut"))


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of every depth of indirection (with 1-KiB blocks), holes, links, unusual names."""
    root = tmp_path_factory.mktemp("content")
    (root / "dir" / "deep").mkdir(parents=True)
    noise = random.Random(1)
    for size in (0, 1, 1023, 12 << 10, 13 << 10, 400_000):
        (root / "dir" / f"{size} bytes").write_bytes(noise.randbytes(size))
    with (root / "sparse").open("wb") as file:
        for at in (0, 300_000, 69 << 20):
            file.seek(at)
            file.write(noise.randbytes(3000))
    (root / "short").symlink_to("dir/deep")
    (root / "long").symlink_to("x" * 200)
    for i in range(200):
        (root / "dir" / "deep" / f"{i}{'-' * 60}").write_text(str(i))
    return root


@pytest.mark.parametrize("revision,block", [("0", "1024"), *(("1", block) for block in BLOCKS)])
def test_image_of_mke2fs_reads_back_equal(tmp_path: Path, content: Path, revision: str, block: str) -> None:
    make = ext2.make_old if revision == "0" else ext2.make
    image = make(tmp_path / "image", "8M", "-b", block, content=content)
    files = [path for path in sorted(content.rglob("*"))]
    script, wanted = ["list /", "list /dir/deep"], []
    for path in files:
        name = quoted("/" + str(path.relative_to(content)))
        if path.is_symlink():
            script.append(f"readlink {name}")
            wanted.append(f"{os.readlink(path)} 0")
        elif path.is_file():
            whole = path.read_bytes()
            for at in range(0, len(whole) + 1, 1 << 20):
                if at == 0 or any(whole[at : at + (1 << 20)]):
                    part = whole[at : at + (1 << 20)]
                    script.append(f"read {name} {at} {1 << 20}")
                    wanted.append((part, len(part)))  # type: ignore[arg-type]
    answers, printed = ext2.run(image, script, "ro")
    assert printed == "" and answers[1].endswith(" 5") and answers[2].endswith(" 200")
    before = image.read_bytes()
    assert [w if isinstance(w, str) else sum_of(*w) for w in wanted] == answers[3:]
    assert image.read_bytes() == before


def sum_of(part: bytes, length: int) -> str:
    # A small hole stands for a large one.
    return f"{ext2.checksum(part):08x} {length}"


def test_full_disk_and_full_table_leave_nothing_half_done(tmp_path: Path) -> None:
    image = ext2.make(tmp_path / "image", "1M", "-b", "1024", "-N", "64")
    free = ext2.free_counts(image)
    files = [f"/dir/{i}" for i in range(80)]
    script = ["mkdir /dir", *(f"create {name}" for name in files), "write /dir/1 0 2000000 1", "statfs"]
    script += ["write /dir/2 0 1 1", "symlink " + "x" * 100 + " /slow", "rmdir /dir", "mkdir /dir/2"]
    answers, _ = ext2.run(image, script)
    made = answers[2:82].count("0")
    assert answers[2 : 2 + made] == ["0"] * made and set(answers[2 + made : 82]) == {"-28"}
    assert 900_000 < int(answers[82]) < 1_020_000
    assert answers[83].split()[1] == "0" and answers[84:] == ["-28", "-28", "-39", "-17"]
    ext2.check(image)
    removed = [f"unlink {name}" for name in files[:made]]
    assert ext2.run(image, [*removed, "rmdir /dir"])[0] == ["0"] * (made + 2)
    ext2.check(image)
    assert ext2.free_counts(image) == free


@pytest.mark.parametrize(
    "old,new", [("/a/f", "/b/new"), ("/a/f", "/b/g"), ("/a/f", "/a/e"), ("/a/d", "/b/new"), ("/a/d", "/b/e")]
)
def test_rename_on_a_disk_that_breaks_is_undone(tmp_path: Path, old: str, new: str) -> None:
    """From the Nth access on all fail, also those of the undo. No file has two names, and none has lost its own."""
    fill = [f"create /{where}/{n}{'-' * 200}" for where in "ab" for n in range(12)]
    made = ["mkdir /a", "mkdir /b", *fill, "create /a/f", "write /a/f 0 5000 1", "create /b/g", "write /b/g 0 3000 2"]
    made += ["mkdir /a/d", "create /a/d/x", "mkdir /b/e"]
    looks = [
        f"{what} /{name}" for name in ("a", "b", old[1:], new[1:], "b/new/x", "b/e/x") for what in ("list", "stat")
    ]
    empty, states = ext2.make(tmp_path / "empty", "1M", "-b", "1024"), dict[str, list[str]]()
    for n in range(1, 99):
        image = Path(shutil.copy(empty, tmp_path / "image"))
        script = [*made, "sync", "drop", f"broken {n}", f"rename {old} {new}", "broken 0", *looks]
        answers, _ = ext2.run(image, script)
        answer, seen = answers[-len(looks) - 2], answers[-len(looks) :]
        assert states.setdefault(answer, seen) == seen, n
        if answer == "0":
            break  # the replaced file cannot be freed as long as the disk fails
        ext2.check(image)
    assert n > 5 and set(states) == {"-5", "0"} and states["-5"] != states["0"]


def test_no_more_links_than_ext2_has(tmp_path: Path) -> None:
    image = ext2.make(tmp_path / "image", "1M")
    ext2.run(image, ["create /file", "mkdir /dir", "mkdir /other"])
    for name in ("/file", "/dir"):
        ext2.tool("debugfs", "-w", "-R", f"set_inode_field {name} links_count 31999", image)
    script = ["link /file /1", "link /file /2", "mkdir /dir/1", "mkdir /dir/2", "rename /other /dir/3"]
    assert ext2.run(image, script)[0][1:] == ["0", "-31", "0", "-31", "-31"]


def test_files_of_two_gigabytes_and_more_are_marked(tmp_path: Path) -> None:
    image = ext2.make(tmp_path / "image", "1M", "-b", "1024", "-O", "^large_file")
    answers = ext2.run(image, ["create /file", "write /file 2147483637 10 1"])[0]
    assert answers == ["0", "0", "10"] and "large_file" not in ext2.tool("dumpe2fs", "-h", image)
    answers = ext2.run(
        image, ["write /file 3000000000 10 1", "read /file 3000000000 99", "write /file 4294967295 1 1"]
    )[0]
    assert answers[1:] == ["10", f"{ext2.checksum(ext2.written(10, 1)):08x} 10", "-27"]
    assert "large_file" in ext2.tool("dumpe2fs", "-h", image)
    ext2.check(image)
    old = ext2.make_old(tmp_path / "old", "1M", "-b", "1024")
    answers = ext2.run(old, ["create /file", "write /file 2147483647 1 1", "truncate /file 2147483648"])[0]
    assert answers == ["0", "0", "-27", "-27"]


def test_file_that_is_open_lives_on(tmp_path: Path) -> None:
    image = ext2.make(tmp_path / "image", "1M")
    script = [
        "create /file",
        "write /file 0 50000 1",
        "statfs",
        "open /file",
        "unlink /file",
        "statfs",
        "close",
        "statfs",
    ]
    answers = ext2.run(image, script)[0]
    full, unlinked, closed = (int(answers[i].split()[1]) for i in (3, 6, 8))
    assert full == unlinked and closed > full + 45
    ext2.check(image)


def test_attributes_go_with_the_last_inode_that_has_them(tmp_path: Path) -> None:
    image = ext2.make(tmp_path / "image", "1M", "-I", "128")
    free = ext2.free_counts(image)
    ext2.run(image, ["create /a", "create /b"])
    for name in ("a", "b"):
        ext2.tool("debugfs", "-w", "-R", f"ea_set /{name} user.x {'value' * 20}", image)
    ext2.run(image, ["write /a 0 5000 1"])
    assert "user.x" in ext2.tool("debugfs", "-R", "ea_list /a", image)
    ext2.check(image)
    assert ext2.run(image, ["unlink /a", "unlink /b"])[0] == ["0"] * 3
    ext2.check(image)
    assert ext2.free_counts(image) == free


def test_indexed_directory_is_read_and_loses_its_index(tmp_path: Path, content: Path) -> None:
    image = ext2.make(tmp_path / "image", "8M", "-b", "1024", content=content)
    ext2.tool("e2fsck", "-fyD", image, ok=(0, 1))
    assert "0x1000" in ext2.tool("debugfs", "-R", "stat /dir/deep", image)
    names = [f"/dir/deep/{i}{'-' * 60}" for i in range(200)]
    script = ["list /dir/deep", *(f"stat {name}" for name in names), "create /dir/deep/new"]
    script += [f"unlink {name}" for name in names[::2]]
    answers = ext2.run(image, script)[0]
    assert answers[1].endswith(" 200") and answers[202:] == ["0"] * 101
    assert "0x1000" not in ext2.tool("debugfs", "-R", "stat /dir/deep", image)
    ext2.check(image)


@pytest.mark.parametrize(
    "field,value,options,answer,says",
    [
        ("feature_incompat", "0x2|0x40", [], "-22", "incompatible features 0x40"),
        ("feature_ro_compat", "0x3|0x10", [], "-30", "only be mounted to read: unknown features 0x10"),
        ("feature_ro_compat", "0x3|0x10", ["ro"], "0", ""),
        ("feature_compat", "0x4", [], "0", ""),
        ("rev_level", "2", [], "-22", "revision 2"),
        ("log_block_size", "3", [], "-22", "blocks larger than 4 KiB"),
        ("blocks_count", "99999", [], "-22", "more blocks than the device has"),
        ("state", "0", [], "0", "was not unmounted"),
        ("magic", "0", [], "-22", "no ext2 on it"),
    ],
)
def test_mount_looks_at_features_and_sizes(
    tmp_path: Path, field: str, value: str, options: list[str], answer: str, says: str
) -> None:
    places = {"feature_compat": 92, "feature_incompat": 96, "feature_ro_compat": 100, "rev_level": 76}
    places |= {"log_block_size": 24, "blocks_count": 4, "state": 58, "magic": 56}
    image = ext2.make(tmp_path / "image", "1M")
    raw = bytearray(image.read_bytes())
    width = 2 if field in ("state", "magic") else 4
    number = sum(int(part, 0) for part in value.split("|"))
    raw[1024 + places[field] : 1024 + places[field] + width] = number.to_bytes(width, "little")
    image.write_bytes(raw)
    answers, printed = ext2.run(image, ["create /file"], *options)
    assert answers[0] == answer and (says in printed if says else printed == "")


@pytest.mark.parametrize(
    "revision,at,known,answer", soak_but([(r, *f) for r in (0, 1) for f in FEATURES], (1, *FEATURES[0]))
)
def test_each_unknown_feature_is_refused(tmp_path: Path, revision: int, at: int, known: int, answer: str) -> None:
    """One bit after another: an incompatible one is always refused, one that forbids writing is refused for writing."""
    image = (ext2.make_old if revision == 0 else ext2.make)(tmp_path / "image", "1M")
    sound = image.read_bytes()
    for bit in range(32):
        raw = bytearray(sound)
        raw[1024 + at + bit // 8] |= 1 << bit % 8
        image.write_bytes(raw)
        wanted = ["0", "0"] if known >> bit & 1 else [answer, answer if at == 96 else "0"]
        assert [ext2.run(image, [], *options)[0][0] for options in ([], ["ro"])] == wanted, bit


def test_state_and_times_say_who_uses_it(tmp_path: Path) -> None:
    image = ext2.make(tmp_path / "image", "1M")
    assert ext2.run(image, ["create /file", "fsync /file", "cut 0 1", "create /b", "sync"])[0][-1] == "cut"
    used = ext2.tool("dumpe2fs", "-h", image)
    assert "not clean" in used and re.search(r"Mount count: +1$", used, re.M)
    ext2.tool("e2fsck", "-fy", image, ok=(0, 1))
    ext2.run(image, [])
    unused = ext2.tool("dumpe2fs", "-h", image)
    assert re.search(r"Filesystem state: +clean$", unused, re.M) and "Nov 18" in unused.split("Last mount time:")[1]


def test_blocks_written_in_order_lie_in_order(tmp_path: Path) -> None:
    image = ext2.make(tmp_path / "image", "8M", "-b", "1024")
    appended = [f"write /{name} {at} 4096 1" for at in range(0, 400_000, 4096) for name in "ab"]
    ext2.run(image, ["create /a", "create /b", *appended, "create /c", "write /c 0 3000000 1"])
    runs = {
        name: len(re.findall(r"\(\d+[-)]", ext2.tool("debugfs", "-R", f"stat /{name}", image).split("BLOCKS:")[1]))
        for name in "abc"
    }
    assert max(runs["a"], runs["b"]) <= 16 and runs["c"] <= 20, runs


def fuzzed(image: Path, seed: int, count: int) -> None:
    print(f"SEED={seed}")
    done = subprocess.run([ext2.PROGRAM, "--fuzz", image, str(seed), str(count)], capture_output=True, timeout=280)
    assert done.returncode == 0, done.stderr[-3000:].decode()
    mounted = int(re.search(rb"(\d+) of them", done.stdout)[1])  # type: ignore[index]
    assert mounted > count * 0.8


@pytest.mark.parametrize(
    "block,count", soak_but([(b, n) for b in BLOCKS for n in (100, 3400)], *[(b, 100) for b in BLOCKS])
)
def test_damaged_images_do_no_harm(tmp_path: Path, block: str, count: int) -> None:
    folder = tmp_path / "content"
    (folder / "dir" / "deep").mkdir(parents=True)
    for i in range(9):
        (folder / "dir" / f"f{i}").write_bytes(random.Random(i).randbytes(i * 1500))
    (folder / "fast").symlink_to("target")
    (folder / "slow").symlink_to("x" * 100)
    with (folder / "sparse").open("wb") as file:
        for at in (0, 300_000, 69 << 20):
            file.seek(at)
            file.write(b"x" * 1000)
    image = ext2.make(tmp_path / "image", "600K" if block == "1024" else "1M", "-b", block, "-N", "64", content=folder)
    fuzzed(image, SEED, count)
