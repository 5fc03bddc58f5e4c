"""tidemark sweep: the cells of a plan, in parallel, each once."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.commands import options
from tidemark.errors import FAILED, USAGE, LabError
from tidemark.runs.plan import MOST_CELLS

if TYPE_CHECKING:
    from tidemark.runs import cluster, runner
    from tidemark.runs.sweep import Sweep


EVERY_S = 10


class Bar:
    """A progress bar on stderr if that is a terminal, else a line every EVERY_S seconds; news are lines in any case."""

    def __init__(self, total: int, quiet: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True, highlight=False, soft_wrap=True)
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[text]}"), TimeElapsedColumn())
        shown = console.is_terminal and not quiet
        self.bar = Progress(*columns, console=console, transient=True, disable=not shown)
        self.task = self.bar.add_task("", total=total, text="")
        self.next_line = math.inf if shown or quiet else 0.0

    def __enter__(self) -> Bar:
        self.bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.bar.stop()

    def __call__(self, now: runner.Progress) -> None:
        """Show the progress."""
        if now.news:
            self.bar.console.print(f"tidemark: {now.news}", markup=False)
        if time.monotonic() >= self.next_line:
            say(f"{now.done + now.failed:,} of {now.total:,} {described(now).rstrip(',')}")
            self.next_line = time.monotonic() + EVERY_S
        self.bar.update(self.task, completed=now.done + now.failed, text=described(now))


def described(now: runner.Progress) -> str:
    """The text of the bar: `cells done, 2 running, 1 failed, 3:12 left,`."""
    failed = f", {now.failed} failed" if now.failed else ""
    left = "?" if now.left_s is None else f"{int(now.left_s) // 60}:{int(now.left_s) % 60:02}"
    return f"cells done, {now.running} running{failed}, {left} left,"


def say(line: str) -> None:
    """Print a remark to stderr."""
    print(f"tidemark: {line}", file=sys.stderr, flush=True)


def where_to_run(address: str, jobs: int | None) -> cluster.Local | cluster.Cluster:
    """The cluster at `address`, or this machine."""
    from tidemark.runs import cluster

    return cluster.Cluster(address) if address else cluster.Local(jobs or cluster.default_slots())


def list_cells(sweep: Sweep, as_json: bool) -> None:
    """Print the cells and the state of each."""
    if as_json:
        print(json.dumps(sweep.rows(), indent=2))
        return
    for cell in sweep.plan.cells:
        print(f"{sweep.cells[cell.id].state:8} {cell.id}  {cell.settings.run}")
    print(f"{len(sweep.cells)} cells: {told(sweep)}")


def told(sweep: Sweep) -> str:
    """The counts of states: `38 done, 2 failed, 0 missing`."""
    return ", ".join(f"{sweep.count(state)} {state}" for state in ("done", "failed", "missing"))


def report(sweep: Sweep, ran: int, as_json: bool) -> None:
    """Print the outcome of the sweep. Raises LabError if a cell failed."""
    failed = [row for row in sweep.rows() if row["state"] == "failed"]
    if as_json:
        counts = {state: sweep.count(state) for state in ("done", "failed", "missing")}
        print(json.dumps({"folder": str(sweep.folder), **counts, "ran": ran, "cells": sweep.rows()}, indent=2))
    else:
        print(f"{len(sweep.cells)} cells: {told(sweep)}; {ran} ran now; {sweep.folder / 'cells.csv'}")
    if failed:
        shown = "\n".join(f"  {row['id']}: {row['reason']}" for row in failed[:10])
        more = f"\n  and {len(failed) - 10} more" if len(failed) > 10 else ""
        raise LabError(
            f"{len(failed)} of {len(sweep.cells)} cells failed; --retry runs them again:\n{shown}{more}", FAILED
        )


def given_axes(vm: list[str], run: list[str], axis: list[str]) -> dict[str, list[str | int]]:
    """The axes of --vm, --run and --axis. Raises LabError if one is not NAME=VALUES."""
    from tidemark.runs import plan

    texts: dict[str, list[str]] = {}
    for text in [*(f"vm={one}" for one in vm), *(f"workload={one}" for one in run), *axis]:
        name, sign, values = text.partition("=")
        if not sign:
            raise LabError(f"--axis {text}: give NAME=VALUE,VALUE", USAGE)
        texts.setdefault(name.strip(), []).append(values)
    return {name: plan.axis(name, values) for name, values in texts.items()}


def folder_for(plan: Path, axes: dict[str, list[str | int]]) -> Path:
    """The folder of a sweep without --out: results/PLAN, with the values of the axes from the command line."""
    given = "".join(f"-{value}" for values in axes.values() for value in values)
    return Path("results", plan.stem + re.sub(r"[^\w.]+", "-", given)[:60])


def carry_out(sweep: Sweep, parcel: cluster.Parcel, address: str, jobs: int | None, quiet: bool, dry: bool) -> int:
    """Run the missing cells; returns how many cells ended. `dry`: only check that the image takes the plan."""
    from tidemark.runs import cluster as clusters
    from tidemark.runs import runner

    missing = sweep.count("missing")
    if not missing:
        if not dry:
            sweep.settle()
        return 0
    where, begun = where_to_run(address, jobs), False
    try:
        with Bar(len(sweep.cells), quiet) as bar:
            run = runner.Runner(sweep, where, parcel, bar)
            try:
                run.check_values()
                if not dry:
                    with clusters.writing_to(sweep.folder):
                        sweep.settle()
                    begun = True
                    run.run()
            finally:
                where.close(run.token)
    except (KeyboardInterrupt, LabError):
        if begun:
            say(f"stopped early: {told(sweep)} in {sweep.folder}; run the same command again to continue")
        raise
    return missing - sweep.count("missing")


def sweep(
    plan: Annotated[
        Path,
        typer.Argument(
            metavar="PLAN", help="A TOML file (see above), or a name from tools/tidemark/plans: arena, efficiency, …."
        ),
    ],
    vm: Annotated[
        list[str] | None, typer.Option("--vm", help="This policy, in place of the plan's; may be given again.")
    ] = None,
    run: Annotated[
        list[str] | None, typer.Option("--run", help="This command line, in place of the plan's workloads.")
    ] = None,
    axis: Annotated[
        list[str] | None,
        typer.Option(
            "--axis", metavar="NAME=V,V", help="Any axis, in place of the plan's: ws.tau_ms=10,100 or replicate=1,2,3."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The sweep's folder (default: results/PLAN).")] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Runs at a time (default: the number of cores).")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed cells again.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the plan and list its cells; run none.")] = False,
    cluster: Annotated[str, typer.Option("--cluster", help="Address of a Dask scheduler; its workers run cells.")] = "",
    max_cells: Annotated[int, typer.Option("--max-cells", min=1, help="Refuse a plan with more cells.")] = MOST_CELLS,
    image: options.Image = options.DEFAULT.image,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Run every combination of a plan's values once, in parallel, and collect the results in a table.

    Example:  tidemark sweep thrashing -o results/thrashing

    tidemark sweep arena --vm mine; tidemark report results/arena results/arena-mine

    A plan is a TOML file; each variable is a value or a list, and the cells are the product:

        workload = "thrash {processes} {kb} 10"   # required; {seed}, {size:N} and names of axes are filled in
        processes = [1, 2, 4, 8]
        kb = [2048, 4096]                         # an axis with any name
        vm = ["2q", "ws"]
        mem = ["16M", "24M"]
        replicates = 10                           # each ten times, with other timing, seeds, disk layouts and sizes
        [parameters]                              # any parameter of the kernel, at the end
        "ws.tau_ms" = [50, 500]

    and, as for `tidemark run`: swap, frames, seed, cmdline, and one timeout. Tables [[part]] are several
    products in one plan; ideal = "256M" measures each command by a run with that much memory. The folder gets
    cells.csv, one row for each cell, and cells/ID/, a result for each. Run the same command again to continue
    after Ctrl-C, or with a longer plan: only missing cells run. Cells of another image are moved to
    old/. Exit status 1: a cell failed.
    """
    from tidemark.runs import cluster as clusters
    from tidemark.runs import plan as plans
    from tidemark.runs import sweep as sweeps
    from tidemark.strings import min_faults

    axes = given_axes(vm or [], run or [], axis or [])
    chosen = plans.read(plans.place(plan), max_cells, axes)
    folder = out or folder_for(plan, axes)
    sweeps.check_place(folder)
    parcel = clusters.pack(image.resolve())
    if chosen.remark:
        say(chosen.remark)
    if dry_run:
        found = sweeps.Sweep(chosen, folder, parcel.described, retry)
        carry_out(found, parcel, cluster, jobs, quiet, dry=True)
        list_cells(found, json_)
        return
    with sweeps.locked(folder):
        found = sweeps.Sweep(chosen, folder, parcel.described, retry)
        for note in found.notes:
            say(note)
        ran = carry_out(found, parcel, cluster, jobs, quiet, dry=False)
        min_faults.find(found, image.resolve(), say)
    report(found, ran, json_)
