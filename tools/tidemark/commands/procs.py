"""tidemark procs: the processes, or the scheduler's queue, as a red-black tree."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from tidemark import telemetry
from tidemark.errors import NO_SPACE, USAGE, LabError

Target = Annotated[
    Path | None,
    typer.Argument(help="A result's folder, or a telemetry file, running or finished (default: the newest result)."),
]


def written(out: Path, svg: str, graphml: str) -> None:
    """Write what the file's name asks for; - is SVG on stdout."""
    from tidemark.files import write_atomically

    if str(out) == "-":
        sys.stdout.write(svg)
        return
    try:
        write_atomically(out, svg if out.suffix == ".svg" else graphml)
    except OSError as error:
        raise LabError(f"{out} cannot be written: {error.strerror}", NO_SPACE) from None
    print(out)


def procs(
    target: Target = None,
    by: Annotated[str, typer.Option("--by", help="What orders them: rss, mad, wss, swap, majflt, user_us, …")] = "rss",
    scheduler: Annotated[
        bool, typer.Option("--scheduler", help="The tree of the tasks that wait for the CPU.")
    ] = False,
    at: Annotated[
        float | None, typer.Option("--at", min=0, metavar="SECONDS", help="The last sample until then.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="procs.svg (default), tree.graphml, or - for SVG on stdout.")
    ] = None,
    json_: Annotated[
        bool, typer.Option("--json", help="Print the tree's nodes and places as JSON; draw nothing.")
    ] = False,
) -> None:
    """Draw the processes as a red-black tree by memory; the largest are seen at a glance.

    Examples:  tidemark procs results/20261121-103000-ws-thrash --by wss -o tree.svg

    tidemark procs --scheduler --at 3.5

    Without --at it is the latest sample of a machine that runs; of one that has ended the last of those with the most
    processes (with --scheduler: with the longest queue). --scheduler draws the kernel's own tree, shape and colours.
    """
    from tidemark import procs as trees
    from tidemark.watch import sources

    by = "vruntime" if scheduler else by
    out = out or Path("scheduler.svg" if scheduler else "procs.svg")
    if str(out) != "-" and out.suffix not in (".svg", ".graphml"):
        raise LabError(f"{out}: its name must end in .svg or .graphml", USAGE)
    path, result = sources.find(target)
    data = telemetry.read(path, partial=not sources.must_be_whole(result))
    live = not data.whole and (result is None or result.meta["state"] == "running")
    sample = trees.choose(data.samples, at, live, "rq" if scheduler else "procs")
    root = trees.by_vruntime(sample) if scheduler else trees.by_memory(sample, by)
    seconds = sample["t_us"] / 1e6
    if root is None:
        what = "task waited for the processor" if scheduler else "process lived"
        raise LabError(f"no {what} at {seconds:.3f} s; --at SECONDS takes another sample")
    if json_:
        print(json.dumps({"t_us": sample["t_us"], "by": by, "nodes": trees.table(root, by)}, indent=2))
        return
    name = result.name if result else path.name
    what = "Tasks waiting for the processor" if scheduler else f"Processes by {trees.NAMES.get(by, by)}"
    title = f"{what}, {seconds:.3f} s, {name} ({data.start['policy']})"
    written(out, trees.svg(root, by, title, scheduler), trees.graphml(root, by))
