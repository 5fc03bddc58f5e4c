"""tidemark gdb: a debugger at any place of a run, which can also go back in time."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from tidemark.commands import options
from tidemark.debug import backwards, replay
from tidemark.errors import USAGE, LabError
from tidemark.runs import result_image, results


def place(
    run: replay.Places, image: Path, at: str, fault: int | None, event: str, pc: str, writes: str, end: bool
) -> replay.Place:
    """The place that the options name. Raises LabError unless they name exactly one place."""
    if sum((bool(at), bool(fault), bool(event), bool(pc), end)) != 1 or (writes and not pc):
        raise LabError(
            "say where: one of --at T, --fault N, --event KIND:N, --pc ADDRESS [--writes ADDRESS], --end", USAGE
        )
    if at:
        return replay.Place(at, time=replay.time_of(at))
    if pc:
        return run.instruction(replay.address_of(pc), replay.address_of(writes) if writes else None)
    return replay.event(run.result, image, event or (f"fault:{fault}" if fault else "end"))


def gdb(
    folder: Annotated[Path, typer.Argument(metavar="RESULT", help="The folder of an exact run.")],
    at: Annotated[str, typer.Option("--at", metavar="T", help="A time of the run: 1.5 (s), 350ms, 45us, 123ns.")] = "",
    fault: Annotated[int | None, typer.Option("--fault", min=1, metavar="N", help="The run's Nth page fault.")] = None,
    event: Annotated[
        str,
        typer.Option(
            "--event",
            metavar="KIND:N",
            help="The Nth panic, violation, evict, or telemetry record of a kind, such as exit:2. Without N the first.",
        ),
    ] = "",
    pc: Annotated[
        str, typer.Option("--pc", metavar="ADDRESS", help="The first execution of the instruction at, say, 0xc0138fb0.")
    ] = "",
    writes: Annotated[
        str,
        typer.Option(
            "--writes", metavar="ADDRESS", help="With --pc: the first execution that writes to this kernel address."
        ),
    ] = "",
    end: Annotated[bool, typer.Option("--end", help="The end of the run.")] = False,
    image: options.Image = options.DEFAULT.image,
) -> None:
    """Open gdb at a place of a run, with the machine's state as it was; gdb can also go back from there.

    Example:  tidemark gdb results/20261121-103000-ws-thrash --event exit:2

    The run is repeated up to that place. In gdb, `tm-back` goes back, `tm-when` to the last write of a variable, and
    `tm-history` shows the life of a page; `tm` lists all commands. The run must be exact. Its image is kept in the
    result; if the result is older and has no image, --image must be the one that the run used.
    """
    result = results.load(folder)
    made_of = result_image.of(result, image.resolve())
    backwards.check_gdb()
    with tempfile.TemporaryDirectory(prefix="tidemark-") as scratch:
        run = replay.Places(result, made_of, Path(scratch))
        try:
            arrived = run.go(place(run, made_of, at, fault, event, pc, writes, end))
            programs = result_image.programs(made_of, result.meta["settings"]["run"])
            status = backwards.debug(run, made_of, arrived, programs)
        finally:
            run.close()
    sys.exit(status)
