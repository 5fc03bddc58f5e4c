"""The student archive, the starters, and valid contents of lab.toml."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path
from unittest import mock

import pytest
from tidemark.errors import LabError
from tidemark.grade.build import cut, machines, starters, tree
from tidemark.grade.hand_out import figures, release, starter
from tidemark.grade.intake import lab
from tidemark.grade.judge import expected, kinds
from tidemark.grade.model import Lab
from tidemark.machine import qemu

LABS = [lab.load(qemu.ROOT, name) for name in lab.names(qemu.ROOT)]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("release") / "student.tar.gz"
    # test_matrix.py measures, and test_gdb_labs.py makes machines
    with mock.patch.object(figures, "measured", return_value={}), mock.patch.object(machines, "files", return_value=()):
        release.write(qemu.ROOT, path, say=lambda text: None)
    return path


@pytest.fixture(scope="module")
def unpacked(archive: Path) -> Path:
    with tarfile.open(archive) as members:
        members.extractall(archive.parent)
    return archive.parent / release.TOP


def test_archive_has_the_starters_and_no_solution(unpacked: Path) -> None:
    solutions = {(qemu.ROOT / file).read_bytes() for each in LABS for file in each.files}
    for each in LABS:
        for file in each.files:
            start = starters.of(each.folder, file)
            assert (unpacked / file).read_bytes() == start
            assert (unpacked / "labs" / each.name / starters.FOLDER / file).read_bytes() == start
    assert not any(path.read_bytes() in solutions for path in unpacked.rglob("*") if path.is_file())
    assert (unpacked / "labs/clock/handout.md").exists() and list((unpacked / "docs").rglob("students.md"))


def test_archive_has_nothing_for_instructors_and_no_tests_of_the_grader(unpacked: Path) -> None:
    files = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.is_file()}
    withheld = ("/instructors.md", "/assistants.md", "/threats.md", "/add-a-lab.md")
    assert not {file for file in files if file.endswith(withheld)}
    assert not {file for file in files if file.startswith(("labs/autograder/", "tools/figures/", ".ci/"))}
    tests = {file for file in files if file.startswith("tests/")}
    assert tests and all(file.startswith(("tests/host/", "tests/kernel/vmsim/")) for file in tests)


def test_archive_lacks_the_reference_image_which_has_the_solutions(unpacked: Path, tmp_path: Path) -> None:
    assert list((qemu.ROOT / "reference").glob("*.xz"))
    assert not [path for path in unpacked.rglob("*") if path.suffix == ".xz"] and not (unpacked / "reference").exists()
    shutil.copy(qemu.ROOT / "reference/tidemark.elf.xz", tmp_path / "innocent")
    with pytest.raises(LabError, match="innocent is of the reference image"):
        release.check_no_solution(qemu.ROOT, tmp_path, LABS)


def test_archive_lacks_what_labs_withhold(unpacked: Path) -> None:
    withheld = [file for each in LABS for file in each.withholds]
    assert "kernel/mm/policy/sieve.c" in withheld
    assert not [file for file in withheld if (unpacked / file).exists() or not (qemu.ROOT / file).is_file()]


def test_archive_has_what_visible_tests_expect_of_the_solutions(unpacked: Path) -> None:
    for each in LABS:
        for test in each.tests:
            is_needed = test.kind in ("victims", "faults") and "string" in test.options
            assert expected.file_of(unpacked / "labs" / each.name, test).is_file() == is_needed


@pytest.mark.soak
def test_archive_of_one_tree_is_the_same_bytes(archive: Path, tmp_path: Path) -> None:
    with mock.patch.object(figures, "measured", return_value={}), mock.patch.object(machines, "files", return_value=()):
        release.write(qemu.ROOT, tmp_path / "again.tar.gz", say=lambda text: None)
    assert (tmp_path / "again.tar.gz").read_bytes() == archive.read_bytes()


def test_release_knows_its_files_as_they_were(unpacked: Path) -> None:
    known = tree.released(unpacked)
    assert set(known) == {str(file) for file in tree.files_of(unpacked)} - {tree.MANIFEST}
    assert tree.manifest(unpacked) == (unpacked / tree.MANIFEST).read_text()


def test_release_of_a_release_is_refused(unpacked: Path, tmp_path: Path) -> None:
    with pytest.raises(LabError, match="student's release itself"):
        release.write(unpacked, tmp_path / "out.tar.gz", say=print)


def test_solution_under_another_name_is_found(tmp_path: Path) -> None:
    (tmp_path / "kernel").mkdir()
    (tmp_path / "kernel/innocent.c").write_bytes((qemu.ROOT / LABS[0].files[0]).read_bytes())
    with pytest.raises(LabError, match=r"kernel/innocent.c holds the solution"):
        release.check_no_solution(qemu.ROOT, tmp_path, LABS)


def test_archive_has_no_marks_and_nothing_that_students_write(unpacked: Path) -> None:
    solutions = [(qemu.ROOT / file).read_text() for each in LABS for file in each.files]
    parts = [part for text in solutions for part in cut.marked(text)]
    texts = {path: path.read_text(errors="replace") for path in unpacked.rglob("*") if path.is_file()}
    assert parts and not [path for path, text in texts.items() if cut.is_marked(text)]
    assert not [path for path, text in texts.items() if any(part in text for part in parts)]
    assert not list(unpacked.rglob(f"*{starters.PIECES}"))


@pytest.mark.parametrize("what", ["part", "mark"])
def test_part_of_a_solution_and_a_mark_are_found(tmp_path: Path, what: str) -> None:
    file = "kernel/mm/policy/fifo.c"
    text = cut.marked((qemu.ROOT / file).read_text())[0] if what == "part" else "/* lab: select */\n"
    (tmp_path / "notes.md").write_text(f"Look:\n{text}")
    with pytest.raises(LabError, match=rf"notes.md holds the solution {file}" if what == "part" else "has marks"):
        release.check_no_solution(qemu.ROOT, tmp_path, LABS)


# --- beginning an assignment ---


def git(folder: Path, *words: str) -> None:
    """Runs git with an author's name."""
    who = ["-c", "user.name=ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def begun(tmp_path: Path) -> tuple[Path, Lab]:
    """A tree under git with one file, and a lab that has a starter for it."""
    folder = tmp_path / "labs/one"
    (folder / starters.FOLDER).mkdir(parents=True)
    (folder / starters.FOLDER / "mine.c").write_text("starter\n")
    (tmp_path / "mine.c").write_text("work\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "work")
    return tmp_path, Lab("one", 1, "One", folder, ("mine.c",), (), (), (), ())


def test_committed_work_is_replaced_and_can_be_had_again(begun: tuple[Path, Lab]) -> None:
    folder, assignment = begun
    assert starter.lay(folder, assignment) == ["mine.c"]
    assert (folder / "mine.c").read_text() == "starter\n"
    assert starter.lay(folder, assignment) == []
    git(folder, "checkout", "--", "mine.c")
    assert (folder / "mine.c").read_text() == "work\n"


@pytest.mark.parametrize("state", ["changed", "staged", "untracked", "ignored", "no git"])
def test_work_that_is_not_committed_stays(begun: tuple[Path, Lab], state: str) -> None:
    folder, assignment = begun
    (folder / "mine.c").write_text("more work\n")
    if state == "staged":
        git(folder, "add", "-A")
    if state in ("untracked", "ignored"):
        git(folder, "rm", "-q", "--cached", "mine.c")
        git(folder, "commit", "-qm", "gone")
    if state == "ignored":
        (folder / ".gitignore").write_text("mine.c\n")
    if state == "no git":
        (folder / ".git").rename(folder / "elsewhere")
    with pytest.raises(LabError, match=r"mine.c: your work there is not committed"):
        starter.lay(folder, assignment)
    assert (folder / "mine.c").read_text() == "more work\n"


# --- lab.toml ---

GOOD = 'number = 1\ntitle = "One"\nfiles = ["mine.c"]\nmay_use = []\n'
TEST = '[[test]]\ntitle = "a"\npoints = 1\nkind = "runs"\n'
BAD = {
    "no TOML": ("number = \n", "is not valid TOML"),
    "missing": (GOOD.replace('title = "One"\n', "") + TEST, "'title' is missing"),
    "unknown": (GOOD + "color = 1\n" + TEST, "unknown key 'color'"),
    "wrong type": (GOOD.replace("1", '"1"') + TEST, "'number' must be a int"),
    "outside": (GOOD.replace("mine.c", "../mine.c") + TEST, "lies outside the tree"),
    "moved to nowhere": (GOOD + 'was = { "old.c" = "other.c" }\n' + TEST, "an old path, and one of `files`"),
    "moved from outside": (GOOD + 'was = { "../old.c" = "mine.c" }\n' + TEST, "lies outside the tree"),
    "kind": (GOOD + TEST.replace("runs", "judged"), "no kind 'judged'; there are admission"),
    "points": (GOOD + TEST.replace("points = 1", "points = 0"), "is not a number above 0"),
    "twice": (GOOD + TEST + TEST, "two tests are called 'a'"),
    "no title": (GOOD + '[[test]]\npoints = 1\nkind = "runs"\n', r"every \[\[test\]\] needs title"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_assignment_is_named(case: str, tmp_path: Path) -> None:
    text, said = BAD[case]
    (tmp_path / "labs/one").mkdir(parents=True)
    (tmp_path / "labs/one/lab.toml").write_text(text)
    with pytest.raises(LabError, match=said):
        lab.load(tmp_path, "one")


@pytest.mark.parametrize("former", kinds.FORMER)
def test_earlier_names_of_kinds_still_work(former: str, tmp_path: Path) -> None:
    (tmp_path / "labs/one").mkdir(parents=True)
    (tmp_path / "labs/one/lab.toml").write_text(GOOD + TEST.replace("runs", former))
    (test,) = lab.load(tmp_path, "one").tests
    assert test.kind == kinds.FORMER[former] and test.kind in lab.known_kinds()


def test_secret_without_the_lab_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"clock.toml does not exist"):
        lab.load(qemu.ROOT, "clock", tmp_path)
    (tmp_path / "clock.toml").write_text("number = 4\n")
    with pytest.raises(LabError, match="nothing else"):
        lab.load(qemu.ROOT, "clock", tmp_path)
