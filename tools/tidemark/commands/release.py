"""tidemark release: the archive for students."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidemark.commands import options
from tidemark.machine import qemu


def release(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", callback=options.writable, help="The archive; default: build/tidemark-student.tar.gz."
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if a solution is not in its place in this tree.")
    ] = False,
) -> None:
    """Write the student archive: this tree with every assignment's starter, and without solutions.

    Example:  tidemark release -o tidemark-2027.tar.gz

    What visible tests expect is computed with the solutions and stored in it. The same tree makes the same archive.
    """
    from tidemark.grade.hand_out import release as releases

    if check:
        releases.check(qemu.ROOT)
        return
    path = out or qemu.ROOT / "build/tidemark-student.tar.gz"
    made = releases.write(qemu.ROOT, path, say=print)
    print(f"{path}: {made.files} files, {made.bytes >> 10} KiB; without the solutions of {', '.join(made.labs)}")
