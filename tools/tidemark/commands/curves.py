"""tidemark curves: what a reference trace says about a program's use of memory."""

from __future__ import annotations

import enum
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemark import files
from tidemark.commands import options
from tidemark.commands.trace import progress_bar
from tidemark.errors import USAGE, LabError

if TYPE_CHECKING:
    from tidemark.curves.runs import Choice

PAGE_SHIFT = 12
LAST_PAGE = (1 << 52) - 1
# One page from sim:hdd: seek 8 ms, rotation 4.17 ms, transfer 0.1 ms. An instruction of an exact run takes 1 ns.
HDD_DELAY = 12_270_000
KINDS = {"all": tuple(range(6)), "data": tuple(range(1, 6)), "instructions": (0,)}


class Kinds(str, enum.Enum):
    """Which references count."""

    all = "all"
    data = "data"
    instructions = "instructions"


class Time(str, enum.Enum):
    """The unit of virtual time."""

    instructions = "instructions"
    references = "references"


def page_range(text: str) -> tuple[int, int]:
    """First and last page of `FROM-TO` (bytes, TO included); either may be missing. Raises LabError if invalid."""
    match = re.fullmatch(r"(0x[0-9a-f]+|\d*)-(0x[0-9a-f]+|\d*)", text.lower())
    if not match:
        raise LabError(f"--range {text}: give two addresses, such as 0x08048000-0x08100000", USAGE)
    first = int(match[1] or "0", 0) >> PAGE_SHIFT
    last = int(match[2], 0) >> PAGE_SHIFT if match[2] else LAST_PAGE
    if not first <= last <= LAST_PAGE:
        raise LabError(f"--range {text}: the second address must not be below the first, nor above 2^64", USAGE)
    return first, last


def choice_of(space: int | None, kinds: Kinds, range_: str) -> Choice:
    """What the options select."""
    from tidemark.curves.runs import Choice

    first, last = page_range(range_ or "-")
    return Choice(space, KINDS[kinds.value], first, last)


def balances(told: dict[str, Any]) -> str:
    """The sentence on L = S: for each policy the least size at which a program computes as long as it waits."""
    at = {name: row["balance_pages"] for name, row in told["curves"].items()}
    reached = ", ".join(f"{name} {pages:,.4g}" for name, pages in at.items() if pages is not None)
    level = f"L = S, lifetime of {told['delay']:,} {told['time']}"
    return f"{level}, from this number of pages on: {reached or 'reached by no policy'}"


def show(told: dict[str, Any], out: Path) -> None:
    """Print the knees as a table, then the folder with everything else."""
    from rich.console import Console
    from rich.table import Table

    unit, totals = told["time"], told["totals"]
    print(
        f"{totals['references']:,} references to {totals['distinct_pages']:,} pages, "
        f"{totals['instructions']:,} instructions"
    )
    if files_ := totals.get("of_files"):
        print(f"of these, {files_['references']:,} references are to {files_['pages']:,} pages of files")
    table = Table(title=f"primary knee (lifetime in {unit}), other knees, and least space-time", title_justify="left")
    table.add_column("policy")
    for heading in ("pages", "faults", "lifetime", "others", "least at", "faults"):
        table.add_column(heading, justify="right")
    for name, row in told["curves"].items():
        knee = [row["knee_pages"], row["knee_faults"], row[f"knee_lifetime_{unit}"]]
        cells = [f"{value:,.6g}" for value in knee] if row["knee_pages"] is not None else ["no knee", "", ""]
        cells += [", ".join(f"{pages:,.4g}" for pages in row["other_knees_pages"])]
        cells += [f"{value:,.6g}" for value in (row["cheapest_pages"], row["cheapest_faults"])]
        table.add_row(name, *cells)
    Console().print(table)
    print(balances(told))
    print(out)


def curves(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="A trace file (.tmt).")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder to make (default: TRACE's name with .curves).")
    ] = None,
    space: Annotated[
        str, typer.Option("--space", help="Address space, by name or number (default: the one with most references).")
    ] = "",
    all_: Annotated[bool, typer.Option("--all", help="All address spaces together, as one memory.")] = False,
    kinds: Annotated[Kinds, typer.Option("--kinds", help="Which references count.")] = Kinds.all,
    range_: Annotated[str, typer.Option("--range", help="Only addresses FROM-TO, such as 0x08048000-0x08100000.")] = "",
    time: Annotated[Time, typer.Option("--time", help="Unit of virtual time.")] = Time.instructions,
    theta: Annotated[
        list[int] | None,
        typer.Option("--theta", min=1, help="Window for sizes over time, up to six (default: by the knee)."),
    ] = None,
    delay: Annotated[
        int, typer.Option("--delay", min=0, help="Delay of a fault in units of --time, for space-time and L = S.")
    ] = HDD_DELAY,
    lowest: Annotated[
        float, typer.Option("--lowest", help="Percent of the range of addresses that is also drawn alone, from below.")
    ] = 1.0,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw a trace: reference maps, working sets, lifetimes and miss ratios of seven policies, space-time.

    Example:  tidemark curves ls.tmt --kinds data -o ls

    WS, VMIN, LRU and MIN are exact for all sizes; PFF, FIFO and CLOCK are computed for some. The folder gets PNG, SVG
    and CSV of each figure, a CSV of each curve, and curves.json.
    """
    from tidemark.curves import analyse, folder
    from tidemark.trace.format import Reader
    from tidemark.trace.spaces import choose_space

    if all_ and space:
        raise LabError("--all and --space exclude each other", USAGE)
    if theta and len(theta) > folder.MAX_WINDOWS:
        raise LabError(f"give --theta at most {folder.MAX_WINDOWS} times", USAGE)
    if not 0 < lowest <= 100:
        raise LabError(f"--lowest {lowest:g}: give a percentage above 0, at most 100", USAGE)
    place = out or trace.with_suffix(".curves")
    files.check_place(place, folder.SUMMARY)
    reader = Reader(trace)
    chosen = None if all_ else choose_space(reader, space)
    plan = analyse.Plan(
        choice_of(chosen, kinds, range_), time is Time.references, delay, tuple(sorted(set(theta or ()))), lowest / 100
    )
    with progress_bar(f"curves {trace}", quiet) as progress:
        found = analyse.analyse(reader, plan, progress)
    told = folder.write(reader, found, place)
    if json_:
        print(json.dumps(told | {"folder": str(place)}, indent=2))
    else:
        show(told, place)
