"""A grade does not depend on the compiler."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from grading import graded, solution
from tidemark.errors import LabError
from tidemark.grade.build import object_rules
from tidemark.grade.build.workspace import built_by
from tidemark.grade.intake import lab
from tidemark.grade.judge import budget, expected
from tidemark.machine import qemu
from trials import Trial, changed, trial

pytestmark = pytest.mark.graded

FIFO = "kernel/mm/policy/fifo.c"

# gcc 14 refuses these; older compilers only warn, and build the program.
REMOVES = "list_del(&fifo_data(page)->node);"
REFUSED = {
    "hook of another type": (".check = fifo_check", ".check = fifo_select"),
    "pointer as a number": (REMOVES, f"int at = page;\n\n\t(void)at;\n\t{REMOVES}"),
    "no type": ("static LIST_HEAD(queue);", "static LIST_HEAD(queue);\nstatic nr_pages;"),
    "no declaration": (REMOVES, "list_remove(page);"),
    "nothing returned": ("return vm_list_length(&queue);", "return;"),
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return trial("clock", tmp_path_factory.mktemp("compilers"))


@pytest.mark.parametrize("mistake", REFUSED)
def test_what_one_compiler_refuses_all_refuse(mistake: str, tried: Trial) -> None:
    """In the kernel, and in the simulator, which the host's compiler builds."""
    old, new = REFUSED[mistake]
    tried.lay(changed(solution(FIFO), old, new))
    for target in ("build/kernel/mm/policy/fifo.o", "build/vmsim/fifo.fast"):
        made = tried.machine.make(target)
        assert made.status and "error:" in made.err, target


def test_budget_of_instructions_names_its_compiler(tmp_path: Path) -> None:
    """A student's tree, built by the compiler with which the release measured, and by another one."""
    buddy = lab.load(qemu.ROOT, "buddy")
    test = next(test for test in buddy.tests if "times" in test.options)
    expected.write(tmp_path, buddy, {test.title: 20.0})
    (tmp_path / "build").mkdir()
    theirs = SimpleNamespace(has_solutions=False, release=tmp_path, lab=replace(buddy, folder=tmp_path))
    for compiler, said in ((built_by(qemu.ROOT), ""), ("i686-gcc 99.1", "and this kernel is built by i686-gcc 99.1")):
        (tmp_path / "build/flags").write_text(f"{compiler} -O2\n")
        assert said in budget.of_another_compiler(test, theirs) and bool(said) == bool(
            budget.of_another_compiler(test, theirs)
        )
    assert budget.limits(test, theirs, lambda *_: 0.0) == (28.0, 100.0)


def test_nothing_is_graded_without_the_tool_that_reads_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would find no forbidden instruction in anything."""
    monkeypatch.setattr(object_rules, "compiler", lambda: ("echo", "no-such-tool"))
    object_rules.binutils.cache_clear()
    try:
        with pytest.raises(LabError, match="grading reads code by objdump, which is not installed: install binutils"):
            object_rules.binutils("objdump")
    finally:
        object_rules.binutils.cache_clear()


def test_grade_names_the_compiler(tmp_path: Path) -> None:
    made = graded(tmp_path, "clock", titles=["fifo: a page that comes back queues again"])
    assert made.meta["compiler"] == built_by(qemu.ROOT) and " " in made.meta["compiler"]
