"""tidemark compare: policies side by side on the standard strings."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemark.commands import options
from tidemark.errors import NO_SPACE, USAGE, LabError

if TYPE_CHECKING:
    from rich.table import Table

    from tidemark.strings.compare import Cell

Show = Callable[[], None]
FIRST_COLUMNS, COLUMN = 28, 11  # characters


def table(
    title: str, rows: dict[tuple[str, int], dict[str, Cell]], policies: list[str], text: Callable[[Cell], str]
) -> Table:
    """One line for each string and size, one column for each policy."""
    from rich.table import Table

    made = Table(title=title, title_justify="left")
    made.add_column("string")
    for heading in ("frames", *policies):
        made.add_column(heading, justify="right")
    before = ""
    for (string, frames), row in rows.items():
        if before not in ("", string):
            made.add_section()
        made.add_row("" if string == before else string, str(frames), *(text(row[policy]) for policy in policies))
        before = string
    return made


def fitting(policies: list[str], width: int) -> list[list[str]]:
    """The policies in groups that fit side by side in `width` characters."""
    together = max(1, (width - FIRST_COLUMNS) // COLUMN)
    return [policies[at : at + together] for at in range(0, len(policies), together)]


def show(cells: list[Cell]) -> None:
    """Misses, regrets, and what each string is about."""
    from rich.console import Console

    from tidemark.strings import compare, refstrings

    policies = list(dict.fromkeys(cell.policy for cell in cells))
    rows: dict[tuple[str, int], dict[str, Cell]] = {}
    for cell in cells:
        rows.setdefault((cell.string, cell.frames), {})[cell.policy] = cell
    console = Console()
    for some in fitting(policies, console.width):
        console.print(table("misses", rows, some, lambda cell: f"{cell.misses:,}"))
    median = compare.median_regret(cells)
    for some in fitting([policy for policy in policies if policy != compare.MIN], console.width):
        regrets = table("regret: misses beyond MIN, in percent of it", rows, some, lambda cell: f"{cell.regret:.0%}")
        regrets.add_section()
        regrets.add_row("median", "", *(f"{median[policy]:.0%}" for policy in some))
        console.print(regrets)
    for name in dict.fromkeys(cell.string for cell in cells if cell.string in refstrings.STANDARD):
        print(f"{name}: {refstrings.STANDARD[name].asks}")


def compared(
    vm: list[str], names: list[str], traces: list[str], parameters: list[str], frames: str, quiet: bool
) -> tuple[list[dict[str, Any]], dict[str, Any], Show]:
    """(rows for a table, everything for JSON, a function that prints it) for policies on strings."""
    from tidemark.commands.sim import frame_numbers
    from tidemark.commands.trace import progress_bar
    from tidemark.strings import compare, refstrings

    with progress_bar("compare", quiet) as progress:
        standard = names or ([] if traces else list(refstrings.STANDARD))
        sizes = frame_numbers(frames) if frames else ()
        cells = compare.compare(vm, standard, parameters, progress, traces, sizes)
    rows = [asdict(cell) for cell in cells]
    return rows, {"cells": rows, "median_regret": compare.median_regret(cells)}, lambda: show(cells)


def save_figure(rows: list[dict[str, Any]], folder: Path) -> None:
    """The miss ratios as a figure in `folder`."""
    from tidemark.curves.misses import miss_ratios
    from tidemark.report.figure import save

    try:
        folder.mkdir(parents=True, exist_ok=True)
        save(miss_ratios(rows), folder)
    except OSError as error:
        raise LabError(f"{folder} cannot be written: {error.strerror}", NO_SPACE) from None


def compared_with_bits(folder: Path, quiet: bool) -> tuple[list[dict[str, Any]], dict[str, Any], Show]:
    """As `compared`, for the accessed bits of a recorded run."""
    from tidemark.commands.trace import progress_bar
    from tidemark.strings import accessed_bits

    with progress_bar(f"read {folder}", quiet) as progress:
        intervals = accessed_bits.intervals(folder, progress)
    rows, summary = [asdict(interval) for interval in intervals], accessed_bits.mean_by_process(intervals)
    return rows, {"intervals": rows, "processes": summary}, lambda: show_intervals(summary)


def show_intervals(rows: list[dict[str, Any]]) -> None:
    """Print one line for each process."""
    from rich.console import Console
    from rich.table import Table

    made = Table(title="pages per interval: referenced, and found accessed", title_justify="left")
    made.add_column("process")
    for heading in ("pid", "intervals", "referenced", "accessed", "share"):
        made.add_column(heading, justify="right")
    for row in rows:
        numbers = (f"{row['referenced']:,.1f}", f"{row['accessed']:,.1f}", f"{row['share']:.1%}")
        made.add_row(row["name"], str(row["pid"]), str(row["intervals"]), *numbers)
    Console().print(made)


def compare(
    vm: Annotated[list[str] | None, typer.Option("--vm", help="Policy to compare; may be given again.")] = None,
    strings_: Annotated[
        list[str] | None, typer.Option("--string", help="Only this standard string; may be given again.")
    ] = None,
    trace: Annotated[
        list[Path] | None, typer.Option("--trace", help="A trace, or a file of page numbers; may be given again.")
    ] = None,
    frames: Annotated[str, typer.Option("--frames", help="Numbers of frames, such as 3,4,8 or 16-32.")] = "",
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="VM.NAME=VALUE", help="A parameter, such as ws.tau_ms=500")
    ] = None,
    accessed: Annotated[
        Path | None,
        typer.Option(
            "--accessed", help="Compare the accessed bits of this run of `trace record` with its trace instead."
        ),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option("--figure", help="Folder for miss-ratio.svg, miss-ratio.png and miss-ratio.csv.")
    ] = None,
    csv_: Annotated[
        Path | None, typer.Option("--csv", callback=options.writable, help="Also write the numbers into this file.")
    ] = None,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Count the misses of policies on the standard strings, beside FIFO, CLOCK, 2Q, LRU and MIN, the lower bound.

    Example:  tidemark compare --vm mine --vm ws --csv mine.csv

    tidemark trace record thrash 4 2560 20 3000 --mem 10M --swap sim:ssd -o run; tidemark compare --accessed run

    Regret is the number of misses beyond MIN, relative to MIN. The simulator runs the policies' own C files. The
    string btree is recorded in QEMU the first time. --trace takes a string of your own: a trace (.tmt), a folder of
    `trace record`, or a text file of page numbers. --accessed reports how
    many pages each process referenced between two samples, as QEMU's plugin saw it, and how many of these
    had the accessed bit set.
    """
    from tidemark.files import write_csv

    if accessed and figure:
        raise LabError("--figure draws policies on strings, not --accessed", USAGE)
    if bool(vm) == bool(accessed):
        raise LabError("give --vm POLICY, or --accessed RESULT", USAGE)
    if accessed:
        rows, told, show_it = compared_with_bits(accessed, quiet)
    else:
        rows, told, show_it = compared(vm or [], strings_ or [], list(map(str, trace or [])), set_ or [], frames, quiet)
    if figure:
        save_figure(rows, figure)
    if csv_:
        write_csv(csv_, rows)
    if json_:
        print(json.dumps(told, indent=2))
    else:
        show_it()
