"""Rules per student: the variants' solutions are compared with models of their rules that share nothing with them, the
plain solution gets under half of a policy's points, and names that cannot be graded cost their own rows.
"""

from __future__ import annotations

import difflib
import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
import rule_models
from grading import messages, submission
from soak import soak_but
from tidemark.errors import LabError
from tidemark.grade import grading
from tidemark.grade.build import tree
from tidemark.grade.build.sandbox import best
from tidemark.grade.hand_back import class_table
from tidemark.grade.hand_out import rule_sheets
from tidemark.grade.intake import lab as labs
from tidemark.grade.intake import roster as rosters
from tidemark.grade.intake import rules
from tidemark.grade.judge import expected
from tidemark.grade.judge.kinds import residence
from tidemark.grade.model import Lab, Rule
from tidemark.grade.model import Test as LabTest
from tidemark.grade.witness import playback
from tidemark.grade.witness.machine import Machine
from tidemark.machine import qemu

pytestmark = pytest.mark.graded

SECRET = b"a course's secret of 2027"
MODELS: dict[str, Callable[[Sequence[str]], rule_models.Model]] = {
    "clock": rule_models.Clock,
    "twoq": rule_models.UseOnce,
}
LABS = ("clock", "twoq", "workingset")
ALL = [(name, rule.name) for name in LABS for rule in rules.of_lab(labs.load(qemu.ROOT, name))]
CASES = [case for case in ALL if case[0] in MODELS]
WINDOWS = [variant for name, variant in ALL if name == "workingset"]
BROKEN = '[option.back6]\nchange = [["no such line", ""]]'  # the option has no other changes
QUICK = [
    ("clock", "counter oldest"),
    ("clock", "back6"),
    ("twoq", "second third"),
    ("twoq", "back24 marked third"),
]


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
        assert f"`{rule.name}` {changed}" in (qemu.ROOT / "docs/reference/instructors.md").read_text()


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


@pytest.mark.parametrize("variant", soak_but(WINDOWS, "two-then-one"))
def test_under_two_windows_the_plain_working_set_gets_under_half(tmp_path: Path, variant: str) -> None:
    """Runs of this tree's kernel, judged by the definition. Tests of other kinds count as passed."""
    ruled = rules.with_tests(lab_of("workingset"), rule_of("workingset", variant))
    machine = Machine(ruled, qemu.ROOT, qemu.ROOT, tmp_path, best(), ())
    failed = [test for test in ruled.tests if test.kind == "residence" and not residence.judge(test, machine).fraction]
    assert sum(test.points for test in failed) > sum(test.points for test in ruled.tests) / 2


@pytest.mark.soak
@pytest.mark.parametrize(("name", "variant"), ALL)
def test_a_variants_own_solution_gets_all_points(tmp_path: Path, name: str, variant: str) -> None:
    rule = rule_of(name, variant)
    own = submission(tmp_path / "handed-in", name, {rule.file: source_of(rule)})

    def ruled(lab: Lab, *more: object) -> Lab:
        return rules.with_tests(replace(lab, rules=True), rule)

    with mock.patch.object(rules, "applied", ruled):
        made = grading.grade(grading.Request(qemu.ROOT, own, name), grading.Host(tmp_path / "work", best()))
    assert made.score == made.most and made.meta["rule"] == variant, messages(made)


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
    rule = rule_of("clock", "counter oldest")
    said = r"'counter oldest' cannot be generated: kernel/mm/policy/clock.c has 'struct list_head node;' 0 times"
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
    found = rosters.clashes(["ada", "Bob", "Ada ", "Zoë"])
    assert set(found) == {"ada", "Ada "} and "are one name to the draw" in found["ada"]


def test_sheets_have_the_rule_and_no_line_of_a_solution(tmp_path: Path) -> None:
    said: list[str] = []
    found = [lab_of("buddy"), lab_of("clock"), lab_of("twoq")]
    assert rule_sheets.write(found, {"ada": "Ada", "bob": "Bob"}, SECRET, tmp_path, said.append) == (4, 0)
    rule = rules.drawn(found[1], SECRET, "ada")
    text = (tmp_path / "clock/ada.md").read_text()
    assert "# The rule of Ada" in text and rule.text in text and not said
    solution = source_of(rule)
    assert not [line for line in text.splitlines() if len(line) > 20 and line in solution]


def test_a_variant_that_cannot_be_generated_costs_only_its_own_sheets(tmp_path: Path) -> None:
    plain, said = lab_of("clock"), list[str]()
    shutil.copytree(plain.folder, tmp_path / "labs/clock")
    path = tmp_path / "labs/clock" / rules.FILE
    path.write_text(path.read_text().replace("[option.back6]", BROKEN, 1))
    (tmp_path / "kernel/mm/policy").mkdir(parents=True)
    shutil.copy(qemu.ROOT / "kernel/mm/policy/clock.c", tmp_path / "kernel/mm/policy")
    broken = replace(plain, folder=tmp_path / "labs/clock")
    names = {f"s{number}": f"s{number}" for number in range(40)}
    made, failed = rule_sheets.write([broken], names, SECRET, tmp_path / "sheets", said.append)
    assert made + failed == 40 and made > 20 and 0 < failed == len(said)
    assert "no sheet: the variant 'back6" in said[0] and "cannot be generated" in said[0]


def handed_in(folder: Path, *names: str) -> Path:
    """A folder of submissions with the solution of lab 4."""
    for name in names:
        for file in lab_of("clock").files:
            (folder / name / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(qemu.ROOT / file, folder / name / file)
    return folder


def test_names_that_cannot_be_graded_cost_their_own_rows(tmp_path: Path) -> None:
    secret, roster = tmp_path / "secret", tmp_path / "names.txt"
    secret.mkdir()
    (secret / labs.QUIZ_KEY).write_bytes(SECRET)
    roster.write_text("Ada\nBob\nCarl\n")
    ruled = replace(lab_of("clock"), rules=True)
    found = handed_in(tmp_path / "handed-in", "ada", "Bob", "bob_", "carl", "mallory")
    book = class_table.Gradebook(found, ruled, tmp_path / "grades", "grader", {})
    names = [student.name for student in book.students]
    book.refuse(rosters.misnamed(names, roster, rules.are_drawn(ruled, secret)))
    reasons = {student.name: student.reason for student in book.failed()}
    assert set(reasons) == {"Bob", "bob_", "mallory"}
    assert reasons["Bob"] == "'Bob' and 'bob_' are one name to the draw: change one"
    assert reasons["mallory"] == "'mallory' is not on the roster names.txt: name it as there"
    assert [student.name for student in book.missing()] == ["ada", "carl"]
    assert not rules.are_drawn(lab_of("clock"), secret)
