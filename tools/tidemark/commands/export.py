"""tidemark export: a result in the format of another viewer."""

from __future__ import annotations

import enum
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from tidemark.commands import options
from tidemark.debug import profile
from tidemark.files import write_atomically
from tidemark.runs import results
from tidemark.telemetry import stream


class Viewer(str, enum.Enum):
    """The program that will read the file."""

    perfetto = "perfetto"
    speedscope = "speedscope"


def read(target: Path) -> tuple[str, stream.Telemetry]:
    """Name and telemetry of a result's folder, also a partial one, or of a file. Raises LabError for anything else."""
    if target.is_dir():
        result = results.load(target)
        return result.name, result.telemetry(partial=True)
    return target.name, stream.read(target, partial=True)


def document(target: Path, to: Viewer) -> str:
    """The file's text."""
    if to is Viewer.perfetto:
        from tidemark.telemetry import tracks

        name, data = read(target)
        if not data.whole:
            print(f"tidemark: {target}: the run stopped early; the export ends there", file=sys.stderr)
        return json.dumps(tracks.trace(data, name), separators=(",", ":"))
    found = profile.load(target)
    if not found.stacks:
        said = "the profile has no stacks (`tidemark profile --exact` records them), so functions stand side by side"
        print(f"tidemark: {said}", file=sys.stderr)
    return json.dumps(profile.speedscope(found))


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
    Perfetto shows processes (what they did most of each interval), faults, disk, reclaim and the policy.
    Speedscope shows what `tidemark profile` shows, either with callers (of `tidemark profile --exact`) or without (of
    a run with profile_hz=).
    """
    place = out or target.with_name(f"{target.resolve().name}.{to.value}.json")
    options.writable(place)
    write_atomically(place, document(target, to))
    print(place)
