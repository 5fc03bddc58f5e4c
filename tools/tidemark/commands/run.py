"""tidemark run: one exact run, or several realistic ones."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tidemark import experiment, results, summary
from tidemark.commands import options
from tidemark.live import LiveLine

SHOWN = (
    "pid",
    "command",
    "exit",
    "turnaround_ms",
    "user_ms",
    "minflt",
    "majflt",
    "mean_rss_kib",
    "c_b_page_s",
    "c_d_page_s",
)
SHOWN += ("delta_page_s", "gamma_us")


def cell(value: object) -> str:
    """A number as a table shows it."""
    return f"{value:,.3f}" if isinstance(value, float) else str(value)


def show(result: results.Result) -> None:
    """The summary as tables on stdout."""
    from rich.console import Console
    from rich.table import Table

    numbers = summary.of(result.telemetry(partial=True))
    table = Table(box=None, header_style="bold")
    for name in SHOWN:
        table.add_column(name, justify="left" if name == "command" else "right", no_wrap=True)
    for row in numbers["processes"]:
        table.add_row(*(cell(row[name]) for name in SHOWN))
    width = None if sys.stdout.isatty() else 200
    console = Console(width=width, highlight=False)
    console.print(table)
    s = numbers["system"]
    if s:
        console.print(
            f"system: {s['virtual_s']:,.3f} s virtual, utilisation {s['utilisation']:.1%} (user {s['user']:.1%}), "
            f"policy {s['policy']:.1%}; {s['faults']:,} faults, {s['major_faults']:,} of them major, "
            f"{s['refaults']:,} refaults; {s['pages_in']:,} pages in, {s['pages_out']:,} out; "
            f"{s['stalls']:,} stalls, {s['admission_waits']:,} waits for admission, {s['oom_kills']} killed for memory"
        )
    if s and s["policy_violations"]:
        console.print(f"policy violations: {s['policy_violations']}; the console says which")


def run(
    command: options.Command,
    vm: options.Vm = options.DEFAULT.vm,
    mem: options.Mem = options.DEFAULT.mem,
    swap: options.Swap = options.DEFAULT.swap,
    frames: options.Frames = None,
    seed: options.Seed = None,
    cmdline: options.Cmdline = "",
    timeout: options.Timeout = options.DEFAULT.timeout,
    image: options.Image = options.DEFAULT.image,
    out: options.Out = None,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Run one command line in a fresh guest, into a folder of its own.

    Example:  tidemark run thrash 8 8192 10 --vm ws --mem 24M --swap sim:hdd

    The run is exact: the same image and settings give the same bytes. The folder gets meta.json, telemetry.ndjson,
    console.log, processes.csv and samples.csv. Ctrl-C ends QEMU and keeps what came.
    """
    settings = options.settings(command, vm, mem, swap, frames, seed, cmdline, timeout, image)
    folder = out or results.new_folder(settings, Path("results"))
    try:
        with LiveLine(quiet) as live:
            result = experiment.run(settings, folder, live)
    except KeyboardInterrupt:
        print(f"tidemark: stopped; {folder} keeps what came", file=sys.stderr)
        raise
    if json_:
        print(
            json.dumps({"folder": str(folder), **result.meta, **summary.of(result.telemetry(partial=True))}, indent=2)
        )
    else:
        show(result)
        print(folder)
    experiment.demand_success(result)
