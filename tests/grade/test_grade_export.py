"""Grades as files, reports, pictures, and in the formats of other systems."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest import mock
from xml.etree import ElementTree

import numpy as np
import pytest
from grades import DIRTY, REPORT, graded_as, sample
from lab import tidemark
from tidemark.errors import BAD_INPUT, USAGE, LabError
from tidemark.grade import grading, model
from tidemark.grade.build.sandbox import best
from tidemark.grade.hand_back import export, plot, result, text
from tidemark.grade.intake import lab
from tidemark.grade.model import Grade, Graded, Outcome, right
from tidemark.grade.witness.boot import Boot
from tidemark.grade.witness.evidence import NOTHING
from tidemark.grade.witness.machine import Machine
from tidemark.machine import qemu

PNG = b"\x89PNG\r\n\x1a\n"
LEAKS = ("SECRET", "5 4 3 2 1")

RUNNER = {
    "CLASSROOM": "os-27",
    "ASSIGNMENT": "clock",
    "SUBMISSION_TAG": "submit/2027-01-20T14-32-05Z-a1b2c3d",
    "COMMIT_URL": "https://example.org/commit/a1b2c3d",
    "RELEASE_URL": "https://example.org/releases/1",
}


@pytest.fixture(autouse=True)
def _runner(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of Classroom 50's runner."""
    for name, value in RUNNER.items():
        monkeypatch.setenv(name, value)


# --- the file ---


def test_a_grade_survives_being_written(tmp_path: Path) -> None:
    result.save(sample(), tmp_path / "grade.json")
    assert result.load(tmp_path / "grade.json") == sample()


def turned(value: object) -> object:
    """The same value with mappings in reverse order, and whole numbers as floats or numpy's."""
    if isinstance(value, Mapping):
        return {name: turned(value[name]) for name in reversed(list(value))}
    if isinstance(value, list):
        return [turned(each) for each in value]
    return np.int64(value) if type(value) is int else value


def test_equal_grades_are_equal_bytes(tmp_path: Path) -> None:
    grade = sample()
    other = [
        Graded(
            replace(each.test, points=float(each.test.points), options=turned(each.test.options)),
            replace(each.verdict, figures=turned(each.verdict.figures), plot=turned(each.verdict.plot)),
        )
        for each in grade.tests
    ]
    again = replace(grade, tests=tuple(other), meta=turned(grade.meta))
    assert again == grade
    for name, each in (("one", grade), ("two", again)):
        result.save(each, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert plot.png(replace(grade, tests=grade.tests[1:2])) == plot.png(replace(again, tests=again.tests[1:2]))


def test_figures_without_a_value_are_left_out() -> None:
    verdict = model.right(figures={"a": float("nan"), "b": np.float64("inf"), "c": np.float32(0.5)})
    (written,) = result.to_dict(Grade("x", "x", (graded_as("t", 1, verdict),)))["tests"]
    assert written["figures"] == {"c": 0.5}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (["schema"], "tidemark-grade/2", 'schema is "tidemark-grade/2", but this reads tidemark-grade/1'),
        (["schema"], None, "schema is null"),
        (["lab"], 7, "lab is 7, which is not text"),
        (["tests"], {}, "tests is {}, which is not a list"),
        (["tests", 2], "x", 'tests[2] is "x", which is not an object'),
        (["tests", 2, "points"], "2", 'tests[2]: points is "2", which is not a number'),
        (["tests", 2, "points"], float("nan"), "tests[2]: points is nan"),
        (["tests", 2, "points"], True, "tests[2]: points is true"),
        (["tests", 2, "fraction"], 1.5, "tests[2]: points are 2 and fraction is 1.5"),
        (["tests", 2, "outcome"], "great", 'tests[2]: outcome is "great"; it must be one of right, over budget'),
        (["tests", 2, "hidden"], 0, "tests[2]: hidden is 0, which is not true or false"),
        (["tests", 2, "given"], 2, "tests[2]: given is 2, but the tests give 1.4"),
        (["tests", 2, "figures"], {"a": "b"}, "figures[0]"),
        (["tests", 1, "plot", "lines"], {"a": [[1]]}, "tests[1].plot.lines.a: [1] is not a point"),
        (["tests", 1, "plot", "x"], 1, "tests[1].plot: x is 1, which is not text"),
        (["score"], 20, "score is 20, but the tests give 5.9"),
        (["notes"], [1], "notes[0]"),
        (["meta"], {"a": 1}, "meta[0]"),
    ],
)
def test_what_is_no_grade_is_refused_by_name(path: list, value: object, said: str) -> None:
    data = json.loads(json.dumps(result.to_dict(sample())))
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(LabError, match=re.escape(said)) as error:
        result.from_dict(data)
    assert error.value.code == BAD_INPUT


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000, b"[]", b"{}", b'"grade"', b"1" * 5000])
def test_garbage_is_refused_with_the_file_s_name(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "bad.json").write_bytes(data)
    with pytest.raises(LabError, match=r"bad\.json"):
        result.load(tmp_path / "bad.json")


