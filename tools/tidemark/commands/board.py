"""tidemark board: policies by regret on held-out strings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidemark.commands import options
from tidemark.errors import LabError


def read(path: Path) -> tuple[list[str], dict[str, str]]:
    """The strings of a file, and the names to show for policies. Raises LabError if the file has no strings."""
    from tidemark.grade.intake import lab

    found = lab.read(path)
    strings, names = found.get("strings"), found.get("names", {})
    known = set(found) <= {"strings", "names"}
    if not known or not isinstance(strings, list) or not strings or not isinstance(names, dict):
        raise LabError(f'{path}: it holds strings = ["phases:200,refs=20000,seed=1", ...], and may hold [names]')
    return list(map(str, strings)), {str(key): str(value) for key, value in names.items()}


def board(
    held_out: Annotated[Path, typer.Argument(metavar="STRINGS.toml", help="File with the strings and names.")],
    vm: Annotated[list[str] | None, typer.Option("--vm", help="A policy of this tree; may be given again.")] = None,
    html: Annotated[Path | None, typer.Option("--html", callback=options.writable, help="Also write a page.")] = None,
    csv_: Annotated[
        Path | None, typer.Option("--csv", callback=options.writable, help="Also write the numbers into this file.")
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Order policies by regret, their misses beyond MIN, on strings that the students have not seen.

    Example:  tidemark board ~/secret/board.toml --vm ada --vm bob --html board.html

    STRINGS.toml has strings = ["phases:200,refs=20000,seed=771", "trace.tmt"], and may have [names], POLICY = "what the
    board calls it". The simulator runs the policies on this machine, without a sandbox: read them first.
    """
    from rich.console import Console
    from rich.table import Table

    from tidemark.commands.trace import progress_bar
    from tidemark.files import write_atomically, write_csv
    from tidemark.strings import board as boards

    texts, names = read(held_out)
    with progress_bar("board", quiet) as progress:
        lines = boards.board(vm or [], texts, names, progress)
    rows = boards.as_rows(lines)
    table = Table(box=None, header_style="bold")
    for name in rows[0]:
        table.add_column(name, justify="left" if name in ("policy", "note") else "right")
    for row in rows:
        table.add_row(*map(str, row.values()))
    Console(highlight=False, markup=False).print(table)
    if html:
        write_atomically(html, boards.page(lines))
    if csv_:
        write_csv(csv_, rows)
