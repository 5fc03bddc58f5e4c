"""Grading a class: a submission never affects the others, and nothing is graded twice.

The grader is a stand-in if its verdicts do not matter: it gives points for the digits in the file.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest
from confined import NEEDS_SANDBOX
from lab import tidemark
from tidemark.commands import grade_class
from tidemark.errors import FAILED, USAGE, LabError
from tidemark.grade import class_run, isolation
from tidemark.grade.build import reading, sandbox
from tidemark.grade.build.workspace import check_release
from tidemark.grade.hand_back import class_table, written
from tidemark.grade.intake import lab as labs
from tidemark.grade.model import Lab
from tidemark.grade.model import Test as LabTest
from tidemark.machine import qemu
from tidemark.runs import cluster

FILE, OTHER = "kernel/mm/policy/clock.c", "kernel/mm/policy/fifo.c"
LAB = Lab(
    "clock", 4, "Second chance", Path("labs/clock"), (OTHER, FILE), (), (), (), (LabTest("digits", 9, "victims"),)
)

STAND_IN = """
import os, signal, sys, time
from pathlib import Path
from tidemark.errors import LabError
from tidemark.grade import fork_server, isolation, model
from tidemark.grade.hand_back import class_table, result, text


def main(release, lab, secret, sandbox, folder):
    out = Path(folder, isolation.OUT)
    code = Path(folder, isolation.SUBMISSION, "kernel/mm/policy/clock.c").read_text()
    print("some noise")
    if "abort" in code:
        os.abort()
    if "orphan" in code:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1000)
    if "raise" in code:
        raise ValueError("no such page")
    if "sleep" in code:
        Path(code.split()[1]).write_text(str(os.getpid()))
        time.sleep(1000)
    if "refuse" in code:
        (out / isolation.REFUSED).write_text("no compiler")
        return
    if "nonsense" in code:
        (out / class_table.GRADE).write_text("{}")
        (out / class_table.REPORT).write_text("")
        return
    points = sum(map(int, filter(str.isdigit, code)))
    hidden = secret and Path(secret, "clock.toml").read_text()
    verdicts = [model.Graded(model.Test("digits", 9, "victims"), model.scaled(9 - points, 0, 9, "digits"))]
    if hidden:
        verdicts.append(model.Graded(model.Test("more", 1, "victims", hidden=True), model.wrong(hidden)))
    grade = model.Grade(lab, "Second chance", tuple(verdicts), ("Makefile was not used\\nat all",) * ("note" in code))
    result.save(grade, out / class_table.GRADE)
    (out / class_table.REPORT).write_text(text.report(grade) + "\\n")


fork_server.serve(main)
"""


class Room:
    """Submissions, hidden tests, and a folder of grades, with the stand-in as the grader."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.submissions, self.out = folder, folder / "handed-in", folder / "grades"
        self.submissions.mkdir()
        self.secret: Path | None = None
        self.says: list[str] = []
        self.ran: list[str] = []

    def hand_in(self, name: str, code: str) -> None:
        """Makes a folder with the lab's file."""
        (self.submissions / name / FILE).parent.mkdir(parents=True, exist_ok=True)
        (self.submissions / name / FILE).write_text(code)

    def look(self, now: class_run.Progress) -> None:
        """Notes what is reported."""
        self.says += [now.news] if now.news else []

    def grade(
        self, slots: int = 2, look: Callable | None = None, where: class_run.Where | None = None
    ) -> class_table.Gradebook:
        """Grades what is missing; `ran`: the submissions graded."""
        secret = self.secret.read_bytes() if self.secret else b""
        book = class_table.Gradebook(self.submissions, LAB, self.out, class_table.digest([secret]), {})
        book.settle()
        self.ran = [student.name for student in book.missing()]
        source = isolation.Source(qemu.ROOT, self.secret and self.secret.parent)
        where = where or cluster.Local(slots)
        run = class_run.ClassRun(book, where, source, "none", look or self.look)
        try:
            run.run()
        finally:
            where.close(run.token)
        return book

    def files(self) -> dict[str, bytes]:
        """All files in the folder of grades."""
        return {
            str(path.relative_to(self.out)): path.read_bytes() for path in sorted(self.out.rglob("*")) if path.is_file()
        }

    def rows(self) -> list[str]:
        """class.csv without its header."""
        return (self.out / class_table.TABLE).read_text("utf-8").splitlines()[1:]


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    """An empty room."""
    (tmp_path / "stand_in.py").write_text(STAND_IN)
    monkeypatch.setattr(isolation, "GRADER", [sys.executable, str(tmp_path / "stand_in.py")])
    return Room(tmp_path)


