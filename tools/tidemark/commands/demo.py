"""tidemark demo: thrashing and its cure in a minute, from the reference image."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tidemark.commands import options
from tidemark.machine import home, qemu, reference_image
from tidemark.runs import experiment, results
from tidemark.telemetry import story

POLICIES = ("2q", "ws")
COMMAND, MEM, MOST = "thrash {} 4096 10", "16M", 8
SHOWN = re.compile(r"^(system|faults|reclaim):")
BAR, WIDTH = "█", 44


@dataclass(frozen=True)
class Ran:
    """A run of the demonstration: its policy, its number of processes, and its result."""

    policy: str
    processes: int
    result: results.Result

    @property
    def seconds(self) -> float:
        """The turnaround of the command."""
        return story.turnaround_s(self.result.telemetry())

    @property
    def lines(self) -> list[str]:
        """What the kernel printed about the run."""
        text = (self.result.folder / results.CONSOLE).read_text("utf-8", "replace")
        return [line for line in text.splitlines() if SHOWN.match(line)]


def run(policy: str, processes: int, image: Path, place: Path) -> Ran:
    """Make one run. Raises LabError if it fails."""
    settings = qemu.Settings(vm=policy, mem=MEM, run=COMMAND.format(processes), image=image)
    result = experiment.run(settings, place / f"{policy}-{processes}")
    experiment.demand_success(result)
    return Ran(policy, processes, result)


def curve(every: Iterable[Ran]) -> list[str]:
    """Times as bars on a logarithmic scale, from 10 ms on: a line for each number of processes and policy."""
    some = sorted(every, key=lambda one: (one.processes, one.policy))
    longest = math.log10(max(one.seconds for one in some) / 0.01)
    lines = []
    for one in some:
        length = round(WIDTH * math.log10(max(one.seconds / 0.01, 1)) / longest)
        count = str(one.processes) if one.policy == POLICIES[0] else ""
        lines.append(f"{count:>4}  {one.policy:<3} {BAR * length} {story.seconds(one.seconds)}")
    return lines


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for the results and the page.")] = Path("demo"),
    quiet: options.Quiet = False,
) -> None:
    """Show thrashing and its cure: eight programs in too little memory, under 2q and under ws.

    Example:  tidemark demo -o demo

    Runs the reference image, so that the numbers are those of the README on every machine. It takes a minute, and needs
    QEMU, but no network, no compiler and no tree.
    """
    from tidemark.report import folder, sources

    image, numbers = reference_image.unpacked(qemu.ROOT), (MOST, 1, 2, 4, 6)
    todo = [(policy, number) for number in numbers for policy in POLICIES]
    done: list[Ran] = []
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for one in pool.map(lambda which: run(which[0], which[1], image, out), todo):
            done.append(one)
            if not quiet:
                print(f"tidemark: {len(done)} of {len(todo)} runs done", file=sys.stderr, flush=True)
    slow, quick = done[:2]
    for one in (slow, quick):
        print(f"{COMMAND.format(MOST)} in {MEM}, policy {one.policy}:", *one.lines, "", sep="\n")
    ratio = slow.seconds / quick.seconds
    print(
        f"Under {quick.policy} the same work is done {ratio:.0f} times as fast as under {slow.policy}: a process runs"
    )
    print("only while its working set fits in memory. Time by the number of processes, on a logarithmic scale:\n")
    print("\n".join(curve(done)))
    report = out / "report"
    folder.write(sources.gather([slow.result.folder, quick.result.folder]), report)
    print(f"\nBoth runs as a page: {report / folder.PAGE}")
    if home.BROWSER.exists():
        print(f"The kernel in a browser: {home.BROWSER}")
