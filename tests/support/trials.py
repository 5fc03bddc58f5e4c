"""Shared by the tests of labs: a machine on a copy of this tree, whose student's file is replaced again and again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tidemark.grade import grading
from tidemark.grade.build import object_rules, tree
from tidemark.grade.build.sandbox import best
from tidemark.grade.intake import lab
from tidemark.grade.model import Test, Verdict
from tidemark.grade.witness.machine import Machine
from tidemark.machine import qemu


@dataclass(frozen=True)
class Trial:
    """A machine, and the lab's only file."""

    machine: Machine
    file: str

    def lay(self, source: str) -> None:
        """Builds with this text as the student's file."""
        (self.machine.tree / self.file).write_text(source)

    def judge(self, test: Test) -> Verdict:
        """Runs one test; the kernel is built for it."""
        made = self.machine.make(*grading.KERNEL)
        assert made.status == 0, made.err
        return self.judge_on_host(test)

    def judge_on_host(self, test: Test) -> Verdict:
        """Runs one test that boots nothing."""
        self.machine.build_results.clear()
        grading.prepare(self.machine, [test])
        return grading.judge(test, self.machine)[0]

    def test(self, title: str) -> Test:
        """A test of lab.toml."""
        return next(test for test in self.machine.lab.tests if test.title == title)


def trial(name: str, folder: Path) -> Trial:
    """A machine for a lab with one file, in an empty folder."""
    assignment = lab.load(qemu.ROOT, name)
    tree.lay(qemu.ROOT, assignment, qemu.ROOT, folder / "tree")
    (folder / "runs").mkdir()
    objects = object_rules.objects(assignment)
    made = Machine(assignment, folder / "tree", qemu.ROOT, folder / "runs", best(), objects)
    return Trial(made, assignment.files[0])


def changed(source: str, old: str, new: str) -> str:
    """Makes a mistake: replaces a piece that occurs once in the source."""
    assert source.count(old) == 1, old
    return source.replace(old, new)
