"""Assignments in a clone, which contains the solutions until `make lab` copies a starter over them."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confined import NEEDS_BWRAP
from grading import solution, submission
from making import environment, make
from tidemark.errors import LabError
from tidemark.grade import reference
from tidemark.grade.build import solution_files, solutions, tree
from tidemark.grade.intake import lab
from tidemark.machine import qemu

pytestmark = pytest.mark.graded

FIFO, CLOCK = "kernel/mm/policy/fifo.c", "kernel/mm/policy/clock.c"
TEXTS, AWAY = ("README.md", ".gitignore"), "build/git"
KERNEL = (qemu.KERNEL, qemu.KERNEL + ".nm")
TWO = ("clock: second chances, by hand", "clock: processes that come and go")
README = (qemu.ROOT / "README.md").read_text().partition("\n## Assignments\n")[2].partition("\n## ")[0]
COMMANDS = [line.split("#")[0].strip() for line in re.findall(r"^    (make .*|git .*)$", README, re.MULTILINE)]


def git(folder: Path, *words: str) -> None:
    """Runs git as the author Ada."""
    who = ["-c", "user.name=ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def lay_venv(folder: Path) -> None:
    """Installs this tree's Python tools as if they had been set up in another tree."""
    (folder / tree.VENV).mkdir()
    for path in (qemu.ROOT / tree.VENV).iterdir():
        (folder / tree.VENV / path.name).symlink_to(path)
    stamp = folder / tree.VENV / "test.stamp"
    text = stamp.read_text().replace(f"# in {qemu.ROOT}\n", f"# in {folder}\n")
    stamp.unlink()
    stamp.write_text(text)


@pytest.fixture(scope="module")
def cloned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository with this tree's files and its build."""
    folder = tmp_path_factory.mktemp("cloned") / "clone"
    tree.copy_files(qemu.ROOT, folder, [*tree.files_of(qemu.ROOT), *map(Path, TEXTS)])
    tree.copy_files(qemu.ROOT, folder, [*tree.built_files_of(qemu.ROOT), *map(Path, KERNEL)])
    lay_venv(folder)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "as it is")
    git(folder, "tag", "cloned")
    return folder


@pytest.fixture
def clone(cloned: Path) -> Iterator[Path]:
    """A fresh copy of it for each test, without commits and changes of the previous one."""
    yield cloned
    if (cloned / AWAY).is_dir():
        (cloned / AWAY).rename(cloned / ".git")
    git(cloned, "reset", "-q", "--hard", "cloned")
    shutil.rmtree(cloned / "build/reference", ignore_errors=True)


def few(clone: Path, name: str, *titles: str) -> None:
    """Keeps only these tests of a lab."""
    path = clone / f"labs/{name}/lab.toml"
    head, *tests = path.read_text().split("[[test]]")
    path.write_text("[[test]]".join([head, *(text for text in tests if any(title in text for title in titles))]))


def grade(clone: Path, *words: object) -> subprocess.CompletedProcess:
    """Runs `tidemark grade WORDS` in a clone."""
    return in_clone(clone, "grade", *words)


def in_clone(clone: Path, *words: object) -> subprocess.CompletedProcess:
    """Runs the command in a clone; it finds its own tree by the location of its modules."""
    command = [clone / tree.VENV / "bin/python", "-m", "tidemark.cli", *map(str, words)]
    return subprocess.run(
        command, cwd=clone, env=environment(PYTHONPATH=str(clone / "tools")), capture_output=True, text=True
    )


def lay_starter(clone: Path, name: str) -> None:
    done = make("lab", f"LAB={name}", folder=clone)
    assert done.returncode == 0, done.stderr


# --- the commands in README ---


def test_readme_has_the_commands_of_an_assignment() -> None:
    assert COMMANDS == ["make lab LAB=clock", "make grade LAB=clock", "git stash", "make release"]


