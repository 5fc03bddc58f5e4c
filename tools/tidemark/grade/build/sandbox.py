"""The sandbox: what a student's code may see, change and use when it is compiled and run on the host.

There are three kinds; the first that works is taken:

    bwrap   bubblewrap: separate namespaces. Only the system's folders, the tree, the grader's Python and package, and
            the writable folders are visible; there is no network, and there are no other processes. The places of
            students' files or hidden tests are empty.
    user    a separate user (tidemark.grade.build.users), for root where namespaces are forbidden, as in most
            containers. It can read what other users may read, and reach the network. So a folder of hidden tests must
            have mode 0700.
    none    only limits of time, memory and files, for people who grade their own work, or trust its author.

Root, in the first two kinds, becomes such a user while the command runs: a different one for each run, since the system
counts processes by user and does not count root's. Writable folders become that user's meanwhile. Afterwards its
processes are ended, and what it left in /tmp and similar folders is removed.

Limits are those of the system (setrlimit), set by `prlimit`. Memory is limited with RLIMIT_DATA: private writable
memory. Address space would be the wrong measure: a 32-bit program under AddressSanitizer reserves
512 MiB of shadow memory, and QEMU 1 GiB for translated code, of which they use little; a higher RLIMIT_AS also
bounds shared memory. Limits hold for each process; if many together fill the machine's memory, the OOM killer chooses
them first (oom_score_adj). Limits of processor time end endless loops after the same work on every host. A command that
sleeps is ended because it does nothing; the wall clock is the last resort. The system has no limit for a folder, so
its size is checked now and then.

The command starts with a new environment: students must not read what a build machine keeps in its own.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tidemark
from tidemark.errors import NO_TOOL, USAGE, LabError
from tidemark.grade.build import supervise, users
from tidemark.machine import qemu

KINDS = ("bwrap", "user", "none")
AUTO = "auto"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix")
WARNINGS = {
    "bwrap": "",
    "user": "students' code runs as a separate user ({why}): it can read what every user may read on this machine, "
    "and reach the network",
    "none": "students' code runs with your own rights ({why}): it can read and change your files and hidden tests",
}


@dataclass(frozen=True)
class Limits:
    """What one command may use. Sizes in bytes: `memory` of each process, `shared` its address space, `file` each file,
    `disk` all files in its writable folders, `scratch` its /tmp, `output` each stream. By the wall clock, which also
    runs while others have the processor, it may take `wall` times its processor time, plus `spare_s`; all its
    processes together may sleep for `asleep_s`."""

    memory: int = 2 << 30
    shared: int = 6 << 30
    file: int = 1 << 30
    disk: int = 2 << 30
    disk_files: int = 100_000
    scratch: int = 256 << 20
    output: int = 4 << 20
    processes: int = 1024
    open_files: int = 1024
    wall: float = 10.0
    spare_s: float = 30.0
    asleep_s: float = 20.0

    def words(self, limit_s: float) -> list[str]:
        """The command `prlimit` that sets the limits."""
        seconds = math.ceil(limit_s)
        limits = {
            "cpu": f"{seconds}:{seconds + 1}",
            "data": self.memory,
            "as": self.shared,
            "fsize": self.file,
            "nofile": self.open_files,
            "stack": 8 << 20,
            "core": 0,
        }
        return ["prlimit", *(f"--{name}={value}" for name, value in limits.items())]


def environment() -> list[str]:
    """The command `env` with the complete environment of the command."""
    path = os.environ.get("PATH", os.defpath)
    return ["env", "-i", f"PATH={path}", "HOME=/tmp", "TMPDIR=/tmp", "LANG=C.UTF-8"]


def grader_folders() -> list[Path]:
    """Folders of the grader that a command needs besides the system's: Python, package, plugin, zig."""
    package, built = Path(tidemark.__file__).parent, qemu.ROOT / "build"
    own = (Path(sys.prefix), Path(sys.base_prefix), package, built / "plugin", built / "zig")
    return [path.resolve() for path in own if path.is_dir()]


@functools.cache
def bwrap_has_size() -> bool:
    """Can this bubblewrap (0.7) limit the size of a file system in memory?"""
    return "--size" in subprocess.run(["bwrap", "--help"], capture_output=True, text=True).stdout


