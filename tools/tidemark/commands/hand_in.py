"""tidemark hand-in: pack what is to be handed in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidemark import qemu
from tidemark.commands import options


def hand_in(
    lab: Annotated[str, typer.Argument(metavar="LAB", help="The assignment: a folder of labs/.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", callback=options.writable, help="The archive; default: LAB-handin.zip here."),
    ] = None,
) -> None:
    """Pack an assignment's files, and nothing else, into an archive to be handed in.

    Example:  tidemark hand-in clock

    Nothing is packed when a file is missing, or is still the starter's. The archive has a list of what is in it.
    """
    from tidemark.grade.hand_out import hand_in as packing
    from tidemark.grade.intake import lab as labs

    place = out or Path(f"{lab}-handin.zip")
    print(packing.pack(qemu.ROOT, labs.load(qemu.ROOT, lab), place), end="")
    print(f"{place} is to be handed in. `make grade LAB={lab}` runs the tests and tells the score.")
