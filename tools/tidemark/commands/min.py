"""tidemark min: repeat a run under a policy that knows its future."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemark.commands import options
from tidemark.errors import FAILED, LabError
from tidemark.files import check_folder
from tidemark.machine import image
from tidemark.runs import repeat, results
from tidemark.telemetry.live import LiveLine

if TYPE_CHECKING:
    from tidemark.strings.foresight import Outcome


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.1f}"


def rows(outcome: Outcome, vm: str) -> list[tuple[str, str, str, str]]:
    """Lines of the table: (policy, faults, faults that read from a disk or pages read, the command's time)."""
    if outcome.alone:
        counted = [(vm, outcome.original), (f"{outcome.policy}, in the kernel", outcome.kernel)]
        counted += [(f"{outcome.policy}, on paper", outcome.paper)] if outcome.paper else []
        counted += [("LRU, on paper", outcome.lru)] if outcome.lru else []
    else:
        counted = [(vm, outcome.whole_original), (f"{outcome.policy}, in the kernel", outcome.whole_kernel)]
    times = [milliseconds(outcome.times.original_s), milliseconds(outcome.times.kernel_s)]  # paper has no clock
    times += ["" for _ in counted[len(times) :]]
    reads = ["-" if count.read is None else f"{count.read:,}" for _, count in counted]
    return [(who, f"{count.faults:,}", read, took) for (who, count), read, took in zip(counted, reads, times)]


def show(outcome: Outcome, vm: str) -> None:
    """Print a title, a line for each policy, and what the numbers mean."""
    frames = f", {outcome.frames} frames" if outcome.frames else ""
    files = f" ({outcome.of_files:,} of files)" if outcome.of_files else ""
    window = f", tau {outcome.tau_us / 1000:g} ms" if outcome.tau_us else ""
    if outcome.alone:
        print(f"{outcome.program}: {outcome.pages:,} pages{files}, {outcome.references:,} references{frames}{window}")
        table = [("", "faults", "read", "ms"), *rows(outcome, vm)]
    else:
        print(f"the whole run, several processes{frames}{window}")
        table = [("", "major faults", "pages read", "ms"), *rows(outcome, vm)]
    widths = [max(len(row[column]) for row in table) for column in range(4)]
    for row in table:
        numbers = "  ".join(f"{text:>{width}}" for text, width in zip(row[1:], widths[1:]))
        print(f"  {row[0]:<{widths[0]}}  {numbers}".rstrip())
    if outcome.alone and outcome.of_files and outcome.frames and not outcome.paper:
        print("the cap on frames does not count pages of files: with --cmdline frames_files=1 MIN on paper is known")
    if (least_s := outcome.times.least_s) is not None:
        regret = milliseconds(outcome.times.original_s - least_s)
        print(f"any policy takes {milliseconds(least_s)} ms at least; {vm}'s regret is {regret} ms")
    if outcome.mean_pages is not None:
        print(f"on paper it keeps {outcome.mean_pages:,.1f} pages on average")
    if not outcome.alone:
        print(
            f"{outcome.policy} goes by the next use in each process's own virtual time: its counts are not a lower "
            "bound, and the differences of other policies from them are not regret"
        )


def verdict(outcome: Outcome) -> str:
    """What is wrong with the outcome, in words; empty if nothing is."""
    if outcome.lost:
        return (
            f"{outcome.lost:,} faults were not foreseen, and this is not {outcome.policy.upper()}: which pages the run "
            "refers to depends on which are in memory (does it read the clock, or share pages after a fork?)"
        )
    paper, kernel = outcome.paper, outcome.kernel
    if paper and not outcome.tau_us and (paper.faults != kernel.faults or paper.read not in (None, kernel.read)):
        forced = f": {outcome.forced:,} times a system call was using the page to evict" if outcome.forced else ""
        return "the faults of MIN in the kernel differ from those of MIN on paper" + forced
    return ""


def min(
    folder: Annotated[Path, typer.Argument(metavar="RESULT", help="The folder of an exact run.")],
    vmin: Annotated[
        float | None,
        typer.Option("--vmin", metavar="MS", min=1, help="Use VMIN with this tau instead, without a cap on frames."),
    ] = None,
    out: options.Out = None,
    image_: options.Image = options.DEFAULT.image,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Repeat an exact run under Belady's MIN, which evicts the page whose next use is farthest away.

    Example:  tidemark run phase 2048 512 4 4000 --frames 150 -o phase; tidemark min phase

    The run is recorded, then repeated with its own future in memory, into a new result; min.json in it has the
    numbers. With one process and --frames, MIN's faults are the lower bound, and are compared with MIN on paper; if the
    run uses files on --disk, give it --cmdline frames_files=1, too, so that the frames include those of files. With
    several processes the policy goes by each process's own virtual time, and its numbers are not bounds. --vmin: a page
    is evicted right after a use if its next use is more than MS milliseconds of process time away. No read-ahead.
    """
    from tidemark.strings.foresight import foresee

    first = results.load(folder)
    image_ = options.image_of(first, image_)
    repeat.check_repeatable(first, image.describe(image_))
    settings = replace(first.settings(), image=image_.resolve())
    place = out or results.new_folder(replace(settings, vm="vmin" if vmin else "min"), Path("results"))
    check_folder(place)
    if place.exists() and any(place.iterdir()):
        raise LabError(f"{place} exists already; give another --out")
    what = [""]
    with LiveLine(quiet) as line:

        def live(records: list[dict[str, Any]], words: int) -> None:
            line(records, f"   {what[0]}")

        try:
            outcome = foresee(
                first, settings, place, round((vmin or 0) * 1000), live, lambda text: what.__setitem__(0, text)
            )
        except KeyboardInterrupt:
            print(f"tidemark: stopped while {what[0]}", file=sys.stderr)
            raise
    if json_:
        print(json.dumps(asdict(outcome), indent=2))
    else:
        show(outcome, settings.vm)
        print(f"{place}")
    if wrong := verdict(outcome):
        raise LabError(wrong, FAILED)
