"""Reading assignments: labs/NAME/lab.toml, and hidden tests from a secret folder.

    number, title    of the assignment
    files            the student's files, relative to the tree
    may_use          symbols that they may use: names, or groups in brackets (tidemark.grade.build.object_rules)
    defines          the functions and variables that they may define for other files; everything else must be static
    registers        for each file that registers a policy or a guard: the name that it registers; the file is plain C
    rules            optional: true if each student has a variant of the rule (tidemark.grade.intake.rules)
    without          hooks that their policies and guards may not have, because the lab asks for something else
    withholds        other files of the tree that come close to a solution: left out of the students' release
    may_store        variables of the kernel, beside their own, that they may write to
    was              old paths of the student's files and their paths now: a file handed in at its old path is
                     graded
    own_tests        host tests and in-kernel suites that fail until the lab is done
    [quiz]           optional: questions about a string drawn for each student (tidemark.grade.model.Quiz)
    [[test]]         title, points, kind, and that kind's options (tidemark.grade.judge.kinds); of = ["FILE"]: the files
                     that it is about, if not all; it runs even if other files do not compile, or are missing

SECRET/NAME.toml has only [[test]] tables. SECRET/quiz.key is a course's secret, which grading quizzes takes.
labs/NAME/questions.toml, if it exists, has the questions of the handout for which a person gives points, each a
[[question]]: name, question, points, rubric (lines); paper = true: it is answered on paper. Students do not get it.
"""

from __future__ import annotations

import pkgutil
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidemark.errors import BAD_INPUT, USAGE, LabError
from tidemark.grade.judge import kinds
from tidemark.grade.judge.quiz import personal, sheet
from tidemark.grade.model import Lab, Personal, Question, Quiz, Test

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAPER = "paper"  # an optional key of a question: it is answered on paper, or in person
FOLDER, FILE, QUESTIONS = "labs", "lab.toml", "questions.toml"
KEYS = {
    "number": int,
    "title": str,
    "files": list,
    "was": dict,
    "may_use": list,
    "may_store": list,
    "defines": list,
    "registers": dict,
    "withholds": list,
    "without": list,
    "own_tests": list,
    "quiz": dict,
    "rules": bool,
    "test": list,
}
OPTIONAL = ("was", "may_store", "defines", "registers", "withholds", "without", "own_tests", "quiz", "rules")
QUIZ_KEY = "quiz.key"
TEST_KEYS = ("title", "points", "kind")
QUESTION_KEYS = {"name": (str,), "question": (str,), "points": (int, float), "rubric": (list,)}


def read(path: Path) -> dict[str, Any]:
    """The table of a TOML file. Raises LabError, which says what is wrong with it."""
    try:
        return tomllib.loads(path.read_text())
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}", BAD_INPUT) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LabError(f"{path} is not valid TOML: {error}", BAD_INPUT) from None


def names(release: Path) -> list[str]:
    """The labs of a tree, by number."""
    paths = (release / FOLDER).glob(f"*/{FILE}")
    return [path.parent.name for path in sorted(paths, key=lambda path: read(path).get("number", 0))]


def others(release: Path, name: str) -> list[Lab]:
    """All labs except this one."""
    return [load(release, other) for other in names(release) if other != name]


def students_files(release: Path) -> set[str]:
    """The files of all labs of a tree. A student may have changed files of other labs, too."""
    return {file for name in names(release) for file in load(release, name).files}


def known_kinds() -> list[str]:
    """The names of all kinds of tests."""
    return sorted(module.name for module in pkgutil.iter_modules(kinds.__path__))


