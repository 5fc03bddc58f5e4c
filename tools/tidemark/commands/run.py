"""tidemark run: one exact run, or several realistic ones."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemark.commands import options
from tidemark.errors import USAGE, LabError
from tidemark.files import write_csv
from tidemark.machine import image as image_of
from tidemark.machine import qemu
from tidemark.runs import experiment, quartiles, result_image, results, summary
from tidemark.telemetry.live import LiveLine

if TYPE_CHECKING:
    from rich.table import Table

# Column names and their units, which stand in a second line.
SHOWN = {
    "pid": "",
    "command": "",
    "exit": "",
    "turnaround": "ms",
    "user": "ms",
    "minflt": "",
    "majflt": "",
    "mean_rss": "kib",
    "c_b": "page_s",
    "c_d": "page_s",
    "delta": "page_s",
    "kernel": "page_s",
    "gamma": "us",
}


def cell(value: object) -> str:
    """A value as the table shows it. Only γ may be None, with too few major faults."""
    return "few" if value is None else f"{value:,.3f}" if isinstance(value, float) else str(value)


def half_up(value: float, digits: int) -> str:
    """A number with `digits` digits, halves rounded up as in the kernel's summary."""
    scale = 10**digits
    return f"{math.floor(round(value * scale, 6) + 0.5) / scale:,.{digits}f}"


def percent(share: float) -> str:
    """A share in percent, such as `42.3%`."""
    return half_up(100 * share, 1) + "%"


def table_of(rows: list[dict[str, Any]], names: list[str]) -> Table:
    """A table of the processes with the columns `names`."""
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for name in names:
        table.add_column(f"{name}\n{SHOWN[name]}", justify="left" if name == "command" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(cell(row[f"{name}_{SHOWN[name]}".strip("_")]) for name in names))
    return table


