"""The two files of a quiz: the sheet, which a student is given, and the answers, which the student hands in.

labs/LAB/quiz.toml has the name, the string and the questions as text; labs/LAB/quiz-answers.toml has name and numbers.
Neither holds a key or the secret. `practice = true` in either says that it was drawn for home, and gives no points.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark.errors import BAD_INPUT, LabError
from tidemark.files import write_atomically
from tidemark.grade.judge import answer_file
from tidemark.grade.judge.quiz.personal import SCHEMA, Drawn
from tidemark.grade.model import Quiz

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SHEET, ANSWERS = "quiz.toml", "quiz-answers.toml"
MOST_BYTES = 64 << 10
MOST = (1 << 40) - 1
AT_HOME = "This is practice and gives no points: a quiz gives points only under supervision, with another string."


@dataclass(frozen=True)
class Sheet:
    """The sheet of a student: `how` says what the string is for; `questions` are the texts by name; `practice`: it
    gives no points."""

    lab: str
    name: str
    string: str
    how: str
    questions: Mapping[str, str]
    practice: bool = False

    @property
    def introduction(self) -> str:
        """The text before `how`; it contains the string, if the quiz is about one."""
        if self.string.startswith("tidemark "):
            return "Numbers may be in hexadecimal, 0x1702; all are those of this run:"
        return f"References count from 1; memory is empty at first.\n\n    {self.string}"


def answers_file(lab: str) -> str:
    """The path of the answers in a tree."""
    return f"labs/{lab}/{ANSWERS}"


def quoted(text: str) -> str:
    """A text as a TOML string."""
    return json.dumps(text, ensure_ascii=False)


def how(quiz: Quiz, string: str) -> str:
    """The text that says what the string is for."""
    if quiz.machine:
        command, _, fault = string.rpartition(" --fault ")
        return f"{command}\ntidemark gdb results/{quiz.machine} --fault {fault}"
    if quiz.tau:
        return f"Each reference takes the same time, and tau is {quiz.tau} references, including the current one."
    return f'make sim VM={quiz.policy} FRAMES={quiz.frames} EXPLAIN=1 TRACE="{string}"'


def text_of(lab: str, name: str, quiz: Quiz, drawn: Drawn, practice: bool = False) -> str:
    """The sheet of a student, as TOML."""
    string = " ".join(map(str, drawn.string))
    lines = [
        f"# A quiz. Put this file into the tree as labs/{lab}/{SHEET}; `make quiz LAB={lab}` asks its questions.",
        f"schema = {quoted(SCHEMA)}",
        f"lab = {quoted(lab)}",
        f"name = {quoted(name)}",
        *(["practice = true"] if practice else []),
        f"string = {quoted(string)}",
        f"how = {quoted(how(quiz, string))}",
        "",
        "[questions]",
        *(f"{each.name} = {quoted(each.text)}" for each in drawn.asked),
    ]
    return "\n".join(lines) + "\n"


def load(path: Path, handed_in: bool = False) -> dict[str, Any]:
    """The table of a TOML file. Raises LabError, with a text of one line, if it cannot be read."""
    try:
        if handed_in:
            return answer_file.read(path)
        if path.stat().st_size > MOST_BYTES:
            raise LabError(f"{path.name} cannot be read: it is larger than {MOST_BYTES >> 10} KiB", BAD_INPUT)
        return tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise LabError(f"{path.name} cannot be read: {error.strerror}", BAD_INPUT) from None
    except (ValueError, RecursionError) as error:
        said = " ".join(str(error).split())
        raise LabError(f"{path.name} cannot be read: {said}", BAD_INPUT) from None


def read(path: Path, lab: str) -> Sheet:
    """The sheet in a tree. Raises LabError if there is none, or another lab's."""
    if not path.is_file():
        raise LabError(f"there is no {path}: if your course has quizzes, you were given this file", BAD_INPUT)
    found = load(path)
    texts = [found.get(key) for key in ("name", "string", "how")]
    questions = found.get("questions")
    if found.get("schema") != SCHEMA or found.get("lab") != lab:
        raise LabError(f"{path} is not a sheet of a quiz in lab {lab}", BAD_INPUT)
    if not all(isinstance(text, str) for text in texts) or not isinstance(questions, dict) or not questions:
        raise LabError(f"{path} is damaged: take the file that you were given", BAD_INPUT)
    name, string, how_ = map(str, texts)
    asked = {key: str(text) for key, text in questions.items()}
    return Sheet(lab, name, string, how_, asked, found.get("practice") is True)


def number(text: str) -> int | None:
    """The whole number from 0 to MOST in a text, decimal or as 0x1702; None if it is not such a number."""
    plain = text.strip().lower()
    if not re.fullmatch(r"[0-9]{1,13}|0x[0-9a-f]{1,10}", plain):
        return None
    value = int(plain, 16 if plain.startswith("0x") else 10)
    return value if value <= MOST else None


def answered(path: Path) -> tuple[str, dict[str, int]]:
    """(name, answers by question) in a file of answers. Answers that are not whole numbers count as missing. Raises
    LabError if the file cannot be read.
    """
    found = load(path, handed_in=True)
    name, answers = found.get("name"), found.get("answers", {})
    if not isinstance(name, str) or not isinstance(answers, dict):
        raise LabError(f"{path.name} is damaged: it has no name, or no answers", BAD_INPUT)
    return name, {key: value for key, value in answers.items() if type(value) is int and 0 <= value <= MOST}


def is_practice(path: Path) -> bool:
    """Are the answers in a file those to a sheet for home? Raises LabError if the file cannot be read."""
    return load(path, handed_in=True).get("practice") is True


def write(path: Path, sheet: Sheet, answers: Mapping[str, int]) -> None:
    """Write the answers, in the order of the questions."""
    lines = [f"lab = {quoted(sheet.lab)}", f"name = {quoted(sheet.name)}"]
    lines += [*(["practice = true"] if sheet.practice else []), "", "[answers]"]
    lines += [f"{key} = {answers[key]}" if key in answers else f"# {key} =" for key in sheet.questions]
    write_atomically(path, "\n".join(lines) + "\n")
