"""tidemark export: a result in the format of another viewer."""

from __future__ import annotations

import contextlib
import enum
import gzip
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from tidemark import output
from tidemark.commands import options
from tidemark.debug import profile
from tidemark.files import suffix
from tidemark.runs import results
from tidemark.telemetry import events, stream

AT_ONCE = 1 << 12  # pieces of text that are written together


class Viewer(str, enum.Enum):
    """The program that will read the file."""

    perfetto = "perfetto"
    speedscope = "speedscope"


def read(target: Path) -> tuple[str, stream.Telemetry, events.Events | None]:
    """Name, telemetry and events of a result's folder, also a partial one, or of a telemetry file. Raises LabError for
    anything else."""
    if target.is_dir():
        result = results.load(target)
        return result.name, result.telemetry(partial=True), events.read(target)
    return target.name, stream.read(target, partial=True), None


def warn(text: str) -> None:
    """Print what the file lacks."""
    print(f"tidemark: {text}", file=sys.stderr)


def perfetto(target: Path) -> tuple[bool, Iterator[str]]:
    """Has the run events? And the text of the file for Perfetto, in pieces."""
    from tidemark.telemetry import event_tracks, tracks

    name, data, found = read(target)
    if not data.whole:
        warn(f"{target}: the run stopped early; the export ends there")
    if found is None:
        warn(events.missing(name))
    elif not found.whole:
        warn(f"{target}: the event stream stops early; the export has events up to there")
    return bool(found), tracks.pieces(data, name, event_tracks.trace(found) if found else ())


def speedscope(target: Path) -> str:
    """The text of the file for speedscope."""
    found = profile.load(target)
    if not found.stacks:
        warn("the profile has no stacks (`tidemark profile --exact` records them), so functions stand side by side")
    return json.dumps(profile.speedscope(found))


def write(place: Path, pieces: Iterator[str]) -> None:
    """Write text to a file, in one step; compressed if its name ends in .gz."""
    with output.written(place, suffix()) as out, output.telling(place):
        # Without the time and the name: the same run gives the same bytes.
        packed = gzip.GzipFile("", "wb", 6, out.file, 0) if place.suffix == ".gz" else contextlib.nullcontext(out.file)
        with packed as file:
            while some := "".join(islice(pieces, AT_ONCE)):
                file.write(some.encode())


def export(
    target: Annotated[
        Path, typer.Argument(metavar="RESULT", help="A run's folder, or a telemetry file.", show_default=False)
    ],
    to: Annotated[Viewer, typer.Option("--to", help="The program that will read it.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write (default: RESULT.perfetto.json or so).")
    ] = None,
) -> None:
    """Write a run for another viewer: tracks over time for Perfetto, or a profile for speedscope.

    Example:  tidemark export results/ws --to perfetto

    Open the file at https://ui.perfetto.dev or https://www.speedscope.app; both run in the browser and upload nothing.
    Perfetto shows processes (what they did most of each interval), faults, disk, reclaim and the policy. A run with
    --events also gets each task switch, fault, disk request and eviction, with arrows from a request to its end and
    from an eviction to the fault that brings the page back; its file is compressed with gzip, which Perfetto opens.
    Speedscope shows what `tidemark profile` shows, either with callers (of `tidemark profile --exact`) or without (of
    a run with profile_hz=).
    """
    stem = f"{target.resolve().name}.{to.value}.json"
    options.writable(out)
    many, pieces = perfetto(target) if to is Viewer.perfetto else (False, iter((speedscope(target),)))
    place = out or target.with_name(stem + ".gz" * many)
    options.writable(place)
    write(place, pieces)
    print(place)
