"""tidemark alloc: the kernel's allocations, replayed through several allocators."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from tidemark.commands import options
from tidemark.debug import allocators
from tidemark.errors import NO_SPACE, USAGE, LabError
from tidemark.machine import qemu
from tidemark.runs import experiment, results
from tidemark.telemetry.live import LiveLine

FIGURES = "alloc"
MOST_CALLERS = 8
COLUMNS = ("asked KiB", "in blocks", "held", "splits", "merges", "steps/op", "failed")


def run(settings: qemu.Settings, folder: Path, quiet: bool) -> None:
    """Run, with allocations recorded, into `folder`."""
    with LiveLine(quiet) as live:
        experiment.demand_success(allocators.record(settings, folder, live))


def cells(row: Mapping[str, float]) -> list[str]:
    """An allocator's numbers at the end of the log, as the table shows them."""
    bytes_ = [f"{row[name] / 1024:,.0f}" for name in ("asked", "granted", "held")]
    counts = [f"{row[name]:,.0f}" for name in ("splits", "merges")]
    return [*bytes_, *counts, f"{row['steps'] / row['operations']:.2f}", f"{row['failed']:,.0f}"]


def show(log: Path, kind: str, series: allocators.Series) -> None:
    """Print a table of the allocators, and the largest callers."""
    from rich.console import Console
    from rich.table import Table

    table = Table("allocator", box=None, header_style="bold")
    for column in COLUMNS:
        table.add_column(column, justify="right", no_wrap=True)
    for name, rows in series.items():
        table.add_row(name, *cells(rows[-1]))
    print(f"{kind}:")
    Console(width=None if sys.stdout.isatty() else 200, highlight=False).print(table)
    for caller in allocators.callers(log, kind)[:MOST_CALLERS]:
        print(f"{caller.number:9,} allocations, {caller.size / 1024:9,.0f} KiB: {caller.name}")
    print()


def save(replayed: Mapping[str, allocators.Series], folder: Path) -> None:
    """The four figures of report.allocators in `folder`."""
    from tidemark.report import allocators as drawn
    from tidemark.report import figure

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for one in drawn.of_log(replayed):
            figure.save(one, folder)
    except OSError as error:
        raise LabError(f"{folder} cannot be written: {error.strerror}", NO_SPACE) from None


def alloc(
    what: Annotated[
        list[str], typer.Argument(metavar="RESULT", help="The folder of a recorded run; with --record, a command line.")
    ],
    record: Annotated[
        bool, typer.Option("--record", help="Run the command line that follows --, and record its allocations.")
    ] = False,
    figure: Annotated[
        Path | None, typer.Option("--figure", help="Folder for the figures (default: alloc/ in the result).")
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
    disk: options.Disk = "",
    disk_kind: options.DiskKind = options.DEFAULT.disk_kind,
    out: options.Out = None,
) -> None:
    """Replay the kernel's allocations of a run through several allocators, and draw what each makes of them.

    Example:  tidemark alloc --record --mem 16M -o storm -- thrash 6 2048 2; tidemark alloc storm

    --record runs a command line under QEMU's plugin, which logs every allocation and free of the kernel with its
    caller, in alloc.log of the result; the run is the same without it. The options from --vm on apply to --record. The
    replay has two parts: the objects of the slab caches, and the frames of the buddy.
    """
    if record:
        settings = options.settings(
            what, vm, mem, swap, frames, seed, cmdline, timeout, image, disk=disk, disk_kind=disk_kind
        )
        folder = out or results.new_folder(settings, Path("results"))
        run(settings, folder, quiet)
    elif len(what) > 1:
        raise LabError("give one result; --record takes a command line", USAGE)
    else:
        folder = Path(what[0])
    log = allocators.log_of(folder)
    replayed = {kind: allocators.simulated(kind, log) for kind in allocators.KINDS}
    save(replayed, figure or folder / FIGURES)
    if json_:
        last = {kind: {name: rows[-1] for name, rows in series.items()} for kind, series in replayed.items()}
        print(json.dumps({"result": str(folder), **last}, indent=2))
        return
    for kind, series in replayed.items():
        show(log, kind, series)
    print(figure or folder / FIGURES)
