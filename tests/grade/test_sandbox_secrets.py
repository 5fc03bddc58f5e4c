"""Hidden tests and solutions that a sandbox would not hide are refused; and the folders for temporary files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_sandbox import ROOT_ONLY, sandbox_of
from tidemark import files
from tidemark.errors import LabError
from tidemark.grade.build import sandbox, solutions
from tidemark.grade.build.sandbox import Sandbox


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder for temporary files. pytest may close the parent of its own folders to other users at any time."""
    with tempfile.TemporaryDirectory(prefix="tidemark-test-") as name:
        yield Path(name)


def test_hidden_tests_that_could_be_read_are_refused(base: Path) -> None:
    base.chmod(0o755)
    with pytest.raises(LabError, match=f"chmod 700 {base}"):
        sandbox.check_secret(Sandbox("user"), base)
    base.chmod(0o700)
    sandbox.check_secret(Sandbox("user"), base)
    sandbox.check_secret(Sandbox("bwrap"), base)
    with pytest.raises(LabError, match="keep the hidden tests elsewhere"):
        sandbox.check_secret(Sandbox("bwrap"), Path("/etc"))


@pytest.fixture
def instructors(base: Path) -> Path:
    """An instructor's tree that all users may enter."""
    (base / "tree/kernel").mkdir(parents=True)
    (base / "tree/kernel/clock.c").write_text("solution")
    for path in (base, base / "tree", base / "tree/kernel"):
        path.chmod(0o755)
    return base / "tree"


@ROOT_ONLY
def test_solutions_that_could_be_read_are_refused(instructors: Path) -> None:
    """The solutions could indeed be read: the command does the same as an #include."""
    box = sandbox_of("user")
    read = ["cat", str(instructors / "kernel/clock.c")]
    (instructors.parent / "work").mkdir()
    work = instructors.parent / "work"
    assert box.run(read, work, b"", (), 10)[1] == b"solution"
    with pytest.raises(LabError, match=f"chmod -R o= {instructors}/kernel"):
        solutions.check(box, instructors, "auto")
    (instructors / "kernel").chmod(0o750)
    solutions.check(box, instructors, "auto")
    assert box.run(read, work, b"", (), 10)[:2] != (0, b"solution")


def test_only_where_they_could_be_read(instructors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solutions.check(Sandbox("bwrap"), instructors, "auto")
    solutions.check(Sandbox("none"), instructors, "none")
    with pytest.raises(LabError, match="--sandbox none grades it"):
        solutions.check(Sandbox("none", why="no bwrap"), instructors, "auto")
    with monkeypatch.context() as patch:
        patch.setattr(solutions, "SYSTEM", (str(instructors.parent),))
        with pytest.raises(LabError, match="chmod -R o="):
            solutions.check(Sandbox("bwrap"), instructors, "auto")
    (instructors / "labs").mkdir()
    (instructors / "labs/RELEASE").write_text("")
    solutions.check(Sandbox("none"), instructors, "auto")


def test_scratch_of_who_was_killed_is_removed(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MEMORY", base)
    monkeypatch.setattr(files, "has_room", lambda place: True)
    monkeypatch.delenv("TMPDIR", raising=False)
    for name in ("x-left", "x-young", "other"):
        (base / name / "tree").mkdir(parents=True)
    with files.scratch("x-") as used:
        assert Path(used).parent == base
        for name in (used, base / "x-left", base / "other"):
            os.utime(name, (0, 0))
        with files.scratch("x-") as new:
            assert set(base.iterdir()) == {Path(used), Path(new), base / "x-young", base / "other"}
    assert set(base.iterdir()) == {base / "x-young", base / "other"}


def test_memory_without_room_is_not_used(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LEAST", 0)
    monkeypatch.setattr(files, "EACH", 1 << 20)
    assert files.has_room(files.MEMORY)
    monkeypatch.setattr(files, "EACH", 1 << 50)
    monkeypatch.delenv("TMPDIR", raising=False)
    with files.scratch("tidemark-test-") as name:
        assert not Path(name).is_relative_to(files.MEMORY)
    assert not files.has_room(base / "nothing")