def test_of(path: Path, table: object, hidden: bool) -> Test:
    """One [[test]]."""
    if not isinstance(table, dict) or not all(key in table for key in TEST_KEYS):
        raise LabError(f"{path}: every [[test]] needs {', '.join(TEST_KEYS)}", BAD_INPUT)
    title, points, kind = (table[key] for key in TEST_KEYS)
    if not isinstance(points, int | float) or points <= 0:
        raise LabError(f"{path}: test {title!r}: points = {points!r} is not a number above 0", BAD_INPUT)
    kind = kinds.FORMER.get(str(kind), kind)
    if kind not in known_kinds():
        raise LabError(f"{path}: test {title!r}: no kind {kind!r}; there are {', '.join(known_kinds())}", BAD_INPUT)
    options = {key: value for key, value in table.items() if key not in (*TEST_KEYS, "of")}
    return Test(str(title), points, kind, options, hidden, tuple(table.get("of", ())))


def tests_of(path: Path, tables: list[object], hidden: bool = False) -> tuple[Test, ...]:
    """All [[test]]s of a file. Raises LabError if two have the same title."""
    tests = tuple(test_of(path, table, hidden) for table in tables)
    titles = [test.title for test in tests]
    twice = next((title for title in titles if titles.count(title) > 1), None)
    if twice:
        raise LabError(f"{path}: two tests are called {twice!r}", BAD_INPUT)
    return tests


def check_keys(path: Path, found: dict[str, Any]) -> None:
    """Raises LabError for a key that is unknown, missing, or of the wrong type."""
    for key in found:
        if key not in KEYS:
            raise LabError(f"{path}: unknown key {key!r}; there are {', '.join(KEYS)}", BAD_INPUT)
    for key, kind in KEYS.items():
        if key not in OPTIONAL and key not in found:
            raise LabError(f"{path}: {key!r} is missing", BAD_INPUT)
        if not isinstance(found.get(key, kind()), kind):
            raise LabError(f"{path}: {key!r} must be a {kind.__name__}", BAD_INPUT)


def check_files(path: Path, files: list[str], was: dict[str, str]) -> None:
    """Raises LabError for a file outside the tree, and for a move to a path that is not a file of the lab."""
    for file in (*files, *was):
        if Path(file).is_absolute() or ".." in Path(file).parts:
            raise LabError(f"{path}: {file!r} lies outside the tree", BAD_INPUT)
    for old, new in was.items():
        if new not in files or old in files:
            raise LabError(f"{path}: was: {old!r} = {new!r}: it needs an old path, and one of `files`", BAD_INPUT)


def quiz_of(path: Path, table: dict[str, Any]) -> Quiz:
    """The table [quiz]. Raises LabError if something that a quiz needs is missing."""
    given: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    try:
        made = Quiz(**given)
    except TypeError as error:
        raise LabError(f"{path}: [quiz]: {error}", BAD_INPUT) from None
    unknown = [name for name in made.questions if name not in personal.KINDS and not made.machine]
    on_string = made.refs and made.pages and (made.tau or (made.policy and made.frames))
    if unknown or not made.questions or made.points <= 0 or not (made.machine or on_string):
        there = ", ".join(personal.KINDS)
        raise LabError(
            f"{path}: [quiz] needs points, questions of {there}, and pages, refs and tau, or a policy and frames",
            BAD_INPUT,
        )
    return made


def with_quiz(lab: Lab, secret: Path | None, student: str) -> Lab:
    """The lab with a test for each question of its quiz, if it has one, the course's secret is at hand, and the
    student is known. Raises LabError if the secret is too short or long.
    """
    if not lab.quiz or not secret or not (secret / QUIZ_KEY).is_file() or not student:
        return lab
    answers = sheet.answers_file(lab.name)
    points = lab.quiz.points / len(lab.quiz.questions)
    tests = tuple(
        Test(f"quiz: {name}", points, "quiz", {"question": name}, of=(answers,)) for name in lab.quiz.questions
    )
    return replace(
        lab,
        files=(*lab.files, answers),
        tests=lab.tests + tests,
        personal=Personal(personal.owner(student), personal.read_secret(secret / QUIZ_KEY)),
        quiz_answers=answers,
    )


