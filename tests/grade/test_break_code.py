"""Break my code: the changed line is the student's own, and the key is what the kernel does with the changed file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from confined import NEEDS_SANDBOX
from grading import starter
from tidemark.commands import break_code
from tidemark.errors import LabError
from tidemark.grade import grading
from tidemark.grade.build.sandbox import best
from tidemark.grade.hand_out import break_paper
from tidemark.grade.intake import lab
from tidemark.grade.judge import expected
from tidemark.grade.judge.broken import drawn, first_failure, own_lines
from tidemark.grade.judge.broken.drawn import Broken
from tidemark.grade.model import Outcome, Personal
from tidemark.machine import qemu

pytestmark = pytest.mark.graded

SECRET = b"a course's secret of 2027"
CLOCK, FIFO = "kernel/mm/policy/clock.c", "kernel/mm/policy/fifo.c"


def test_lines_are_those_that_the_starter_does_not_have() -> None:
    given = "int x;\n\nint f(void)\n{\n\treturn 0;\n}\n"
    own = "int x;\n\nint f(void)\n{\n\tif (x < 3)\n\t\treturn 1;\n    return 0;\n}\n"
    assert own_lines.written(own, given) == [5, 6]
    changes = list(own_lines.possible("f.c", own, given))
    assert {change.line for change in changes} == {5, 6}
    assert "\tif (x <= 3)" in [change.applied(own).split("\n")[4] for change in changes]


def test_a_lab_without_strings_for_paper_is_refused() -> None:
    drawn.check_lab(lab.load(qemu.ROOT, "clock"))
    with pytest.raises(LabError, match="lab buddy has no Break my code"):
        drawn.check_lab(lab.load(qemu.ROOT, "buddy"))


def broken_for(student: str, folder: Path, texts: dict[str, str], practice: bool = False) -> Broken:
    """The drawn change of a submission with these texts."""
    assignment = lab.load(qemu.ROOT, "clock")
    for file, text in texts.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    with break_code.laid(qemu.ROOT, assignment, folder, best()) as machine:
        return drawn.of(machine, Personal(student, SECRET, practice))


@pytest.fixture(scope="module")
def solution() -> dict[str, str]:
    """The lab's solution, as a submission."""
    return {file: (qemu.ROOT / file).read_text() for file in (FIFO, CLOCK)}


@pytest.fixture(scope="module")
def adas(solution: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broken]:
    """The change that Ada gets in the solution."""
    yield broken_for("Ada", tmp_path_factory.mktemp("ada"), solution)


@NEEDS_SANDBOX
def test_key_is_what_the_kernel_does(adas: Broken, solution: dict[str, str], tmp_path: Path) -> None:
    """The tests before the first failing one pass in the kernel, too, and that one fails with the page of the key."""
    changed = solution | {adas.change.file: adas.change.applied(adas.source)}
    for file, text in changed.items():
        (tmp_path / "in" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / file).write_text(text)
    number, failure = adas.tests.index(adas.failure.test), adas.failure
    for test in adas.tests[: number + 1]:
        request = grading.Request(qemu.ROOT, tmp_path / "in", "clock", only=test.title)
        made = grading.grade(request, grading.Host(tmp_path / "work", best()))
        (one,) = [each for each in made.tests if each.test.title == test.title]
        assert (one.verdict.outcome is Outcome.RIGHT) == (test != failure.test), one.verdict.message
    said = f"reference {failure.reference}, to page {failure.page}: expected victim page {failure.right}"
    assert one.verdict.message.startswith(f"{said}, yours {failure.evicted}")


@NEEDS_SANDBOX
def test_sheet_has_the_change_and_the_key_alone_has_the_answers(adas: Broken, solution: dict[str, str]) -> None:
    assignment = lab.load(qemu.ROOT, "clock")
    sheet = "\n".join(break_paper.printed(assignment, "Ada", adas, True).blocks)
    before = adas.source.split("\n")[adas.change.line - 1]
    assert before in solution[adas.change.file].split("\n") and before != adas.change.text
    assert all(test.title.replace("'", "&#x27;") in sheet for test in adas.tests)
    assert "Under supervision" in sheet and 'class="key"' not in sheet
    key = "\n".join(break_paper.keys(assignment, "Ada", adas).blocks)
    assert re.findall(r'class="key">(?:Reference|Page) (\w+)', key) == [
        str(number) for number in (adas.failure.reference, adas.failure.evicted, adas.failure.right)
    ]


@NEEDS_SANDBOX
def test_draw_is_the_names_and_practice_is_another(adas: Broken, solution: dict[str, str], tmp_path: Path) -> None:
    again = broken_for("ada", tmp_path / "again", solution)
    others = [broken_for(f"student {n}", tmp_path / str(n), solution) for n in range(3)]
    home = broken_for("Ada", tmp_path / "home", solution, practice=True)
    assert again.change == adas.change and again.failure == adas.failure
    assert len({each.change for each in (adas, *others, home)}) > 1


@NEEDS_SANDBOX
def test_one_sentence_says_why_there_is_no_sheet(solution: dict[str, str], tmp_path: Path) -> None:
    cases = {
        "it does not compile: .*error": {CLOCK: solution[CLOCK].replace("list_del", "list_dell", 1), FIFO: ""},
        "its files pass none of the tests": {file: starter("clock", file) for file in (FIFO, CLOCK)},
        "it does not compile|clock.c: ": {CLOCK: solution[CLOCK] + "\nint nr_free_pages(void);\n", FIFO: "x"},
    }
    for at, (said, texts) in enumerate(cases.items()):
        with pytest.raises(LabError, match=said):
            broken_for("Ada", tmp_path / str(at), texts)


@NEEDS_SANDBOX
def test_a_bad_submission_costs_the_class_nothing(
    solution: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ada", "Bob", "bob", "eve", "mallory"):
        for file, text in solution.items():
            path = tmp_path / "in" / name / Path(file).name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("int" if name == "eve" else text)
    (tmp_path / "in/kim").mkdir()
    (tmp_path / "in/kim/fifo.c").write_text(solution[FIFO])
    (tmp_path / "in/max").mkdir()
    (tmp_path / "key").write_bytes(SECRET)
    (tmp_path / "names").write_text("Ada\nBob\nEve\nKim\nMax\n")
    with pytest.raises(LabError, match="4 could not be: the lines above say why"):
        break_code.export(
            tmp_path / "in",
            lab="clock",
            secret=tmp_path / "key",
            out=tmp_path / "sheets.html",
            keys=tmp_path / "keys.html",
            roster=tmp_path / "names",
        )
    said = capsys.readouterr().err
    assert "'Bob' and 'bob' are one name to the draw: change one" in said
    assert "'mallory' is not on the roster names" in said and "eve: it does not compile: " in said
    assert "tidemark: max: there is no kernel/mm/policy/fifo.c" in said
    sheets, keys = ((tmp_path / name).read_text() for name in ("sheets.html", "keys.html"))
    assert sheets.count("<article>") == keys.count("<article>") == 2 and "it gives no points" in sheets
    assert "fifo.c" in sheets.split(">kim<")[1]


def test_only_short_visible_strings_are_asked_about() -> None:
    tests = [test for test in lab.load(qemu.ROOT, "clock").tests if first_failure.can_be_asked(test)]
    assert len(tests) == 5 and all(test.kind == expected.VICTIMS for test in tests)
