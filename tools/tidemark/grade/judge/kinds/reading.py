"""Kind `reading`: what the disk did for programs that read it, against the reference solution in the same tree.

The workload is `reader` (user/workloads/reader.c): it reads given pages of a disk in a given order. Each page that the
disk reads, and the end of each of its requests, is recorded from outside. In an exact run an instruction is a
nanosecond, so the rest of the machine's time is time in which all programs waited for the disk. The kernel's own
instructions count as waiting, too: otherwise code that computes until the disk has ended would hide it. Options:

    readers        strings of pages (tidemark.strings); each is read by a process of its own, all at the same time
    turns          true: one process reads a page of each string in turn, through one open file
    run, stride    page n of a string stands for `run` pages, from page n * stride on (1 and 1)
    nr             pages of each call (1): the string names the first one
    words          more words for the program: "mmap", "random", "sequential"
    work           empty loop turns of the program after each call
    set, mem, swap as in other kinds
    measure        requests  the number of requests to the disk
                   pages     the number of pages read
                   cost      both: the pages read, and for each request as many as a disk reads meanwhile (ENDED)
                   largest   the number of pages of the largest request
                   wait      the time, in ms, in which no program ran
    times          tidemark.grade.judge.budget
    hint           a hint for students without all points
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tidemark.errors import BAD_INPUT, LabError
from tidemark.grade.judge import budget
from tidemark.grade.model import Outcome, Test, Verdict, scaled, wrong
from tidemark.grade.witness import playback
from tidemark.grade.witness.boot import NO_REFS, Boot
from tidemark.grade.witness.evidence import ENDED, FILE_READ, KILLED, Evidence
from tidemark.grade.witness.machine import Machine, trouble
from tidemark.strings import refstrings

MEASURES = {
    "requests": "requests to the disk",
    "pages": "pages read from the disk",
    "cost": "cost in pages",
    "largest": "pages in the largest request",
    "wait": "ms of waiting for the disk",
}
REQUEST_COST = 8  # pages
BUDGET = 500_000_000  # instructions of a run; the solution needs 100 million
DISK_PAGES, WORDS, PAGE = 4096, 1024, 4096
MULTIPLIER = 2654435761  # lab_word in user/workloads/lab.h
NS_PER_MS = 1_000_000


@dataclass(frozen=True)
class Work:
    """What the disk did after programs had begun. `pages`: those that it read, in order; `sizes`: the number of pages
    of each request that read any; `wait_ms`: the time in which no program ran."""

    pages: np.ndarray
    sizes: np.ndarray
    wait_ms: float

    def by(self, measure: str) -> float:
        """The figure of a measure."""
        figures = {
            "requests": len(self.sizes),
            "pages": len(self.pages),
            "cost": len(self.pages) + REQUEST_COST * len(self.sizes),
            "largest": int(self.sizes.max(initial=0)),
            "wait": self.wait_ms,
        }
        return float(figures[measure])


def pages_of(test: Test, text: str) -> list[int]:
    """The pages that one string of a test stands for, in order."""
    numbers = np.concatenate([piece[:, 0] for piece in refstrings.find(text).runs()]).astype(np.int64)
    run, stride = int(test.options.get("run", 1)), int(test.options.get("stride", 1))
    return [int(page) for page in (numbers[:, None] * stride + np.arange(run)).ravel()]


def strings(test: Test) -> list[list[int]]:
    """The pages that each process asks for, in order. Raises LabError if a page is not on the disk."""
    found = [pages_of(test, str(text)) for text in test.options["readers"]]
    if test.options.get("turns"):
        found = [[page for page in chain(*zip_longest(*found)) if page is not None]]
    most = max(map(max, found)) + int(test.options.get("nr", 1))
    if most > DISK_PAGES:
        raise LabError(f"{test.title}: page {most - 1} is not on the disk of {DISK_PAGES} pages", BAD_INPUT)
    return found


def used(test: Test) -> set[int]:
    """All pages that programs ask for."""
    nr = int(test.options.get("nr", 1))
    return {page + more for string in strings(test) for page in string for more in range(nr)}


def command(test: Test) -> str:
    """The command line of the guest; reader n finds its pages in the file pages<n>."""
    words = f"reader /dev/sda check --nr {test.options.get('nr', 1)} --work {test.options.get('work', 0)}"
    words += f" {test.options['words']}" if "words" in test.options else ""
    each = [f"{words} @/pages{number}" for number in range(len(strings(test)))]
    return each[0] if len(each) == 1 else f"sh -c '{' & '.join(each)} & wait'"


def make_disk(path: Path) -> None:
    """Write the disk's image, whose words depend on their places."""
    first = np.arange(DISK_PAGES, dtype=np.uint64)[:, None] * MULTIPLIER
    (first + np.arange(WORDS, dtype=np.uint64)).astype("<u4").tofile(path)


