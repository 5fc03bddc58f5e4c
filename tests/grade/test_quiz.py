"""The quiz: keys compared with models that are independent of the simulator, strings of equal difficulty, and the
messages about answers that cannot be graded.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import pytest
from soak import soak_but
from textbook import fifo
from tidemark.commands import grade
from tidemark.commands import quiz as command
from tidemark.errors import LabError
from tidemark.grade import grading, isolation
from tidemark.grade.build import object_rules
from tidemark.grade.build.sandbox import best
from tidemark.grade.hand_out import release
from tidemark.grade.intake import lab, roster
from tidemark.grade.judge.quiz import personal, sheet
from tidemark.grade.judge.quiz.personal import Drawn, drawn
from tidemark.grade.model import Lab, Outcome, Personal, Quiz, Verdict
from tidemark.grade.witness.machine import Machine
from tidemark.machine import qemu

pytestmark = pytest.mark.graded

SECRET = b"a course's secret of 2027"
ADA, BOB = "Ada Lovelace", "Bob"
SPARED_AND_TAKEN = "s14"  # all pages have been used, and one is first spared and then evicted
NAMES = [ADA, BOB, "Zoë Ng", "Иван", SPARED_AND_TAKEN, *(f"student {n}" for n in range(20))]
LABS = ("clock", "twoq", "workingset")

Seen = tuple["int | None", set[int], list[int]]  # the evicted page, the resident pages before it, the spared pages


def clock(string: Sequence[int], frames: int) -> list[Seen]:
    """Second chance with a queue of (page, bit)."""
    queue: deque[list[int]] = deque()
    made: list[Seen] = []
    for page in string:
        before, victim, spared = {entry[0] for entry in queue}, None, []
        mine = [entry for entry in queue if entry[0] == page]
        for entry in mine:
            entry[1] = 1
        if not mine:
            while len(queue) == frames and victim is None:
                first = queue.popleft()
                if first[1]:
                    spared.append(first[0])
                    queue.append([first[0], 0])
                else:
                    victim = first[0]
            queue.append([page, 0])
        made.append((victim, before, spared))
    return made


def two_lists(string: Sequence[int], frames: int) -> list[Seen]:
    """2q for a program's own pages: new ones are active, those read back inactive, the access that faults is a use."""
    active: list[int] = []
    inactive: list[int] = []  # newest first
    known: set[int] = set()
    used: set[int] = set()

    def was_used(page: int) -> bool:
        found = page in used
        used.discard(page)
        return found

    def shrink() -> None:
        most, n = len(active) // (len(inactive) + 1), 0
        while len(active) > len(inactive) and n <= most:
            was_used(active[-1])
            inactive.insert(0, active.pop())
            n += 1

    def take() -> int:
        while True:
            shrink()
            page = inactive.pop()
            if not was_used(page):
                return page
            active.insert(0, page)

    made: list[Seen] = []
    for page in string:
        before = {*active, *inactive}
        victim = take() if page not in before and len(before) == frames else None
        if page not in before:
            (inactive if page in known else active).insert(0, page)
        known.add(page)
        used.add(page)
        made.append((victim, before, []))
    return made


MODELS: dict[str, Callable[[Sequence[int], int], list[Seen]]] = {"clock": clock, "twoq": two_lists}


def numbers(text: str) -> list[int]:
    """The numbers in a question."""
    return [int(word) for word in re.findall(r"(?<![\w])\d+\b(?!q)", text)]


def answer(
    name: str, text: str, string: Sequence[int], model: Callable[[Sequence[int]], list[Seen]], rival: list
) -> int:
    """The answer of a student who works with the model on paper."""
    run, given = model(string), numbers(text)
    if name == "differ":
        return next(at for at, seen in enumerate(run, 1) if seen[0] != rival[at - 1])
    if name == "spared":
        return sum(seen[2].count(given[0]) for seen in run)
    if name == "once-more":
        page, after, _, at, victim, to = given
        assert run[at - 1][0] == victim == page and string[at - 1] == to
        return model([*string[:after], page, *string[after:]])[at][0] or 0
    at, victim = given
    assert run[at - 1][0] == victim
    past, future = list(string[: at - 1])[::-1], [*string[at:]]
    if name == "oldest":
        return max(run[at - 1][1], key=past.index)
    return max(run[at - 1][1], key=lambda page: future.index(page) if page in future else len(future))


