"""tidemark board: policies by score on held-out draws."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tidemark.commands import options
from tidemark.errors import LabError

FORM = 'it holds seed = N from 1 on, and may hold strings = ["trace.tmt", ...] and [names]'


@dataclass(frozen=True)
class Secret:
    """What the file says: the seed, further strings, and the names to show for policies."""

    seed: int
    strings: list[str]
    names: dict[str, str]


def read(path: Path) -> Secret:
    """The content of a board's file. Raises LabError if it has another form."""
    from tidemark.grade.intake import lab

    found = lab.read(path)
    seed, strings, names = found.get("seed"), found.get("strings", []), found.get("names", {})
    is_known = set(found) <= {"seed", "strings", "names"} and isinstance(strings, list) and isinstance(names, dict)
    if not is_known or not isinstance(seed, int) or not 1 <= seed <= 10**9:
        raise LabError(f"{path}: {FORM}")
    return Secret(seed, list(map(str, strings)), {str(key): str(value) for key, value in names.items()})


def board(
    held_out: Annotated[Path, typer.Argument(metavar="BOARD.toml", help="File with the seed and names.")],
    policies: Annotated[
        list[Path] | None, typer.Argument(metavar="[POLICY.c]...", help="Files of policies, as for `evaluate`.")
    ] = None,
    vm: Annotated[list[str] | None, typer.Option("--vm", help="A policy of this tree; may be given again.")] = None,
    html: Annotated[Path | None, typer.Option("--html", callback=options.writable, help="Also write a page.")] = None,
    csv_: Annotated[
        Path | None, typer.Option("--csv", callback=options.writable, help="Also write the numbers into this file.")
    ] = None,
    sandbox: Annotated[
        str, typer.Option("--sandbox", help="The sandbox for the policies' code: auto, bwrap, user or none.")
    ] = "auto",
    quiet: options.Quiet = False,
) -> None:
    """Order policies by their score in `tidemark evaluate`, on a held-out set that the students have not seen.

    Example:  tidemark board ~/secret/board.toml handed-in/ada.c handed-in/bob.c --html board.html

    BOARD.toml has seed = 771, which numbers the draws. It may have strings = ["trace.tmt"], further strings that count,
    and [names], POLICY = "what the board calls it". The policies run in the grader's sandbox, half a minute each.
    """
    from rich.console import Console
    from rich.table import Table

    from tidemark.commands.trace import progress_bar
    from tidemark.evaluate import board as boards
    from tidemark.files import write_atomically, write_csv
    from tidemark.grade.build import sandbox as sandboxes
    from tidemark.machine import host

    os.umask(0o022)  # the user that runs a policy's code must be able to read
    secret, box = read(held_out), sandboxes.choose(sandbox)
    files = [*(policies or []), *map(boards.path_of, vm or [])]
    with progress_bar("board", quiet) as progress:
        jobs = host.processors()
        lines = boards.board(files, secret.seed, secret.strings, secret.names, box, jobs, progress)
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