def test_readme_s_commands_grade_the_starter(clone: Path) -> None:
    """Up to the release: the starter gets nothing, the output is as in README, and the solutions return."""
    begin, grades, back, release = COMMANDS
    assert make(*begin.split()[1:], folder=clone).returncode == 0
    done = make(*grades.split()[1:], folder=clone, timeout=900)
    assert done.stdout.endswith("\nScore: 0/20\n"), done.stdout + done.stderr
    for page in (README, (qemu.ROOT / "docs/guide/06-grading.md").read_text()):
        shown = re.findall(r"^ *(?:fifo|clock): .* \.\.\. wrong.*\n(?: {8,}\S.*\n)+", page, re.MULTILINE)
        assert shown
        for text in shown:
            assert "".join(line.strip() + "\n" for line in text.splitlines()) in re.sub(r"(?m)^ +", "", done.stdout)
    refused = make(*release.split()[1:], folder=clone)
    assert refused.returncode != 0 and f"{CLOCK}: the starter" in refused.stderr and refused.stdout == ""
    subprocess.run(back.split(), cwd=clone, check=True, capture_output=True)
    assert (clone / CLOCK).read_text() == solution(CLOCK)
    assert in_clone(clone, "release", "--check").returncode == 0


@pytest.mark.soak
def test_readme_s_commands_make_a_release(clone: Path) -> None:
    for command in COMMANDS:
        done = subprocess.run(["sh", "-c", command], cwd=clone, env=environment(), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert (clone / "build/tidemark-student.tar.gz").is_file()


# --- correctness does not depend on the place of the solution ---


@NEEDS_BWRAP  # every user may read a clone in the folder for temporary files
def test_solution_is_right_while_a_starter_is_committed(clone: Path, tmp_path: Path) -> None:
    """HEAD itself has the starter, which gets nothing; the solution gets full marks, alone and in a class."""
    few(clone, "clock", *TWO)
    lay_starter(clone, "clock")
    git(clone, "commit", "-qam", "my work")
    assert "Score: 0/3" in grade(clone, "clock").stdout
    right = submission(tmp_path / "handed-in/ada", "clock")
    done = grade(clone, "clock", "--submission", right)
    assert "Score: 3/3" in done.stdout, done.stdout + done.stderr
    done = in_clone(clone, "lab", "clock", "--out", tmp_path / "handed-in/bob")
    assert done.returncode == 0, done.stderr
    done = in_clone(clone, "grade-class", tmp_path / "handed-in", "--lab", "clock", "-o", tmp_path / "grades", "-q")
    rows = (tmp_path / "grades/class.csv").read_text().splitlines()
    assert [row.split(",")[:3] for row in rows[1:]] == [["ada", "3", "3"], ["bob", "0", "3"]], done.stderr


def test_quiz_is_drawn_by_the_solution(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("Ada\n")
    (tmp_path / "quiz.key").write_text("0123456789abcdef")
    words = ("quiz", "export", "--lab", "clock", "--roster", tmp_path / "names.txt", "--secret", tmp_path / "quiz.key")
    sheets = []
    for name in ("before", "after"):
        done = in_clone(clone, *words, "--out", tmp_path / name)
        assert done.returncode == 0, done.stderr
        sheets.append((tmp_path / name / "ada.toml").read_text())
        lay_starter(clone, "clock")
    assert sheets[0] == sheets[1]


def test_instructors_tree_without_git_says_that_it_has_no_solution(clone: Path) -> None:
    """Without the solution there is no starter either: it would be cut from the solution."""
    lay_starter(clone, "clock")
    (clone / ".git").rename(clone / AWAY)
    done = grade(clone, "clock")
    assert done.returncode != 0 and done.stdout == ""
    assert re.search(rf"no solution of lab clock to compare with: {FIFO} .* in the archive for students", done.stderr)
    with pytest.raises(LabError, match="no solution of lab clock"), reference.of(clone):
        pass
    done = in_clone(clone, "lab", "clock")
    assert done.returncode != 0 and f"no starter for {FIFO}, {CLOCK}" in done.stderr


def test_instructorswith_its_solutions_is_taken_as_it_is(clone: Path) -> None:
    (clone / ".git").rename(clone / AWAY)
    (clone / "kernel/mm/policy/sieve.c").write_text("/* no lab's */\n")
    with reference.of(clone) as found:
        assert found == clone and not (clone / "build/reference").exists()


def test_release_refuses_at_once_and_says_what_to_do(clone: Path) -> None:
    lay_starter(clone, "twoq")
    file = lab.load(clone, "twoq").files[0]
    (clone / CLOCK).write_text("another design\n")
    done = in_clone(clone, "release")
    assert done.returncode != 0 and done.stdout == "" and not (clone / "build/tidemark-student.tar.gz").exists()
    assert f"{file}: the starter" in done.stderr and f"{CLOCK}: another file" in done.stderr
    for command in re.findall(r"^ *(git cat-file .*)$", done.stderr, re.MULTILINE):
        subprocess.run(command, shell=True, cwd=clone, check=True)
    solution_files.check_in_place(clone)
    lay_starter(clone, "twoq")
    (clone / ".git").rename(clone / AWAY)
    assert f"{file}: git does not hold it" in in_clone(clone, "release", "--check").stderr


def test_copy_is_watched_with_the_instructorsthat_it_is_made_of(tmp_path: Path) -> None:
    """The copy and the tree both contain what a student's code must not read."""
    instructors, copy = tmp_path / "tree", tmp_path / "tree/build/reference/tree"
    (instructors / "kernel").mkdir(parents=True)
    (copy / "kernel").mkdir(parents=True)
    assert set(solutions.places(copy)) == {instructors / "kernel", instructors / "build/reference", copy / "kernel"}
    assert set(solutions.places(instructors)) == {instructors / "kernel", instructors / "build/reference"}


# --- two graders in one tree ---


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree of one source file; each build of a copy is counted in made.txt."""
    folder = tmp_path / "small"
    (folder / "kernel").mkdir(parents=True)
    (folder / "kernel/core.c").write_text("one\n")

    def make(release: Path, laid: dict[str, bytes], copy: Path) -> None:
        copy.mkdir()
        (copy / "core.c").write_bytes((release / "kernel/core.c").read_bytes())
        with (tmp_path / "made.txt").open("a") as made:
            made.write("made\n")

    monkeypatch.setattr(reference, "make", make)
    return folder


def test_copy_is_made_once_and_again_when_the_instructorshas_changed(small: Path) -> None:
    place, laid = small / "build/reference", {"kernel/solution.c": b"right\n"}
    for text, times in (("one\n", 1), ("one\n", 1), ("two\n", 2)):
        (small / "kernel/core.c").write_text(text)
        (small / "kernel/solution.c").write_text(f"a student's, {times}\n")
        with reference.held(small, laid, place) as copy, reference.held(small, laid, place) as other:
            assert copy == other and (copy / "core.c").read_text() == text
        assert (small.parent / "made.txt").read_text() == "made\n" * times
    assert place.stat().st_mode & 0o777 == 0o700


def test_copy_that_is_in_use_stays(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A grading that needs another copy waits until the first has ended."""
    place, ended, seen, said = small / "build/reference", threading.Event(), [], io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)  # capsys loses what is written while it empties its buffer

    def second() -> None:
        with reference.held(small, {}, place) as copy:
            seen.append((ended.is_set(), (copy / "core.c").read_text()))

    with reference.held(small, {}, place) as copy:
        (small / "kernel/core.c").write_text("two\n")
        other = threading.Thread(target=second)
        other.start()
        while "in use by another grading" not in said.getvalue():
            assert other.is_alive()
            time.sleep(0.05)
        assert (copy / "core.c").read_text() == "one\n"
        ended.set()
    other.join(60)
    assert seen == [(True, "two\n")]


def test_copy_whose_making_failed_is_made_again(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = small / "build/reference"

    def fails(*what: object) -> None:
        (place / "tree").mkdir()
        raise LabError("it does not compile")

    with monkeypatch.context() as patch, pytest.raises(LabError, match="compile"):
        patch.setattr(reference, "make", fails)
        with reference.held(small, {}, place):
            pass
    with reference.held(small, {}, place) as copy:
        assert (copy / "core.c").read_text() == "one\n"