def test_a_member_that_is_missing_is_named() -> None:
    data = result.to_dict(sample())
    for name in data:
        with pytest.raises(LabError, match=name):
            result.from_dict({key: value for key, value in data.items() if key != name})


# --- a quiz ---


def with_quiz() -> Grade:
    """A grade with a quiz, of whose questions one is answered rightly."""
    one = Graded(model.Test("quiz: differ", 2, "quiz"), right())
    other = Graded(model.Test("quiz: spared", 2, "quiz"), model.wrong("3 is not the answer"))
    return replace(sample(), tests=(*sample().tests, one, other))


@pytest.mark.parametrize("to", list(export.Format))
def test_no_export_shows_the_result_of_a_question(to: export.Format) -> None:
    grade, without = with_quiz(), sample()
    both = {option: export.export(grade, to.value, with_quiz=option) for option in (False, True)}
    for made in both.values():
        assert "differ" not in made and "spared" not in made and "is not the answer" not in made
    noted = replace(without, notes=(*without.notes, export.without_questions(grade, False).notes[-1]))
    assert both[False] == export.export(noted, to.value)
    assert "the quiz, 4 points, is not in this score" in both[False] or to is export.Format.CLASSROOM50
    assert both[True] != both[False]


def test_gradescope_shows_the_sum_of_a_quiz_when_grades_are_published() -> None:
    made = json.loads(export.export(with_quiz(), "gradescope", with_quiz=True))
    assert made["score"] == 7.9 and made["tests"][-1] == {
        "name": "quiz",
        "name_format": "text",
        "score": 2,
        "max_score": 4,
        "status": "failed",
        "output": "wrong answer",
        "output_format": "text",
        "visibility": "after_published",
    }


# --- the report ---


def test_the_report_has_every_outcome() -> None:
    assert text.report(sample()) == REPORT
    assert text.score(sample()) == REPORT.split("\n")[-1]


def test_the_report_is_its_lines_and_its_closing() -> None:
    grade = sample()
    assert "\n".join([*map(text.line, grade.tests), text.closing(grade)]) == REPORT


@pytest.mark.parametrize(
    ("dirty", "expected"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb\rc\x0bd\x85e\u2029f", r"a" "\n" r"b\rc\x0bd\x85e\u2029f"),
        ("\x1b[1;31mred\x1b[m \x1b]8;;http://x\x1b\\link\x1b]8;;\x07 \x1bPq#0\x1b\\", "red link"),
        ("\x1b[2J\x1b(Bleft\x1b", r"left\x1b"),
        ("\x1b]never ended", "never ended"),
        (b"\xff\xfe".decode("utf-8", "surrogateescape"), r"\udcff\udcfe"),
        ("\u202etxt.exe \U0001f600é", r"\u202etxt.exe 😀é"),
        ("x" * 5000, "x" * 4000 + " ... (1000 more characters)"),
    ],
)  # fmt: skip
def test_what_a_console_printed_becomes_text(dirty: str, expected: str) -> None:
    assert text.clean(dirty) == expected


# --- what students must not see ---


@pytest.mark.parametrize("to", [each.value for each in export.Format])
def test_a_hidden_test_shows_title_outcome_and_points_only(to: str) -> None:
    shown, all_shown = export.export(sample(), to), export.export(sample(), to, show_hidden=True)
    assert "another string" in shown and not any(leak in shown for leak in LEAKS)
    assert "SECRET" in all_shown and "5 4 3 2 1" not in all_shown


def test_the_report_and_the_picture_hide_it_too() -> None:
    grade = sample()
    assert "SECRET" not in text.report(grade) and "SECRET" in text.report(grade, show_hidden=True)
    without = [Graded(each.test, replace(each.verdict, message="", plot=None)) for each in grade.tests[-2:]]
    blank = replace(grade, tests=(*grade.tests[:-2], *without))
    assert plot.png(grade) == plot.png(blank) != plot.png(grade, show_hidden=True)


# --- the picture ---


