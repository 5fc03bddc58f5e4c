"""The speed of the simulator: references per second, for twelve policies, built for speed and with sanitizers.

Measured in processor time of the simulator's process in user mode. It reads the string from a file, so that the
generator does not count. Other work on the host uses part of the caches, so the best of several runs is shown. Four
strings: a loop that fits (only hits), one that does not (for FIFO each reference is a fault), Zipf's law with a quarter
of the pages in memory, and uniformly random with the same, where three of four references fault.

The cost of policies that look at all pages at each tick depends on the number of references between two ticks. Here
a reference takes as long as in the kernel when the workload `pattern` refers to pages by Zipf's law; in the last
column, as long as the default for strings.
"""

from __future__ import annotations

import resource
import subprocess
from pathlib import Path

from tidemark.strings import refstrings, vmsim

from figures.common import host, measure, table
from figures.entries import Figure

NR_REFERENCES = 4_000_000
CHECKED_REFERENCES = 200_000
FRAMES = 16_384
POLICIES = ("fifo", "clock", "2q", "ws", "js2q", "sieve", "s3fifo", "clock2q", "arc", "car", "mglru", "aging")
STRINGS = {
    "loop:10000": "hits only",
    "loop:20000": "a loop too large",
    "zipf:65536": "Zipf's law",
    "random:65536": "random",
}
LAST = "zipf:65536"
IN_KERNEL, NR_IN_KERNEL = "pattern zipf 8192 {refs}", 200_000
REPEATS = 3


def step_in_kernel() -> int:
    """Nanoseconds from one reference to the next, in a run without major faults."""
    return round(1000 * measure(IN_KERNEL.format(refs=NR_IN_KERNEL)).number(r" run_us=(\d+)") / NR_IN_KERNEL)


def written(text: str, references: int, step_ns: int, folder: Path) -> Path:
    """Writes the string to a file, in the simulator's format."""
    path = folder / f"{text.replace(':', '-')}-{references}-{step_ns}"
    with path.open("wb") as file:
        for piece in refstrings.find(f"{text},refs={references}", step_ns=step_ns).runs():
            file.write(piece.data)
    return path


def processor_s(program: Path, string: Path) -> float:
    """Seconds in user mode for one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with string.open("rb") as file:
        command = vmsim.command_line(program, FRAMES)
        subprocess.run(command, stdin=file, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def millions_per_s(program: Path, string: Path, references: int) -> str:
    """The best of REPEATS."""
    return f"{references / min(processor_s(program, string) for _ in range(REPEATS)) / 1e6:.1f}"


def row(policy: str, files: dict[tuple[str, int, int], Path]) -> list[str]:
    """A policy's row."""
    speeds = [
        millions_per_s(vmsim.build(policy, references == NR_REFERENCES), path, references)
        for (_, references, _), path in files.items()
    ]
    return [f"`{policy}`", *speeds]


def make(figure: Figure, work: Path) -> str:
    step_ns = step_in_kernel()
    runs = [(text, references, step_ns) for references in (NR_REFERENCES, CHECKED_REFERENCES) for text in STRINGS]
    runs.append((LAST, NR_REFERENCES, refstrings.STEP_NS))
    files = {run: written(*run, work) for run in runs}
    rows = [row(policy, files) for policy in POLICIES]
    checked = [f"{what}, sanitizers" for what in STRINGS.values()]
    titles = ["policy", *STRINGS.values(), *checked, f"{STRINGS[LAST]}, {refstrings.STEP_NS // 1000} µs a reference"]
    return (
        f"Million references a second of processor time in user mode; {', '.join(f'`{text}`' for text in STRINGS)}, of "
        f"{NR_REFERENCES:,} references each ({CHECKED_REFERENCES:,} with sanitizers), {FRAMES:,} frames; a reference "
        f"stands for {step_ns} ns, as in `{IN_KERNEL.format(refs=NR_IN_KERNEL)}`; best of {REPEATS}; {host()}.\n\n"
        f"{table(titles, rows)}"
    )