def working_set_answer(name: str, text: str, string: Sequence[int], tau: int) -> int:
    """The answer to a question about a window, from the ages of pages, one reference after another."""
    age: dict[int, int] = {}
    sizes, left, misses = [], [], {tau: 0, tau + 2: 0}
    for page in string:
        for window in misses:
            misses[window] += age.get(page, 99) >= window
        age = {old: years + 1 for old, years in age.items()} | {page: 0}
        sizes.append(sum(years < tau for years in age.values()))
        left.append([old for old, years in age.items() if years == tau])
    at = numbers(text)[0] - 1 if numbers(text) else 0
    if name == "size":
        return sizes[at]
    if name == "leaves":
        return left[at][0]
    return sizes.index(max(sizes)) + 1 if name == "largest" else misses[tau] - misses[tau + 2]


def of(name: str, student: str, secret: bytes = SECRET) -> Drawn:
    """A student's quiz."""
    quiz = lab.load(qemu.ROOT, name).quiz
    assert quiz
    return drawn(qemu.ROOT, name, quiz, Personal(student, secret))


@pytest.mark.parametrize("student", soak_but(NAMES, ADA, "Иван", SPARED_AND_TAKEN))
@pytest.mark.parametrize("name", LABS)
def test_keys_are_those_of_a_model_on_paper(name: str, student: str) -> None:
    quiz, made = lab.load(qemu.ROOT, name).quiz, of(name, student)
    assert quiz and [each.name for each in made.asked] == list(quiz.questions)
    rival = [] if quiz.tau else [one.victim for one in fifo(made.string, quiz.frames)]
    for each in made.asked:
        if quiz.tau:
            mine = working_set_answer(each.name, each.text, made.string, quiz.tau)
        else:
            mine = answer(each.name, each.text, made.string, lambda s: MODELS[name](s, quiz.frames), rival)
        assert mine == each.key, each


@pytest.mark.parametrize("name", soak_but(LABS, "clock"))
def test_strings_are_as_hard_as_each_other_and_nobody_elses(name: str) -> None:
    quiz, made = lab.load(qemu.ROOT, name).quiz, [of(name, student) for student in NAMES[:6]]
    assert quiz and len({each.string for each in made}) == len(made)
    for each in made:
        assert len(each.string) == quiz.refs and set(each.string) <= set(range(1, quiz.pages + 1))
        if not quiz.tau:
            mine = [seen[0] for seen in MODELS[name](each.string, quiz.frames)]
            other = [one.victim for one in fifo(each.string, quiz.frames)]
            assert quiz.faults[0] <= sum(victim is not None for victim in mine) + quiz.frames <= quiz.faults[1]
            assert sum(one != two for one, two in zip(mine, other)) >= quiz.differ


def test_a_name_is_the_same_however_it_is_written() -> None:
    assert of("clock", "zoe_ng ") == of("clock", "Zoë Ng")
    assert of("clock", ADA, SECRET + b"!").string != of("clock", ADA).string
    personal.drawn.cache_clear()
    assert of("clock", ADA) == of("clock", ADA)
    assert personal.owner("Zoë Ng_8123_assignsubmission_file_") == "Zoë Ng"
    with pytest.raises(LabError, match="'--' is not a name"):
        of("clock", "--")


def test_a_release_without_solutions_has_no_keys(tmp_path: Path) -> None:
    (tmp_path / "labs").mkdir()
    (tmp_path / "labs/RELEASE").touch()
    quiz = lab.load(qemu.ROOT, "clock").quiz
    assert quiz
    with pytest.raises(LabError, match="student's release, without solutions"):
        drawn(tmp_path, "clock", quiz, Personal(ADA, SECRET))


