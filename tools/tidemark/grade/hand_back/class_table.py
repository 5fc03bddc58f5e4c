"""The grades of a class: a table, and a folder for each student, written so that grading can be resumed.

    class.csv              a row for each submission
    NAME/grade.json        the output of `tidemark grade --json`, for the instructor
    NAME/report.txt        what may be shown to the student
    NAME/submission.json   what was graded: the key, the grader, and SHA-256 of the files
    NAME/answers.md        the written answers, if the lab has questions (tidemark.grade.hand_back.written)

A student's folder appears in one step, when it is complete. Its key is a hash of everything the grade depends on: the
lab's files of the submission, the release with its hidden tests, and the grader. A grade with the right key stays.
However a class run ends, the next call grades what is missing.

A submission that could not be graded has a row that says why, and no folder: a bad archive, a grader that crashed. It
has no grade, so the next call tries again. Nothing depends on when or where a submission was graded, or what else ran:
the same submissions give the same bytes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from tidemark.errors import USAGE, LabError
from tidemark.files import check_folder, folder_replacing, write_atomically, write_csv, write_json
from tidemark.grade.build import reading, sandbox
from tidemark.grade.hand_back import result, text, written
from tidemark.grade.hand_back.finals import Finals
from tidemark.grade.intake import archive
from tidemark.grade.model import Grade, Lab
from tidemark.machine import host

SCHEMA = 1
TABLE, ABOUT = "class.csv", "submission.json"
GRADE, REPORT = "grade.json", "report.txt"
NOT_GRADED = "not graded"
OTHERS = (TABLE, written.TABLE, written.PAGE, ".", "..")  # names that students' folders cannot have
LONGEST_NAME = 200  # bytes: file systems allow 255, and a file that is being written has a longer name
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # first characters of cells that spreadsheets compute


@dataclass
class Student:
    """A row. `files`: the lab's files, as handed in; `remarks`: the notes of archive.take; `grade`, or the `reason` why
    there is none (empty: not graded yet). `answers`: the file of written answers; `trouble`: why it was not taken;
    `kept`: the grade is from another grader, and stays.
    """

    name: str
    files: dict[str, bytes]
    remarks: tuple[str, ...] = ()
    grade: Grade | None = None
    reason: str = ""
    answers: bytes = b""
    trouble: str = ""
    kept: bool = False

    @property
    def is_missing(self) -> bool:
        """Must the submission still be graded?"""
        return self.grade is None and not self.reason


def name_of(path: Path) -> str:
    """A student's name: the file's name without its suffix, cleaned for display."""
    name = os.fsencode(path.name).decode("utf-8", "replace")
    stem = name if path.is_dir() else name.removesuffix(archive.suffix(name)) or name
    return " ".join(text.clean(stem).split()) or "?"


def is_whole(path: Path) -> bool:
    """Is the path a whole submission, a folder or an archive, rather than a single file?"""
    return path.is_dir() or bool(archive.suffix(path.name))


def student_of(path: Path, lab: Lab) -> str:
    """The student of a submission. In a file's name the student comes before the lab's name. A platform (Canvas) adds
    the file's number in between, and students may add text: both are left out, so that several files count as
    one student's."""
    before = None if is_whole(path) else archive.before_name(path.name, lab)
    if not before:
        return name_of(path)
    return name_of(Path(re.sub(r"^(.+?_\d+)_\d+(_.*)?$", r"\1", before.rstrip("_ -")) or path.name))


def handed_in(submissions: Path, lab: Lab) -> dict[str, list[Path]]:
    """Names of students, in order, with the paths that each handed in. Raises LabError if there is nothing."""
    if not submissions.is_dir():
        raise LabError(f"{submissions} is not a folder; give one with a folder or an archive for each student", USAGE)
    found: dict[str, list[Path]] = {}
    for path in sorted(submissions.iterdir()):
        if not path.name.startswith("."):
            found.setdefault(student_of(path, lab), []).append(path)
    if not found:
        raise LabError(f"{submissions} is empty; put a folder or an archive there for each student", USAGE)
    return dict(sorted(found.items()))


