"""The figures of the solutions that a student's tree needs: the budgets of visible tests are multiples of them."""

from __future__ import annotations

import importlib
from pathlib import Path

from tidemark.errors import FAILED, LabError
from tidemark.grade.build import object_rules, starters, tree
from tidemark.grade.build.sandbox import best
from tidemark.grade.intake import lab
from tidemark.grade.judge import budget
from tidemark.grade.model import Lab, Test
from tidemark.grade.witness.machine import Machine
from tidemark.machine import qemu


def tests_of(each: Lab) -> list[Test]:
    """The tests that need a figure."""
    return [test for test in each.tests if budget.is_relative(test) and not test.hidden]


def machine_of(release: Path, each: Lab, scratch: Path) -> Machine:
    """A kernel of the instructor's tree with the solutions of one lab and the starters of all others."""
    tree.lay(release, each, release, scratch / "tree")
    tree.lay_starters(scratch / "tree", starters.of_labs(lab.others(release, each.name)))
    (scratch / "runs").mkdir()
    made = Machine(each, scratch / "tree", release, scratch / "runs", best(), object_rules.objects(each))
    built = made.make(qemu.KERNEL, qemu.INITRD)
    if built.status:
        raise LabError(
            f"labs/{each.name}: with the other labs' starters the kernel does not build: {built.err}", FAILED
        )
    return made


def measured(release: Path, each: Lab, scratch: Path) -> dict[str, float]:
    """By title, the figures of a lab's visible tests; `scratch` is an empty folder."""
    tests = tests_of(each)
    if not tests:
        return {}
    machine = machine_of(release, each, scratch)
    kinds = {test.kind: importlib.import_module(f"tidemark.grade.judge.kinds.{test.kind}") for test in tests}
    return {test.title: float(kinds[test.kind].figure(test, machine)) for test in tests}
