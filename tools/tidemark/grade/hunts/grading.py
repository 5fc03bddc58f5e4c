"""Points for hunts: the place by the key, by a program; the way from the symptom to it by a rubric, by a person.

The place is 2 of a hunt's 8 points, since comparing two machines finds it without any understanding: file and
function 1, the line 1. The other 6 are for what the student wrote about the way. The folder of grades gets

    keys.txt      for the person: each student's hunts with key, symptom, rubric, and the student's answer
    rubric.csv    a row for each student and hunt: fill in points for the way
    hunts.csv     a row for each student: points for the places, for the way, the sum, and what is wrong

The next call adds the points in rubric.csv. An empty way has 0 points, whatever the place is worth; while an answer has
no points yet, there is no sum.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tidemark.files import write_atomically, write_csv
from tidemark.grade.build.machines import NEAR
from tidemark.grade.hand_back import class_table, written
from tidemark.grade.hand_back.text import indented, number
from tidemark.grade.hunts import drawing, hand_out
from tidemark.grade.hunts.pool import Row
from tidemark.grade.intake import archive, roster
from tidemark.grade.judge.kinds import fault_place
from tidemark.grade.judge.quiz.personal import owner, plain_name
from tidemark.grade.model import Lab, Question

PLACE, WAY = 2, 6  # points of a hunt
KEYS, TABLE = "keys.txt", "hunts.csv"
RUBRIC = (
    "1: the symptom in a sentence, and what a correct kernel does",
    "3: each step from the symptom to the cause, with gdb's output: what was wrong, what wrote it last, and when. A gap"
    " in the chain, or a step without output, costs one point; a chain that begins at the place has none of the three",
    "1: what the machine executes in place of the line",
    "1: the values with which the line goes wrong for the first time, and why this has this symptom",
)


@dataclass(frozen=True)
class Score:
    """A student's points for the places, a message for each hunt, and the answers about the way by hunt."""

    places: int
    messages: tuple[str, ...]
    answers: Mapping[str, str]


def names_of_hunts() -> list[str]:
    """hunt1 to hunt3."""
    return [f"hunt{nr}" for nr in range(1, drawing.EACH + 1)]


def assignment() -> Lab:
    """The hunts as a lab, whose files and questions intake and rubric know."""
    questions = tuple(
        Question(name, f"{name}: the way from the symptom to the cause", WAY, RUBRIC) for name in names_of_hunts()
    )
    file = f"{hand_out.TOP}/{hand_out.ANSWERS}"
    return Lab("hunts", 9, "Bug hunts", Path(hand_out.TOP), (file,), (), (), (), (), questions=questions)


def place(given: Mapping[str, object], row: Row) -> tuple[int, str]:
    """(points, message) for an answer on a place. Messages do not tell the key."""
    named = str(given["file"]).removeprefix("./"), str(given["function"]).removesuffix("()")
    if named != (row.file, row.function):
        return 0, "file and function are not those of the change"
    if abs(int(str(given["line"])) - row.line) > NEAR:
        return 1, "the function is right, the line is not"
    return PLACE, "the place is right"


def score(toml: bytes, answers: bytes, hunts: Sequence[Row]) -> Score:
    """The points for what a student handed in."""
    places, messages = 0, []
    with tempfile.TemporaryDirectory(prefix="tidemark-hunts-") as folder:
        path = Path(folder, hand_out.ANSWERS)
        path.write_bytes(toml)
        for name, row in zip(names_of_hunts(), hunts):
            given, trouble = fault_place.answered(path, name)
            points, message = (0, trouble) if trouble else place(given, row)
            places += points
            messages.append(f"{name}: {message}")
    return Score(places, tuple(messages), written.split(written.text_of(answers), assignment().questions))


def key_text(name: str, row: Row, answer: str) -> str:
    """What a person needs to give points for a way."""
    symptom = f"{row.kind} in workload {row.workload}: {row.says!r}"
    symptom += f" instead of {row.expected!r}" if row.expected else ""
    lines = [
        f"{name}: kernel {row.number}, {row.file}:{row.line}, {row.function}: {row.reason()}",
        f"  symptom: {symptom}",
        *(f"  - {line}" for line in RUBRIC),
        indented(answer) if answer else "  (no answer: 0 points)",
    ]
    return "\n".join(lines)


def handed_in(folder: Path, names: Mapping[str, str], reader: archive.Reader) -> dict[str, class_table.Student]:
    """The submissions by the student's name; one whose name is not on the roster, or is also another's, has a
    reason."""
    lab, found = assignment(), {}
    submissions = class_table.handed_in(folder, lab)
    twice = roster.clashes(submissions)
    for name, paths in submissions.items():
        plain = plain_name(owner(name))
        if name in twice:
            found[name] = class_table.Student(name, {}, reason=twice[name])
        elif plain in names:
            found[names[plain]] = class_table.collected(name, paths, lab, {}, reader)
        else:
            found[name] = class_table.Student(name, {}, reason="the name is not on the roster")
    return found


def row_of(name: str, one: Score, marks: written.Marks) -> dict[str, object]:
    """A student's row of hunts.csv."""
    lab = assignment()
    given = [written.mark_for(question, name, one.answers, marks).points for question in lab.questions]
    way = None if None in given else sum(points for points in given if points is not None)
    most = drawing.EACH * (PLACE + WAY)
    final = "" if way is None else number(one.places + way)
    shown = "" if way is None else number(way)
    return {
        "name": name,
        "places": one.places,
        "way": shown,
        "final": final,
        "of": most,
        "note": "; ".join(one.messages),
    }


def grade(
    rows: Sequence[Row], secret: bytes, names: Mapping[str, str], submissions: Path, out: Path, reader: archive.Reader
) -> list[dict[str, object]]:
    """Grade a class into the folder `out`; the rows of hunts.csv."""
    lab, scores, keys = assignment(), dict[str, Score](), list[str]()
    table: list[dict[str, object]] = []
    out.mkdir(parents=True, exist_ok=True)
    marks = written.load(out / written.TABLE, lab)
    for name, student in handed_in(submissions, names, reader).items():
        if student.reason:
            table.append({"name": name, "note": student.reason})
            continue
        hunts = drawing.drawn(rows, secret, name)
        one = scores[name] = score(student.files[lab.files[0]], student.answers, hunts)
        keys += [
            f"== {name}",
            *(key_text(hunt, row, one.answers.get(hunt, "")) for hunt, row in zip(names_of_hunts(), hunts)),
        ]
        table.append(row_of(name, one, marks))
    written.save(out / written.TABLE, lab, scores, marks)
    write_atomically(out / KEYS, "\n\n".join(keys) + "\n")
    write_csv(
        out / TABLE, [class_table.harmless(row) for row in table], ["name", "places", "way", "final", "of", "note"]
    )
    return table
