"""A grade does not depend on the compiler."""

from __future__ import annotations

import pytest
from grading import solution
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