def test_everybody_has_a_row_a_grade_and_a_report(room: Room) -> None:
    for name, code in (("Zoë 中", "4"), ("ada lovelace", "5 4"), ("bob", "note 1")):
        room.hand_in(name, code)
    with tarfile.open(room.submissions / "eve.tar.gz", "w:gz") as handed_in:
        member = tarfile.TarInfo(f"clone/{FILE}")
        member.size = 1
        handed_in.addfile(member, io.BytesIO(b"2"))
    (room.submissions / ".DS_Store").write_bytes(b"")
    room.grade()
    assert (room.out / class_table.TABLE).read_text("utf-8").splitlines() == [
        "name,score,most,outcome,digits,note",
        "Zoë 中,3.96,9,over budget,3.96,",
        "ada lovelace,9,9,right,9,",
        "bob,0.99,9,over budget,0.99,Makefile was not used at all",
        "eve,1.98,9,over budget,1.98,",
    ]
    assert sorted(path.name for path in (room.out / "eve").iterdir()) == [
        "grade.json",
        "report.txt",
        "submission.json",
    ]
    assert json.loads((room.out / "eve/grade.json").read_text())["score"] == 1.98
    assert (room.out / "ada lovelace/report.txt").read_text() == "digits ... ok (9/9)\nScore: 9/9\n"


def test_second_call_grades_only_what_is_new_or_changed(room: Room) -> None:
    for name in ("ada", "bob", "eve"):
        room.hand_in(name, "1")
    room.grade()
    before = room.files()
    room.grade()
    assert room.ran == [] and room.files() == before
    room.hand_in("bob", "2")
    room.hand_in("zoë", "3")
    (room.submissions / "ada/Makefile").write_text("is not the lab's")
    room.grade()
    assert room.ran == ["bob", "zoë"]
    assert room.rows()[1] == "bob,1.98,9,over budget,1.98,"


def test_other_hidden_tests_or_damage_grade_again(room: Room) -> None:
    for name in ("ada", "bob", "eve"):
        room.hand_in(name, "9")
    room.secret = room.folder / "secret/clock.toml"
    room.secret.parent.mkdir()
    room.secret.write_text("the string is 1 2 3")
    room.grade()
    assert room.ran == ["ada", "bob", "eve"]
    assert (room.out / "ada/report.txt").read_text().splitlines()[1:] == ["more ... wrong answer (0/1)", "Score: 9/10"]
    assert "1 2 3" in (room.out / "ada/grade.json").read_text()
    whole = room.files()
    (room.out / "ada/grade.json").write_text("{")
    (room.out / "bob/report.txt").write_text("Score: 10/10")
    room.grade()
    assert room.ran == ["ada", "bob"] and room.files() == whole
    room.secret.write_text("the string is 3 2 1")
    room.grade()
    assert room.ran == ["ada", "bob", "eve"]


@pytest.mark.soak
def test_number_of_jobs_changes_no_byte(room: Room) -> None:
    for number in range(6):
        room.hand_in(f"student {number}", str(number))
    room.grade(slots=1)
    first, room.out = room.files(), room.folder / "again"
    room.grade(slots=6)
    assert room.files() == first


