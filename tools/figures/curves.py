#!/usr/bin/env python3
"""How fast the curves of a trace are computed, on one core: references a second, and memory by distinct pages.

Three traces: a real program (the C compiler at work on a file of this kernel, under Valgrind's Lackey, or any trace
given with --trace), references by Zipf's law, and uniformly random ones. The last two have no runs of references to a
page and no phases of locality, as programs have; they show the worst that can come.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from common import ROOT, host, publish, table
from tidemark.curves.belady import MinDistances
from tidemark.curves.lru import StackDistances
from tidemark.curves.runs import Batch, Choice, Selection
from tidemark.curves.timeline import Timeline
from tidemark.curves.working_set import Intervals
from tidemark.trace.convert import import_file
from tidemark.trace.format import BLOCK_RUNS, Reader

SOURCE = "kernel/mm/policy/clock.c"
COMPILE = ["-quiet", "-m32", "-march=i686", "-ffreestanding", "-O1", "-Ikernel/include"]
NR_PAGES = 1 << 16
NR_REFERENCES = 20_000_000
SLOW_REFERENCES = 4_000_000
REPEATS = 3
SEED = 1
WINDOW_DIVISORS = (1000, 100, 10)


def record_compiler(folder: Path) -> Path:
    """A trace of the C compiler proper; Lackey's text, some gigabytes, goes through a pipe."""
    program = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True).stdout.strip()
    pipe, trace = folder / "pipe", folder / "cc1.tmt"
    os.mkfifo(pipe)
    lackey = ["valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-file={pipe}"]
    with subprocess.Popen([*lackey, program, *COMPILE, SOURCE, "-o", os.devnull], cwd=ROOT) as process:
        import_file(str(pipe), trace)
    if process.returncode:
        raise SystemExit(f"the compiler ended with {process.returncode}")
    return trace


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
    return np.searchsorted(cumulated, rng.random(NR_REFERENCES) * cumulated[-1])


def uniform(rng: np.random.Generator) -> np.ndarray:
    """All pages equally often."""
    return rng.integers(0, NR_PAGES, NR_REFERENCES)


def single_references(pages: np.ndarray) -> Iterator[Batch]:
    """Runs of one reference, which takes one unit of time."""
    numbers = numbered(pages)
    seen = 0
    for at in range(0, len(numbers), BLOCK_RUNS):
        part = numbers[at : at + BLOCK_RUNS]
        seen = max(seen, int(part.max()) + 1)
        ones = np.ones(len(part), np.uint32)
        starts = np.arange(at, at + len(part), dtype=np.int64)
        yield Batch(part, np.ones(len(part), np.uint8), ones, starts, ones, seen)


def million_references_per_s(make: Callable[[], object], batches: list[Batch]) -> tuple[float, int]:
    """(the median of REPEATS, bytes of the arrays that it ends with); by the processor time of this process."""
    make().feed(batches[0])
    references = sum(int(batch.counts.sum()) for batch in batches)
    times = []
    for _ in range(REPEATS):
        part = make()
        start = time.process_time()
        for batch in batches:
            part.feed(batch)
        times.append(time.process_time() - start)
    size = sum(value.nbytes for value in vars(part).values() if isinstance(value, np.ndarray))
    return references / float(np.median(times)) / 1e6, size


def row(name: str, batches: list[Batch], fast: bool) -> list[object]:
    """One trace's line. MIN gets the first SLOW_REFERENCES only where it is slow."""
    references, runs = sum(int(batch.counts.sum()) for batch in batches), sum(len(batch.pages) for batch in batches)
    pages = batches[-1].nr_pages
    end = int(batches[-1].starts[-1]) + int(batches[-1].steps[-1])
    thetas = np.array([max(1, end // divisor) for divisor in WINDOW_DIVISORS])
    shorter = batches if fast else batches[: SLOW_REFERENCES // BLOCK_RUNS]
    cells: list[object] = [name, f"{references:,}", f"{runs:,}", f"{pages:,}"]
    makers = ((StackDistances, batches), (Intervals, batches), (lambda: Timeline(thetas, end, pages), batches))
    for make, given in (*makers, (MinDistances, shorter)):
        speed, size = million_references_per_s(make, given)
        cells += [f"{speed:.1f}", f"{size / 1024:,.0f}"]
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trace", type=Path, help="a trace file to use instead of the compiler's")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as folder:
        trace = args.trace or record_compiler(Path(folder))
        name = args.trace.name if args.trace else f"`cc1 -O1 {SOURCE}`"
        rows = [row(name, first_references(trace), True)]
    rng = np.random.default_rng(SEED)
    rows += [
        row(f"{kind.__name__}, {NR_PAGES:,} pages", list(single_references(kind(rng))), False)
        for kind in (zipf, uniform)
    ]
    titles = ["trace", "references", "runs", "pages", "LRU, all sizes", "KiB", "working set, all θ", "KiB"]
    titles += ["its size over time, 3 θ", "KiB", "MIN, all sizes", "KiB"]
    publish(
        "curves",
        f"The first {NR_REFERENCES:,} references. Million references a second of processor time on one core, and the "
        f"memory of the arrays at the end. The trace is read and selected beforehand. Median of {REPEATS}; {host()}. "
        "Runs: references to one page in a row count as many, but cost as one; the last two traces have none, and MIN "
        f"gets {SLOW_REFERENCES:,} references of them.\n\n" + table(titles, rows),
    )


if __name__ == "__main__":
    main()
