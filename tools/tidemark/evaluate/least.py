"""The least that a program of the set needs: pages read, and seconds of the disk. No policy and no guard is better.

The references of these programs to their pages are known without a run: those in a circle by their form, those of
`phase` and `pattern zipf` by their random numbers, which are computed here as the programs do. Other pages (text,
stack, kernel) are left out, and `frames` are all frames that are free before the first program starts; both can only
make the least smaller.

MIN has the fewest misses of any demand paging (tidemark.strings.compare), and reading ahead cannot do with fewer
reads. The first use of a page is not a read: the program's first pass fills all its pages, or writes the file. So a
program reads at least MIN's misses less its pages; and since a page is written before it can be read back, those pages
are written that are more than the frames, or all pages of a file, which the program flushes.

The disk needs one transfer for each page. Seeks, rotation and the processor's time are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tidemark.runs import bound
from tidemark.runs.bound import Batch, Disk
from tidemark.strings import compare
from tidemark.strings.refstrings import Given

PAGE_KIB = 4
WORD = (1 << 32) - 1
PRIME, SCALE, STRAY = 7919, 1 << 27, 64  # as in user/workloads/pattern.c and phase.c


@dataclass(frozen=True)
class Least:
    """The least number of pages read, and of seconds."""

    reads: int
    seconds: float


def pages_of(kib: str) -> int:
    """Pages of a size in KiB, as the programs compute it."""
    return int(kib) // PAGE_KIB


def passes(nr_pages: int, number: int) -> np.ndarray:
    """All pages in order, `number` times."""
    return np.tile(np.arange(nr_pages, dtype=np.uint32), number)


def randoms(seed: int, number: int) -> np.ndarray:
    """The first random numbers of a program, as lab_random in user/lib/lab.h makes them."""
    drawn, state = np.empty(number, np.uint64), seed
    for at in range(number):
        state ^= state << 13 & WORD
        state ^= state >> 17
        state ^= state << 5 & WORD
        drawn[at] = state
    return drawn


def zipf(nr_pages: int, references: int, seed: int) -> np.ndarray:
    """The references of `pattern zipf`: all pages in order, then those that are drawn."""
    sums = np.cumsum(SCALE // np.arange(1, nr_pages + 1, dtype=np.uint64))
    ranks = np.searchsorted(sums, randoms(seed, references) % sums[-1], side="right")
    return np.concatenate([passes(nr_pages, 1), (ranks * PRIME % nr_pages).astype(np.uint32)])


def phases(nr_pages: int, window: int, number: int, references: int, seed: int) -> np.ndarray:
    """The references of `phase`: all pages in order, then those of each phase, after which the window moves."""
    drawn = randoms(seed, number * (references + 1)).astype(np.int64).reshape(number, references + 1)
    moves, numbers = drawn[:, -1] % (nr_pages - window), drawn[:, :-1]
    firsts = np.concatenate([[0], moves[:-1]])[:, None]
    pages = np.where(numbers % STRAY == 0, (numbers >> 6) % nr_pages, firsts + (numbers >> 6) % window)
    return np.concatenate([passes(nr_pages, 1), pages.ravel().astype(np.uint32)])


def of_string(pages: np.ndarray, frames: int, disk: Disk, flushed: bool = False) -> Least:
    """The least for references that begin with one pass over all pages. `flushed`: all pages are written."""
    string = Given("references", pages)
    (misses,) = compare.bounds(string, [frames])[compare.MIN]
    reads = misses - string.nr_pages
    writes = string.nr_pages if flushed else max(string.nr_pages - frames, 0)
    return Least(reads, (reads + writes) * disk.page_s)


def phase(words: Sequence[str], frames: int, disk: Disk) -> Least:
    """phase TOTAL_KB WINDOW_KB PHASES REFS --seed N"""
    sizes = pages_of(words[0]), pages_of(words[1])
    return of_string(phases(*sizes, int(words[2]), int(words[3]), int(words[5])), frames, disk)


def pattern(words: Sequence[str], frames: int, disk: Disk) -> Least:
    """pattern zipf KB REFS --seed N"""
    return of_string(zipf(pages_of(words[1]), int(words[2]), int(words[4])), frames, disk)


def thrash(words: Sequence[str], frames: int, disk: Disk) -> Least:
    """thrash JOBS KB ROUNDS WORK: see tidemark.runs.bound. The pages that are away when all are filled come back."""
    batch = Batch(int(words[0]), pages_of(words[1]), fill_s=0, work_s=0)
    return Least(max(batch.jobs * batch.pages - frames, 0), bound.least(batch, frames, disk).together_s)


def filemix(words: Sequence[str], frames: int, disk: Disk) -> Least:
    """filemix PATH HOT_KB FILE_KB PASSES EVERY: of the file alone."""
    return of_string(passes(pages_of(words[2]), 1 + int(words[3])), frames, disk, flushed=True)


PROGRAMS: dict[str, Callable[[Sequence[str], int, Disk], Least]] = {
    "phase": phase,
    "pattern": pattern,
    "thrash": thrash,
    "filemix": filemix,
}


def of_command(command: str, frames: int, disk: Disk) -> Least:
    """The least of one of the set's commands."""
    program, *words = command.split()
    return PROGRAMS[program](words, frames, disk)
