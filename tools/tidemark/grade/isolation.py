"""One grading in a separate process, so that a crash or an endless run affects no other grading.

The process is a fork of one that runs this module as a program. Its input is in a folder, submission/; its result goes
to another, out/: the grade and the report, or a sentence why there is none. If out/ is empty, the process crashed.

The needed parts of the release travel to other machines by content: its sources, with the dates that `make` uses, and
what was built from them. The receiving process unpacks it once, into a folder that only this process can read.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import os
import shutil
import signal
import sys
import tarfile
import tempfile
import threading
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from pkgutil import iter_modules

from tidemark.errors import LabError
from tidemark.files import move, scratch
from tidemark.grade.build import sandbox as sandboxes
from tidemark.grade.build import solutions
from tidemark.grade.build.workspace import COMPILER, compiler
from tidemark.grade.fork_server import Ended, ForkServer, serve
from tidemark.grade.hand_back.class_table import GRADE, REPORT
from tidemark.grade.intake import lab as labs
from tidemark.machine import qemu
from tidemark.runs import cluster

GRADER = [sys.executable, "-m", "tidemark.grade.isolation"]
LIMIT_S = 2 * 3600.0  # the last resort: budgets and limits of single runs end a grading long before
POLL_S, KINDLY_S = 0.1, 10
SUBMISSION, REMARKS, STUDENT, OUT, WORK, LOG = "submission", "remarks", "student", "out", "work", "log"
REFUSED = "refused.txt"
RELEASE, SECRET = "release", "secret"

unpacking = threading.Lock()
of_thread = threading.local()  # .server: the fork server of this thread's jobs


@dataclass(frozen=True)
class Job:
    """A grading job: the lab's files of one submission, notes about it (archive.notes), and its
    student."""

    files: dict[str, bytes] = field(repr=False)
    remarks: tuple[str, ...]
    lab: str
    sandbox: str
    student: str = ""


@dataclass(frozen=True)
class Source:
    """The folders of the release and the hidden tests on this machine."""

    release: Path
    secret: Path | None


@dataclass(frozen=True)
class PackedSource:
    """A Source by content: an uncompressed tar with release/ and, if there are hidden tests, secret/."""

    tar: bytes = field(repr=False)
    has_secret: bool
    sha256: str


@dataclass(frozen=True)
class JobResult:
    """The result of a job: its files, or none and the reason; seconds of host time."""

    files: dict[str, bytes]
    reason: str
    seconds: float


def secrets(secret: Path, lab: str) -> list[Path]:
    """The files of a secret folder that a lab uses: its hidden tests, the key of quizzes."""
    return [path for path in (secret / f"{lab}.toml", secret / labs.QUIZ_KEY) if path.is_file()]


def pack(source: Source, lab: str) -> PackedSource:
    """Pack a built release and a lab's hidden tests."""
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
    """The folder for this process's unpacked sources, removed when it ends. Caller holds `unpacking`."""
    return tempfile.TemporaryDirectory(prefix="tidemark-releases-")


def unpacked(packed: PackedSource) -> Source:
    """A packed source, unpacked by the first call in a process."""
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
    """Grade in another process. Raises cluster.Lost if `token` in cluster.stopped ended it, and LabError if nothing can
    be graded here. `host` is the machine that wants the result."""
    started = time.monotonic()
    with cluster.told_where(host), scratch("tidemark-class-") as name:
        folder, here = Path(name), source if isinstance(source, Source) else unpacked(source)
        lay(job, folder)
        words = [str(here.release), job.lab, str(here.secret or ""), job.sandbox, str(folder)]
        log = folder / OUT / LOG
        log.touch()
        try:
            status = watch(fork_server(), token, log, *words)
        except Ended:
            del of_thread.server
            status = -signal.SIGKILL
        files = {path.name: path.read_bytes() for path in sorted((folder / OUT).iterdir())}
        log_text, refused = files.pop(LOG).decode("utf-8", "replace"), files.pop(REFUSED, b"").decode()
        reason = refused or ("" if status == 0 else crash(status, log_text))
        return JobResult({} if reason else files, reason, time.monotonic() - started)


def warning(sandbox: str, source: Source | PackedSource, host: str) -> str:
    """What a kind of sandbox does not protect from on this machine. Raises LabError if it does not work there, or if
    students' code in it could read the hidden tests or the solutions."""
    with cluster.told_where(host):
        box, here = sandboxes.find(sandbox), source if isinstance(source, Source) else unpacked(source)
        if here.secret:
            sandboxes.check_secret(box, here.secret)
        solutions.check(box, here.release, sandbox)
        return box.warning


def lay(job: Job, folder: Path) -> None:
    """Fill the grader's folder. Other users may pass to its work/, but not see the submission or the result."""
    for name, mode in ((SUBMISSION, 0o700), (OUT, 0o700), (WORK, 0o755)):
        (folder / name).mkdir(mode)
    (folder / REMARKS).write_text("\n".join(job.remarks))
    (folder / STUDENT).write_text(job.student, "utf-8", "replace")
    for name, data in job.files.items():
        (folder / SUBMISSION / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / SUBMISSION / name).write_bytes(data)


def fork_server() -> ForkServer:
    """The fork server of this thread's jobs."""
    if not hasattr(of_thread, "server"):
        of_thread.server = ForkServer(GRADER, os.environ | {COMPILER: " ".join(compiler())})
    server: ForkServer = of_thread.server
    return server


def watch(server: ForkServer, token: str, log: Path, *words: str) -> int | None:
    """Let a fork grade; returns its status, or None if it took too long. Raises cluster.Lost if it was cancelled, and
    Ended."""
    process, deadline, status = server.begin(log, *words), time.monotonic() + LIMIT_S, None
    try:
        while status is None and time.monotonic() < deadline:
            if token in cluster.stopped:
                raise cluster.Lost("stopped")
            status = server.status(POLL_S)
    finally:
        if status is None:
            server.end(process, KINDLY_S)
    return status


def crash(status: int | None, log: str) -> str:
    """A sentence on a grader that left no result: the last line of its log, if there is one."""
    if status is None:
        return f"no end after {LIMIT_S:g} s"
    lines = log.strip().splitlines()
    why = f"signal {-status} ended it" if status < 0 else lines[-1] if lines else f"its status was {status}"
    return f"the grader failed: {why}"


def hang_up(signum: int, frame: object) -> None:
    """Handles SIGTERM like Ctrl-C, so that the processes that this grading has started end, too."""
    raise KeyboardInterrupt


def main(release: str, lab: str, secret: str, sandbox: str, folder: str) -> None:
    """Grade the submission in the folder, and write the result there."""
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
        request = grading.Request(Path(release), base / SUBMISSION, lab, hidden, student, student, remarks=remarks)
        made = grading.grade(request, grading.Host(base / WORK, box))
    except LabError as error:
        (out / REFUSED).write_text(str(error), "utf-8", "replace")
        return
    result.save(made, out / GRADE)
    (out / REPORT).write_text(text.report(made) + "\n", "utf-8", "replace")


def load() -> None:
    """Load what `main` needs."""
    from tidemark.grade.judge import kinds

    of_kinds = (f"judge.kinds.{kind.name}" for kind in iter_modules(kinds.__path__))
    for name in ("grading", "hand_back.result", "hand_back.text", *of_kinds):
        importlib.import_module(f"tidemark.grade.{name}")


if __name__ == "__main__":
    load()
    serve(main)
