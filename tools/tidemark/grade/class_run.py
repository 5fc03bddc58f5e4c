"""Grading a class: every submission of a folder once, in a folder that can be gone on with.

    class.csv              a row for each submission
    NAME/grade.json        what `tidemark grade` makes, for the instructor
    NAME/report.txt        what may be shown to the student
    NAME/submission.json   what was graded: the key, and SHA-256 of the files

A student's folder appears at once, when all of it is there. Its key is a hash of what the grade depends on: the lab's
files of the submission, the release with its hidden tests, and the grader. A grade with the right key stands; whatever
ends a class, the next call grades what is missing.

What could not be graded has a row that says why, and no folder: a bad archive, a grader that crashed. It is no grade,
so the next call tries again. Nothing depends on when or where a submission was graded, or what else ran: the same
submissions make the same bytes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import socket
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import tidemark
from tidemark import cluster, estimate, image
from tidemark.errors import USAGE, LabError
from tidemark.files import folder_replacing, write_csv, write_json
from tidemark.grade import isolation
from tidemark.grade.build import tree
from tidemark.grade.hand_back import result, text
from tidemark.grade.intake import archive
from tidemark.grade.model import Grade, Lab

SCHEMA = 1
TABLE, ABOUT = "class.csv", "submission.json"
NOT_GRADED = "not graded"
POLL_S = 0.2

Where = cluster.Local | cluster.Cluster


@dataclass
class Student:
    """A row. `files`: the lab's, as handed in; `remarks`: as of archive.notes; `grade`, or `why` there is none
    (empty: not yet).
    """

    name: str
    files: dict[str, bytes]
    remarks: tuple[str, ...] = ()
    grade: Grade | None = None
    why: str = ""

    @property
    def is_missing(self) -> bool:
        """Is it to be graded?"""
        return self.grade is None and not self.why


@dataclass(frozen=True)
class Progress:
    """How far a class has come: numbers of submissions, who is being graded; seconds to the end, or None while nothing
    is known of it."""

    total: int
    done: int
    running: Sequence[str]
    left_s: float | None
    news: str = ""


Watch = Callable[[Progress], None]


def name_of(path: Path) -> str:
    """A student's name: the file's without its suffix, as it may be shown."""
    name = os.fsencode(path.name).decode("utf-8", "replace")
    stem = name if path.is_dir() else name.removesuffix(archive.suffix(name)) or name
    return " ".join(text.clean(stem).split()) or "?"


def handed_in(submissions: Path) -> dict[str, list[Path]]:
    """Names of students, in order, with what each handed in. LabError when there is nothing."""
    if not submissions.is_dir():
        raise LabError(f"{submissions} is no folder; give one with a folder or an archive for each student", USAGE)
    found: dict[str, list[Path]] = {}
    for path in sorted(submissions.iterdir()):
        if not path.name.startswith("."):
            found.setdefault(name_of(path), []).append(path)
    if not found:
        raise LabError(f"{submissions} is empty; put a folder or an archive there for each student", USAGE)
    return dict(sorted(found.items()))


def collected(name: str, paths: list[Path], lab: Lab, released: Mapping[str, str]) -> Student:
    """What a student handed in, read."""
    if len(paths) > 1:
        return Student(name, {}, why=f"there are {' and '.join(path.name for path in paths)}: keep one")
    if name == TABLE:
        return Student(name, {}, why=f"no student can be called {TABLE}: rename it")
    try:
        return Student(name, archive.read(paths[0], lab), archive.notes(paths[0], lab, released))
    except LabError as error:
        return Student(name, {}, why=text.clean(str(error)))


def digest(parts: Sequence[bytes]) -> str:
    """SHA-256 of a sequence of byte strings."""
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def grader(source: isolation.Source, lab: str) -> str:
    """A hash of all that grades, besides what was handed in: release, hidden tests, and this program."""
    package = Path(tidemark.__file__).parent
    parts = [lab.encode(), version("tidemark").encode(), tree.identity(source.release).encode()]
    parts += [image.describe(source.release)["sha256"].encode()]
    parts += [path.read_bytes() for path in sorted(package.rglob("*.py"))]
    if source.secret:
        parts += [(source.secret / f"{lab}.toml").read_bytes()]
    return digest(parts)


class Gradebook:
    """A class's folder and what stands in it; `by` is the hash of all that grades, `released` as of archive.notes."""

    def __init__(self, submissions: Path, lab: Lab, out: Path, by: str, released: Mapping[str, str]) -> None:
        self.lab, self.out, self.by = lab, out, by
        if out.resolve() == submissions.resolve():
            raise LabError(f"--out {out} is the folder of the submissions; give another", USAGE)
        self.students = [collected(name, paths, lab, released) for name, paths in handed_in(submissions).items()]
        for student in self.students:
            self.check_lab(student)
            if student.is_missing:
                student.grade = self.standing(student)

    def about(self, student: Student) -> dict[str, object]:
        """What is known of the grade that is there; nothing when there is none."""
        try:
            found = json.loads((self.out / student.name / ABOUT).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def check_lab(self, student: Student) -> None:
        """LabError when the grade that is there is of another assignment: nobody means to replace that."""
        other = self.about(student).get("lab", self.lab.name)
        if other != self.lab.name:
            raise LabError(f"{self.out} holds grades of the lab {other}; give another --out", USAGE)

    def key(self, student: Student) -> str:
        """A hash of all that a student's grade depends on."""
        parts = [part for name in sorted(student.files) for part in (name.encode(), student.files[name])]
        return digest([self.by.encode(), *(text.encode() for text in student.remarks), *parts])

    def standing(self, student: Student) -> Grade | None:
        """The grade that is there and is of just this."""
        folder, about = self.out / student.name, self.about(student)
        with contextlib.suppress(LabError, OSError):
            reported = digest([(folder / isolation.REPORT).read_bytes()])
            if about.get("key") == self.key(student) and about.get("report") == reported:
                return result.load(folder / isolation.GRADE)
        return None

    def missing(self) -> list[Student]:
        """Those that are to be graded."""
        return [student for student in self.students if student.is_missing]

    def failed(self) -> list[Student]:
        """Those that could not be graded."""
        return [student for student in self.students if student.why]

    def store(self, student: Student, ended: isolation.Ended) -> None:
        """Keep what came of a submission."""
        student.why = ended.reason
        try:
            if not ended.reason:
                self.write(student, ended.files)
        except (LabError, KeyError) as error:
            student.why = str(error)
        self.remove_stale(student)

    def write(self, student: Student, files: dict[str, bytes]) -> None:
        """A student's folder, at once. LabError when its place is taken, or what came is no grade."""
        about = {
            "schema": SCHEMA,
            "lab": self.lab.name,
            "key": self.key(student),
            "report": digest([files[isolation.REPORT]]),
            "files": {name: hashlib.sha256(data).hexdigest() for name, data in sorted(student.files.items())},
        }
        with folder_replacing(self.out / student.name, ABOUT) as new:
            for name in (isolation.GRADE, isolation.REPORT):
                (new / name).write_bytes(files[name])
            write_json(new / ABOUT, about)
            student.grade = result.load(new / isolation.GRADE)

    def remove_stale(self, student: Student) -> None:
        """Remove the grade of another submission of a student whose last one cannot be graded."""
        if student.why and self.about(student):
            shutil.rmtree(self.out / student.name)

    def settle(self) -> None:
        """Make the folder, and write what is known before anything is graded."""
        self.out.mkdir(parents=True, exist_ok=True)
        for student in self.failed():
            self.remove_stale(student)
        self.write_table()

    def row(self, student: Student) -> dict[str, object]:
        """One row of class.csv."""
        row: dict[str, object] = {"name": student.name, "outcome": NOT_GRADED, "note": student.why or NOT_GRADED}
        made = student.grade
        if made:
            row |= {"score": text.number(made.score), "most": text.number(made.most), "outcome": made.outcome.value}
            row |= {graded.test.title: text.number(graded.points) for graded in made.tests}
            row["note"] = "; ".join(" ".join(text.clean(note).split()) for note in made.notes)
        return row

    def write_table(self) -> None:
        """class.csv, as things stand."""
        columns = ["name", "score", "most", "outcome", *(test.title for test in self.lab.tests), "note"]
        write_csv(self.out / TABLE, [self.row(student) for student in self.students], columns)


class Run:
    """Grades what is missing of a class somewhere, and stores what comes."""

    def __init__(
        self, book: Gradebook, where: Where, source: isolation.Source | isolation.Parcel, sandbox: str, watch: Watch
    ) -> None:
        self.book, self.where, self.source, self.sandbox, self.watch = book, where, source, sandbox, watch
        self.shared, self.token, self.host = where.share(source), uuid.uuid4().hex, socket.gethostname()
        self.futures: dict[Future[isolation.Ended], Student] = {}
        self.lost_students: list[Student] = []
        self.times_lost: Counter[str] = Counter()
        self.took_s: list[float] = []
        self.begun: dict[str, float] = {}

    def warning(self) -> str:
        """What the sandbox does not protect from, where submissions are graded. LabError when it cannot be had."""
        future = self.where.submit(isolation.warning, self.sandbox, self.shared, self.host)
        while not wait([future], POLL_S).done:
            self.where.ready()
        text: str = future.result()
        return text

    def submit(self, student: Student) -> None:
        """Hand one submission in."""
        order = isolation.Order(student.files, student.remarks, self.book.lab.name, self.sandbox)
        future = self.where.submit(isolation.carry_out, order, self.shared, self.host, self.token)
        self.futures[future] = student

    def run(self) -> None:
        """Grade what is missing. LabError when it cannot be gone on with; what is done is kept, whatever ends it."""
        for student in self.book.missing():
            self.submit(student)
        self.tell()
        try:
            while self.futures or self.lost_students:
                self.go_on()
        finally:
            with cluster.writing_to(self.book.out):
                self.book.write_table()

    def go_on(self) -> None:
        """Take what has come in a while, and say how far it is."""
        for future in wait(self.futures, POLL_S, FIRST_COMPLETED).done:
            self.take(future)
        if self.where.ready() and self.lost_students:
            self.shared = self.where.share(self.source)
            for student in self.lost_students:
                self.submit(student)
            self.lost_students.clear()
        self.tell()

    def take(self, future: Future[isolation.Ended]) -> None:
        """Store what came of a submission, or hand it in again."""
        student = self.futures.pop(future)
        try:
            ended = future.result()
        except self.where.lost as error:
            self.lost(student, error)
            return
        self.took_s.append(ended.seconds)
        with cluster.writing_to(self.book.out):
            self.book.store(student, ended)
            self.book.write_table()
        if student.why:
            self.tell(f"{student.name} is not graded: {student.why}")

    def lost(self, student: Student, error: BaseException) -> None:
        """A submission went with its worker: again, but not for ever."""
        self.times_lost[student.name] += 1
        why = f"{error}" or type(error).__name__
        if self.times_lost[student.name] > cluster.LOST_MOST:
            student.why = f"lost {self.times_lost[student.name]} times with what ran it: {why}"
        else:
            self.lost_students.append(student)
            self.tell(f"{student.name}: lost, and graded again: {why}")

    def tell(self, news: str = "") -> None:
        """Say how far it is."""
        names, now = [student.name for student in self.futures.values()], time.monotonic()
        running = names[: self.where.slots]
        for name in running:
            self.begun.setdefault(name, now)
        students = self.book.students
        done = len(students) - len(self.book.missing())
        self.watch(Progress(len(students), done, running, self.left_s(names, now), news))

    def left_s(self, names: Sequence[str], now: float) -> float | None:
        """Seconds to the end, if every submission takes as long as those before."""
        if not self.took_s:
            return None
        each = sum(self.took_s) / len(self.took_s)
        return estimate.makespan((max(each - (now - self.begun.get(name, now)), 0) for name in names), self.where.slots)