def in_memory(path: str, limits: Limits) -> list[str]:
    """bwrap's words for a file system in memory that all users may write to."""
    return ["--perms", "1777", *(["--size", str(limits.scratch)] if bwrap_has_size() else []), "--tmpfs", path]


def placed(option: str, path: Path) -> list[str]:
    """bwrap's words for a folder at its own path; its parents can be entered, but hold nothing else."""
    return ["--dir", str(path.parent), option, str(path), str(path)]


def namespaces(cwd: Path, writable: Sequence[Path], limits: Limits) -> list[str]:
    """The command `bwrap` with the namespaces of a command."""
    words = ["bwrap", "--die-with-parent", "--new-session", "--hostname", "sandbox", "--unshare-ipc", "--unshare-pid"]
    words += ["--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    for folder in SYSTEM:
        if os.path.islink(folder):
            words += ["--symlink", os.readlink(folder), folder]
        else:
            words += ["--ro-bind-try", folder, folder]
    words += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    words += in_memory("/dev/shm", limits) + in_memory("/tmp", limits)
    words += ["--dir", "/var", "--symlink", "../tmp", "/var/tmp"]
    for path in grader_folders():
        words += placed("--ro-bind", path)
    # A folder comes before its subfolders, which may be mounted in another way.
    for path in sorted({cwd, *writable}, key=lambda path: len(path.parts)):
        may_write = any(path.is_relative_to(other) for other in writable)
        words += placed("--bind" if may_write else "--ro-bind", path)
    return [*words, "--remount-ro", "/", "--chdir", str(cwd), "--"]


def rights(number: int | None, group: int | None) -> list[str]:
    """The command `setpriv` that drops unneeded rights, and ends the command when its parent ends."""
    words = ["setpriv", "--no-new-privs", "--pdeathsig=KILL"]
    if number is not None:
        words += [f"--reuid={number}", f"--regid={group}", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
    return words


@dataclass(frozen=True)
class Sandbox:
    """A way to run commands. `user`: its group may enter what a run needs, and it runs commands started with `prefix`
    (None: the grading user). `why`: the reason why a better kind was not taken."""

    kind: str
    user: users.User | None = None
    limits: Limits = Limits()
    why: str = ""

    @property
    def warning(self) -> str:
        """What the sandbox does not protect from, in one line; empty for the best kind."""
        return WARNINGS[self.kind].format(why=self.why)

    def prefix(self, cwd: Path, writable: Sequence[Path], limit_s: float) -> list[str]:
        """Words to put before a command that runs in `cwd`, and may write to the folders `writable` with their present
        contents, which no other run may use meanwhile. It gets `limit_s` of processor time. The caller must watch its
        output and its wall-clock time. Raises LabError if it cannot be let into a folder."""
        return self.words(self.user, cwd, writable, limit_s)

    def words(self, user: users.User | None, cwd: Path, writable: Sequence[Path], limit_s: float) -> list[str]:
        """As `prefix`, for a user, who becomes the owner of the writable folders."""
        cwd, writable = cwd.resolve(), [path.resolve() for path in writable]
        if user and self.user:
            for path in writable:
                users.own(path, user.number, self.user.number)
            self.open_way(cwd, writable, self.user.number)
        words = ["choom", "-n", "1000", "--", *environment()]  # also of the first process of a namespace
        if self.kind == "bwrap":
            words += namespaces(cwd, writable, self.limits)
        words += rights(user.number if user else None, self.user.number if self.user else None)
        running = 0 if user else users.tasks(os.getuid())
        words += [*self.limits.words(limit_s), f"--nproc={self.limits.processes + running}"]
        return [*words, *environment()]

    def open_way(self, cwd: Path, writable: Sequence[Path], group: int) -> None:
        """Let our users, through their group, into the folders that they need; namespaces build the path to them
        anew."""
        for path in (cwd, *writable):
            users.admit(path, group)
            if self.kind == "user":
                for folder in path.parents:
                    users.let_pass(folder)

    def may_read(self, path: Path) -> bool:
        """May a command read a file of the grader at its path?"""
        return self.kind != "user" or users.everybody_reads(path)

    def within_reach(self, path: Path) -> Path:
        """The path at which a command may read a file of the grader: its own, or that of a copy."""
        return path if self.may_read(path) else users.copy_for_all(path)

    def run(
        self, command: list[str], cwd: Path, stdin: bytes, writable: Sequence[Path], limit_s: float
    ) -> tuple[int, bytes, bytes]:
        """Run a command in `cwd` to its end; returns (status, output, errors) as supervise.run does. Afterwards none of
        its processes runs, and its files are ours. The kind `none` cannot end processes that left its session."""
        limits = self.limits
        wall_s = limits.wall * limit_s + limits.spare_s
        bounds = supervise.Bounds(
            limits.output, limits.disk, limits.disk_files, wall_s, limits.asleep_s, tuple(writable)
        )
        with users.claimed() if self.user else contextlib.nullcontext() as user:
            words = self.words(user, cwd, writable, limit_s)
            try:
                return supervise.run([*words, *command], cwd, stdin, bounds, functools.partial(self.end, user))
            finally:
                if user:
                    for path in writable:
                        users.own(path, os.getuid(), os.getgid())
                    users.clean_up(user)

    def end(self, user: users.User | None, process: subprocess.Popen[bytes]) -> None:
        """End a command and all that it has started. If the first process of a namespace ends, so do all others, and
        then bwrap."""
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            if self.kind == "bwrap" and process.poll() is None:
                for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
                    os.kill(int(child), signal.SIGKILL)
                process.wait(5)
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        if user:
            users.end_all(user)


def made(kind: str, why: str = "") -> Sandbox:
    """A sandbox of a kind, with a separate user if the kind has one."""
    return Sandbox(kind, users.claim() if kind != "none" and os.getuid() == 0 else None, why=why)


@functools.cache
def trouble(kind: str) -> str:
    """Why a kind does not work here; empty if it does. It is tried only once."""
    if kind == "user" and os.getuid() != 0:
        return "only root can run a command as another user"
    if kind == "bwrap" and not shutil.which("bwrap"):
        return "it is not installed: `apt-get install bubblewrap`"
    with tempfile.TemporaryDirectory(prefix="tidemark-sandbox-") as folder:
        status, _, err = made(kind).run(["true"], Path(folder), b"", (), 10)
    said = err.decode(errors="replace").strip().splitlines()
    return "" if status == 0 else said[-1] if said else f"it ended with status {status}"


def find(kind: str = AUTO) -> Sandbox:
    """The sandbox of a kind; `auto`: the best that works. Raises LabError if it does not work."""
    if sys.platform != "linux":
        raise LabError("the grader's sandbox needs Linux: grade in the container of .devcontainer", NO_TOOL)
    for program in ("prlimit", "setpriv", "choom"):
        if not shutil.which(program):
            raise LabError(f"{program} is not installed; it is in the package util-linux", NO_TOOL)
    if kind == "none":
        return made(kind, "--sandbox none")
    if kind in KINDS:
        why = trouble(kind)
        if why:
            raise LabError(f"--sandbox {kind} does not work here: {why}", NO_TOOL)
        return made(kind, trouble("bwrap") or f"--sandbox {kind}")
    if kind != AUTO:
        raise LabError(f"--sandbox {kind}: there are {', '.join((AUTO, *KINDS))}", USAGE)
    best = next(kind for kind in KINDS if kind == "none" or not trouble(kind))
    return made(best, trouble("bwrap"))


def check_secret(sandbox: Sandbox, secret: Path) -> None:
    """Raises LabError if a student's code in the sandbox could read the folder of hidden tests."""
    found = secret.resolve()
    if sandbox.kind == "user" and found.stat().st_mode & 0o077:
        raise LabError(f"{secret}: students' code could read these hidden tests here: `chmod 700 {secret}`", USAGE)
    shown = [Path(folder) for folder in SYSTEM] + grader_folders()
    place = next((folder for folder in shown if found.is_relative_to(folder)), None)
    if sandbox.kind == "bwrap" and place:
        raise LabError(f"{secret}: students' code can read {place}: keep the hidden tests elsewhere", USAGE)


def best() -> Sandbox:
    """The best kind that works here; prints what it does not protect from."""
    return choose(AUTO)


def choose(kind: str, secret: Path | None = None) -> Sandbox:
    """The sandbox of a kind, or `auto`; prints to stderr what it does not protect from. Raises LabError if it does not
    work, or if hidden tests in the folder `secret` could be read in it."""
    sandbox = find(kind)
    if secret is not None:
        check_secret(sandbox, secret)
    if sandbox.warning:
        print(f"tidemark: {sandbox.warning}", file=sys.stderr)
    return sandbox
