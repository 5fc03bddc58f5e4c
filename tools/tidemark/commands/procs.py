"""tidemark procs: the processes by memory, as circles or a red-black tree, or the scheduler's run queue as its tree."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from tidemark.errors import USAGE, LabError
from tidemark.telemetry import stream

Target = Annotated[
    Path | None,
    typer.Argument(help="A result's folder, or a telemetry file, running or finished (default: the newest result)."),
]


def write(out: Path, svg: str) -> None:
    """Write the drawing to `out`, or to stdout if `out` is -."""
    from tidemark.files import write_atomically

    if str(out) == "-":
        sys.stdout.write(svg)
        return
    write_atomically(out, svg)
    print(out)


def procs(
    target: Target = None,
    by: Annotated[
        str, typer.Option("--by", help="Size of circles, or order of the tree: rss, mad, wss, swap, majflt, user_us, …")
    ] = "rss",
    scheduler: Annotated[
        bool, typer.Option("--scheduler", help="Draw the tree of the tasks that wait for the CPU.")
    ] = False,
    tree: Annotated[bool, typer.Option("--tree", help="Draw a red-black tree of the processes by --by.")] = False,
    at: Annotated[
        float | None, typer.Option("--at", min=0, metavar="SECONDS", help="Draw the last sample up to this time.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The SVG to write (default: procs.svg), or - for stdout.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print what would be drawn as JSON; draw nothing.")] = False,
) -> None:
    """Draw the processes at one moment as circles whose area is their memory, or in a red-black tree.

    Examples:  tidemark procs results/20261121-103000-ws-thrash --by wss -o procs.svg

    tidemark procs --scheduler --at 3.5

    Without --at, a machine that runs is drawn at its latest sample, and one that has ended at the last sample with the
    most processes (with --scheduler: the longest queue). --scheduler draws the kernel's own tree, shape and colours.
    --tree builds one, into which it inserts the processes by number.
    """
    from tidemark.report import procs as pictures
    from tidemark.watch import sources

    if tree and scheduler:
        raise LabError("--tree and --scheduler exclude each other", USAGE)
    out = out or Path("scheduler.svg" if scheduler else "procs.svg")
    if str(out) != "-" and out.suffix != ".svg":
        raise LabError(f"{out}: the name must end in .svg", USAGE)
    path, result = sources.find(target)
    data = stream.read(path, partial=not sources.must_be_whole(result))
    live = not data.whole and (result is None or result.meta["state"] == "running")
    sample = pictures.choose(data.samples, at, live, "rq" if scheduler else "procs")
    listed = pictures.memory_tree if tree else pictures.by_memory
    rows = pictures.queue(sample) if scheduler else listed(sample, by)
    seconds = sample["t_us"] / 1e6
    if not rows:
        what = "task waited for the processor" if scheduler else "process lived"
        raise LabError(f"no {what} at {seconds:.3f} s; --at SECONDS takes another sample")
    if json_:
        print(json.dumps({"t_us": sample["t_us"], "by": "vruntime" if scheduler else by, "nodes": rows}, indent=2))
        return
    of_what = f"{seconds:.3f} s, {result.name if result else path.name} ({data.start['policy']})"
    if scheduler:
        write(out, pictures.draw_queue(rows, f"Tasks waiting for the processor, {of_what}"))
    else:
        draw = pictures.draw_memory_tree if tree else pictures.draw_memory
        write(out, draw(rows, by, f"Processes by {pictures.NAMES.get(by, by)}, {of_what}"))