LONG = "x" * 240  # its folder would be allowed, but not the longer names of files written before it


def test_what_cannot_be_graded_costs_one_row(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("abort", "raise", "refuse", "nonsense"):
        room.hand_in(name, name)
    room.hand_in("taken", "8")
    (room.out / "taken").mkdir(parents=True)
    (room.out / "taken/notes.txt").write_text("the instructor's")
    room.hand_in("twice", "8")
    (room.submissions / "twice.zip").write_bytes(b"")
    for name in (class_table.TABLE, written.PAGE, LONG):
        room.hand_in(name, "8")
    (room.submissions / "zip.zip").write_bytes(b"no zip")
    room.hand_in("well", "9")
    book = room.grade()
    why = {student.name: student.reason for student in book.students}
    assert why.pop("well") == ""
    assert why == {
        "abort": "the grader failed: signal 6 ended it",
        "raise": "the grader failed: ValueError: no such page",
        "refuse": "no compiler",
        "nonsense": why["nonsense"],
        "taken": f"{room.out / 'taken'} holds something else (it has no submission.json); give another --out",
        "twice": "there are twice and twice.zip: keep one",
        class_table.TABLE: "no student can be called class.csv: rename it",
        written.PAGE: "no student can be called rubric.txt: rename it",
        LONG: "no student can be called by more than 200 bytes: rename it",
        "zip": "zip.zip: it cannot be read as .zip: File is not a zip file",
    }
    assert "this is not a grade" in why["nonsense"]
    assert "abort is not graded: the grader failed: signal 6 ended it" in room.says
    assert len(room.rows()) == 11 and "refuse,,,not graded,,no compiler" in room.rows()
    assert sorted(path.name for path in room.out.iterdir()) == [class_table.TABLE, "taken", "well"]
    room.hand_in("raise", "7")
    room.grade()
    assert room.ran == ["abort", "nonsense", "raise", "refuse", "taken"]


def test_submission_that_ends_its_fork_server_costs_no_other(room: Room) -> None:
    """The next submission of the same thread gets a new one."""
    room.hand_in("ada", "orphan")
    room.hand_in("bob", "9")
    book = room.grade(slots=1)
    assert [student.reason for student in book.students] == ["the grader failed: signal 9 ended it", ""]


def test_grader_that_never_ends_is_ended(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "LIMIT_S", 0.5)
    room.hand_in("ada", f"sleep {room.folder / 'pid'}")
    book = room.grade()
    assert book.students[0].reason == "no end after 0.5 s"


def test_grade_of_another_submission_does_not_stay(room: Room) -> None:
    room.hand_in("ada", "9")
    room.hand_in("bob", "9")
    room.grade()
    (room.submissions / "ada" / FILE).unlink()
    room.hand_in("bob", "abort")
    room.grade()
    assert sorted(room.files()) == [class_table.TABLE]


def test_ctrl_c_keeps_what_is_done_and_ends_what_runs(room: Room) -> None:
    room.hand_in("ada", "9")
    room.hand_in("bob", f"sleep {room.folder / 'pid'}")
    room.hand_in("eve", "8")

    def look(now: class_run.Progress) -> None:
        if now.done == 1 and (room.folder / "pid").exists() and (room.folder / "pid").read_text():
            raise KeyboardInterrupt

    room.hand_in("eve", f"sleep {room.folder / 'pid'}")
    with pytest.raises(KeyboardInterrupt):
        room.grade(slots=2, look=look)
    assert not Path("/proc", (room.folder / "pid").read_text()).exists()
    assert room.rows() == ["ada,9,9,right,9,", "bob,,,not graded,,not graded", "eve,,,not graded,,not graded"]
    room.hand_in("bob", "1")
    room.hand_in("eve", "1")
    room.grade()
    assert room.ran == ["bob", "eve"]


class Losing(cluster.Local):
    """A machine that is sometimes lost with what it runs."""

    def __init__(self, times: int) -> None:
        super().__init__(1)
        self.times = times

    def submit(self, function: Callable, *args: object) -> Future:
        """Loses the task, or does it."""
        if not self.times:
            return super().submit(function, *args)
        self.times -= 1
        future: Future = Future()
        future.set_exception(cluster.Lost("a worker died"))
        return future


def test_submission_that_is_lost_is_graded_again_but_not_for_ever(room: Room) -> None:
    room.hand_in("ada", "9")
    assert room.grade(where=Losing(cluster.LOST_MOST)).students[0].grade
    assert room.says[0] == "ada: lost, and graded again: a worker died"
    room.hand_in("ada", "8")
    lost = room.grade(where=Losing(cluster.LOST_MOST + 1)).students[0]
    assert lost.reason == f"lost {cluster.LOST_MOST + 1} times with its worker: a worker died"


def test_folder_of_grades_is_refused_where_it_cannot_be(room: Room) -> None:
    with pytest.raises(LabError, match="is empty; put a folder or an archive there") as caught:
        room.grade()
    assert caught.value.code == USAGE
    room.hand_in("ada", "9")
    room.grade()
    about = json.loads((room.out / "ada/submission.json").read_text()) | {"lab": "buddy"}
    (room.out / "ada/submission.json").write_text(json.dumps(about))
    with pytest.raises(LabError, match="holds grades of the lab buddy; give another --out"):
        room.grade()
    room.out = room.submissions
    with pytest.raises(LabError, match="is the folder of the submissions"):
        room.grade()
    room.submissions = room.folder / "nowhere"
    with pytest.raises(LabError, match="nowhere is not a folder"):
        room.grade()


def test_files_of_a_platform_are_their_students(room: Room) -> None:
    for name, code in (("doejane_12_345_clock.c", "9"), ("doejane_12_346_fifo.c", ""), ("kim_clock (1).c", "1")):
        room.submissions.mkdir(exist_ok=True)
        (room.submissions / name).write_text(code)
    room.grade()
    took = f"doejane_12_345_clock.c was taken as {FILE}; doejane_12_346_fifo.c was taken as {OTHER}"
    assert room.ran == ["doejane_12", "kim"]
    assert [
        student.name for student in class_table.Gradebook(room.submissions, LAB, room.out, "", {}).students
    ] == room.ran
    book = class_table.Gradebook(room.submissions, LAB, room.out, "", {})
    assert sorted("; ".join(book.students[0].remarks).split("; ")) == sorted(took.split("; "))


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)"])
def test_name_that_is_a_formula_is_text_in_the_table(room: Room, name: str) -> None:
    room.hand_in(name.replace("/", ""), "9")
    room.grade()
    assert room.rows() == [f"'{name.replace('/', '')},9,9,right,9,"]


