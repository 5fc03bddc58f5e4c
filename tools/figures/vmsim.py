#!/usr/bin/env python3
"""How fast the simulator is: references a second, for twelve policies, built for speed and under sanitizers.

By the processor time of the simulator's process in user mode. It reads the string from a file, so that what generates
it does not count. Other work on the host takes its share of the caches: so the best of several runs is shown. Four
strings: a loop that fits (hits only), one that does not (to FIFO each reference is a fault), Zipf's law with a quarter
of the pages in memory, and uniformly random with the same, where three of four references fault.
"""

from __future__ import annotations

import resource
import subprocess
import tempfile
from pathlib import Path

from common import host, publish, table
from tidemark import strings, vmsim

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
REPEATS = 3


def written(text: str, references: int, folder: Path) -> Path:
    """The string in a file, as the simulator reads it."""
    path = folder / f"{text.replace(':', '-')}-{references}"
    with path.open("wb") as file:
        for piece in strings.find(f"{text},refs={references}").runs():
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


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as name:
        sizes = {True: NR_REFERENCES, False: CHECKED_REFERENCES}
        files = {
            (text, fast): written(text, references, Path(name))
            for text in STRINGS
            for fast, references in sizes.items()
        }
        rows = [
            [
                f"`{policy}`",
                *(
                    millions_per_s(vmsim.build(policy, fast), files[text, fast], sizes[fast])
                    for fast in (True, False)
                    for text in STRINGS
                ),
            ]
            for policy in POLICIES
        ]
    titles = ["policy", *STRINGS.values(), *(f"{what}, sanitizers" for what in STRINGS.values())]
    publish(
        "vmsim",
        f"Million references a second of processor time in user mode; {', '.join(f'`{text}`' for text in STRINGS)}, of "
        f"{NR_REFERENCES:,} references each ({CHECKED_REFERENCES:,} with sanitizers), {FRAMES:,} frames; best of "
        f"{REPEATS}; {host()}.\n\n{table(titles, rows)}",
    )


if __name__ == "__main__":
    main()
