"""One grading in a process of its own, so that it costs nobody else anything if it crashes or never ends.

The process is this module as a program. What it is to grade lies in a folder, submission/; what comes of it lies in
another, out/: the grade and the report, or a sentence why there is none. If there is nothing, it crashed.

What is needed of the release travels by content to other machines: its sources, with the dates that `make` goes by, and
what it has built of them. The process that gets it unpacks it once, into a folder of its own that only it can read.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tidemark import cluster, qemu
from tidemark.errors import LabError
from tidemark.files import move, scratch
from tidemark.grade.build import sandbox as sandboxes
from tidemark.grade.build import solutions
from tidemark.grade.hand_back.class_table import GRADE, REPORT
from tidemark.grade.intake import lab as labs

GRADER = [sys.executable, "-m", "tidemark.grade.isolation"]
LIMIT_S = 2 * 3600.0  # the last resort: budgets and limits of single runs end a grading long before
POLL_S, KINDLY_S = 0.1, 10
SUBMISSION, REMARKS, STUDENT, OUT, WORK, LOG = "submission", "remarks", "student", "out", "work", "log"
REFUSED = "refused.txt"
RELEASE, SECRET = "release", "secret"

unpacking = threading.Lock()


@dataclass(frozen=True)
class Job:
    """What is to be graded: the lab's files of one submission, what is to be noted about it (archive.notes), and whose
    it is."""

    files: dict[str, bytes] = field(repr=False)
    remarks: tuple[str, ...]
    lab: str
    sandbox: str
    student: str = ""


@dataclass(frozen=True)
class Source:
    """Where the release and the hidden tests lie on this machine."""

    release: Path
    secret: Path | None


@dataclass(frozen=True)
class PackedSource:
    """The same by content: an uncompressed tar with release/ and, if there are hidden tests, secret/."""

    tar: bytes = field(repr=False)
    has_secret: bool
    sha256: str


@dataclass(frozen=True)
class JobResult:
    """What came of a job: the files that are the result, or none and the reason; seconds of host time."""

    files: dict[str, bytes]
    reason: str
    seconds: float


def secrets(secret: Path, lab: str) -> list[Path]:
    """The files of a secret folder that matter to a lab: its hidden tests, the key of quizzes."""
    return [path for path in (secret / f"{lab}.toml", secret / labs.QUIZ_KEY) if path.is_file()]


def pack(source: Source, lab: str) -> PackedSource:
    """A release, as built, and a lab's hidden tests."""
    from tidemark.grade.build import tree

    built = [*tree.BUILT, *tree.BUILT_FILES, Path(qemu.KERNEL).name, Path(qemu.KERNEL).name + ".nm"]
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in (*tree.files_of(source.release), *(Path("build", name) for name in built)):
            if (source.release / path).exists():
                archive.add(source.release / path, Path(RELEASE, path))
        if source.secret:
            for path in secrets(source.secret, lab):
                archive.add(path, f"{SECRET}/{path.name}")
    tar = data.getvalue()
    return PackedSource(tar, source.secret is not None, hashlib.sha256(tar).hexdigest())


@cache
def packed_folder() -> tempfile.TemporaryDirectory[str]:
    """The folder for what is unpacked in this process, which is removed when it ends. Call it with `unpacking` held."""
    return tempfile.TemporaryDirectory(prefix="tidemark-releases-")


def unpacked(packed: PackedSource) -> Source:
    """What a packed source holds, laid out by the first call in a process."""
    with unpacking:
        folder = Path(packed_folder().name, packed.sha256)
        if not folder.exists():
            partial = folder.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)
            with tarfile.open(fileobj=io.BytesIO(packed.tar)) as archive:
                archive.extractall(partial)
            if packed.has_secret:
                (partial / SECRET).chmod(0o700)
            move(partial, folder)
    return Source(folder / RELEASE, folder / SECRET if packed.has_secret else None)


