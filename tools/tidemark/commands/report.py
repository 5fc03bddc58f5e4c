"""tidemark report: a page and figures of runs and sweeps."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from tidemark.commands import options


def report(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders of runs and of sweeps, in any mixture.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The report's folder (default: report in the first DIR).")
    ] = None,
    pictures: Annotated[
        bool, typer.Option("--pictures", help="Also draw every figure as SVG and PNG, for papers; a second for each.")
    ] = False,
    highlight: Annotated[
        list[str] | None,
        typer.Option("--highlight", metavar="POLICY", help="Keep this policy coloured among many; may be repeated."),
    ] = None,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw runs and sweeps: one HTML page that works offline, and a CSV for each figure.

    Example:  tidemark report results/2q results/ws -o compare

    Runs are drawn over time, several on the same axes; sweeps as curves. A run that was interrupted or failed is
    drawn up to its end, and marked. An earlier report in the same folder is replaced in one step.
    """
    from tidemark.report import folder, sources

    def progress(text: str) -> None:
        if not quiet and sys.stderr.isatty():
            print(f"\r\033[K{text[:70]}", end="", file=sys.stderr, flush=True)

    place = out or folders[0] / "report"
    gathered = sources.gather(folders, progress)
    files = folder.write(gathered, place, progress, pictures, highlight or [])
    progress("")
    if json_:
        print(
            json.dumps(
                {"report": str(place / folder.PAGE), "files": list(map(str, files)), "notes": gathered.notes}, indent=2
            )
        )
        return
    for note in gathered.notes:
        print(f"tidemark: {note}", file=sys.stderr)
    print(place / folder.PAGE)
