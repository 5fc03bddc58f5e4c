"""The pool of changed kernels: a folder that only instructors have, since it holds the keys.

    POOL/pool.json       the seed, the number of kernels, the compiler, seconds of processor time, and hashes
    POOL/base/           the unchanged kernel as a machine (an image's folder), with all programs
    POOL/unchanged.json  the console of each workload in it, and the lines that the workload executes
    POOL/tried.ndjson    a row for each change that was tried, in drawn order, with its result
    POOL/kernels/N.gz    the kernel of the change in row N, counted from 1, if it is taken; N.nm.gz: its symbols

The seed determines the changes and their order (tries.py). A change is taken into the pool if the kernel compiles to
other code, boots, and shows a symptom in a workload that executes the changed line (symptoms.py), twice the same to
the byte. A kernel whose programs do not end is left out. Of one function at most PER_FUNCTION changes are taken. The
same tree, compiler and seed make the same pool, whatever the number of workers; a call continues where the last one
stopped.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import queue
import shutil
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from tidemark.errors import BAD_INPUT, FAILED, USAGE, LabError
from tidemark.files import check_folder, locked, sha256, write_atomically, write_json
from tidemark.grade.build.tree import MANIFEST
from tidemark.grade.hunts import symptoms, tries
from tidemark.grade.hunts.bench import Bench, lay_base, private
from tidemark.grade.hunts.tries import Try
from tidemark.grade.witness import lines
from tidemark.machine import plugin, qemu

SCHEMA = "tidemark-hunts/1"
META, ROWS, RIGHT, BASE, KERNELS, WORK = "pool.json", "tried.ndjson", "unchanged.json", "base", "kernels", "work"
TAKEN, ENOUGH, NOT_SHOWN, NO_BOOT = "taken", "enough", "not shown", "no boot"
ENDLESS, NOT_AGAIN = "endless", "not again"
PER_FUNCTION = 2
LOOPS, MOST_S = 3, 60  # times the unchanged kernel's processor time, with which it is counted; upper bound of that
AHEAD = 2  # tries that wait for each worker


@dataclass(frozen=True)
class Row(Try):
    """A change that was tried, its number, and its result; the rest describes the symptom. `named`: the panic's or the
    hang's backtrace names the function."""

    number: int
    result: str
    workload: str = ""
    kind: str = ""
    says: str = ""
    expected: str = ""
    named: bool = False


@dataclass(frozen=True)
class Right:
    """What the unchanged kernel does in a workload: how the run ends, and the lines that it executes. `limit_s`: the
    processor time after which a changed kernel counts as one in an endless loop."""

    ran: symptoms.Ran
    lines: set[tuple[str, int]]
    limit_s: int


@dataclass(frozen=True)
class Progress:
    """Kernels in the pool, of how many, changes tried, and estimated seconds to the end, None if unknown."""

    taken: int
    nr: int
    tried: int
    left_s: float | None


Watch = Callable[[Progress], None]


def parts(kernel: Path) -> list[tuple[str, Path]]:
    """(name in an image, packed file) of a kernel and its list of symbols."""
    return [(qemu.KERNEL, kernel.with_suffix(".gz")), (plugin.SYMBOLS, kernel.with_suffix(".nm.gz"))]


@dataclass(frozen=True)
class Pool:
    """A pool's folder."""

    folder: Path

    def meta(self) -> dict[str, object]:
        """What pool.json holds. Raises LabError if the folder is not a pool."""
        try:
            found: dict[str, object] = json.loads((self.folder / META).read_text())
        except OSError as error:
            raise LabError(f"{self.folder} is not a pool: {META}: {error.strerror}", BAD_INPUT) from None
        except ValueError:
            found = {}
        if found.get("schema") != SCHEMA:
            raise LabError(f"{self.folder}/{META} is not of a pool that this release made", BAD_INPUT)
        return found

    def right(self) -> dict[str, Right]:
        """What the unchanged kernel does in each workload."""
        found = json.loads((self.folder / RIGHT).read_text())
        return {
            name: Right(symptoms.Ran(one["code"], one["console"]), set(map(tuple, one["lines"])), one["limit_s"])
            for name, one in found.items()
        }

    def rows(self) -> list[Row]:
        """All rows; a last row that was cut short does not count."""
        path = self.folder / ROWS
        text = path.read_text() if path.exists() else ""
        return [Row(**json.loads(line)) for line in text.split("\n")[:-1]]

    def taken(self) -> list[Row]:
        """The rows of the pool's kernels."""
        return [row for row in self.rows() if row.result == TAKEN]

    def complete(self) -> list[Row]:
        """As `taken`. Raises LabError if kernels are missing."""
        nr, rows = int(str(self.meta()["nr"])), self.taken()
        there = [row for row in rows if all(path.is_file() for _, path in parts(self.kernel(row.number)))]
        if len(there) < nr:
            raise LabError(
                f"{self.folder} is incomplete: {len(there)} of {nr} kernels; `tidemark hunts make` continues it", FAILED
            )
        return rows[:nr]

    def kernel(self, number: int) -> Path:
        """The path of a kernel's files, without their suffixes (see parts)."""
        return self.folder / KERNELS / str(number)


