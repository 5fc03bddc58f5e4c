"""The simulator: a policy's own C file, run on the host over a string of references (tools/vmsim).

Each policy has a program: build/vmsim/NAME under the sanitizers, build/vmsim/NAME.fast for speed. It reads
runs from standard input and prints JSON; tools/vmsim/report.c describes the output.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from tidemark.errors import FAILED, USAGE, LabError
from tidemark.machine import made, qemu
from tidemark.strings.refstrings import References, names_and_counts
from tidemark.trace import future

POLICIES = Path("kernel/mm/policy")
NOT_POLICIES = ("TEMPLATE", "_test", "_ktest")
FILE_STORE = (1 << 25) + 2  # tools/vmsim/vmsim.h
WITH_FUTURE = ("min", "vmin")  # they get the whole string beforehand
MIN_FRAMES, MAX_FRAMES = 1, 1 << 24
VIOLATION = 1

Row = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Outcome:
    """The result of one run. `faults`: references to pages that were not in memory; `minor`: to pages that were, but
    trapped or detached; `evictions` because a frame was needed, `trimmed` because the policy counted them as surplus;
    `looked`: pages that the policy looked at.
    """

    policy: str
    frames: int
    references: int
    pages: int
    faults: int
    hits: int
    minor: int
    evictions: int
    trimmed: int
    ticks: int
    looked: int
    ns: int


class BrokenRule(LabError):
    """The policy broke a rule. `violation`: policy, rule, hook, ref (number of the reference, 0: none yet),
    page (or None) and what.
    """

    def __init__(self, violation: dict[str, Any], said: str) -> None:
        super().__init__(said, FAILED)
        self.violation = violation


def policies() -> list[str]:
    """The policies of this tree, by name."""
    names = (path.stem for path in (qemu.ROOT / POLICIES).glob("*.c"))
    return sorted(name for name in names if not name.endswith(NOT_POLICIES))


@functools.cache
def build(policy: str, fast: bool = False) -> Path:
    """The simulator of a policy, built if necessary; checked only once per process. Raises LabError if there is no such
    policy, or it does not compile.
    """
    if policy not in policies():
        raise LabError(f"there is no {POLICIES}/{policy}.c; there are {', '.join(policies())}", USAGE)
    target = f"build/vmsim/{policy}{'.fast' if fast else ''}"
    if said := made.trouble(target):
        raise LabError(f"{POLICIES}/{policy}.c does not compile:\n{said}", FAILED)
    return qemu.ROOT / target


def feed(pipe: IO[bytes], runs: Iterable[np.ndarray]) -> None:
    """Write runs until all are written or the reader is gone."""
    with contextlib.suppress(BrokenPipeError), pipe:
        for piece in runs:
            pipe.write(np.ascontiguousarray(piece, "<u4").data)


def command_line(program: Path, frames: int, parameters: Iterable[str] = (), explain: bool = False) -> list[str]:
    """The program and its arguments; `parameters` are NAME=VALUE. Raises LabError if `frames` is out of range."""
    if not MIN_FRAMES <= frames <= MAX_FRAMES:
        raise LabError(f"frames={frames}: {MIN_FRAMES} to {MAX_FRAMES:,} are allowed", USAGE)
    command = [str(program), "--frames", str(frames)]
    for parameter in parameters:
        command += ["--set", parameter]
    return command + (["--explain"] if explain else [])


def future_of(string: References) -> future.Space:
    """The future of the simulator's one process."""
    runs = np.concatenate([*string.runs(), np.zeros((0, 3), np.uint32)])
    names = np.concatenate([name for name, _ in names_and_counts(string.runs())] or [np.zeros(0, np.uint64)])
    runs = runs[runs[:, 1] != 0]
    pages, refs = np.unique(names, return_inverse=True)
    times = np.cumsum(runs[:, 2], dtype=np.uint64) - runs[:, 2]
    changes = future.without_repetitions(refs)
    files = np.where(pages >> np.uint64(32), FILE_STORE, 0).astype(np.uint32)
    return future.Space(pages.astype(np.uint32), refs[changes].astype(np.uint32), times[changes], files)


@contextlib.contextmanager
def told(program: Path, string: References) -> Iterator[list[str]]:
    """The additional arguments for a policy that needs the future."""
    if program.name.partition(".")[0] not in WITH_FUTURE:
        yield []
        return
    with tempfile.NamedTemporaryFile(prefix="tidemark-") as file:
        file.write(future.encode([future_of(string)]))
        file.flush()
        yield ["--future", file.name]


def run(
    program: Path, string: References, frames: int, parameters: Iterable[str] = (), explained: Row | None = None
) -> Outcome:
    """Run the string. `explained` gets a row for each run of references. Raises BrokenRule if the policy breaks a rule,
    LabError for a parameter that it does not have.
    """
    import threading

    command = command_line(program, frames, parameters, explained is not None)
    with (
        told(program, string) as more,
        subprocess.Popen(
            command + more, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process,
    ):
        assert process.stdout and process.stderr  # they are pipes
        said: list[bytes] = []
        stderr = process.stderr
        readers = [
            threading.Thread(target=feed, args=(process.stdin, string.runs()), daemon=True),
            threading.Thread(target=lambda: said.append(stderr.read()), daemon=True),
        ]
        for reader in readers:
            reader.start()
        last: dict[str, Any] = {}
        try:
            for line in process.stdout:
                last = json.loads(line)
                if explained and "ref" in last:
                    explained(last)
        except BaseException:
            process.kill()
            raise
        for reader in readers:
            reader.join()
    return result(last, process.returncode, b"".join(said).decode("utf-8", "replace").strip())


def run_file(program: Path, string: Path, frames: int) -> Outcome:
    """Run the string in a file, as little-endian u32[n, 3] of runs; errors as in `run`."""
    with string.open("rb") as file:
        done = subprocess.run(command_line(program, frames), stdin=file, capture_output=True)
    lines = done.stdout.splitlines()
    return result(
        json.loads(lines[-1]) if lines else {}, done.returncode, done.stderr.decode("utf-8", "replace").strip()
    )


def window_ms(policy: str, parameters: Iterable[str]) -> int:
    """The policy's window: tau_ms from the parameters, or else from its file; 0 for a policy without a window."""
    given = [
        value for name, _, value in (text.rpartition(".")[2].partition("=") for text in parameters) if name == "tau_ms"
    ]
    source = (qemu.ROOT / POLICIES / f"{policy}.c").read_text("utf-8", "replace")
    found = given or re.findall(r"\btau_ms = (\d+)", source)
    return int(found[-1]) if found else 0


def result(last: dict[str, Any], status: int, said: str) -> Outcome:
    """The outcome, from the last line and the status of the program. Raises BrokenRule or LabError."""
    if "violation" in last:
        raise BrokenRule(last["violation"], said)
    if status or "faults" not in last:
        raise LabError(said or f"the simulator ended with status {status}", USAGE if status == 2 else FAILED)
    return Outcome(**last)


def some_frames(nr_pages: int) -> list[int]:
    """Default numbers of frames: eighths of the pages."""
    return sorted({max(MIN_FRAMES, round(nr_pages * eighth / 8)) for eighth in range(1, 9)})