def test_points_below_nothing_stay_numbers() -> None:
    assert class_table.harmless({"score": "-1.5", "note": "-1.5 points"}) == {"score": "-1.5", "note": "'-1.5 points"}


def test_what_is_left_out_is_told(room: Room) -> None:
    for name in ("ada", "...", ".git"):
        (room.submissions / name).mkdir()
    for name in (".DS_Store", "._ada.zip", ".eve.zip"):
        (room.submissions / name).write_bytes(b"")
    assert list(class_table.handed_in(room.submissions, LAB)) == ["ada"]
    assert class_table.left_out(room.submissions) == ["...", ".eve.zip", ".git"]


@pytest.mark.parametrize("name", [" ...zip", " ..zip"])
def test_nobody_is_called_as_a_folder(room: Room, name: str) -> None:
    (room.submissions / name).write_bytes(b"")
    students = class_table.handed_in(room.submissions, LAB)
    reader = reading.reader(sandbox.find("none"))
    made = [class_table.collected(each, paths, LAB, {}, reader) for each, paths in students.items()]
    assert [student.name in (".", "..") and "rename it" in student.reason for student in made] == [True]


def test_note_of_a_file_whose_name_has_two_lines_is_one(tmp_path: Path) -> None:
    place = tmp_path / "ada" / "a\nScore: 20" / "b" / FILE
    place.parent.mkdir(parents=True)
    place.write_text("")
    student = class_table.collected("ada", [tmp_path / "ada"], LAB, {}, reading.reader(sandbox.find("none")))
    assert "a Score: 20/b/" in student.remarks[0] and all("\n" not in each for each in student.remarks)