def test_the_picture_is_a_png_of_the_grade(tmp_path: Path) -> None:
    grade = sample()
    plot.draw(grade, tmp_path / "grade.png")
    picture = (tmp_path / "grade.png").read_bytes()
    assert picture.startswith(PNG) and b"tEXt" not in picture and b"tIME" not in picture
    better = replace(grade, tests=(grade.tests[0], *grade.tests[2:]))
    assert plot.png(better) != picture
    assert plot.png(replace(grade, tests=())).startswith(PNG)


# --- other systems ---


def test_gradescope() -> None:
    """Checked against the specification: names, types and values of the members."""
    data = json.loads(export.export(sample(), "gradescope"))
    assert set(data) == {"score", "output", "output_format", "tests"}
    assert data["score"] == 5.9 and data["output_format"] == "text"
    members = {"name", "name_format", "score", "max_score", "status", "output", "output_format", "visibility"}
    for test, graded in zip(data["tests"], sample().tests, strict=True):
        assert set(test) == members
        assert test["name_format"] == test["output_format"] == "text"
        assert 0 <= test["score"] <= test["max_score"]
        assert test["status"] == ("passed" if graded.verdict.outcome is Outcome.RIGHT else "failed")
        assert test["visibility"] == ("after_published" if graded.test.hidden else "visible")
    assert sum(test["score"] for test in data["tests"]) == pytest.approx(data["score"])


def test_gradescope_s_output_does_not_tell_what_hidden_tests_gave() -> None:
    output = json.loads(export.export(sample(), "gradescope"))["output"]
    assert output.startswith("Second chance: 3.4/14.5 points in the tests that you see.\n2 more tests, 5.5 points,")
    grade = sample()
    worse = [replace(each, verdict=model.wrong("SECRET")) for each in grade.tests[-2:]]
    assert (
        json.loads(export.export(replace(grade, tests=(*grade.tests[:-2], *worse)), "gradescope"))["output"] == output
    )


def test_prairielearn() -> None:
    """Checked against the specification: score from 0 to 1, tests, pictures as data URLs."""
    data = json.loads(export.export(sample(), "prairielearn"))
    assert set(data) == {"gradable", "score", "message", "output", "tests", "images"}
    assert data["gradable"] is True and data["score"] == pytest.approx(5.9 / 20)
    members = {"name": str, "description": str, "points": (int, float), "max_points": (int, float)}
    for test in data["tests"]:
        assert set(test) == {*members, "message", "output"}
        assert all(isinstance(test[name], kind) for name, kind in members.items())
    (image,) = data["images"]
    head, _, body = image["url"].partition(",")
    assert head == "data:image/png;base64" and base64.b64decode(body, validate=True) == plot.png(sample())


def test_what_does_not_build_is_not_gradable_for_prairielearn() -> None:
    said = ["clock.c:1: error", "clock.c:1: error", "SECRET"]
    tests = [graded_as(str(at), 1, model.wrong(each, Outcome.NO_BUILD), at == 2) for at, each in enumerate(said)]
    data = json.loads(export.export(replace(sample(), tests=tuple(tests)), "prairielearn"))
    assert data["gradable"] is False and data["score"] == 0 and data["format_errors"] == ["clock.c:1: error"]


@pytest.mark.parametrize(("length", "has_picture"), [(10, True), (10_000, False)])
def test_prairielearn_s_file_stays_below_a_megabyte(length: int, has_picture: bool) -> None:
    tests = tuple(graded_as(f"test {at}", 1, model.wrong("é" * length)) for at in range(40))
    made = export.export(replace(sample(), tests=tests), "prairielearn")
    assert len(made) < 1_000_000 and ("images" in json.loads(made)) is has_picture


def test_autolab() -> None:
    """The last line, and no other, is the autoresult."""
    *lines, last = export.export(sample(), "autolab").rstrip("\n").split("\n")
    assert json.loads(last) == {"scores": {"clock": 5.9}}
    assert "\n".join(lines) == REPORT


# junit-10.xsd: for each element its attributes, the required ones, and its children.
JUNIT = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, set(), {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname", "id", "package"},
        {"name", "tests", "failures", "errors"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, {"name", "value"}, set()),
    "testcase": ({"name", "classname", "time", "group"}, {"name"}, {"failure", "skipped", "system-out", "system-err"}),
    "failure": ({"type", "message"}, set(), set()),
    "system-out": (set(), set(), set()),
}