def show(numbers: dict[str, Any], cause: str) -> None:
    """Print the summary (see tidemark.runs.summary.of) as tables. Columns that do not fit the terminal are left out.
    `cause`: the command for finding what went wrong."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    names, endless = list(SHOWN), Console(width=1000)
    while len(names) > 1 and endless.measure(table_of(numbers["processes"], names)).maximum > console.width:
        names.pop()
    console.print(table_of(numbers["processes"], names))
    if len(names) < len(SHOWN):
        console.print(f"(no room for {', '.join(list(SHOWN)[len(names) :])}: they are in processes.csv)")
    for said in numbers["space_time"]:
        console.print(said)
    s = numbers["system"]
    if s:
        console.print(
            f"system: {half_up(s['virtual_s'], 3)} s virtual, utilisation {percent(s['utilisation'])} "
            f"(user {percent(s['user'])}), policy {percent(s['policy'])}; "
            f"{s['faults']:,} faults, {s['major_faults']:,} of them major, "
            f"{s['refaults']:,} refaults; {s['pages_in']:,} pages in, {s['pages_out']:,} out; "
            f"{s['stalls']:,} stalls, {s['admission_waits']:,} waits for admission, {s['oom_kills']} killed for memory"
        )
    if s and s["policy_violations"]:
        console.print(f"policy violations: {s['policy_violations']}; the console says which")
    if numbers["story"]:
        console.print(numbers["story"] + ".")


def repeated(settings: qemu.Settings, folder: Path, repeats: int, live: LiveLine) -> list[dict[str, Any]]:
    """Realistic runs, one after the other, in folders 1, 2, … of `folder`; a row for each. All must succeed, with the
    same image."""
    rows: list[dict[str, Any]] = []
    first = image_of.describe(settings.image)
    for nr in range(1, repeats + 1):
        result = experiment.run(settings, folder / str(nr), live)
        experiment.demand_success(result)
        if result.meta["image"]["sha256"] != first["sha256"]:
            raise LabError(f"the image in {settings.image} changed during the runs: repeat all of them with one image")
        rows.append({"run": nr, **quartiles.numbers(summary.of(result.telemetry()))})
        write_csv(folder / "runs.csv", rows)
    write_csv(folder / "quartiles.csv", quartiles.of([{k: v for k, v in row.items() if k != "run"} for row in rows]))
    return rows


def check_recordings(owners_: bool, events_: bool, real: bool) -> None:
    """Raises LabError if the options ask for recordings that are not possible."""
    if real and (owners_ or events_):
        raise LabError(f"{'--owners' if owners_ else '--events'} is for one exact run, not for --real", USAGE)
    if owners_ and events_:
        raise LabError("--owners and --events: a run records only one of them; run twice", USAGE)


def show_spread(folder: Path, rows: list[dict[str, Any]], as_json: bool) -> None:
    """Print the median and spread of the runs."""
    from rich.console import Console
    from rich.table import Table

    spreads = quartiles.of([{k: v for k, v in row.items() if k != "run"} for row in rows])
    if as_json:
        print(json.dumps({"folder": str(folder), "runs": rows, "spread": spreads}, indent=2))
        return
    table = Table(box=None, header_style="bold", title=f"{len(rows)} runs", title_justify="left")
    for name in spreads[0]:
        table.add_column(name, justify="left" if name == "quantity" else "right")
    for row in spreads:
        table.add_row(*(cell(value) for value in row.values()))
    Console(highlight=False).print(table)
    print(folder)


def run(
    command: options.Command,
    vm: options.Vm = options.DEFAULT.vm,
    mem: options.Mem = options.DEFAULT.mem,
    swap: options.Swap = options.DEFAULT.swap,
    disk: options.Disk = "",
    disk_kind: options.DiskKind = options.DEFAULT.disk_kind,
    frames: options.Frames = None,
    seed: options.Seed = None,
    jitter: options.Jitter = None,
    cmdline: options.Cmdline = "",
    timeout: options.Timeout = options.DEFAULT.timeout,
    image: options.Image = options.DEFAULT.image,
    real: Annotated[bool, typer.Option("--real", help="Wall-clock time and a real emulated disk; repeats.")] = False,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Number of runs of --real.")] = 5,
    owners_: Annotated[
        bool, typer.Option("--owners", help="Record the owner of each frame, for the report's map of memory.")
    ] = False,
    events_: Annotated[
        bool,
        typer.Option("--events", help="Record each switch, fault, disk request and eviction, for `why` and `export`."),
    ] = False,
    out: options.Out = None,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Run one command line in a fresh guest, into a folder of its own.

    Example:  tidemark run thrash 8 8192 10 --vm ws --mem 24M --swap sim:hdd

    The run is exact: the same image and settings give the same bytes. The folder gets meta.json, telemetry.ndjson,
    console.log, processes.csv and samples.csv. Ctrl-C ends QEMU and keeps the records so far. With --real the folder
    has one such folder for each run, runs.csv, and quartiles.csv: median, quartiles, least and greatest.
    """
    settings = options.settings(
        command, vm, mem, swap, frames, seed, cmdline, timeout, image, not real, jitter, disk, disk_kind
    )
    if real and swap == options.DEFAULT.swap:
        settings = replace(settings, swap="hda")
    folder = out or results.new_folder(settings, Path("results"))
    check_recordings(owners_, events_, real)
    carry_out = experiment.run
    if owners_:
        from tidemark.telemetry import owners

        settings = replace(settings, qemu_flags=settings.qemu_flags + owners.flags(settings.image, folder))
    if events_:
        from tidemark.runs import recording

        carry_out = recording.run
    try:
        with LiveLine(quiet) as live:
            if real:
                rows = repeated(settings, folder, repeats, live)
            else:
                result = carry_out(settings, folder, live)
                experiment.drop_refused(result)
                result_image.keep(result, settings.image)
    except KeyboardInterrupt:
        print(f"tidemark: stopped; {folder} keeps the partial result", file=sys.stderr)
        raise
    if real:
        show_spread(folder, rows, json_)
        return
    numbers = summary.of_result(result)
    if json_:
        print(json.dumps({"folder": str(folder), **result.meta, **numbers}, indent=2))
    else:
        if numbers["processes"] or numbers["system"]:
            show(numbers, experiment.cause(result))
        print(folder)
    experiment.demand_success(result)
