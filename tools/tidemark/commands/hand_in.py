"""tidemark hand-in: pack the files to hand in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidemark.commands import options
from tidemark.machine import qemu


def hand_in(
    lab: Annotated[str, typer.Argument(metavar="LAB", help="The assignment: a folder of labs/.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", callback=options.writable, help="The archive; default: LAB-handin.zip here."),
    ] = None,
) -> None:
    """Pack an assignment's files, and nothing else, into an archive to hand in.

    Example:  tidemark hand-in clock

    Nothing is packed if a file is missing or is still the starter's. The archive contains a list of its files.
    """
    from tidemark.grade.hand_out import hand_in as packing
    from tidemark.grade.intake import lab as labs

    place = out or Path(f"{lab}-handin.zip")
    print(packing.pack(qemu.ROOT, labs.load(qemu.ROOT, lab), place), end="")
    print(f"Hand in {place}. `make grade LAB={lab}` runs the tests and shows the score.")