def test_junit() -> None:
    root = ElementTree.fromstring(export.export(sample(), "junit"))
    assert root.tag == "testsuites"
    for element in root.iter():
        may, must, children = JUNIT[element.tag]
        assert must <= set(element.keys()) <= may
        assert {child.tag for child in element} <= children
    (suite,) = root
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("clock", "10", "8")
    failures = {case.get("name"): case.find("failure") for case in suite.iter("testcase")}
    assert [name for name, failure in failures.items() if failure is None] == [
        "fifo: Belady's string",
        "yet another string",
    ]
    assert failures["clock: work"].get("message") == "over budget (1.4/2)"
    assert failures["clock: thrash"].text == text.clean(DIRTY)


@pytest.mark.parametrize("to", [each.value for each in export.Format])
def test_nothing_a_console_printed_passes_as_it_is(to: str) -> None:
    grade = sample()
    dirty = replace(
        grade,
        title=DIRTY,
        notes=(DIRTY,),
        tests=tuple(
            Graded(replace(each.test, title=DIRTY), replace(each.verdict, message=DIRTY)) for each in grade.tests
        ),
    )
    made = export.export(dirty, to)
    assert not re.search(r"[^\n\x20-\x7e]", made)
    if to in ("gradescope", "prairielearn"):
        assert not re.search(r"(?<!\\)(\\\\)*\\u(00[01789]|d[89a-f]|fffe|2028)", made)
    if to == "junit":
        assert text.clean(DIRTY) in [failure.text for failure in ElementTree.fromstring(made).iter("failure")]


# --- the command ---


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    result.save(sample(), tmp_path / "grade.json")
    return tmp_path / "grade.json"


def test_the_command_writes_to_the_terminal_or_a_file(saved: Path) -> None:
    shown = tidemark("export-grade", saved, "--to", "junit", cwd=saved.parent)
    assert shown.returncode == 0 and shown.stdout == export.export(sample(), "junit"), shown.stderr
    done = tidemark(
        "export-grade", saved, "--to", "gradescope", "-o", "results.json", "--show-hidden", cwd=saved.parent
    )
    assert done.returncode == 0 and done.stdout == "", done.stderr
    written = json.loads((saved.parent / "results.json").read_text())
    assert written == json.loads(export.export(sample(), "gradescope", show_hidden=True))


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["none.json", "--to", "junit"], BAD_INPUT, "none.json cannot be read: No such file"),
        (["grade.json", "--to", "moodle"], USAGE, "moodle"),
        (["grade.json", "--to", "junit", "-o", "no/such.xml"], USAGE, "no is not a folder"),
    ],
)
def test_the_command_says_what_is_wrong(saved: Path, words: list[str], status: int, said: str) -> None:
    done = tidemark("export-grade", *words, cwd=saved.parent)
    assert done.returncode == status and said in done.stderr and "Traceback" not in done.stderr


# --- Classroom 50 ---


def test_classroom50_has_whole_numbers_and_what_its_runner_says() -> None:
    made = json.loads(export.export(sample(), "classroom50"))
    assert made["schema"] == "classroom50/result/v1" and made["datetime"] == "2027-01-20T14:32:05Z"
    assert (made["score"], made["max-score"]) == (590, 2000)
    assert sum(test["score"] for test in made["tests"]) == made["score"]
    assert made["tests"][2] == {
        "test-name": "clock: work",
        "passed": False,
        "score": 140,
        "max-score": 200,
        "message": "instructions: full points up to 100, none from 200; yours 130",
    }
    assert {type(test[key]) for test in made["tests"] for key in ("score", "max-score")} == {int}
    assert not any(leak in json.dumps(made) for leak in LEAKS)
    assert made["review"] == RUNNER["COMMIT_URL"]


def test_classroom50_needs_its_runner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLASSROOM")
    with pytest.raises(LabError, match="CLASSROOM not set"):
        export.export(sample(), "classroom50")


@pytest.mark.parametrize("hidden", [False, True])
def test_note_does_not_tell_what_a_hidden_run_was(hidden: bool, tmp_path: Path) -> None:
    """The kernel has the command line: a policy prints it in a line that is quoted."""
    boot = Boot(Outcome.RIGHT, "", "Score: frames=17 seed=77\n", NOTHING)
    clock = lab.load(qemu.ROOT, "clock")
    test = replace(clock.tests[0], hidden=hidden)
    kind = SimpleNamespace(judge=lambda test, machine: machine.boots.append(boot) or right())
    machine = Machine(replace(clock, tests=(test,)), tmp_path, tmp_path, tmp_path, best(), ())
    with mock.patch.object(grading, "kind_of", return_value=kind):
        ((note,),) = (grading.judge(test, machine)[1],)
    assert "the guest's console says" in note and ("seed=77" in note) != hidden
