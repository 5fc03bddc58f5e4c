"""The tree that students receive: released, unpacked and built."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path
from unittest import mock

from tidemark.grade import grading
from tidemark.grade.build import machines, starters, tree, workspace
from tidemark.grade.hand_out import figures, release
from tidemark.grade.intake import lab
from tidemark.grade.judge import expected
from tidemark.grade.model import Lab
from tidemark.machine import qemu

STATES = ("starters", "solutions", "mixed")


def unpacked(folder: Path) -> Path:
    """A release, built, in an empty folder; without the numbers that budgets are relative to: see `measure`."""
    archive = folder / "student.tar.gz"
    with mock.patch.object(figures, "measured", return_value={}), mock.patch.object(machines, "files", return_value=()):
        release.write(qemu.ROOT, archive, say=lambda text: None)
    with tarfile.open(archive) as members:
        members.extractall(folder)
    return built(folder / release.TOP)


def built(folder: Path) -> Path:
    """Copies what this tree has built from files that students do not change."""
    tree.take_along_what_is_built(qemu.ROOT, folder)
    for file in lab.students_files(folder):
        text = (folder / file).read_bytes()
        tree.leave_behind(folder, file)
        (folder / file).write_bytes(text)
    words = ["make", "--silent", "-f", "tools/build.mk", f"CC={' '.join(workspace.compiler())}"]
    subprocess.run([*words, *grading.KERNEL, "build/plugin/tidemark.so"], cwd=folder, check=True)
    return folder


def measure(theirs: Path, each: Lab, scratch: Path) -> None:
    """Measures what `make release` would have measured for a lab."""
    scratch.mkdir()
    expected.write(theirs / "labs" / each.name, each, figures.measured(qemu.ROOT, each, scratch))


def others_become(folder: Path, name: str, state: str) -> list[Lab]:
    """Sets all labs but one to a state: as given out, done, or every second one done."""
    others = lab.others(folder, name)
    tree.lay_starters(folder, starters.of_labs(others))
    for each in others[:: 2 if state == "mixed" else 1] if state != "starters" else ():
        for file in each.files:
            shutil.copyfile(qemu.ROOT / file, folder / file)
    return others
