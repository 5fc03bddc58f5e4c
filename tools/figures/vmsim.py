#!/usr/bin/env python3
"""How fast the simulator is: references a second, for each policy of the tree, built for speed and under sanitizers.

By the processor time of the simulator's process, which reads the string from a file, so that what generates it does not
count and the load of the host little. Three strings: a loop that fits (hits only), Zipf's law with a quarter of the
pages in memory, and uniformly random with the same, where three of four references fault.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

from common import host, publish, table
from tidemark import strings, vmsim

NR_REFERENCES = 10_000_000
CHECKED_REFERENCES = 1_000_000
FRAMES = 16_384
STRINGS = {"loop:10000": "hits only", "zipf:65536": "Zipf's law", "random:65536": "random"}
REPEATS = 3


def written(text: str, references: int, folder: Path) -> Path:
    """The string in a file, as the simulator reads it."""
    path = folder / f"{text.partition(':')[0]}{references}"
    with path.open("wb") as file:
        for piece in strings.find(f"{text},refs={references}").runs():
            file.write(piece.data)
    return path


def processor_s(program: Path, string: Path) -> float:
    """Seconds of processor time for one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with string.open("rb") as file:
        command = vmsim.command_line(program, FRAMES)
        subprocess.run(command, stdin=file, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def millions_per_s(program: Path, string: Path, references: int) -> str:
    """The median of REPEATS."""
    return f"{references / statistics.median(processor_s(program, string) for _ in range(REPEATS)) / 1e6:.1f}"


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
            for policy in vmsim.policies()
        ]
    titles = ["policy", *STRINGS.values(), *(f"{what}, sanitizers" for what in STRINGS.values())]
    publish(
        "vmsim",
        f"Million references a second of processor time; {', '.join(f'`{text}`' for text in STRINGS)}, of "
        f"{NR_REFERENCES:,} references each ({CHECKED_REFERENCES:,} with sanitizers), {FRAMES:,} frames; median of "
        f"{REPEATS}; {host()}.\n\n{table(titles, rows)}",
    )


if __name__ == "__main__":
    main()
