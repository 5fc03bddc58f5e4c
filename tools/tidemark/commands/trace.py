"""tidemark trace: record, import, export and describe reference traces."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from tidemark.commands import options
from tidemark.errors import USAGE, LabError
from tidemark.runs import experiment, results
from tidemark.telemetry.live import LiveLine

app = typer.Typer(
    name="trace", add_completion=False, help="Reference traces: record, import, export, describe.", no_args_is_help=True
)

Trace = Annotated[Path, typer.Argument(metavar="TRACE", help="A trace file (.tmt).")]
Kinds = Annotated[str, typer.Option("--kinds", help="all, or data: loads and stores without instruction fetches.")]
Space = Annotated[int | None, typer.Option("--space", min=0, help="Only this address space, by its number in `info`.")]

SHARES = ("references", "runs", "pages", "instructions")
WHOLE = {True: "yes", False: "cut off", None: "unknown"}


@contextlib.contextmanager
def progress_bar(what: str, quiet: bool) -> Iterator[Any]:
    """Yields a function (done, total or None) that shows a progress bar on stderr if that is a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def described(totals: dict[str, Any]) -> str:
    """A trace's totals as text."""
    return (
        f"{totals['references']:,} references in {totals['runs']:,} runs, {totals['pages']:,} pages, "
        f"{totals['instructions']:,} instructions"
    )


@app.command()
def record(
    command: options.Command,
    vm: options.Vm = options.DEFAULT.vm,
    mem: options.Mem = options.DEFAULT.mem,
    swap: options.Swap = options.DEFAULT.swap,
    frames: options.Frames = None,
    seed: options.Seed = None,
    cmdline: options.Cmdline = "",
    timeout: options.Timeout = options.DEFAULT.timeout,
    image: options.Image = options.DEFAULT.image,
    disk: options.Disk = "",
    disk_kind: options.DiskKind = options.DEFAULT.disk_kind,
    kinds: Kinds = "all",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The result's folder, or NAME.tmt for the trace (default: in results/)."),
    ] = None,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Run one command line in a fresh guest and record every reference of every process.

    Example:  tidemark trace record thrash 2 1024 2 --mem 8M

    It runs as `tidemark run` does, and the result's folder is the same. The trace is trace.tmt in that folder; with -o
    NAME.tmt it is that file, and the folder is a new one in results/. Ctrl-C keeps the records so far.
    """
    from tidemark.trace.record import record as record_run

    settings = options.settings(
        command, vm, mem, swap, frames, seed, cmdline, timeout, image, disk=disk, disk_kind=disk_kind
    )
    trace = out if out and out.suffix == ".tmt" else None
    folder = out if out and not trace else results.new_folder(settings, Path("results"))
    try:
        with LiveLine(quiet) as live:

            def progress(records: list[dict[str, Any]], words: int) -> None:
                live(records, f"   recorded {words / 1e6:,.1f} M words")

            made = record_run(settings, folder, trace, kinds, progress)
    except KeyboardInterrupt:
        print(f"tidemark: stopped; {folder} keeps the partial result", file=sys.stderr)
        raise
    if json_:
        print(json.dumps({"trace": str(made.trace), "totals": made.totals, "spaces": made.spaces}, indent=2))
    else:
        print(f"{made.trace}: {described(made.totals)}")
    experiment.demand_success(made.result)


@app.command("import")
def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Lackey text or lackeyml, also gzipped; - reads stdin.")],
    out: Annotated[Path, typer.Option("--out", "-o", callback=options.writable, help="The trace file to write.")],
    skip_foreign: Annotated[
        bool, typer.Option("--skip-foreign", help="Count and skip lines that Lackey did not write.")
    ] = False,
    partial: Annotated[bool, typer.Option("--partial", help="Accept a Lackey text that was cut off.")] = False,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Make a trace from Valgrind Lackey text or from lackeyml.

    Example:  valgrind --tool=lackey --trace-mem=yes --log-file=ls.txt ls; tidemark trace import ls.txt -o ls.tmt
    """
    from tidemark.trace import convert

    with progress_bar(f"import {file}", quiet) as progress:
        made = convert.import_file(file, out, skip_foreign, partial, progress)
    if json_:
        print(json.dumps(made, indent=2))
        return
    space = made["space"]
    print(f"{out}: {space['name'] or 'no name'}, {described(made['totals'])}, from {made['lines']:,} lines")
    if made["foreign"]:
        print(f"tidemark: {made['foreign']:,} foreign lines skipped", file=sys.stderr)
    if space["whole"] is False:
        print("tidemark: the text was cut off; the trace ends there", file=sys.stderr)


@app.command()
def export(
    trace: Trace,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", callback=options.writable, help="NAME.xml for lackeyml, NAME.csv for the runs as CSV."
        ),
    ],
    space: Space = None,
    quiet: options.Quiet = False,
) -> None:
    """Write a trace as lackeyml (XML) or its runs as CSV.

    Example:  tidemark trace export ls.tmt -o ls.xml

    Lackeyml gets the page's first address and size 1 for each reference: a trace knows pages only. It holds one space.
    """
    from tidemark.trace import convert
    from tidemark.trace.format import Reader

    if out.suffix not in (".xml", ".csv"):
        raise LabError(f"{out}: name the file .xml for lackeyml or .csv for CSV", USAGE)
    with progress_bar(f"export {out}", quiet) as progress:
        if out.suffix == ".csv":
            convert.export_csv(Reader(trace), out, space, progress)
            return
        made = convert.export_lackeyml(Reader(trace), out, space, progress)
    if made["instructions"] != made["carried"]:
        print(
            f"tidemark: lackeyml cannot carry instruction counts: the trace has {made['instructions']:,}, "
            f"the document shows {made['carried']:,}",
            file=sys.stderr,
        )


@app.command()
def info(trace: Trace, json_: options.AsJson = False) -> None:
    """Describe a trace, after reading and checking all of it.

    Example:  tidemark trace info ls.tmt

    whole: whether the program was traced to its end.
    """
    from tidemark.trace.format import Reader

    reader = Reader(trace)
    for _ in reader:
        pass
    about = {"file": str(trace), "bytes": trace.stat().st_size, "meta": reader.meta}
    about |= {"totals": reader.totals, "spaces": reader.spaces}
    if json_:
        print(json.dumps(about, indent=2))
    else:
        show(about)


def show(about: dict[str, Any]) -> None:
    """Print the findings of `info` as text and a table."""
    from rich.console import Console
    from rich.table import Table

    totals = about["totals"]
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in totals["kinds"].items())
    print(f"{about['file']}: {about['bytes']:,} bytes; {json.dumps(about['meta'])}")
    print(f"{described(totals)}; {kinds}")
    table = Table(box=None, header_style="bold")
    for name in ("space", "name", "pid", *SHARES, "whole"):
        table.add_column(name, justify="left" if name == "name" else "right", no_wrap=True)
    for row in about["spaces"]:
        known = (str(row["space"]), row.get("name", ""), str(row.get("pid") or ""))
        table.add_row(*known, *(f"{row[name]:,}" for name in SHARES), WHOLE[row.get("whole")])
    Console(width=None if sys.stdout.isatty() else 200, highlight=False).print(table)
