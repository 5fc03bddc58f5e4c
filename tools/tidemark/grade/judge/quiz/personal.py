"""A string of references for each student, drawn from a course's secret and the student's name.

The same secret, lab and name always give the same string and the same questions, so nothing has to be stored: grading
draws them again. Without the secret they cannot be drawn. All strings are equally hard: candidates are drawn one
after the other (HMAC-SHA256 of name and number), and the first suitable one is taken: its faults lie in the lab's band,
the policies differ often enough on it, and all questions can be asked about it. What is drawn for practice at home is
drawn apart from what is drawn for a supervised session.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tidemark.errors import BAD_INPUT, FAILED, USAGE, LabError
from tidemark.grade.build.tree import MANIFEST
from tidemark.grade.judge import expected
from tidemark.grade.judge.quiz import questions, window
from tidemark.grade.judge.quiz.questions import Question
from tidemark.grade.judge.quiz.runs import Run, simulate
from tidemark.grade.model import Personal, Quiz

LEAST_SECRET, MOST_SECRET = 16, 4096  # bytes
LOCALITY = 4  # pages that are popular for a while
PHASES = 3
MOST_CANDIDATES = 2000
SCHEMA = "tidemark-quiz/1"
PRACTICE = "practice"  # the last word of what is drawn for home

KINDS: dict[str, Callable[[Run], Question | None]] = {**questions.KINDS, **window.KINDS}


@dataclass(frozen=True)
class Drawn:
    """A student's own string, or the words that make the run, and the questions about it."""

    string: tuple[int | str, ...]
    asked: tuple[Question, ...]


class Draw:
    """Pseudo-random numbers, the same for the same secret and words."""

    def __init__(self, secret: bytes, *words: str) -> None:
        self.secret, self.text, self.number = secret, "\0".join(words), 0

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1."""
        self.number += 1
        digest = hmac.new(self.secret, f"{self.text}\0{self.number}".encode(), hashlib.sha256).digest()
        return int.from_bytes(digest[:8], "big") % limit


def read_secret(path: Path) -> bytes:
    """The secret in a file, stripped of white space. Raises LabError if there is none, or it is too short or long."""
    try:
        secret = path.read_bytes().strip()
    except OSError as error:
        raise LabError(f"{path} cannot be read: {error.strerror}", BAD_INPUT) from None
    if not LEAST_SECRET <= len(secret) <= MOST_SECRET:
        raise LabError(
            f"{path} has {len(secret)} bytes; a secret has {LEAST_SECRET} to {MOST_SECRET:,}: `openssl rand -hex 16`",
            BAD_INPUT,
        )
    return secret


def plain_name(name: str) -> str:
    """The form in which names are compared: lower-case letters and digits without accents; "Zoë Ng" becomes zoe-ng."""
    letters = (c for c in unicodedata.normalize("NFKD", name.casefold()) if not unicodedata.combining(c))
    return "-".join("".join(c if c.isalnum() else " " for c in letters).split())


def owner(submission: str) -> str:
    """The student of a submission, from its name without what Moodle adds."""
    return re.sub(r"_\d+_assignsubmission.*$", "", submission)


def draw_for(personal: Personal, schema: str, lab: str, *more: str) -> Draw:
    """The draw for a student in a lab. `schema` says for what. Raises LabError for a name without letters."""
    name = plain_name(personal.student)
    if not name:
        raise LabError(f"{personal.student!r} is not a name", USAGE)
    return Draw(personal.secret, schema, lab, name, *([PRACTICE] if personal.practice else []), *more)


def candidate(draw: Draw, quiz: Quiz) -> tuple[int, ...]:
    """A string: two of three references go to a few popular pages, which change twice; no page comes twice in a row."""
    string: list[int] = []
    while len(string) < quiz.refs:
        if len(string) % -(-quiz.refs // PHASES) == 0:
            first = draw.below(quiz.pages)
        popular = draw.below(3) < 2
        page = 1 + ((first + draw.below(LOCALITY)) % quiz.pages if popular else draw.below(quiz.pages))
        if not string or page != string[-1]:
            string.append(page)
    return tuple(string)


def run_of(tree: Path, quiz: Quiz, string: tuple[int, ...], draw: Draw) -> Run:
    """All data about a string. A quiz about windows needs no policy."""
    if quiz.tau:
        return Run(quiz, string, draw.below)
    simulators = [expected.simulator(tree, policy) for policy in (quiz.policy, quiz.rival)]
    mine, rival = (simulate(program, string, quiz.frames) for program in simulators)
    return Run(quiz, string, draw.below, mine, rival, functools.partial(simulate, simulators[0], frames=quiz.frames))


def is_as_hard(run: Run) -> bool:
    """Is the string within the lab's band, and do the policies differ on it?"""
    low, high = run.quiz.faults
    return low <= run.faults() <= high and run.differing() >= run.quiz.differ


def drawn_from(tree: Path, quiz: Quiz, draw: Draw) -> Drawn | None:
    """The quiz of one candidate; None if it is not suitable."""
    run = run_of(tree, quiz, candidate(draw, quiz), draw)
    if not is_as_hard(run):
        return None
    asked = [KINDS[name](run) for name in quiz.questions]
    return Drawn(run.string, tuple(each for each in asked if each)) if all(asked) else None


def of_machine(tree: Path, lab: str, quiz: Quiz, draw: Draw) -> tuple[tuple[str, ...], tuple[Question, ...]]:
    """The quiz about a run. The module that computes the keys is imported only here: a student's release lacks it."""
    from tidemark.grade.judge.quiz import followed

    return followed.drawn(tree, lab, quiz.machine, quiz.questions, draw.below)


@functools.lru_cache(maxsize=1024)
def drawn(tree: Path, lab: str, quiz: Quiz, personal: Personal) -> Drawn:
    """A student's quiz in a lab, by the solutions of `tree`. Raises LabError for a student's release, which has none,
    for a name without letters, and for a lab whose band is never met.
    """
    if (tree / MANIFEST).exists():
        raise LabError("this tree is a student's release, without solutions: it cannot make or grade quizzes", USAGE)
    if quiz.machine:
        return Drawn(*of_machine(tree, lab, quiz, draw_for(personal, SCHEMA, lab)))
    for number in range(MOST_CANDIDATES):
        found = drawn_from(tree, quiz, draw_for(personal, SCHEMA, lab, str(number)))
        if found:
            return found
    raise LabError(f"lab {lab}: of {MOST_CANDIDATES} strings none meets [quiz] in lab.toml", FAILED)