# --- the unchanged kernel ---


def observe(base: Path, scratch: Path) -> dict[str, dict[str, object]]:
    """Run each workload once: code, console, lines. Raises LabError if a workload does not end."""
    code, found = lines.ranges(base, base / qemu.KERNEL), {}
    for work in symptoms.listed():
        file, before = scratch / "executed", os.times()
        ran = symptoms.run(work, base, scratch / "console", MOST_S, plugin.flags("cover", out=file))
        spent = sum(os.times()[2:4]) - sum(before[2:4])
        if ran.code not in (qemu.OK, qemu.FAILED):
            raise LabError(f"workload {work.name} does not end in the unchanged kernel: {ran.console[-500:]}", FAILED)
        reached = sorted(lines.run(code, np.sort(np.fromfile(file, dtype=np.uint32))))
        limit_s = 1 + math.ceil(LOOPS * spent)
        found[work.name] = {"code": ran.code, "console": ran.console, "lines": reached, "limit_s": limit_s}
    return found


def begin(tree: Path, pool: Pool, seed: str, nr: int) -> None:
    """Make the unchanged kernel and pool.json, or check that an existing pool is of this tree, compiler and seed."""
    built = pool.folder / WORK / "tree"
    lay_base(tree, built)
    meta = {
        "schema": SCHEMA,
        "seed": seed,
        "nr": nr,
        "kernel": sha256(built / qemu.KERNEL),
        "workloads": sha256(symptoms.LIST),
        "compiler": (built / "build/flags").read_text().partition(" -")[0],
        "cpu_s": 0,
    }
    if (pool.folder / META).exists():
        before = pool.meta()
        changed = [name for name in meta if name not in ("nr", "cpu_s") and meta[name] != before.get(name)]
        meta["cpu_s"] = before["cpu_s"]
        if changed:
            raise LabError(f"{pool.folder} was made with another {' and '.join(changed)}: give another folder", USAGE)
    else:
        (pool.folder / KERNELS).mkdir(exist_ok=True)
        for name in (qemu.KERNEL, plugin.SYMBOLS, qemu.INITRD):
            (pool.folder / BASE / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(built / name, pool.folder / BASE / name)
        shutil.copytree(tree / "build/user", pool.folder / BASE / "build/user", dirs_exist_ok=True)
        write_json(pool.folder / RIGHT, observe(built, pool.folder / WORK))
    write_json(pool.folder / META, meta)


# --- one change ---


@dataclass(frozen=True)
class Worker:
    """A private copy of the tree, and what the unchanged kernel does in each workload."""

    bench: Bench
    right: dict[str, Right]

    def try_one(self, number: int, change: Try, kernel: Path) -> Row:
        """Build the kernel and look for a symptom; a kernel that shows one is written to `kernel`."""
        try:
            found = self.bench.build(change.file, change.line, change.after)
            return Row(**asdict(change), number=number, result=found) if found else self.shown(number, change, kernel)
        finally:
            self.bench.restore()

    def shown(self, number: int, change: Try, kernel: Path) -> Row:
        """Run the workloads that execute the line until one shows a symptom."""
        image, console = self.bench.folder, self.bench.folder / "console"
        for work in symptoms.listed():
            right = self.right[work.name]
            if (change.file, change.line) not in right.lines:
                continue
            ran = symptoms.run(work, image, console, right.limit_s)
            if ran.code == qemu.NO_QEMU:
                return Row(**asdict(change), number=number, result=ENDLESS, workload=work.name)
            found = symptoms.symptom(work, right.ran, ran)
            if not found:
                continue
            result = TAKEN
            if not symptoms.boots(image, console):
                result = NO_BOOT
            elif symptoms.run(work, image, console, right.limit_s) != ran:
                result = NOT_AGAIN
            else:
                for name, path in parts(kernel):
                    path.write_bytes(gzip.compress((image / name).read_bytes(), 6, mtime=0))
            named = change.function in symptoms.traced(ran.console)
            return Row(**asdict(change), number=number, result=result, workload=work.name, **asdict(found), named=named)
        return Row(**asdict(change), number=number, result=NOT_SHOWN)


def workers(pool: Pool, nr: int, right: dict[str, Right]) -> Iterator[Worker]:
    """Copies of the tree."""
    for each in range(nr):
        private(pool.folder / WORK / "tree", pool.folder / WORK / str(each))
        yield Worker(Bench(pool.folder / WORK / str(each)), right)


# --- all changes ---


class Making:
    """Tries one change after the other, several at a time, until the pool has `nr` kernels."""

    def __init__(self, pool: Pool, nr: int, jobs: int, watch: Watch) -> None:
        self.pool, self.nr, self.jobs, self.watch = pool, nr, jobs, watch
        self.work = pool.folder / WORK
        self.free: queue.Queue[Worker] = queue.Queue()
        self.rows = pool.rows()
        self.of_function = Counter((row.file, row.function) for row in self.rows if row.result == TAKEN)
        self.begun, self.before = time.monotonic(), len(self.taken())

    def taken(self) -> list[Row]:
        """The rows of kernels so far."""
        return [row for row in self.rows if row.result == TAKEN]

    def is_enough(self, change: Try) -> bool:
        """Does the pool have enough kernels of this function?"""
        return self.of_function[change.file, change.function] >= PER_FUNCTION

    def carry_out(self, number: int, change: Try) -> Row:
        """One change, on a free copy of the tree."""
        if self.is_enough(change):
            return Row(**asdict(change), number=number, result=ENOUGH)
        worker = self.free.get()
        try:
            return worker.try_one(number, change, self.work / str(number))
        finally:
            self.free.put(worker)

    def keep(self, row: Row) -> None:
        """Add a row, and its kernel if it is taken. Rows come in drawn order."""
        if row.result == TAKEN and self.is_enough(row):
            row = replace(row, result=ENOUGH)
        if row.result == TAKEN:
            for (_, made), (_, place) in zip(parts(self.work / str(row.number)), parts(self.pool.kernel(row.number))):
                write_atomically(place, made.read_bytes())
            self.of_function[row.file, row.function] += 1
        self.rows.append(row)
        text = "".join(json.dumps(asdict(each)) + "\n" for each in self.rows)
        write_atomically(self.pool.folder / ROWS, text)
        done = len(self.taken())
        spent, gained = time.monotonic() - self.begun, done - self.before
        self.watch(Progress(done, self.nr, len(self.rows), spent / gained * (self.nr - done) if gained else None))

    def run(self, changes: Iterator[Try]) -> None:
        """Raises LabError if the changes do not suffice."""
        rest = enumerate(islice(changes, len(self.rows), None), len(self.rows) + 1)
        running: deque[Future[Row]] = deque()
        executor = ThreadPoolExecutor(self.jobs)
        try:
            while len(self.taken()) < self.nr:
                running += [
                    executor.submit(self.carry_out, *one) for one in islice(rest, self.jobs * AHEAD - len(running))
                ]
                if not running:
                    raise LabError(f"only {len(self.taken())} of {self.nr} kernels: all changes were tried", FAILED)
                self.keep(running.popleft().result())
        finally:
            executor.shutdown(cancel_futures=True)


def carry_out(tree: Path, making: Making) -> None:
    """Try changes until the pool is complete; add up the processor time."""
    pool = making.pool
    right = pool.right()
    for worker in workers(pool, making.jobs, right):
        making.free.put(worker)
    every = {line for one in right.values() for line in one.lines}
    try:
        making.run(tries.drawn(tree, every, str(pool.meta()["seed"])))
    finally:
        meta = pool.meta()
        write_json(pool.folder / META, {**meta, "cpu_s": round(float(str(meta["cpu_s"])) + sum(os.times()[:4]), 1)})


def check_place(folder: Path) -> None:
    """Raises LabError if the folder holds anything but a pool, or the beginning of one."""
    check_folder(folder)
    if folder.exists() and {each.name for each in folder.iterdir()} - {META, ROWS, RIGHT, BASE, KERNELS, WORK}:
        raise LabError(f"{folder} holds something else than a pool; give another folder", USAGE)


def make(tree: Path, folder: Path, seed: str, nr: int, jobs: int, watch: Watch) -> Pool:
    """Make a pool of `nr` kernels, or continue it. Raises LabError if it cannot be made."""
    if (tree / MANIFEST).exists():
        raise LabError("this tree is a student's release: pools are made from the instructor's tree", USAGE)
    pool = Pool(folder)
    check_place(folder)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        with locked(folder):
            shutil.rmtree(folder / WORK, ignore_errors=True)
            (folder / WORK / "tree").mkdir(parents=True)
            begin(tree, pool, seed, nr)
            making = Making(pool, nr, jobs, watch)
            if len(making.taken()) < nr:
                carry_out(tree, making)
            shutil.rmtree(folder / WORK, ignore_errors=True)
    except BlockingIOError:
        raise LabError(f"another process is making {folder}", USAGE) from None
    return pool
