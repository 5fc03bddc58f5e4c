"""Solutions that are right, and unlike the reference: whoever writes one of these has earned all points."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from grading import graded, messages, solution
from soak import soak_but
from tidemark import qemu
from tidemark.grade import grading, model
from tidemark.grade.build import object_rules
from tidemark.grade.intake import lab
from tidemark.grade.model import Verdict
from tidemark.grade.witness.machine import Machine
from trials import changed, trial

pytestmark = pytest.mark.graded

FOLDER = Path(__file__).parent / "correct"
BUDDY, WS, TWOQ = (solution(f"kernel/mm/{file}.c") for file in ("frame/buddy", "policy/ws", "policy/useonce"))
CLOCK = lab.load(qemu.ROOT, "clock")
SPLIT = "\t\tblock_insert(z, page + (1u << k), k);\n"

BY_BUDDY = """\tif (free_buddy(z, pfn, order))
\t\tfree_by_merging(z, pfn, order);
\telse
\t\tblock_insert(z, page, order);
"""

FILES = {  # lab: name: its one file
    "buddy": {
        "oldest block first": changed(BUDDY, "list_add(&page->lru", "list_add_tail(&page->lru"),
        "upper half is given": changed(BUDDY, SPLIT, "\t\tblock_insert(z, page, k);\n\t\tpage += 1u << k;\n"),
        "always merges": changed(BUDDY, BY_BUDDY, "\tfree_by_merging(z, pfn, order);\n"),
    },
    "workingset": {
        "looks at all": changed(WS, "#define LOOKS 2048u", "#define LOOKS 65536u"),
        "who runs goes on": changed(WS, "w->since >= v->since", "w->since > v->since"),
    },
    "twoq": {
        "larger batches": changed(TWOQ, "#define ACTIVE_BATCH 32", "#define ACTIVE_BATCH 64"),
        "smaller batches": changed(TWOQ, "#define ACTIVE_BATCH 32", "#define ACTIVE_BATCH 16"),
    },
}
ALL_FILES = [(name, which) for name, sources in FILES.items() for which in sources]


@pytest.mark.soak
@pytest.mark.parametrize(("name", "which"), ALL_FILES)
def test_other_solution_gets_full_marks(name: str, which: str, tmp_path: Path) -> None:
    file = lab.load(qemu.ROOT, name).files[0]
    made = graded(tmp_path, name, {file: FILES[name][which]})
    assert made.score == made.most, messages(made)


# --- policies of their own names, all in one kernel ---

POLICIES = sorted(path.stem for path in FOLDER.glob("*.c"))
LAID = Path("kernel/mm/policy")


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    made = trial("clock", tmp_path_factory.mktemp("correct")).machine
    for name in POLICIES:
        (made.tree / LAID / f"{name}.c").write_text((FOLDER / f"{name}.c").read_text())
    built = made.make(*grading.KERNEL)
    assert built.status == 0, built.err
    laid = {f"{LAID}/{name}.c": name for name in POLICIES}
    theirs = replace(CLOCK, files=tuple(laid), registers=laid)
    return replace(made, lab=theirs, objects=object_rules.objects(theirs))


def model_of(policy: str) -> str:
    """What the policy is another form of."""
    return policy.partition("_")[0]


def asked_of(policy: str) -> list[model.Test]:
    """The lab's tests of a policy, put to another form of it."""
    found = []
    for test in CLOCK.tests:
        if test.options["policy"] == model_of(policy):
            found.append(replace(test, options=dict(test.options) | {"policy": policy, "like": model_of(policy)}))
    return found


def judged(tried: Machine, test: model.Test) -> Verdict:
    tried.build_results.clear()
    grading.prepare(tried, [test])
    return grading.judge(test, tried)[0]


@pytest.mark.parametrize("policy", soak_but(POLICIES, "clock_looks_first"))
def test_other_form_does_what_it_is_asked(policy: str, tried: Machine) -> None:
    for test in asked_of(policy):
        if test.kind == "asked":
            verdict = judged(tried, test)
            assert verdict.fraction == 1, f"{test.title}: {verdict.message}"


@pytest.mark.soak
@pytest.mark.parametrize("policy", POLICIES)
def test_other_form_gets_full_marks(policy: str, tried: Machine) -> None:
    for test in asked_of(policy):
        verdict = judged(tried, test)
        assert verdict.fraction == 1, f"{test.title}: {verdict.message}"
