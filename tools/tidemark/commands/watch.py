"""tidemark watch: a live view of a machine."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.commands import options
from tidemark.errors import INTERRUPTED, OK, USAGE, LabError
from tidemark.machine import qemu
from tidemark.runs import experiment, results

if TYPE_CHECKING:
    from tidemark.watch.sources import Source

Target = Annotated[
    Path | None,
    typer.Argument(help="A result's folder, or a telemetry file, running or finished (default: the newest result)."),
]
MAP_LINES = 24
At = Annotated[float | None, typer.Option("--at", min=0, metavar="SECONDS", help="Begin at this virtual time.")]


def show_once(target: Path | None, at: float | None, as_json: bool) -> None:
    """Print one moment, as text or its sample as JSON: the latest, or the one at `at` seconds."""
    from rich.console import Console

    from tidemark.watch import model, sources, table
    from tidemark.watch.memory import Memory

    recording = model.Recording()
    with contextlib.closing(sources.File(*sources.find(target))) as source:
        records = source.poll()
    recording.add(records)
    if not recording.samples:
        raise LabError(f"{source.path} has no sample yet")
    index = recording.index_at(at * 1e6) if at is not None else len(recording.samples) - 1
    if as_json:
        print(json.dumps(recording.samples[index]))
        return
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
    moment = recording.moment(index)
    console.print(table.page(moment, console.width), soft_wrap=True)
    with contextlib.closing(Memory(source.folder)) as memory:
        memory.add(records)
        if memory.columns:
            console.print()
            console.print(memory.draw(moment, console.width, MAP_LINES), soft_wrap=True)


def view(source: Source, at: float | None, speed: float) -> int:
    """Show the view until the user leaves it; returns its exit status."""
    from tidemark.watch import model
    from tidemark.watch.app import Watch
    from tidemark.watch.memory import Memory
    from tidemark.watch.player import Player

    memory = None
    try:
        records = source.poll()
        player = Player(speed=speed, live=not source.ended and at is None, t_us=(at or 0) * 1e6)
        keep = None if source.ended else model.KEPT
        memory = Memory(source.folder, keep)
        app = Watch(source, player, keep, memory)
        app.take(records)
        for number in (signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, app.hang_up)
        code = app.run()
    finally:
        source.close()
        if memory:
            memory.close()
    if app.error:
        raise app.error
    return (app.return_code or OK) if code is None else code


def watch_run(settings: qemu.Settings, folder: Path, speed: float) -> None:
    """Start a run, show it, and end it when the user leaves the view. The result stays."""
    from tidemark.watch import sources

    source = sources.Run(settings, folder)
    code = view(source, None, speed)
    result = source.result
    with contextlib.suppress(OSError):  # the terminal itself may be gone
        said = f"tidemark: stopped; {folder} keeps the partial result" if result is None else str(folder)
        print(said, file=sys.stderr if result is None else sys.stdout, flush=True)
    if code != OK:
        raise KeyboardInterrupt if code == INTERRUPTED else typer.Exit(code)
    if result is not None:
        experiment.demand_success(result)


def watch(
    target: Target = None,
    run: Annotated[str | None, typer.Option("--run", help="Start this command line in a guest, and watch it.")] = None,
    speed: Annotated[
        float, typer.Option("--speed", min=0.015625, max=4096, help="Replay: virtual seconds per second.")
    ] = 4,
    at: At = None,
    once: Annotated[bool, typer.Option("--once", help="Print one moment as text, and exit.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print the latest sample as JSON, and exit.")] = False,
    vm: options.Vm = options.DEFAULT.vm,
    mem: options.Mem = options.DEFAULT.mem,
    swap: options.Swap = options.DEFAULT.swap,
    frames: options.Frames = None,
    seed: options.Seed = None,
    cmdline: options.Cmdline = "",
    timeout: options.Timeout = options.DEFAULT.timeout,
    image: options.Image = options.DEFAULT.image,
    real: Annotated[bool, typer.Option("--real", help="With --run: wall-clock time and a real emulated disk.")] = False,
    owners_: Annotated[
        bool, typer.Option("--owners", help="With --run: record the owner of each frame; key m shows the map.")
    ] = False,
    out: options.Out = None,
) -> None:
    """Watch a machine on the full screen: processes, faults, utilisation, a thrashing lamp, zones, the policy's lists.

    Examples:  tidemark watch --run "thrash 8 8192 10" --vm ws --mem 24M

    tidemark watch results/20261121-103000-ws-thrash --speed 10

    A machine that runs is followed; one that has ended is replayed. `make qemu TELEMETRY=FILE` writes a file that can
    be watched as well. The options from --vm on apply to --run; its QEMU ends with the view, its result stays.
    """
    if once or json_:
        if run is not None:
            raise LabError("--run needs the view: omit --once and --json, or use `tidemark run`", USAGE)
        show_once(target, at, json_)
        return
    if not sys.stdout.isatty() or not sys.stdin.isatty():
        raise LabError("the view needs a terminal; --once prints one moment as text, --json a sample", USAGE)
    if run is not None:
        if target is not None or at is not None:
            raise LabError("--run watches its own run: omit the target and --at", USAGE)
        if not run.strip():
            raise LabError('--run needs a command line, such as --run "thrash 8 8192 10"', USAGE)
        settings = options.settings([run], vm, mem, swap, frames, seed, cmdline, timeout, image, exact=not real)
        if real and swap == options.DEFAULT.swap:
            settings = replace(settings, swap="hda")
        folder = out or results.new_folder(settings, Path("results"))
        if owners_:
            from tidemark.telemetry import owners

            settings = replace(settings, qemu_flags=settings.qemu_flags + owners.flags(settings.image, folder))
        watch_run(settings, folder, speed)
        return
    from tidemark.watch import sources

    code = view(sources.File(*sources.find(target)), at, speed)
    if code != OK:
        raise KeyboardInterrupt if code == INTERRUPTED else typer.Exit(code)
