"""Grading a class: every submission of a folder once, on this machine or on others.

Submissions go to workers, and results are stored at once (tidemark.grade.hand_back.class_table). If a submission is
lost with its worker, it is tried again a few times. Nothing depends on when or where it was graded, or what else ran.
"""

from __future__ import annotations

import socket
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import tidemark
from tidemark.grade import isolation
from tidemark.grade.build import tree
from tidemark.grade.hand_back.class_table import Gradebook, Student, digest
from tidemark.machine import image
from tidemark.runs import cluster, estimate

POLL_S = 0.2

Where = cluster.Local | cluster.Cluster


@dataclass(frozen=True)
class Progress:
    """The progress of a class: numbers of submissions, names of those being graded, and estimated seconds to the end,
    None if unknown."""

    total: int
    done: int
    running: Sequence[str]
    left_s: float | None
    news: str = ""


Watch = Callable[[Progress], None]


def grader(source: isolation.Source, lab: str, supervised: bool = False) -> str:
    """A hash of everything that grades, without the submission: release, hidden tests, and this program; `supervised`:
    with the quiz."""
    package = Path(tidemark.__file__).parent
    parts = [lab.encode(), version("tidemark").encode(), tree.identity(source.release).encode()]
    parts += [image.describe(source.release)["sha256"].encode()]
    parts += [path.read_bytes() for path in sorted(package.rglob("*.py"))]
    if supervised:
        parts.append(b"supervised")
    if source.secret:
        parts += [path.read_bytes() for path in isolation.secrets(source.secret, lab)]
    return digest(parts)


class ClassRun:
    """Grades the missing submissions of a class, here or on a cluster, and stores the results."""

    def __init__(
        self,
        book: Gradebook,
        where: Where,
        source: isolation.Source | isolation.PackedSource,
        sandbox: str,
        watch: Watch,
    ) -> None:
        self.book, self.where, self.source, self.sandbox, self.watch = book, where, source, sandbox, watch
        self.shared, self.token, self.host = where.share(source), uuid.uuid4().hex, socket.gethostname()
        self.futures: dict[Future[isolation.JobResult], Student] = {}
        self.lost_students: list[Student] = []
        self.times_lost: Counter[str] = Counter()
        self.took_s: list[float] = []
        self.began_s: dict[str, float] = {}

    def warning(self) -> str:
        """What the sandbox does not protect from where submissions are graded. Raises LabError if it fails there."""
        future = self.where.submit(isolation.warning, self.sandbox, self.shared, self.host)
        while not wait([future], POLL_S).done:
            self.where.ready()
        text: str = future.result()
        return text

    def submit(self, student: Student) -> None:
        """Send one submission to a worker."""
        whose = student.name if self.book.lab.personal else ""
        order = isolation.Job(student.files, student.remarks, self.book.lab.name, self.sandbox, whose)
        future = self.where.submit(isolation.carry_out, order, self.shared, self.host, self.token)
        self.futures[future] = student

    def run(self) -> None:
        """Grade the missing submissions. Raises LabError if it cannot continue. Results so far are kept in any case."""
        for student in self.book.missing():
            self.submit(student)
        self.report()
        try:
            while self.futures or self.lost_students:
                self.poll()
        finally:
            with cluster.writing_to(self.book.out):
                self.book.write_table()

    def poll(self) -> None:
        """Wait a moment, take the results that have arrived, and report the progress."""
        for future in wait(self.futures, POLL_S, FIRST_COMPLETED).done:
            self.store_result(future)
        if self.where.ready() and self.lost_students:
            self.shared = self.where.share(self.source)
            for student in self.lost_students:
                self.submit(student)
            self.lost_students.clear()
        self.report()

    def store_result(self, future: Future[isolation.JobResult]) -> None:
        """Store the result of a submission, or send it again."""
        student = self.futures.pop(future)
        try:
            made = future.result()
        except self.where.lost as error:
            self.retry(student, error)
            return
        self.took_s.append(made.seconds)
        with cluster.writing_to(self.book.out):
            self.book.store(student, made.files, made.reason)
            self.book.write_table()
        if student.reason:
            self.report(f"{student.name} is not graded: {student.reason}")

    def retry(self, student: Student, error: BaseException) -> None:
        """A submission was lost with its worker: send it again, but only a few times."""
        self.times_lost[student.name] += 1
        why = f"{error}" or type(error).__name__
        if self.times_lost[student.name] > cluster.LOST_MOST:
            student.reason = f"lost {self.times_lost[student.name]} times with its worker: {why}"
        else:
            self.lost_students.append(student)
            self.report(f"{student.name}: lost, and graded again: {why}")

    def report(self, news: str = "") -> None:
        """Report the progress."""
        names, now = [student.name for student in self.futures.values()], time.monotonic()
        running = names[: self.where.slots]
        for name in running:
            self.began_s.setdefault(name, now)
        students = self.book.students
        done = len(students) - len(self.book.missing())
        self.watch(Progress(len(students), done, running, self.left_s(names, now), news))

    def left_s(self, names: Sequence[str], now: float) -> float | None:
        """Seconds to the end, if every submission takes as long as those before."""
        if not self.took_s:
            return None
        each = sum(self.took_s) / len(self.took_s)
        return estimate.makespan(
            (max(each - (now - self.began_s.get(name, now)), 0) for name in names), self.where.slots
        )
