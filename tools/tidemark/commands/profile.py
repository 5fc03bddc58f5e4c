"""tidemark profile: where the time went, by kernel function."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.commands import options
from tidemark.debug import profile as profiles_of
from tidemark.errors import NO_SPACE, USAGE, LabError
from tidemark.machine import qemu
from tidemark.runs import experiment, results
from tidemark.telemetry.live import LiveLine

if TYPE_CHECKING:
    from tidemark.debug.profile import Profile

MOST = 6


def percent(share: float | None) -> str:
    """A share in percent, as the table shows it."""
    return "" if share is None else f"{100 * share:.2f}"


def show(profiles: Sequence[Profile]) -> None:
    """Print the profiles side by side: for each its seconds, and its shares of all time and of the kernel's time."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    table.add_column("function", no_wrap=True, min_width=16)
    letters = [""] if len(profiles) == 1 else [f"{chr(ord('A') + nr)} " for nr in range(len(profiles))]
    for letter, one in zip(letters, profiles):
        print(f"{letter and letter.strip() + ': '}{one.name}, {one.total:,} {one.unit}, idle included")
        for title in ("s", "% time", "% kernel"):
            table.add_column(letter + title, justify="right", no_wrap=True)
    for name in profiles_of.functions(profiles):
        cells = [(f"{p.seconds(name):.4f}", percent(p.of_time(name)), percent(p.of_kernel(name))) for p in profiles]
        table.add_row(name, *(cell for three in cells for cell in three))
    Console(width=None if sys.stdout.isatty() else 200, highlight=False).print(table)


def save(profiles: Sequence[Profile], folder: Path, top: int) -> None:
    """functions.svg, functions.png and functions.csv in `folder`."""
    from tidemark.report import figure
    from tidemark.report.profiles import of_profiles

    try:
        folder.mkdir(parents=True, exist_ok=True)
        figure.save(of_profiles(profiles, top), folder)
    except OSError as error:
        raise LabError(f"{folder} cannot be written: {error.strerror}", NO_SPACE) from None


def run(settings: qemu.Settings, folder: Path, quiet: bool) -> None:
    """Run, with instructions counted, into `folder`."""
    try:
        with LiveLine(quiet) as live:
            experiment.demand_success(profiles_of.record(settings, folder, live))
    except KeyboardInterrupt:
        print(f"tidemark: stopped; {folder} keeps what came", file=sys.stderr)
        raise


def profile(
    what: Annotated[
        list[str],
        typer.Argument(metavar="RESULT...", help="Folders of runs, or telemetry files; with --exact, a command line."),
    ],
    exact: Annotated[
        bool, typer.Option("--exact", help="Run the command line that follows --, and count its instructions.")
    ] = False,
    top: Annotated[int, typer.Option("--top", min=1, help="Number of functions to show.")] = 20,
    figure: Annotated[
        Path | None, typer.Option("--figure", help="Folder for functions.svg, functions.png and functions.csv.")
    ] = None,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
    vm: options.Vm = options.DEFAULT.vm,
    mem: options.Mem = options.DEFAULT.mem,
    swap: options.Swap = options.DEFAULT.swap,
    frames: options.Frames = None,
    seed: options.Seed = None,
    cmdline: options.Cmdline = "",
    timeout: options.Timeout = options.DEFAULT.timeout,
    image: options.Image = options.DEFAULT.image,
    out: options.Out = None,
) -> None:
    """Show where the time of one run, or of several side by side, went, by kernel function.

    Example:  tidemark run thrash 4 8192 4 --cmdline profile_hz=1000 -o ticks; tidemark profile ticks

    tidemark profile --exact --vm ws --mem 24M -- thrash 4 8192 4

    tidemark profile results/2q results/ws --figure compare

    A run with profile_hz= has the ticks of the guest's profiler in its telemetry. --exact runs a command line under
    QEMU's plugin, which counts every instruction; the result keeps the counts in profile.csv. The options from --vm on
    apply to --exact.
    """
    if exact:
        settings = options.settings(what, vm, mem, swap, frames, seed, cmdline, timeout, image)
        folder = out or results.new_folder(settings, Path("results"))
        run(settings, folder, quiet)
        what = [str(folder)]
    if len(what) > MOST:
        raise LabError(f"{len(what)} profiles do not fit side by side; give at most {MOST}", USAGE)
    targets = [Path(name) for name in what]
    profiles = profiles_of.distinct([profiles_of.load(target) for target in targets], targets)
    if figure:
        save(profiles, figure, top)
    if json_:
        print(json.dumps({"results": list(map(str, targets)), "functions": profiles_of.rows(profiles)}, indent=2))
        return
    show(profiles_of.shortened(profiles, top))
    if exact:
        print(folder)