def test_code_that_does_not_compile_costs_no_answer(tmp_path: Path, secret: Path) -> None:
    assignment = lab.load(qemu.ROOT, "clock", secret, ADA)
    (tmp_path / assignment.quiz_answers).parent.mkdir(parents=True)
    (tmp_path / assignment.quiz_answers).write_text(answers_of(ADA))
    machine = Machine(assignment, tmp_path, qemu.ROOT, tmp_path, best(), object_rules.objects(assignment))
    made, _ = grading.judged(machine, 1, grading.silent)
    assert {one.verdict.outcome for one in made if one.test.kind != "quiz"} == {Outcome.MISSING}
    assert [one.points for one in made if one.test.kind == "quiz"] == [1] * 5


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A secret folder that contains only the key of quizzes."""
    (tmp_path / "secret").mkdir(mode=0o700)
    (tmp_path / "secret" / lab.QUIZ_KEY).write_bytes(SECRET + b"\n")
    return tmp_path / "secret"


def verdicts(folder: Path, assignment: Lab, answers: str | None) -> list[Verdict]:
    """The verdicts on the quiz with this file of answers."""
    path = folder / assignment.quiz_answers
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if answers is not None:
        path.write_text(answers)
    machine = Machine(assignment, folder, qemu.ROOT, folder, best(), ())
    return [grading.judge(test, machine)[0] for test in assignment.tests if test.kind == "quiz"]


def answers_of(student: str, whose: str = "") -> str:
    """A file with all the right answers of a student, under a name."""
    keys = [f"{each.name} = {each.key}" for each in of("clock", student).asked]
    return "\n".join([f'name = "{whose or student}"', "[answers]", *keys])


def test_right_answers_bring_all_points_and_another_students_none(tmp_path: Path, secret: Path) -> None:
    assignment = lab.load(qemu.ROOT, "clock", secret, ADA)
    quiz = [test for test in assignment.tests if test.kind == "quiz"]
    assert sum(test.points for test in quiz) == 5 and assignment.quiz_answers in assignment.paths
    assert {one.outcome for one in verdicts(tmp_path, assignment, answers_of(ADA, "ada lovelace"))} == {Outcome.RIGHT}
    assert {one.message for one in verdicts(tmp_path, assignment, answers_of(BOB))} == {
        "quiz-answers.toml is that of 'Bob'; this is the submission of 'Ada Lovelace'"
    }
    renamed = verdicts(tmp_path, assignment, answers_of(BOB, ADA))
    by_chance = [one.key == other.key for one, other in zip(of("clock", ADA).asked, of("clock", BOB).asked)]
    assert [one.outcome == Outcome.RIGHT for one in renamed] == by_chance and not all(by_chance)


SAID = {
    "none": (None, r"labs/clock/quiz-answers.toml is missing; `make quiz LAB=clock` writes it"),
    "damaged": ('name = "Ada', r"quiz-answers.toml cannot be read: Unterminated string.*"),
    "no text": ("\x00", r"quiz-answers.toml cannot be read: .*"),
    "large": ("#" * 70000, r"quiz-answers.toml cannot be read: it has more than 32 KiB"),
    "no name": ("[answers]\ndiffer = 3\n", r"quiz-answers.toml is damaged: it has no name, or no answers"),
    "practice": (
        'name = "Ada Lovelace"\npractice = true\n',
        r"quiz-answers.toml has the answers to the sheet for home.*",
    ),
    "unanswered": ('name = "Ada Lovelace"\n', "not answered"),
    "a word": ('name = "Ada Lovelace"\nanswers = {differ = "3", spared = true}\n', "not answered"),
    "wrong": ('name = "Ada Lovelace"\nanswers = {differ = 99}\n', "99 is not the answer"),
}


@pytest.mark.parametrize("case", SAID)
def test_one_line_says_what_is_wrong_with_answers(case: str, tmp_path: Path, secret: Path) -> None:
    text, said = SAID[case]
    made = verdicts(tmp_path, lab.load(qemu.ROOT, "clock", secret, ADA), text)
    assert [one.fraction for one in made] == [0] * 5
    assert re.fullmatch(said, made[0].message)
    assert made[0].outcome is (Outcome.WRONG if text else Outcome.MISSING)


def test_without_a_secret_or_a_name_there_is_no_quiz(secret: Path) -> None:
    for assignment in (lab.load(qemu.ROOT, "clock"), lab.load(qemu.ROOT, "clock", secret)):
        assert not assignment.personal and "quiz" not in {test.kind for test in assignment.tests}
    assert lab.load(qemu.ROOT, "buddy", secret, ADA).quiz is None
    with pytest.raises(LabError, match="whose submission is it"):
        grade.whose_quiz(True, "", None)
    assert grade.whose_quiz(True, "", Path("in/ada.zip")) == "ada" and not grade.whose_quiz(False, "ada", None)
    assert isolation.secrets(secret, "clock") == [secret / lab.QUIZ_KEY]


BAD_TABLES = {
    "questions": ('questions = ["why"]', "needs points, questions of differ"),
    "policy": ('policy = ""', "needs points"),
    "unknown": ("hints = 3", "unexpected keyword argument 'hints'"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_table_is_named(case: str, tmp_path: Path) -> None:
    line, said = BAD_TABLES[case]
    text = re.sub(rf"(?m)^{line.split()[0]} = .*\n", "", (qemu.ROOT / "labs/clock/lab.toml").read_text())
    (tmp_path / "labs/clock").mkdir(parents=True)
    (tmp_path / "labs/clock/lab.toml").write_text(text.replace("[quiz]\n", f"[quiz]\n{line}\n"))
    with pytest.raises(LabError, match=said):
        lab.load(tmp_path, "clock")


def test_a_class_tells_its_grader_whose_it_is(tmp_path: Path) -> None:
    isolation.lay(isolation.Job({}, (), "clock", "none", "Zoë Ng"), tmp_path)
    assert (tmp_path / isolation.STUDENT).read_text("utf-8") == "Zoë Ng"


def test_a_secret_that_can_be_guessed_is_refused(secret: Path) -> None:
    (secret / lab.QUIZ_KEY).write_text("sesame\n")
    with pytest.raises(LabError, match="has 6 bytes; a secret has 16 to"):
        lab.load(qemu.ROOT, "clock", secret, ADA)


def test_names_that_will_not_do_cost_no_other_name_its_sheet(tmp_path: Path) -> None:
    (tmp_path / "names").write_text("# a class\nAda Lovelace\n...\nada_lovelace\nBob\n")
    found = roster.read(tmp_path / "names")
    assert found.names == {"bob": "Bob"}
    assert found.refused == (
        "'...' is not a name",
        "'Ada Lovelace' and 'ada_lovelace' are one name to the draw: change one",
    )
    assert found.strangers(["bob_12_assignsubmission_file_", "Eve"]) == {
        "Eve": "'Eve' is not on the roster names: name it as there"
    }
    (tmp_path / "names").write_text("# no names\n")
    with pytest.raises(LabError, match="has no names"):
        roster.read(tmp_path / "names")


def exported(folder: Path, **options: object) -> str:
    """The output of `tidemark quiz export` into a folder, for Ada and Bob."""
    (folder / "names").write_text(f"{ADA}\n{BOB}\n")
    (folder / "key").write_bytes(SECRET)
    given = {"out": folder / "sheets", "paper": folder / "sheets.html", "keys": folder / "keys.html"} | options
    command.export("clock", folder / "names", folder / "key", **given)
    return (folder / "sheets.html").read_text()


def test_paper_has_a_page_for_each_student_and_the_keys_apart(tmp_path: Path) -> None:
    sheets, keys = exported(tmp_path, supervised=True), (tmp_path / "keys.html").read_text()
    assert sheets.count("<article>") == keys.count("<article>") == 2 and "break-before: page" in sheets
    assert "Under supervision: 5 points" in sheets and 'class="key"' not in sheets
    for student in (ADA, BOB):
        made = of("clock", student)
        assert "".join(f"<td>{page}</td>" for page in made.string[:20]) in sheets
        assert all(escape(each.text) in sheets for each in made.asked)
        ours = keys.split(f">{student}<")[1].split("</article>")[0]
        assert re.findall(r'class="key">(\d+)<', ours) == [str(each.key) for each in made.asked]
    assert (tmp_path / "keys.html").stat().st_mode & 0o077 == 0


def test_practice_says_so_and_reveals_nothing_of_the_supervised_quiz(tmp_path: Path) -> None:
    sheets = exported(tmp_path)
    assert "it gives no points" in sheets and "Under supervision:" not in sheets
    made = [sheet.read(path, "clock") for path in sorted((tmp_path / "sheets").iterdir())]
    assert [each.practice for each in made] == [True, True]
    assert made[0].string != " ".join(map(str, of("clock", ADA).string))
    sheet.write(tmp_path / "answers", made[0], {"differ": 3})
    assert sheet.is_practice(tmp_path / "answers")


def test_keys_do_not_lie_among_the_sheets(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="would be among the sheets in"):
        exported(tmp_path, keys=tmp_path / "sheets/keys.html")
    with pytest.raises(LabError, match="say where: --out FOLDER for files"):
        exported(tmp_path, out=None, paper=None)


def test_a_sheet_that_cannot_be_made_costs_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    really = personal.drawn

    def without_ada(tree: Path, name: str, quiz: Quiz, whose: Personal) -> Drawn:
        if whose.student == ADA:
            raise LabError("of 2000 strings none meets [quiz] in lab.toml")
        return really(tree, name, quiz, whose)

    monkeypatch.setattr(personal, "drawn", without_ada)
    with pytest.raises(LabError, match="1 could not be: the lines above say why"):
        exported(tmp_path, supervised=True)
    assert "tidemark: Ada Lovelace: of 2000 strings none meets" in capsys.readouterr().err
    assert ">Bob<" in (tmp_path / "sheets.html").read_text()


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A student's tree with Ada's sheet, and a lab without a quiz."""
    for name in ("clock", "buddy"):
        (tmp_path / "labs" / name).mkdir(parents=True)
        (tmp_path / "labs" / name / "lab.toml").write_text((qemu.ROOT / "labs" / name / "lab.toml").read_text())
    quiz = lab.load(qemu.ROOT, "clock").quiz
    assert quiz
    (tmp_path / "labs/clock/quiz.toml").write_text(sheet.text_of("clock", ADA, quiz, of("clock", ADA)))
    monkeypatch.setattr(qemu, "ROOT", tmp_path)
    return tmp_path


