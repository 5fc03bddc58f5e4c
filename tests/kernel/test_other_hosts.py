"""What Linux has and other systems lack: everything works without it, or says in one sentence what to do."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tidemark.errors import LabError
from tidemark.grade.build import sandbox
from tidemark.machine import disk, host, qemu


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python as it is on macOS."""
    monkeypatch.setattr(host, "_prctl", None)
    for name in ("memfd_create", "sched_getaffinity"):
        monkeypatch.delattr(os, name)
    monkeypatch.setattr(sys, "platform", "darwin")


@pytest.mark.usefixtures("elsewhere")
def test_typed_session_runs_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    out = io.BytesIO()
    code, _ = qemu.run_typed(qemu.prepared(qemu.settings_from({"MEM": "16M"})), b"echo hello\npoweroff\n", out)
    assert code == qemu.OK and b"\nhello" in out.getvalue().replace(b"\r", b"")


@pytest.mark.usefixtures("elsewhere")
def test_memory_for_a_disk_is_a_file(tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(b"x" * 4096)
    with disk.memory({1 << 20: str(image)}, 2) as name:
        assert Path(name).stat().st_size == 2 << 20 and Path(name).read_bytes()[1 << 20] == ord("x")
    assert not Path(name).exists()


@pytest.mark.usefixtures("elsewhere")
def test_processors_are_those_of_the_machine() -> None:
    assert host.processors() == os.cpu_count()


@pytest.mark.usefixtures("elsewhere")
def test_sandbox_says_that_it_needs_linux() -> None:
    with pytest.raises(LabError, match="needs Linux: grade in the container"):
        sandbox.find()


def path_without(folder: Path, *names: str) -> str:
    """A PATH with what locked.sh calls, without some programs."""
    folder.mkdir()
    for name in {"sh", "dirname", "mkdir", "sleep", "python3", "flock", "cat"} - {*names}:
        (folder / name).symlink_to(shutil.which(name) or name)
    return str(folder)


def test_lock_works_without_flock(tmp_path: Path) -> None:
    """The second waits until the first has ended: its line is the last."""
    (tmp_path / "tools").mkdir()
    shutil.copy2(qemu.ROOT / "tools/locked.sh", tmp_path / "tools")
    env = {"PATH": path_without(tmp_path / "path", "flock")}
    script = tmp_path / "tools/locked.sh"
    words = ["sh", "-c", "echo first; cat; echo first >>order"]
    first = subprocess.Popen([script, *words], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert first.stdin and first.stdout and first.stdout.readline() == "first\n"
    second = subprocess.Popen([script, "sh", "-c", "echo second >>order"], env=env, stderr=subprocess.PIPE, text=True)
    assert second.stderr and "Another make is building in this tree" in second.stderr.readline()
    first.stdin.close()
    assert first.wait(60) == second.wait(60) == 0
    assert (tmp_path / "order").read_text() == "first\nsecond\n"


def test_old_make_is_named() -> None:
    """make 3.81, which macOS has, stops at the first lines of the Makefile."""
    top = (qemu.ROOT / "Makefile").read_text().split("define NEWLINE")[0]
    for version, refused in (("3.81", True), ("4.1", True), ("4.2.1", False), ("4.4", False)):
        made = subprocess.run(
            ["make", "-f", "-", f"MAKE_VERSION={version}"], input=top + "all: ;\n", capture_output=True, text=True
        )
        assert (f"This is GNU make {version}, and Tidemark needs 4.2 or later" in made.stderr) == refused, made


def test_reference_image_boots_where_only_busybox_is() -> None:
    """No bash, apt or flock, and make asks for nothing."""
    env = {name: value for name, value in os.environ.items() if name not in ("TIDEMARK_CC", "MAKEFLAGS")}
    command = ["tools/hosts/busybox.sh", "reference"]
    done = subprocess.run(command, cwd=qemu.ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("Tidemark, policy 2q"), done.stderr
