"""Working parts count, even if another file of the same lab does not compile, or was not handed in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from grading import messages, submission
from soak import soak_but
from tidemark.grade import grading, model
from tidemark.grade.build.sandbox import best
from tidemark.grade.intake import lab
from tidemark.grade.model import Grade, Outcome
from tidemark.grade.witness import machine
from tidemark.grade.witness.boot import Boot
from tidemark.machine import qemu

pytestmark = pytest.mark.graded

FIFO, CLOCK = "kernel/mm/policy/fifo.c", "kernel/mm/policy/clock.c"
TITLES = ("fifo: Belady's string with 3 frames", "clock: second chances, by hand")


def graded(handed_in: Path, scratch: Path) -> Grade:
    """One test for each of the two files."""
    whole = lab.load(qemu.ROOT, "clock")
    few = replace(whole, tests=tuple(test for test in whole.tests if test.title in TITLES))
    with mock.patch.object(lab, "load", return_value=few):
        return grading.grade(grading.Request(qemu.ROOT, handed_in, "clock"), grading.Host(scratch, best()))


def outcomes(made: Grade) -> list[Outcome]:
    return [one.verdict.outcome for one in made.tests]


@pytest.mark.parametrize("missing", soak_but([True, False], True))
def test_clock_counts_without_fifo(missing: bool, tmp_path: Path) -> None:
    handed_in = submission(tmp_path / "in", "clock", {FIFO: "static int broken(\n"})
    if missing:
        (handed_in / FIFO).unlink()
    made = graded(handed_in, tmp_path / "work")
    assert outcomes(made) == [Outcome.MISSING if missing else Outcome.NO_BUILD, Outcome.RIGHT], messages(made)
    assert ("fifo.c is missing" if missing else "fifo.c:1") in made.tests[0].verdict.message


def test_fifo_counts_when_clock_does_not_compile(tmp_path: Path) -> None:
    made = graded(submission(tmp_path / "in", "clock", {CLOCK: "static int broken(\n"}), tmp_path / "work")
    assert outcomes(made) == [Outcome.RIGHT, Outcome.NO_BUILD], messages(made)
    assert "clock.c:1" in made.tests[1].verdict.message


def test_a_test_is_about_the_file_of_its_policy_or_those_that_it_names() -> None:
    clock, thrashing = (lab.load(qemu.ROOT, name) for name in ("clock", "thrashing"))
    assert clock.files_of(model.Test("", 1, "victims", {"policy": "fifo"})) == (FIFO,)
    assert clock.files_of(model.Test("", 1, "runs")) == clock.files
    about = {test.kind: thrashing.files_of(test) for test in thrashing.tests}
    assert about["guard"] == ("kernel/mm/guard/token.c",) and about["answers"] == ("labs/thrashing/answers.toml",)


def test_message_of_several_lines_is_told_once() -> None:
    """A compiler's output stood below each of twenty tests."""
    tests = [model.Test(title, 1, "victims") for title in "abc"]
    long, short = model.wrong("two\nlines", Outcome.NO_BUILD), model.wrong("one line", Outcome.NO_BUILD)
    refers = "the reason is told with the test 'a'"
    assert [verdict.message for verdict in grading.told_once(tests, [long] * 3)] == ["two\nlines", refers, refers]
    assert grading.told_once(tests, [None, short, short]) == [None, short, short]


def test_long_line_of_the_console_is_cut() -> None:
    """An unknown parameter's message lists all parameters, 2.5 kB, in each test."""
    line = "unknown parameter ws.strict; there are: " + "name " * 500
    made = machine.trouble(Boot(Outcome.NO_BOOT, "it did not boot", line, None))
    assert "unknown parameter ws.strict" in made.message and len(made.message) < 400
    assert "more characters)" in made.message
