"""tidemark paper: the figures of a paper beside ours, with verdicts."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemark.commands import options
from tidemark.errors import FAILED, USAGE, LabError

if TYPE_CHECKING:
    from tidemark.papers.declared import Figure, Paper, Sweep
    from tidemark.papers.stored import Stored
    from tidemark.papers.verdict import Judged
    from tidemark.runs import cluster

RUNS = Path("results/papers")


def say(line: str) -> None:
    """Print a remark to stderr."""
    print(f"tidemark: {line}", file=sys.stderr, flush=True)


def chosen(paper: Paper, names: Sequence[str]) -> list[Figure]:
    """The figures of these names, or all."""
    return [paper.figure(name) for name in names] if names else list(paper.figures)


def plans_of(paper: Paper, figures: Sequence[Figure]) -> list[Sweep]:
    """The plans that figures need, each once, the shortest first."""
    names = dict.fromkeys(plan for one in figures for plan in one.plans)
    return sorted((paper.plans[name] for name in names), key=lambda sweep: sweep.seconds)


def run_plan(paper: Paper, sweep: Sweep, image: Path, jobs: int | None, quiet: bool) -> Stored:
    """Run what is missing of one plan."""
    from tidemark.commands.sweep import carry_out as run_cells
    from tidemark.papers import carry_out
    from tidemark.runs import cluster as clusters

    if sweep.strings:
        return carry_out.of_strings(sweep)

    def run_missing(found: Any, parcel: cluster.Parcel) -> None:
        for note in found.notes:
            say(note)
        run_cells(found, parcel, "", jobs, quiet, dry=False)

    slots = jobs or clusters.default_slots()
    return carry_out.carry_out(paper, sweep, RUNS, clusters.pack(image), image, run_missing, slots, say)


def run_all(paper: Paper, figures: Sequence[Figure], image: Path, jobs: int | None, quiet: bool, folder: Path) -> None:
    """Run the plans of these figures and store what they gave in `folder`. A plan that cannot run here is named."""
    from tidemark.papers import stored

    sweeps = plans_of(paper, figures)
    for at, sweep in enumerate(sweeps):
        if sweep.not_run:
            say(f"{paper.name}, plan {sweep.name}: {sweep.not_run}")
            continue
        left = sum(one.seconds for one in sweeps[at:])
        say(f"{paper.name}, plan {sweep.name}, {at + 1} of {len(sweeps)}; about {left:.0f} s left on two idle cores")
        found = run_plan(paper, sweep, image, jobs, quiet)
        for why in found.failed:
            say(f"failed: {why}")
        stored.save(paper, sweep, found, folder)


def told(judged: Judged) -> str:
    """A figure's verdict in a line, with the interval of each comparison."""
    parts = [f"{one.comparison.text}: {one.told}" for one in judged.outcomes]
    without = f"; without the cause: {judged.without}" if judged.without else ""
    why = judged.why or "; ".join(parts)
    return f"{judged.figure.id:8} {judged.verdict:15} {judged.figure.title}\n         {why}{without}"


def check_image(paper: Paper, figures: Sequence[Figure], image: Path, folder: Path) -> None:
    """Say which results another image has made. Without an image there is nothing to compare with."""
    from tidemark.machine import image as images
    from tidemark.papers import stored

    try:
        sha = images.describe(image)["sha256"]
    except LabError:
        return
    for sweep in plans_of(paper, figures):
        if stored.path_of(paper, sweep.name, folder).exists():
            found = stored.load(paper, sweep.name, folder)
            if found.image not in (sha, ""):
                say(f"the results of {sweep.name} are of another image, {found.image[:12]}, commit {found.commit}")


def paper(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[PAPER]", help="mcmenamin, tucek, tpf or classics (default: all, from stored results)."
        ),
    ] = "",
    figures: Annotated[
        list[str] | None, typer.Argument(metavar="[FIGURE]...", help="Some of its figures (default: all).")
    ] = None,
    stored_: Annotated[bool, typer.Option("--stored", help="Run nothing; use the results in the tree.")] = False,
    save: Annotated[bool, typer.Option("--save", help="Store results and verdicts in the tree.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the figures, and how long their runs take.")] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for the pages.")] = Path("results/papers/pages"),
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Runs at a time.")] = None,
    image: options.Image = options.DEFAULT.image,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Run the experiments of a paper, compare each figure with what the paper claims, and write a page.

    Example:  tidemark paper tucek scan

    tidemark paper --stored

    Three works are declared in tools/tidemark/papers: `mcmenamin` (2011), `tucek` (2007) and `tpf` (2002); and
    `classics`, one figure of each of 18 classic papers. Each figure has a claim, a comparison of numbers of runs, and a
    verdict that follows from it: agrees, differs, cannot be told (the interval of the ratio contains 1), not here, or
    not run. Figures that share runs run them once. After
    Ctrl-C the same command continues. Exit status 1: a verdict differs from the one that the tree stores.
    """
    from tidemark.papers import declared, page, stored

    papers = [declared.paper(name)] if name else [declared.paper(one) for one in declared.PAPERS]
    if not name and not stored_ and not list_:
        raise LabError(f"give a paper, one of {', '.join(declared.PAPERS)}; or --stored for all without runs", USAGE)
    if list_:
        for one in papers:
            list_figures(one, chosen(one, figures or []))
        return
    changes = []
    for one in papers:
        changes += work(one, figures or [], stored_, save, out, jobs, image, json_, quiet)
    page.write_index(out, stored.RESULTS if stored_ or save else RUNS / "results")
    if changes and not save:
        raise LabError("verdicts have changed:\n" + "\n".join(f"  {line}" for line in changes), FAILED)


def work(
    paper: Paper,
    names: Sequence[str],
    only_stored: bool,
    save: bool,
    out: Path,
    jobs: int | None,
    image: Path,
    json_: bool,
    quiet: bool,
) -> list[str]:
    """Run, judge and show figures of one paper; returns the verdicts that have changed."""
    from tidemark.files import write_json
    from tidemark.papers import page, stored, verdict

    figures = chosen(paper, names)
    folder = stored.RESULTS if only_stored or save else RUNS / "results"
    if not only_stored:
        run_all(paper, figures, image.resolve(), jobs, quiet, folder)
    check_image(paper, figures, image, folder)
    judged = [verdict.judge(paper, one, folder) for one in figures]
    changes = [line for line in verdict.changed(paper, judged) if not names or line.split()[1].rstrip(":") in names]
    if save:
        every = [verdict.judge(paper, one, folder) for one in paper.figures]
        write_json(folder / paper.name / stored.VERDICTS, {one.figure.id: one.verdict for one in every})
    written = page.write(paper, judged, out, folder)
    if json_:
        print(json.dumps({one.figure.id: one.verdict for one in judged}, indent=2))
        return changes
    for one in judged:
        print(told(one))
    counts = verdict.ledger(judged)
    print(f"{paper.name}: " + ", ".join(f"{verdict} {count}" for verdict, count in counts.items() if count))
    print(written)
    return changes


def list_figures(paper: Paper, figures: Sequence[Figure]) -> None:
    """Print what there is of a paper."""
    print(f"{paper.name}: {paper.authors}, {paper.title}, {paper.year}")
    for one in figures:
        costs = [f"plan {name}, {paper.plans[name].seconds:.0f} s" for name in one.plans]
        print(f"  {one.id:8} {one.title} ({' and '.join(costs) or 'not here'})")
