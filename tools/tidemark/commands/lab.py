"""tidemark lab: begin an assignment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidemark.machine import qemu


def lab(
    name: Annotated[str, typer.Argument(metavar="[LAB]", help="The assignment; without it, list all.")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the starter files into this folder instead.")
    ] = None,
) -> None:
    """Lay an assignment's starter files over this tree.

    Example:  tidemark lab clock

    Work that is not committed is never overwritten.
    """
    from tidemark.grade.hand_out import starter
    from tidemark.grade.intake import lab as labs

    if not name:
        for each in labs.names(qemu.ROOT):
            found = labs.load(qemu.ROOT, each)
            print(f"{found.number}  {each:12} {found.title}")
        print("`make lab LAB=NAME` begins one; read labs/NAME/handout.md first.")
        return
    found = labs.load(qemu.ROOT, name)
    if out:
        starter.write(out, starter.of(found))
        return
    for file in starter.lay(qemu.ROOT, found):
        print(f"{file}: the starter")
    print(f"Read labs/{name}/handout.md. `make grade LAB={name}` runs the tests and shows the score.")
