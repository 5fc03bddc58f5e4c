"""Grading by root if namespaces are forbidden, as in a container."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tidemark.grade.build import tree, users
from tidemark.grade.intake import lab
from tidemark.machine import plugin, qemu

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can run commands as other users")


@pytest.fixture
def roots(tmp_path: Path) -> Path:
    """A built tree, with a venv, in a folder that only root may enter, like many home folders."""
    place = tmp_path / "home/tidemark"
    place.mkdir(parents=True)
    tree.copy_built(qemu.ROOT, place)
    for name in (qemu.KERNEL, plugin.SYMBOLS):
        shutil.copy2(qemu.ROOT / name, place / name)
    (place / "build/venv").unlink()
    (place / "build/venv/bin").mkdir(parents=True)
    (place / "build/venv/bin/python").symlink_to(Path(sys.executable).resolve())
    (place / "build/venv/lib").symlink_to(Path(sys.prefix, "lib"))
    shutil.copy(Path(sys.prefix, "pyvenv.cfg"), place / "build/venv")
    (tmp_path / "home").chmod(0o700)
    return place


def test_tree_in_a_folder_that_only_root_may_enter(roots: Path, tmp_path: Path) -> None:
    """The user that runs students' code cannot read the tree. An archive is read, a kernel built and watched."""
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as handed_in:
        for file in lab.load(roots, "clock").files:
            handed_in.write(roots / file, file)
    words = ["grade", "clock", "--submission", str(tmp_path / "ada.zip"), "--sandbox", "user", "--test", "1"]
    command = ["build/venv/bin/python", "-m", "tidemark.cli", *words]
    env = {**os.environ, "PYTHONPATH": str(roots / "tools")}
    done = subprocess.run(command, cwd=roots, env=env, capture_output=True, text=True)
    assert "... ok (1/1)" in done.stdout, done.stdout + done.stderr


def test_file_with_a_second_name_is_not_handed_over(tmp_path: Path) -> None:
    (tmp_path / "passwd").write_text("root")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/linked").hardlink_to(tmp_path / "passwd")
    (tmp_path / "out/pointing").symlink_to(tmp_path / "passwd")
    (tmp_path / "out/plain").write_text("")
    users.own(tmp_path / "out", 60706, 60706)
    owners = {path.name: path.lstat().st_uid for path in (tmp_path / "out").iterdir()}
    assert owners == {"linked": 0, "pointing": 60706, "plain": 60706}
    assert (tmp_path / "passwd").stat().st_uid == 0
