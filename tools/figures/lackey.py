"""Import of Lackey text on one core: lines per second, megabytes per second, peak memory; and reading the trace again.

Two texts: a real program under Valgrind, with its references repeated to the full length; and lines from a seeded
generator in which each reference is to a random page, so that no two merge and the page table misses the cache. Each
is imported with two lengths: memory must not grow with the length.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import random
import re
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tidemark.trace import convert
from tidemark.trace.format import Reader

from figures.common import host, table
from figures.entries import ROOT, Figure

REPEATS = 3
LENGTHS = [5_000_000, 50_000_000]
PROGRAM = ["ls", "-laR", str(ROOT / "kernel")]
SEED = 1
PAGES = 1 << 18
GENERATED_LINES = 1 << 20
SAMPLE = ROOT / "tests/lab/data/lackey.txt"
COMMENT = "==1== "


def real_lines(folder: Path) -> list[str]:
    """The references of PROGRAM as written by Valgrind."""
    log = folder / "log"
    command = ["valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-file={log}", *PROGRAM]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [line for line in log.read_text().splitlines(keepends=True) if not line.startswith("==")]


def generated_lines() -> list[str]:
    """References of random kinds to random pages."""
    rng = random.Random(SEED)
    letters, sizes = ("I ", " L", " S", " M"), (1, 2, 4, 8, 16)
    return [
        f"{rng.choice(letters)} {rng.randrange(PAGES) << 12 | rng.randrange(4096):08x},{rng.choice(sizes)}\n"
        for _ in range(GENERATED_LINES)
    ]


def write_text(path: Path, lines: list[str], length: int) -> None:
    """Writes `length` lines of references, repeated from `lines`, between comments."""
    whole, rest = divmod(length, len(lines))
    text = "".join(lines)
    with path.open("w") as file:
        file.write(f"{COMMENT}Command: {path.stem}\n")
        file.writelines(itertools.repeat(text, whole))
        file.writelines(lines[:rest])
        file.write(COMMENT)


def peak_mib() -> float:
    """The peak memory of this process so far."""
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024


def measured(path: str, out: str) -> dict[str, float]:
    """Imports once on one core, after a short text that loads the compiled code: seconds, lines, peak MiB."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    convert.import_file(str(SAMPLE), Path(out))
    before = peak_mib()
    wall, cpu = time.perf_counter(), time.process_time()
    made = convert.import_file(path, Path(out))
    found = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "lines": made["lines"]}
    found |= {"before": before, "peak": peak_mib(), "references": made["totals"]["references"]}
    found |= {"pages": made["totals"]["pages"]}
    wall = time.perf_counter()
    for _ in Reader(out):
        pass
    return found | {"read": time.perf_counter() - wall}


def row(name: str, path: Path, out: Path) -> list[object]:
    """A row of the table: medians of REPEATS imports, each in its own process."""
    context = multiprocessing.get_context("spawn")
    runs = []
    for _ in range(REPEATS):
        with context.Pool(1) as pool:
            runs.append(pool.apply(measured, (str(path), str(out))))
    middle = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
    lines, megabytes = middle["lines"] / 1e6, path.stat().st_size / 1e6
    return [
        name,
        f"{lines:.1f}",
        f"{middle['pages']:,.0f}",
        f"{lines / middle['wall']:.1f}",
        f"{lines / middle['cpu']:.1f}",
        f"{megabytes / middle['wall']:.0f}",
        f"{middle['before']:.0f}",
        f"{middle['peak']:.0f}",
        f"{8 * out.stat().st_size / middle['references']:.2f}",
        f"{middle['references'] / middle['read'] / 1e6:.0f}",
    ]


def rows(folder: Path, lengths: list[int]) -> Iterator[list[object]]:
    """The rows of the table."""
    texts = {"`ls -laR kernel`, repeated": real_lines(folder), f"random pages, seed {SEED}": generated_lines()}
    for name, lines in texts.items():
        for length in lengths:
            path = folder / "text"
            write_text(path, lines, length)
            yield row(name, path, folder / "out.tmt")


def make(figure: Figure, work: Path) -> str:
    titles = ["text", "M lines", "pages", "M lines/s", "M lines/CPU s", "MB/s", "MiB before", "peak MiB"]
    titles += ["bits/reference", "read M references/s"]
    found = list(rows(work, LENGTHS))
    return (
        f"`tidemark trace import FILE -o TRACE`, median of {REPEATS}, pinned to one core; {host()}. MiB before: what "
        f"Python and the compiled code take.\n\n{table(titles, found)}"
    )
