"""Rules per student: the variants' solutions are compared with models of their rules that share nothing with them, the
plain solution gets under half of a policy's points, and names that cannot be graded cost their own rows.
"""

from __future__ import annotations

import difflib
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import rule_models
from soak import soak_but
from tidemark.errors import LabError
from tidemark.grade.build import tree
from tidemark.grade.intake import lab as labs
from tidemark.grade.intake import rules
from tidemark.grade.judge import expected
from tidemark.grade.model import Lab, Rule
from tidemark.grade.model import Test as LabTest
from tidemark.grade.witness import playback
from tidemark.machine import qemu

pytestmark = pytest.mark.graded

SECRET = b"a course's secret of 2027"
MODELS: dict[str, Callable[[Sequence[str]], rule_models.Model]] = {"clock": rule_models.Clock}
LABS = ("clock",)
CASES = [(name, rule.name) for name in LABS for rule in rules.of_lab(labs.load(qemu.ROOT, name))]
QUICK = [("clock", "counter skip"), ("clock", "back6 oldest")]


def lab_of(name: str) -> Lab:
    """A lab."""
    return labs.load(qemu.ROOT, name)


def rule_of(name: str, variant: str) -> Rule:
    """A variant of a lab's rule."""
    return next(rule for rule in rules.of_lab(lab_of(name)) if rule.name == variant)


def source_of(rule: Rule) -> str:
    """A variant's solution."""
    return rules.source(rule, (qemu.ROOT / rule.file).read_text())


def lines_changed(old: str, new: str) -> int:
    """The number of lines that were added, removed, or replaced."""
    codes = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False).get_opcodes()
    return sum(max(b - a, d - c) for tag, a, b, c, d in codes if tag != "equal")


@pytest.mark.parametrize("name", LABS)
def test_a_lab_has_a_dozen_variants_each_a_few_lines_from_the_solution(name: str) -> None:
    found = rules.of_lab(lab_of(name))
    assert len(found) >= 12 and len({source_of(rule) for rule in found}) == len(found)
    for rule in found:
        changed = lines_changed((qemu.ROOT / rule.file).read_text(), source_of(rule))
        assert 5 <= changed <= 40, f"{rule.name}: {changed} lines"


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree, to which policies can be added."""
    folder = tmp_path_factory.mktemp("rules") / "tree"
    folder.mkdir()
    tree.copy_built(qemu.ROOT, folder)
    return folder


def strings(seed: int) -> list[tuple[list[int], int]]:
    """Random strings, and numbers of frames."""
    drawn = random.Random(seed)
    made = []
    for _ in range(40):
        frames = drawn.randint(3, 20)
        pages = drawn.randint(frames + 1, 3 * frames)
        popular = max(1, pages // 3)
        string = [drawn.randint(1, drawn.choice((pages, popular))) for _ in range(drawn.randint(20, 400))]
        made.append((string, frames))
    return made


@pytest.mark.parametrize(("name", "variant"), soak_but(CASES, *QUICK))
def test_a_variants_solution_evicts_what_its_words_say(copied: Path, name: str, variant: str) -> None:
    rule = rule_of(name, variant)
    policy = f"{rule.policy}_{CASES.index((name, variant))}"
    (copied / f"kernel/mm/policy/{policy}.c").write_text(source_of(rule))
    program = expected.built(copied, policy)
    for string, frames in strings(seed=1):
        mine = [each.victim for each in expected.simulated(program, string, frames, (), names=False)]
        assert mine == MODELS[name](variant.split()).run(string, frames), (string, frames)


def differs(name: str, variant: str, test: LabTest) -> bool:
    """Does the plain rule evict other pages than the variant on a test's string? By the models."""
    frames, pages = int(test.options["frames"]), playback.pages_of(test)
    string = (*playback.prefix_of(pages, frames), *pages)
    first = len(string) - len(pages) + int(test.options.get("first", 1)) - 1
    mine, plain = (MODELS[name](options).run(string, frames)[first:] for options in (variant.split(), []))
    return mine != plain


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_the_plain_solution_gets_under_half(name: str, variant: str) -> None:
    """At most: a test that is not about a string counts as passed."""
    rule = rule_of(name, variant)
    tests = [test for test in rules.with_tests(lab_of(name), rule).tests if lab_of(name).files_of(test) == (rule.file,)]
    kept = [test for test in tests if test.kind != "victims" or not differs(name, variant, test)]
    assert sum(test.points for test in kept) < sum(test.points for test in tests) / 2, [test.title for test in kept]


@pytest.mark.parametrize("name", LABS)
def test_points_and_titles_stay_the_same(name: str) -> None:
    plain = lab_of(name)
    for rule in rules.of_lab(plain):
        mine = rules.with_tests(plain, rule)
        assert [(test.title, test.points) for test in mine.tests] == [(test.title, test.points) for test in plain.tests]


@pytest.mark.parametrize("name", LABS)
def test_a_rule_is_drawn_from_secret_lab_and_name(name: str) -> None:
    plain = lab_of(name)
    assert rules.drawn(plain, SECRET, "zoe_ng ") == rules.drawn(plain, SECRET, "Zoë Ng")
    drawn = [rules.drawn(plain, SECRET, f"student {number}").name for number in range(200)]
    assert set(drawn) == {rule.name for rule in rules.of_lab(plain)}
    others = [rules.drawn(plain, SECRET + b"!", f"student {number}").name for number in range(200)]
    assert drawn != others
    with pytest.raises(LabError, match="'--' is not a name"):
        rules.drawn(plain, SECRET, "--")


def test_a_variant_that_does_not_fit_the_solution_cannot_be_generated() -> None:
    rule = rule_of("clock", "counter skip")
    said = r"'counter skip' cannot be generated: kernel/mm/policy/clock.c has 'struct list_head node;' 0 times"
    with pytest.raises(LabError, match=said):
        rules.source(rule, "int x;\n")


def test_a_lab_without_variants_and_one_without_names_are_plain(tmp_path: Path) -> None:
    (tmp_path / labs.QUIZ_KEY).write_bytes(SECRET)
    ruled = replace(lab_of("clock"), rules=True)
    assert rules.applied(ruled, tmp_path, "") == ruled and rules.applied(ruled, None, "ada") == ruled
    assert "the plain lab was graded" in rules.notes(ruled)[0]
    mine = rules.applied(ruled, tmp_path, "ada")
    assert mine.rule == rules.drawn(ruled, SECRET, "ada") and mine.rule.name in rules.notes(mine)[0]
    assert not rules.notes(lab_of("clock"))
    with pytest.raises(LabError, match="lab buddy has no rules per student"):
        rules.applied(replace(lab_of("buddy"), rules=True), tmp_path, "ada")


def test_students_code_cannot_include_the_variants(tmp_path: Path) -> None:
    tree.lay(qemu.ROOT, lab_of("clock"), tmp_path, tmp_path / "tree")
    assert (tmp_path / "tree/labs/clock/lab.toml").is_file()
    assert not list((tmp_path / "tree").rglob(rules.FILE))


def test_two_names_that_are_one_are_named() -> None:
    found = rules.twice(["ada", "Bob", "Ada ", "Zoë"])
    assert set(found) == {"ada", "Ada "} and "are one name to the draw of rules" in found["ada"]