def test_sheet_has_no_keys_and_takes_answers(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command.take("clock", "12 3 - 4 5")
    assert "4 of 5 answered, in labs/clock/quiz-answers.toml" in capsys.readouterr().out
    found = sheet.answered(tree / "labs/clock/quiz-answers.toml")
    assert found == (ADA, {"differ": 12, "spared": 3, "farthest": 4, "once-more": 5})
    command.take("clock", "")
    shown = capsys.readouterr().out
    assert "differ: 12" in shown and "oldest: not answered" in shown
    assert sheet.answered(tree / "labs/clock/quiz-answers.toml") == found
    assert "key" not in (tree / "labs/clock/quiz.toml").read_text()


BAD_CALLS = {
    "few": ("clock", "1 2", "2 answers for 5 questions"),
    "word": ("clock", "1 2 three 4 5", "'three' is not an answer to oldest"),
    "no quiz": ("buddy", "", "lab buddy has no quiz"),
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_call_that_will_not_do_is_told(case: str, tree: Path) -> None:
    name, answers, said = BAD_CALLS[case]
    with pytest.raises(LabError, match=said):
        command.take(name, answers)


def test_sheet_that_will_not_do_is_told(tree: Path) -> None:
    path = tree / "labs/clock/quiz.toml"
    (tree / "labs/clock/quiz-answers.toml").write_text('name = "Bob"\n')
    with pytest.raises(LabError, match="has the answers of 'Bob', but the sheet is that of 'Ada Lovelace'"):
        command.take("clock", "")
    path.write_text(path.read_text().replace('lab = "clock"', 'lab = "twoq"'))
    with pytest.raises(LabError, match="is not a sheet of a quiz in lab clock"):
        command.take("clock", "")
    path.unlink()
    with pytest.raises(LabError, match="if your course has quizzes, you were given this file"):
        command.take("clock", "")


def test_release_holds_nobodys_sheet(tree: Path) -> None:
    (tree / "labs/clock/quiz-answers.toml").write_text('name = "Ada Lovelace"\n')
    assert [str(path) for path in release.wanted(tree)] == ["labs/buddy/lab.toml", "labs/clock/lab.toml"]
