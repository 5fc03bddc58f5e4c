"""tidemark pagetables: what translating a trace's references costs with several page tables and TLBs."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemark.commands import options
from tidemark.commands.curves import Kinds, choice_of
from tidemark.commands.trace import progress_bar
from tidemark.errors import NO_SPACE, USAGE, LabError

if TYPE_CHECKING:
    from tidemark.pagetables.analyse import Analysis


def check_tlb(entries: int, ways: int) -> None:
    """Raises LabError if there is no TLB of that shape."""
    if entries < 1 or ways < 1:
        raise LabError(f"--entries {entries} --ways {ways}: a TLB has at least one entry and one way", USAGE)
    if entries % ways:
        raise LabError(f"--entries {entries} --ways {ways}: the entries must be a multiple of the ways", USAGE)


def told_of(found: Analysis) -> dict[str, Any]:
    """The result as JSON."""
    plan = found.plan
    return {
        "references": found.references,
        "pages": found.pages,
        "entries": plan.entries,
        "ways": plan.ways,
        "access_cycles": plan.access_cycles,
        "trap_cycles": plan.trap_cycles,
        "tables": [asdict(row) for row in found.rows],
        "too_short": found.too_short,
        "tlb": [
            {"page_bytes": 1 << shift, "entries": entries, "ways": ways or entries, "misses": misses}
            for (shift, entries, ways), misses in found.misses.items()
        ],
    }


def show(found: Analysis) -> None:
    """Print a row for each structure."""
    from rich.console import Console
    from rich.table import Table

    plan = found.plan
    print(f"{found.references:,} references to {found.pages:,} pages; TLB: {plan.entries} entries, {plan.ways} ways")
    table = Table(box=None, header_style="bold", caption="hardware, software refill: cycles per 1000 references")
    table.add_column("page table", no_wrap=True)
    for heading in ("table KiB", "maps KiB", "TLB misses", "accesses/miss", "hardware", "software"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in found.rows:
        cells = [f"{row.size / 1024:,.1f}", f"{row.hold >> 10:,}", f"{row.misses:,}"]
        cells += [f"{row.accesses / max(row.misses, 1):.2f}"]
        cells += [f"{1000 * nr / found.references:,.1f}" for nr in (row.hardware_cycles, row.software_cycles)]
        table.add_row(row.name, *cells)
    Console(width=None if sys.stdout.isatty() else 200, highlight=False).print(table)
    if found.too_short:
        print(f"addresses too short for this trace: {', '.join(found.too_short)}")


def save(found: Analysis, folder: Path) -> None:
    """The two figures as SVG, PNG and CSV in `folder`."""
    from tidemark.pagetables.figures import all_figures
    from tidemark.report import figure

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for one in all_figures(found):
            figure.save(one, folder)
    except OSError as error:
        raise LabError(f"{folder} cannot be written: {error.strerror}", NO_SPACE) from None


def pagetables(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="A trace file (.tmt).")],
    entries: Annotated[int, typer.Option("--entries", help="Entries of the TLB.")] = 64,
    ways: Annotated[int, typer.Option("--ways", help="Its ways; as many as entries: fully associative.")] = 4,
    access: Annotated[int, typer.Option("--access", min=0, help="Cycles of a memory access of a walk.")] = 20,
    trap: Annotated[
        int, typer.Option("--trap", min=0, help="Cycles of a trap to a handler, for software refill.")
    ] = 100,
    space: Annotated[
        str, typer.Option("--space", help="Only one address space, by name or number (default: all).")
    ] = "",
    kinds: Annotated[Kinds, typer.Option("--kinds", help="Which references count.")] = Kinds.all,
    figure: Annotated[
        Path | None, typer.Option("--figure", "-o", help="A folder for the figures tlb-misses and page-tables.")
    ] = None,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare page tables on a trace: their size, memory accesses per TLB miss, and cycles of refills.

    Example:  tidemark pagetables ls.tmt --entries 32 --ways 32

    Two, three and four levels, inverted, hashed, variable radix, and pages of 4 MiB. The figures also show TLB misses
    for 8 to 512 entries, 1, 2, 4 and all ways, and pages of 4 KiB, 64 KiB and 4 MiB. The cycles are a model.
    """
    from tidemark.pagetables.analyse import Plan, analyse, with_addresses
    from tidemark.trace.format import Reader
    from tidemark.trace.spaces import choose_space

    check_tlb(entries, ways)
    reader = Reader(trace)
    chosen = choice_of(choose_space(reader, space) if space else None, kinds, "")
    plan = Plan(with_addresses(reader, chosen), entries, ways, access, trap)
    with progress_bar(f"pagetables {trace}", quiet) as progress:
        found = analyse(reader, plan, progress)
    if figure:
        save(found, figure)
    if json_:
        print(json.dumps(told_of(found), indent=2))
    else:
        show(found)
