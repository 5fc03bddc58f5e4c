"""tidemark race: machines with different policies side by side."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.commands import options
from tidemark.errors import USAGE, LabError
from tidemark.machine import image, qemu
from tidemark.runs import experiment, results

if TYPE_CHECKING:
    from tidemark.watch.race import Race
    from tidemark.watch.sources import Run

TICK_S = 1 / 15
LINE_EVERY_S = 2


@contextlib.contextmanager
def started(every: Sequence[qemu.Settings], folders: Sequence[Path]) -> Iterator[list[Run]]:
    """Start the runs; end all of them when the block is left."""
    from tidemark.watch.sources import Run

    runs: list[Run] = []
    try:
        for settings, folder in zip(every, folders):
            runs.append(Run(settings, folder))
        yield runs
    finally:
        for run in runs:
            run.stop()
        for run in runs:
            run.close()


def on_screen(race: Race, title: str) -> None:
    """Draw the race until everything has been shown."""
    from rich.console import Console
    from rich.live import Live

    from tidemark.watch.race import screen

    console = Console(highlight=False)
    with Live(console=console, screen=True, auto_refresh=False) as live:
        before = time.monotonic()
        while not race.over:
            time.sleep(TICK_S)
            now = time.monotonic()
            race.poll()
            race.advance(now - before)
            before = now
            live.update(screen(race, title, *console.size), refresh=True)


def in_lines(race: Race) -> None:
    """Print a line now and then, at the speed of the machines."""
    from tidemark.watch.race import line

    said_s = time.monotonic()
    while not race.over:
        time.sleep(TICK_S)
        race.poll()
        race.advance(0)
        if time.monotonic() - said_s >= LINE_EVERY_S:
            said_s = time.monotonic()
            print(line(race), flush=True)


def race(
    vm: Annotated[list[str], typer.Option("--vm", help="A policy; give two to four times.", show_default=False)],
    run: Annotated[str, typer.Option("--run", help="The command line that every machine runs.")] = "thrash 8 4096 10",
    speed: Annotated[
        float, typer.Option("--speed", min=0, max=4096, help="Speed of the display, such as 2 or 0.5; 0: no limit.")
    ] = 1,
    mem: options.Mem = "16M",
    swap: options.Swap = options.DEFAULT.swap,
    frames: options.Frames = None,
    seed: options.Seed = None,
    cmdline: options.Cmdline = "",
    timeout: options.Timeout = options.DEFAULT.timeout,
    image_: options.Image = options.DEFAULT.image,
    out: options.Out = None,
) -> None:
    """Let policies race: the same programs in the same memory, side by side. Which is done first, in virtual time?

    Example:  tidemark race --vm 2q --vm ws

    All are shown at one virtual time, that of the slowest simulation. "ended" counts processes. The bars of running
    processes are working set █, other resident pages ▄, in swap ·. Ctrl-C ends the race. Without a terminal, a line is
    printed now and then. Each machine's result is kept.
    """
    from tidemark.watch import race as racing

    if not racing.LEAST <= len(vm) <= racing.MOST:
        raise LabError(f"give --vm two to four times, such as --vm 2q --vm ws, not {len(vm)}", USAGE)
    if not run.strip():
        raise LabError('--run needs a command line, such as --run "thrash 8 4096 10"', USAGE)
    first = options.settings([run], vm[0], mem, swap, frames, seed, cmdline, timeout, image_)
    image.describe(first.image)
    every = [replace(first, vm=name) for name in vm]
    names = racing.folders(vm)
    parent = out or results.new_folder(replace(first, vm="race"), Path("results"))
    terminal = sys.stdout.isatty()
    with started(every, [parent / name for name in names]) as runs:
        lanes = [racing.Lane(name, source) for name, source in zip(names, runs)]
        shown = racing.Race(lanes, speed if terminal else 0)
        try:
            on_screen(shown, f"{run}   {mem}") if terminal else in_lines(shown)
        except (KeyboardInterrupt, OSError):
            with contextlib.suppress(OSError):  # the terminal itself may be gone
                print(f"tidemark: stopped; {parent} keeps the partial result", file=sys.stderr, flush=True)
            raise KeyboardInterrupt from None
    print(racing.verdict(shown))
    print(parent)
    for source in runs:
        if source.result is not None:
            experiment.demand_success(source.result)