def carry_out(job: Job, source: Source | PackedSource, host: str, token: str) -> JobResult:
    """Grade in another process. cluster.Lost when `token` in cluster.stopped ended it, LabError when nothing can be
    graded here. `host` is the machine that wants it."""
    started = time.monotonic()
    with cluster.told_where(host), scratch("tidemark-class-") as name:
        folder, here = Path(name), source if isinstance(source, Source) else unpacked(source)
        lay(job, folder)
        words = [str(here.release), job.lab, str(here.secret or ""), job.sandbox, str(folder)]
        with (folder / OUT / LOG).open("wb") as log:
            process = subprocess.Popen(
                [*GRADER, *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=qemu.die_with_parent,
            )
            try:
                status = watch(process, token)
            finally:
                stop(process)
        files = {path.name: path.read_bytes() for path in sorted((folder / OUT).iterdir())}
        log_text, refused = files.pop(LOG).decode("utf-8", "replace"), files.pop(REFUSED, b"").decode()
        reason = refused or ("" if status == 0 else crash(status, log_text))
        return JobResult({} if reason else files, reason, time.monotonic() - started)


def warning(sandbox: str, source: Source | PackedSource, host: str) -> str:
    """What a kind of sandbox does not protect from where this runs. LabError when it cannot be had there, or students'
    code in it could read the hidden tests or the solutions."""
    with cluster.told_where(host):
        box, here = sandboxes.find(sandbox), source if isinstance(source, Source) else unpacked(source)
        if here.secret:
            sandboxes.check_secret(box, here.secret)
        solutions.check(box, here.release, sandbox)
        return box.warning


def lay(job: Job, folder: Path) -> None:
    """The folder that the grader finds. Others may pass to the work in it, but not look at what is in or out."""
    for name, mode in ((SUBMISSION, 0o700), (OUT, 0o700), (WORK, 0o755)):
        (folder / name).mkdir(mode)
    (folder / REMARKS).write_text("\n".join(job.remarks))
    (folder / STUDENT).write_text(job.student, "utf-8", "replace")
    for name, data in job.files.items():
        (folder / SUBMISSION / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / SUBMISSION / name).write_bytes(data)


def watch(process: subprocess.Popen[bytes], token: str) -> int | None:
    """Wait for the grader; its status, or None when it took too long. cluster.Lost when it is not wanted any more."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        if token in cluster.stopped:
            raise cluster.Lost("stopped")
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(POLL_S)
    return None


def stop(process: subprocess.Popen[bytes]) -> None:
    """End the grader if it runs, kindly first: it ends what it has started."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(KINDLY_S)
        process.kill()
        process.wait()


def crash(status: int | None, log: str) -> str:
    """A sentence for a grader that left no word: what its log says last, if that helps."""
    if status is None:
        return f"no end after {LIMIT_S:g} s"
    lines = log.strip().splitlines()
    why = f"signal {-status} ended it" if status < 0 else lines[-1] if lines else f"its status was {status}"
    return f"the grader failed: {why}"


def hang_up(signum: int, frame: object) -> None:
    """SIGTERM ends a grading as Ctrl-C does: what it has started ends, too."""
    raise KeyboardInterrupt


def main(release: str, lab: str, secret: str, sandbox: str, folder: str) -> None:
    """Grade what lies in the folder, and leave there what came of it."""
    from tidemark.grade import grading
    from tidemark.grade.hand_back import result, text

    signal.signal(signal.SIGTERM, hang_up)
    os.umask(0o022)
    base, out = Path(folder), Path(folder, OUT)
    hidden = Path(secret) if secret else None
    try:
        box = sandboxes.find(sandbox)
        remarks = (base / REMARKS).read_text().splitlines()
        student = (base / STUDENT).read_text("utf-8")
        made = grading.grade(Path(release), base / SUBMISSION, lab, hidden, base / WORK, box, remarks, student=student)
    except LabError as error:
        (out / REFUSED).write_text(str(error), "utf-8", "replace")
        return
    result.save(made, out / GRADE)
    (out / REPORT).write_text(text.report(made) + "\n", "utf-8", "replace")


if __name__ == "__main__":
    main(*sys.argv[1:])