def load(release: Path, name: str, secret: Path | None = None, student: str = "") -> Lab:
    """The assignment `name` of a tree, with the hidden tests of a secret folder, and the quiz of the given student.
    Raises LabError, which says what is wrong."""
    folder = release / FOLDER / name
    if not name or not (folder / FILE).is_file():
        there = ", ".join(names(release)) or "none"
        raise LabError(f"LAB={name}: no such lab; there are {there}" if name else f"give LAB=, one of {there}", USAGE)
    path = folder / FILE
    found = read(path)
    check_keys(path, found)
    check_files(path, found["files"], found.get("was", {}))
    tests = tests_of(path, found["test"])
    if secret is not None:
        tests += hidden_tests(secret, name)
    made = Lab(
        name=name,
        number=found["number"],
        title=found["title"],
        folder=folder,
        files=tuple(found["files"]),
        may_use=tuple(found["may_use"]),
        may_store=tuple(found.get("may_store", ())),
        own_tests=tuple(found.get("own_tests", ())),
        tests=tests,
        was=dict(found.get("was", {})),
        quiz=quiz_of(path, found["quiz"]) if "quiz" in found else None,
        defines=tuple(found.get("defines", ())),
        registers=dict(found.get("registers", {})),
        withholds=tuple(found.get("withholds", ())),
        without=tuple(found.get("without", ())),
        questions=questions_of(folder / QUESTIONS),
        rules=found.get("rules", False),
    )
    return with_quiz(made, secret, student)


def questions_of(path: Path) -> tuple[Question, ...]:
    """The questions of a file; empty if there is no file. Raises LabError, which says what is wrong with it."""
    if not path.is_file():
        return ()
    found = read(path)
    tables = found.get("question")
    if set(found) != {"question"} or not isinstance(tables, list):
        raise LabError(f"{path}: it must hold [[question]] tables and nothing else", BAD_INPUT)
    asked = tuple(question_of(path, table) for table in tables)
    names = [question.name for question in asked]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise LabError(f"{path}: two questions are called {twice!r}", BAD_INPUT)
    return asked


def question_of(path: Path, table: object) -> Question:
    """One [[question]]."""
    if not isinstance(table, dict) or set(table) - {PAPER} != set(QUESTION_KEYS):
        raise LabError(f"{path}: every [[question]] has {', '.join(QUESTION_KEYS)}, and nothing else", BAD_INPUT)
    if not isinstance(table.get(PAPER, False), bool):
        raise LabError(f"{path}: {PAPER} = {table[PAPER]!r} is neither true nor false", BAD_INPUT)
    for key, kind in QUESTION_KEYS.items():
        if not isinstance(table[key], kind):
            raise LabError(f"{path}: {key} = {table[key]!r} cannot be used", BAD_INPUT)
    if table["points"] <= 0 or not re.fullmatch(r"[\w.-]+", table["name"]):
        raise LabError(f"{path}: question {table['name']!r}: a name must be one word, and points above 0", BAD_INPUT)
    rubric = tuple(map(str, table["rubric"]))
    return Question(table["name"], table["question"].strip(), table["points"], rubric, table.get(PAPER, False))


def hidden_tests(secret: Path, name: str) -> tuple[Test, ...]:
    """The tests of SECRET/NAME.toml. Raises LabError if neither it nor a course's secret exists, since grading
    without them would be a surprise."""
    path = secret / f"{name}.toml"
    if not path.is_file() and (secret / QUIZ_KEY).is_file():
        return ()
    if not path.is_file():
        raise LabError(f"{path} does not exist; the secret folder holds [[test]]s for a lab in LAB.toml", USAGE)
    found = read(path)
    if set(found) != {"test"}:
        raise LabError(f"{path}: it must hold [[test]] tables and nothing else", BAD_INPUT)
    return tests_of(path, found["test"], hidden=True)
