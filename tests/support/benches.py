"""What tests of a lab share: a bench on a copy of this tree, whose student's file is replaced again and again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from tidemark import qemu
from tidemark.grade import grading
from tidemark.grade.build import object_rules, tree
from tidemark.grade.build.sandbox import best
from tidemark.grade.build.workspace import Bench
from tidemark.grade.intake import lab
from tidemark.grade.model import Test, Verdict


@dataclass(frozen=True)
class Tried:
    """A bench, and the lab's one file."""

    bench: Bench
    file: str

    def lay(self, source: str) -> None:
        """Build with this text as the student's file."""
        (self.bench.tree / self.file).write_text(source)

    def judge(self, test: Test) -> Verdict:
        """One test; the kernel is built for it."""
        made = self.bench.make(*grading.KERNEL)
        assert made.status == 0, made.err
        return self.judge_on_host(test)

    def judge_on_host(self, test: Test) -> Verdict:
        """One test that boots nothing."""
        self.bench.made.clear()
        grading.prepare(replace(self.bench, lab=replace(self.bench.lab, tests=(test,))))
        return grading.judge(test, self.bench)[0]

    def test(self, title: str) -> Test:
        """A test of lab.toml."""
        return next(test for test in self.bench.lab.tests if test.title == title)


def bench(name: str, folder: Path) -> Tried:
    """A bench for a lab with one file, in an empty folder."""
    assignment = lab.load(qemu.ROOT, name)
    tree.lay(qemu.ROOT, assignment, qemu.ROOT, folder / "tree")
    (folder / "runs").mkdir()
    objects = object_rules.objects(assignment)
    made = Bench(assignment, folder / "tree", qemu.ROOT, folder / "runs", best(), objects)
    return Tried(made, assignment.files[0])


def changed(source: str, old: str, new: str) -> str:
    """A mistake: a piece of the source, which is there once, is another."""
    assert source.count(old) == 1, old
    return source.replace(old, new)