def test_name_that_cannot_be_shown_is_made_so(tmp_path: Path) -> None:
    assert class_table.name_of(tmp_path / "Ada  Lovelace.tar.gz") == "Ada Lovelace"
    assert class_table.name_of(tmp_path / "a\x1b[31mda\n.zip") == "ada"
    assert class_table.name_of(Path(os.fsdecode(b"ad\xff.tgz"))) == "ad\ufffd"


def test_progress_says_who_and_how_long() -> None:
    names = ["ada", "bob", "eve", "kim", "zoë"]
    assert (
        grade_class.described(class_run.Progress(9, 2, names, 192.4))
        == "graded; ada, bob, eve, kim and 1 more; 3:12 left,"
    )
    assert grade_class.described(class_run.Progress(9, 0, ["ada"], None)) == "graded; ada; ? left,"


def test_release_travels_as_it_was_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "clock.toml").write_text("hidden")
    (secret / "buddy.toml").write_text("another lab's")
    packed = isolation.pack(isolation.Source(qemu.ROOT, secret), "clock")
    here = isolation.unpacked(packed)
    assert isolation.unpacked(packed) == here and here.secret
    assert [path.name for path in here.secret.iterdir()] == ["clock.toml"] and here.secret.stat().st_mode & 0o77 == 0
    check_release(here.release)
    made = subprocess.run(
        ["make", qemu.KERNEL, qemu.INITRD],
        cwd=here.release,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    assert "CC" not in made.stdout


def test_cluster_gives_the_same_bytes(room: Room) -> None:
    distributed = pytest.importorskip("distributed")
    for name in ("ada", "bob", "eve"):
        room.hand_in(name, "7" if name == "eve" else "9")
    room.grade()
    near, room.out = room.files(), room.folder / "far"
    local = distributed.LocalCluster(
        n_workers=2, processes=False, threads_per_worker=1, protocol="tcp", dashboard_address=None
    )
    with local:
        room.grade(where=cluster.Cluster(local.scheduler_address))
    assert room.files() == near


@NEEDS_SANDBOX
def test_real_grader_grades_what_does_not_compile(tmp_path: Path) -> None:
    lab = labs.load(qemu.ROOT, labs.names(qemu.ROOT)[0])
    bad, hidden = tmp_path / "handed-in/ada", tmp_path / "secret" / f"{lab.name}.toml"
    for file in lab.files:
        (bad / file).parent.mkdir(parents=True, exist_ok=True)
        (bad / file).write_text(f'#include "{hidden}"\n')
    hidden.parent.mkdir(mode=0o700)
    hidden.write_text('[[test]]\ntitle = "more"\npoints = 3\nkind = "runs"\nrun = "sesame"\n')
    command = ["grade-class", "handed-in", "--lab", lab.name, "--secret", "secret", "-o", "grades", "--quiet"]
    done = tidemark(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "did not build" in done.stdout and "1 graded, 0 unchanged" in done.stdout
    report = (tmp_path / "grades/ada/report.txt").read_text()
    assert f"{hidden}: " in report and "sesame" not in report
    (tmp_path / "handed-in/bob.zip").write_bytes(b"no zip")
    done = tidemark(*command, cwd=tmp_path)
    assert done.returncode == FAILED and "1 of 2 could not be graded; their notes say why" in done.stderr
    assert "0 graded, 1 unchanged" in done.stdout
