"""The grades of a class: a table, and a folder for each student, written so that grading can be gone on with.

    class.csv              a row for each submission
    NAME/grade.json        what `tidemark grade` makes, for the instructor
    NAME/report.txt        what may be shown to the student
    NAME/submission.json   what was graded: the key, the grader, and SHA-256 of the files
    NAME/answers.md        what was answered in words, if the lab has questions (tidemark.grade.hand_back.written)

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

SCHEMA = 1
TABLE, ABOUT = "class.csv", "submission.json"
GRADE, REPORT = "grade.json", "report.txt"
NOT_GRADED = "not graded"
OTHERS = (TABLE, written.TABLE, written.PAGE, ".", "..")  # what lies beside the students' folders, or is one
LONGEST_NAME = 200  # bytes: a system takes 255, and a file that is being written has a longer name
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # how a cell begins that spreadsheets compute


@dataclass
class Student:
    """A row. `files`: the lab's, as handed in; `remarks`: the notes of archive.take; `grade`, or `reason` why there is
    none (empty: not yet). `answers`: the file with the written ones; `trouble`: why that was not taken; `kept`: the
    grade is another grader's, and stays.
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
        """Is it to be graded?"""
        return self.grade is None and not self.reason


def name_of(path: Path) -> str:
    """A student's name: the file's without its suffix, as it may be shown."""
    name = os.fsencode(path.name).decode("utf-8", "replace")
    stem = name if path.is_dir() else name.removesuffix(archive.suffix(name)) or name
    return " ".join(text.clean(stem).split()) or "?"


def is_whole(path: Path) -> bool:
    """Is it all that somebody hands in, a folder or an archive, and no single file?"""
    return path.is_dir() or bool(archive.suffix(path.name))


def student_of(path: Path, lab: Lab) -> str:
    """Whose a submission is. A file's name has the student before the lab's name, and a platform (Canvas) may have put
    a number of the file between them: it is left out, so that several files are of one student, and so is what they
    have put before the lab's name themselves."""
    before = None if is_whole(path) else archive.before_name(path.name, lab)
    if not before:
        return name_of(path)
    return name_of(Path(re.sub(r"^(.+?_\d+)_\d+(_.*)?$", r"\1", before.rstrip("_ -")) or path.name))


def handed_in(submissions: Path, lab: Lab) -> dict[str, list[Path]]:
    """Names of students, in order, with what each handed in. LabError when there is nothing."""
    if not submissions.is_dir():
        raise LabError(f"{submissions} is no folder; give one with a folder or an archive for each student", USAGE)
    found: dict[str, list[Path]] = {}
    for path in sorted(submissions.iterdir()):
        if not path.name.startswith("."):
            found.setdefault(student_of(path, lab), []).append(path)
    if not found:
        raise LabError(f"{submissions} is empty; put a folder or an archive there for each student", USAGE)
    return dict(sorted(found.items()))


def left_out(submissions: Path) -> list[str]:
    """Folders and archives that handed_in does not take for anybody's, since their names begin with a dot."""
    dotted = [path for path in submissions.iterdir() if path.name.startswith(".") and not path.name.startswith("._")]
    return sorted(text.clean(path.name) for path in dotted if is_whole(path))


def collected(name: str, paths: list[Path], lab: Lab, released: Mapping[str, str], reader: archive.Reader) -> Student:
    """What a student handed in, read."""
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
    remarks = tuple(" ".join(text.clean(note).split()) for note in taken.notes)  # one line, whatever a file is called
    return Student(name, taken.files, remarks, answers=answers, trouble=trouble)


def written_in(paths: list[Path], lab: Lab, reader: archive.Reader) -> tuple[bytes, str]:
    """A student's written answers, and why they cannot be read; empty when there are none, or nobody asked."""
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
    """A class's folder and what stands in it; `grader`: a hash of all that grades; `released` as of archive.take;
    `box`: the sandbox in which archives are read, some at a time."""

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
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            coming = [pool.submit(collected, name, paths, lab, released, reader) for name, paths in found.items()]
        self.students = [each.result() for each in coming]
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
        return digest([self.grader.encode(), *(text.encode() for text in student.remarks), *parts])

    def standing(self, student: Student) -> Grade | None:
        """The grade that is there and is of just this."""
        folder, about = self.out / student.name, self.about(student)
        with contextlib.suppress(LabError, OSError):
            reported = digest([(folder / REPORT).read_bytes()])
            if about.get("key") == self.key(student) and about.get("report") == reported:
                return result.load(folder / GRADE)
        return None

    def missing(self) -> list[Student]:
        """Those that are to be graded."""
        return [student for student in self.students if student.is_missing]

    def failed(self) -> list[Student]:
        """Those that could not be graded."""
        return [student for student in self.students if student.reason]

    def store(self, student: Student, files: dict[str, bytes], reason: str) -> None:
        """Keep what came of a submission: the files GRADE and REPORT, or the reason why there are none."""
        student.reason = reason
        try:
            if not reason:
                self.write(student, files)
        except (LabError, KeyError) as error:
            student.reason = str(error)
        self.remove_stale(student)

    def write(self, student: Student, files: dict[str, bytes]) -> None:
        """A student's folder, at once. LabError when its place is taken, or what came is no grade."""
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
        """Lay a student's written answers beside the grade; they are not what it depends on."""
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
        """Make the folder, and write what is known before anything is graded."""
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
        if student.answers and (none := [each.name for each in self.lab.questions if each.name not in answers]):
            notes.append(f"{written.ANSWERS} has no answer below a heading {' or '.join(none)}")
        more, said = self.finals.row(student.name, made.score if made else None, answers)
        return row | more | {"note": "; ".join(filter(None, [*notes, student.trouble, *said]))}

    def write_table(self) -> None:
        """class.csv, as things stand."""
        tests = [test.title for test in self.lab.tests]
        columns = ["name", "score", "most", "outcome", *tests, *self.finals.columns, "note"]
        write_csv(self.out / TABLE, [harmless(self.row(student)) for student in self.students], columns)


def harmless(row: Mapping[str, object]) -> dict[str, object]:
    """A row whose texts no spreadsheet takes for a formula: what would begin one gets an apostrophe in front."""
    return {
        name: f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) and not is_number(value) else value
        for name, value in row.items()
    }


def is_number(value: str) -> bool:
    """Is it points, which may be below 0?"""
    return bool(re.fullmatch(r"-?\d+(\.\d+)?", value))
