"""The speed of computing a trace's curves on one core: references per second, and memory by distinct pages.

Three traces: a program of the guest whose locality moves, references by Zipf's law,
and uniformly random references. The last two have no runs of references to one page and no phases of locality, as
programs have; they show the worst case.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from tidemark.curves.analyse import some_thresholds
from tidemark.curves.belady import MinDistances
from tidemark.curves.lru import StackDistances
from tidemark.curves.pff import PageFaultFrequency
from tidemark.curves.queues import Queues
from tidemark.curves.runs import Batch, Choice, Selection
from tidemark.curves.timeline import Timeline
from tidemark.curves.working_set import Intervals
from tidemark.trace.format import BLOCK_RUNS, Reader

from figures.common import host, table, tidemark
from figures.entries import Figure

PROGRAM = "phase 8192 2048 100 30000"
NR_PAGES = 1 << 16
NR_REFERENCES = 20_000_000
NR_SIZES = 32
DRAWN_REFERENCES = 4_000_000
REPEATS = 3
SEED = 1
WINDOW_DIVISORS = (1000, 100, 10)


def record_program(folder: Path) -> Path:
    """Records a trace of a program of the guest."""
    shutil.rmtree(folder / "run", ignore_errors=True)
    tidemark("trace", "record", PROGRAM, "--mem", "64M", "-q", "-o", str(folder / "run"))
    return folder / "run/trace.tmt"


def whole(trace: Path, folder: Path) -> str:
    """The cost of the command for a whole trace, figures included; the first run, which compiles code, is not
    counted."""
    took = [tidemark("curves", str(trace), "-q", "-o", str(folder / f"curves-{nr}")) for nr in range(2)][1]
    references = Reader(trace).totals["references"]
    return f"`tidemark curves` of all {references:,} references: {took[0]:.1f} s of processor time, {took[1]:.0f} MB."


def first_references(trace: Path) -> list[Batch]:
    """The first NR_REFERENCES references of a trace, in batches."""
    selection = Selection(Choice())
    batches = []
    for batch in selection.batches(iter(Reader(trace))):
        batches.append(batch)
        if selection.totals.references >= NR_REFERENCES:
            break
    return batches


def numbered(pages: np.ndarray) -> np.ndarray:
    """i32: the pages numbered in order of first appearance."""
    _, first, inverse = np.unique(pages, return_index=True, return_inverse=True)
    ranks = np.empty(len(first), np.int32)
    ranks[np.argsort(first)] = np.arange(len(first))
    return ranks[inverse]


def zipf(rng: np.random.Generator) -> np.ndarray:
    """References to page k as often as 1 / k."""
    cumulated = np.cumsum(1 / np.arange(1, NR_PAGES + 1))
    return np.searchsorted(cumulated, rng.random(DRAWN_REFERENCES) * cumulated[-1])


def uniform(rng: np.random.Generator) -> np.ndarray:
    """References to all pages with equal probability."""
    return rng.integers(0, NR_PAGES, DRAWN_REFERENCES)


def single_references(pages: np.ndarray) -> Iterator[Batch]:
    """Runs of one reference each, which takes one unit of time."""
    numbers = numbered(pages)
    seen = 0
    for at in range(0, len(numbers), BLOCK_RUNS):
        part = numbers[at : at + BLOCK_RUNS]
        seen = max(seen, int(part.max()) + 1)
        ones = np.ones(len(part), np.uint32)
        starts = np.arange(at, at + len(part), dtype=np.int64)
        yield Batch(part, np.ones(len(part), np.uint8), ones, starts, ones, seen)


def million_references_per_s(make: Callable[[], object], batches: list[Batch]) -> tuple[float, int]:
    """(the median of REPEATS, bytes of the arrays at the end); measured in processor time of this process."""
    make().feed(batches[0])
    references = sum(int(batch.counts.sum()) for batch in batches)
    times = []
    for _ in range(REPEATS):
        part = make()
        start = time.process_time()
        for batch in batches:
            part.feed(batch)
        times.append(time.process_time() - start)
    parts = [one for value in vars(part).values() for one in (value if isinstance(value, tuple) else (value,))]
    size = sum(one.nbytes for one in parts if isinstance(one, np.ndarray))
    return references / float(np.median(times)) / 1e6, size


def row(name: str, batches: list[Batch]) -> list[object]:
    """The row of a trace."""
    references, runs = sum(int(batch.counts.sum()) for batch in batches), sum(len(batch.pages) for batch in batches)
    pages = batches[-1].nr_pages
    end = int(batches[-1].starts[-1]) + int(batches[-1].steps[-1])
    thetas = np.array([max(1, end // divisor) for divisor in WINDOW_DIVISORS])
    sizes = np.unique(np.geomspace(1, pages, NR_SIZES).astype(int))
    makers: list[Callable[[], object]] = [StackDistances, Intervals, lambda: Timeline(thetas, end, pages), MinDistances]
    makers += [lambda: Queues(sizes, np.zeros(pages, bool)), lambda: PageFaultFrequency(some_thresholds(end), pages)]
    cells: list[object] = [name, f"{references:,}", f"{runs:,}", f"{pages:,}"]
    for make in makers:
        speed, size = million_references_per_s(make, batches)
        cells += [f"{speed:.1f}", f"{size / 1024:,.0f}"]
    return cells


def make(figure: Figure, work: Path) -> str:
    trace = record_program(work)
    said = whole(trace, work)
    rows = [row(f"`{PROGRAM}`", first_references(trace))]
    rng = np.random.default_rng(SEED)
    rows += [
        row(f"{kind.__name__}, {NR_PAGES:,} pages", list(single_references(kind(rng)))) for kind in (zipf, uniform)
    ]
    titles = ["trace", "references", "runs", "pages", "LRU, all sizes", "KiB", "WS and VMIN, all θ", "KiB"]
    titles += ["its size over time, 3 θ", "KiB", "MIN, all sizes", "KiB"]
    titles += [f"FIFO and CLOCK, {NR_SIZES} sizes", "KiB", "PFF, 32 τ", "KiB"]
    return (
        f"{said} Below, its first {NR_REFERENCES:,} references, and {DRAWN_REFERENCES:,} drawn ones. Million "
        "references a second of processor time on one core, and the memory of the arrays at the end. The trace is read "
        f"and selected beforehand. Median of {REPEATS}; {host()}. Runs: references to one page in a row count as many, "
        "but cost as one; the last two traces have none.\n\n" + table(titles, rows)
    )