def left_out(submissions: Path) -> list[str]:
    """Folders and archives that handed_in leaves out, since their names begin with a dot."""
    dotted = [path for path in submissions.iterdir() if path.name.startswith(".") and not path.name.startswith("._")]
    return sorted(text.clean(path.name) for path in dotted if is_whole(path))


def collected(name: str, paths: list[Path], lab: Lab, released: Mapping[str, str], reader: archive.Reader) -> Student:
    """Read what a student handed in."""
    if len(paths) > 1 and any(is_whole(path) for path in paths):
        return Student(name, {}, reason=f"there are {' and '.join(path.name for path in paths)}: keep one")
    if name in OTHERS or len(name.encode()) > LONGEST_NAME:
        what = name if name in OTHERS else f"by more than {LONGEST_NAME} bytes"
        return Student(name, {}, reason=f"no student can be called {what}: rename it")
    try:
        taken = archive.take(paths, lab, released, reader)
    except LabError as error:
        return Student(name, {}, reason=text.clean(str(error)))
    answers, trouble = written_in(paths, lab, reader)
    remarks = tuple(" ".join(text.clean(note).split()) for note in taken.notes)  # one line, even if a name has several
    return Student(name, taken.files, remarks, answers=answers, trouble=trouble)


def written_in(paths: list[Path], lab: Lab, reader: archive.Reader) -> tuple[bytes, str]:
    """(a student's written answers, why they cannot be read). Both are empty if there are none, or no questions."""
    if not lab.questions:
        return b"", ""
    try:
        wanted = replace(lab, files=(lab.answers,), was={}, quiz_answers="")
        meant = [path for path in paths if is_whole(path) or archive.before_name(path.name, wanted) is not None]
        return (archive.take(meant, wanted, {}, reader).files[lab.answers] if meant else b""), ""
    except LabError as error:
        said = text.clean(str(error))
        return b"", "" if "there is no" in said else f"written answers were not taken: {said}"


