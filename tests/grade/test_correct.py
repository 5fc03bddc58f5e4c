"""Solutions that are right, and unlike the reference: whoever writes one of these has earned all points.

Those that are another design are files, correct/FILE_NAME.c: FILE is the one of a lab that it stands for, and each
FILE_NAME in it becomes FILE. The others are the reference with a piece exchanged.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest import mock

import pytest
from grading import messages, solution, submission
from soak import soak_but
from students import measure, unpacked
from tidemark import qemu
from tidemark.grade import grading
from tidemark.grade.build.sandbox import best
from tidemark.grade.intake import lab
from trials import Trial, changed, trial

pytestmark = pytest.mark.graded

FOLDER = Path(__file__).parent / "correct"
LABS = lab.names(qemu.ROOT)
FILES = {Path(file).stem: (name, file) for name in LABS for file in lab.load(qemu.ROOT, name).files}
BUDDY, WS, TWOQ = (solution(FILES[stem][1]) for stem in ("buddy", "ws", "useonce"))
SPLIT = "\t\tblock_insert(z, page + (1u << k), k);\n\t}\n"
UPPER = "\t\tblock_insert(z, page, k);\n\t\tpage += 1u << k;\n\t}\n\tpage->lru.next = LIST_POISON_NEXT;\n"
BY_BUDDY = """\tif (free_buddy(z, pfn, order))
\t\tfree_by_merging(z, pfn, order);
\telse
\t\tblock_insert(z, page, order);
"""
SOLUTIONS = {
    path.stem: path.read_text().replace(path.stem, path.stem.partition("_")[0]) for path in FOLDER.glob("*.c")
} | {
    "buddy_oldest_first": changed(BUDDY, "list_add(&page->lru", "list_add_tail(&page->lru"),
    "buddy_upper_half": changed(BUDDY, SPLIT, UPPER),
    "buddy_always_merges": changed(BUDDY, BY_BUDDY, "\tfree_by_merging(z, pfn, order);\n"),
    "ws_looks_at_all": changed(WS, "#define LOOKS 2048u", "#define LOOKS 65536u"),
    "ws_who_runs_goes_on": changed(WS, "w->since >= v->since", "w->since > v->since"),
    "useonce_larger_batches": changed(TWOQ, "#define ACTIVE_BATCH 32", "#define ACTIVE_BATCH 64"),
    "useonce_smaller_batches": changed(TWOQ, "#define ACTIVE_BATCH 32", "#define ACTIVE_BATCH 16"),
}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The students' tree."""
    return unpacked(tmp_path_factory.mktemp("release"))


@cache
def measured(theirs: Path, name: str) -> None:
    """The figures of a lab are there."""
    measure(theirs, lab.load(qemu.ROOT, name), theirs.parent / f"figures-{name}")


@pytest.mark.soak
@pytest.mark.parametrize("which", sorted(SOLUTIONS))
def test_other_solution_gets_full_marks(which: str, theirs: Path, tmp_path: Path) -> None:
    name, file = FILES[which.partition("_")[0]]
    measured(theirs, name)
    handed_in, real = submission(tmp_path / "in", name, {file: SOLUTIONS[which]}), lab.load
    whole = lab.load(theirs, name)
    few = replace(whole, tests=tuple(test for test in whole.tests if file in whole.files_of(test)))
    with mock.patch.object(
        lab, "load", side_effect=lambda tree, other, *more: few if other == name else real(tree, other, *more)
    ):
        made = grading.grade(theirs, handed_in, name, None, tmp_path / "work", best(), jobs=2)
    assert made.score == made.most, messages(made)


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return trial("clock", tmp_path_factory.mktemp("correct"))


@pytest.mark.parametrize(
    "which", soak_but([which for which in SOLUTIONS if which.startswith("clock_")], "clock_looks_first")
)
def test_other_form_does_what_it_is_asked(which: str, tried: Trial) -> None:
    (tried.machine.tree / FILES["clock"][1]).write_text(SOLUTIONS[which])
    for test in tried.machine.lab.tests:
        if test.kind == "asked" and test.options["policy"] == "clock":
            verdict = tried.judge_on_host(test)
            assert verdict.fraction == 1, f"{test.title}: {verdict.message}"