def ran(test: Test, machine: Machine) -> Boot:
    """The run of the test's readers."""
    files = {f"pages{number}": numbers(string).encode() for number, string in enumerate(strings(test))}
    options = {name: str(test.options[name]) for name in ("mem", "vm") if name in test.options}
    words = " ".join(["sample_ms=0", *test.options.get("set", [])])
    with TemporaryDirectory(prefix="disk-", dir=machine.scratch) as folder:
        disk = Path(folder) / "disk.img"
        make_disk(disk)
        more = {"mem": "32M", "swap": "none", "refs": NO_REFS, "requests": True, **options}
        return machine.boot(command(test), files, cmdline=words, disk=disk, budget=BUDGET, **more)


def numbers(pages: list[int]) -> str:
    """Pages in the notation of `reader`: runs become ranges. playback's words count from 1."""
    return playback.words([page - 1 for page in pages])


def work_of(seen: Evidence) -> Work:
    """What the disk did."""
    begun = seen.events[seen.events["user"] > 0]
    events = begun[np.isin(begun["kind"], (FILE_READ, ENDED))]
    is_end = events["kind"] == ENDED
    sizes = np.diff(np.concatenate([[0], np.cumsum(~is_end)[is_end]]))
    kernel = np.diff((begun["all"] - begun["user"])[[0, -1]]).sum() if len(begun) else 0
    wait_ns = seen.virtual_ns - seen.instructions + int(kernel)
    return Work(events["a"][~is_end], sizes[sizes > 0], wait_ns / NS_PER_MS)


def pages_ever_read(seen: Evidence) -> set[int]:
    """All pages that the disk read. The kernel reads the first one when it looks for a file system."""
    return set(seen.events["a"][seen.events["kind"] == FILE_READ].tolist())


def measure_of(test: Test) -> str:
    """The test's measure. Raises LabError if there is none of this name."""
    measure = str(test.options.get("measure"))
    if measure not in MEASURES:
        raise LabError(f"{test.title}: measure = {measure!r}; there are {', '.join(MEASURES)}", BAD_INPUT)
    return measure


def figure(test: Test, machine: Machine) -> float:
    """The figure of the reference solution."""
    return work_of(budget.ended_well(test, ran(test, machine)).evidence).by(measure_of(test))


def described(test: Test, work: Work) -> str:
    """What the disk did, in a sentence."""
    asked = used(test)
    helpful = len(asked.intersection(work.pages.tolist()))
    before = len(asked) - helpful
    known = f" ({before} in memory before)" if before else ""
    return (
        f"the programs use {len(asked):,} pages{known}; the disk read {len(work.pages):,} in {len(work.sizes):,} "
        f"requests, {len(work.pages) - helpful:,} of them for nothing"
    )


def judge(test: Test, machine: Machine) -> Verdict:
    """Run the readers, and compare what the disk did."""
    measure = measure_of(test)
    run = ran(test, machine)
    failed = trouble(run)
    if failed or run.outcome is not Outcome.RIGHT:
        return failed or wrong(f"{command(test)}: {run.reason}")
    if killed := run.evidence.count(KILLED):
        return wrong(f"out of memory: the kernel killed {killed} of the programs")
    work = work_of(run.evidence)
    missing = used(test) - pages_ever_read(run.evidence)
    if missing:
        return wrong(f"{len(missing):,} pages were never read from the disk, such as page {min(missing)}")
    if around := len(work.pages) - int(work.sizes.sum()):
        return wrong(f"{around:,} pages were read without a request to the disk")
    full, none = (round(limit, 1) for limit in budget.limits(test, machine, figure))
    figures = {name: work.by(name) for name in MEASURES}
    made = scaled(round(work.by(measure), 1), full, none, MEASURES[measure], figures=figures)
    lines = [made.message, described(test, work)]
    lines += [str(test.options["hint"])] if "hint" in test.options and made.fraction < 1 else []
    return replace(made, message="\n".join(lines))