def digest(parts: Sequence[bytes]) -> str:
    """SHA-256 of a sequence of byte strings."""
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def hashes(files: Mapping[str, bytes]) -> dict[str, str]:
    """SHA-256 of each file."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items())}


class Gradebook:
    """A class's folder and its contents. `grader`: a hash of everything that grades; `released`: as in archive.take;
    `box`: the sandbox in which archives are read, several at a time."""

    def __init__(
        self,
        submissions: Path,
        lab: Lab,
        out: Path,
        grader: str,
        released: Mapping[str, str],
        box: sandbox.Sandbox | None = None,
    ) -> None:
        self.lab, self.out, self.grader = lab, out, grader
        self.finals = Finals(lab)
        if out.resolve() == submissions.resolve():
            raise LabError(f"--out {out} is the folder of the submissions; give another", USAGE)
        found, reader = handed_in(submissions, lab), reading.reader(box or sandbox.find())
        with ThreadPoolExecutor(host.processors()) as pool:
            coming = [pool.submit(collected, name, paths, lab, released, reader) for name, paths in found.items()]
        self.students = [each.result() for each in coming]
        for student in self.students:
            self.check_lab(student)
            if student.is_missing:
                student.grade = self.standing(student)

    def about(self, student: Student) -> dict[str, object]:
        """The record of a student's existing grade; empty if there is none."""
        try:
            found = json.loads((self.out / student.name / ABOUT).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def check_lab(self, student: Student) -> None:
        """Raises LabError if the existing grade is of another assignment, which must not be replaced."""
        other = self.about(student).get("lab", self.lab.name)
        if other != self.lab.name:
            raise LabError(f"{self.out} holds grades of the lab {other}; give another --out", USAGE)

    def key(self, student: Student) -> str:
        """A hash of everything that a student's grade depends on."""
        parts = [part for name in sorted(student.files) for part in (name.encode(), student.files[name])]
        return digest([self.grader.encode(), *(text.encode() for text in student.remarks), *parts])

    def standing(self, student: Student) -> Grade | None:
        """The existing grade of exactly this submission; None if there is none."""
        folder, about = self.out / student.name, self.about(student)
        with contextlib.suppress(LabError, OSError):
            reported = digest([(folder / REPORT).read_bytes()])
            if about.get("key") == self.key(student) and about.get("report") == reported:
                return result.load(folder / GRADE)
        return None

    def refuse(self, reasons: Mapping[str, str]) -> None:
        """Do not grade these students. `reasons`: a sentence for each."""
        for student in self.students:
            if student.name in reasons:
                student.grade, student.reason = None, reasons[student.name]

    def missing(self) -> list[Student]:
        """The students that must still be graded."""
        return [student for student in self.students if student.is_missing]

    def failed(self) -> list[Student]:
        """The students that could not be graded."""
        return [student for student in self.students if student.reason]

    def store(self, student: Student, files: dict[str, bytes], reason: str) -> None:
        """Store the result of a submission: the files GRADE and REPORT, or the reason why there are none."""
        student.reason = reason
        try:
            if not reason:
                self.write(student, files)
        except (LabError, KeyError) as error:
            student.reason = str(error)
        self.remove_stale(student)

    def write(self, student: Student, files: dict[str, bytes]) -> None:
        """Write a student's folder, in one step. Raises LabError if its place is taken, or the file is not a grade."""
        about = {
            "schema": SCHEMA,
            "lab": self.lab.name,
            "key": self.key(student),
            "grader": self.grader,
            "report": digest([files[REPORT]]),
            "files": hashes(student.files),
        }
        with folder_replacing(self.out / student.name, ABOUT) as new:
            for name in (GRADE, REPORT):
                (new / name).write_bytes(files[name])
            write_json(new / ABOUT, about)
            student.grade = result.load(new / GRADE)
        self.keep_answers(student)

    def keep_answers(self, student: Student) -> None:
        """Store a student's written answers beside the grade, which does not depend on them."""
        path = self.out / student.name / written.ANSWERS
        if student.grade and student.answers:
            write_atomically(path, student.answers)
        elif student.grade:
            path.unlink(missing_ok=True)

    def remove_stale(self, student: Student) -> None:
        """Remove the grade of another submission of a student whose last one cannot be graded."""
        if student.reason and self.about(student):
            shutil.rmtree(self.out / student.name)

    def settle(self) -> None:
        """Make the folder, and write what is known before grading begins."""
        check_folder(self.out)
        self.out.mkdir(parents=True, exist_ok=True)
        for student in self.failed():
            self.remove_stale(student)
        for student in self.students:
            self.keep_answers(student)
        self.write_table()

    def row(self, student: Student) -> dict[str, object]:
        """One row of class.csv."""
        row: dict[str, object] = {"name": student.name, "outcome": NOT_GRADED, "note": student.reason or NOT_GRADED}
        made = student.grade
        notes = [str(row["note"])]
        if made:
            row |= {"score": text.number(made.score), "most": text.number(made.most), "outcome": made.outcome.value}
            row |= {graded.test.title: text.number(graded.points) for graded in made.tests}
            notes = [" ".join(text.clean(note).split()) for note in made.notes]
            notes += [f"graded by another release: {result.made_by(made)}"] if student.kept else []
        answers = written.split(written.text_of(student.answers), self.lab.questions)
        filed = [each.name for each in self.lab.questions if not each.paper]
        if student.answers and (none := [name for name in filed if name not in answers]):
            notes.append(f"{written.ANSWERS} has no answer below a heading {' or '.join(none)}")
        more, said = self.finals.row(student.name, made.score if made else None, answers)
        return row | more | {"note": "; ".join(filter(None, [*notes, student.trouble, *said]))}

    def write_table(self) -> None:
        """Write class.csv in its current state."""
        tests = [test.title for test in self.lab.tests]
        columns = ["name", "score", "most", "outcome", *tests, *self.finals.columns, "note"]
        write_csv(self.out / TABLE, [harmless(self.row(student)) for student in self.students], columns)


def harmless(row: Mapping[str, object]) -> dict[str, object]:
    """A row whose texts no spreadsheet takes for a formula: a text that would begin one gets an apostrophe first."""
    return {
        name: f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) and not is_number(value) else value
        for name, value in row.items()
    }


def is_number(value: str) -> bool:
    """Is the value a number of points, which may be below 0?"""
    return bool(re.fullmatch(r"-?\d+(\.\d+)?", value))
