"""tidemark bound: the least time that a run's process can take on its disk."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemark.commands import options
from tidemark.errors import FAILED, LabError
from tidemark.machine import image
from tidemark.runs import repeat, results
from tidemark.telemetry import story
from tidemark.telemetry.live import LiveLine

if TYPE_CHECKING:
    from tidemark.strings.least_time import LeastTime


def show(program: str, vm: str, took_s: float, least: LeastTime, regret_s: float, on_demand: bool) -> None:
    """Print the bounds, the run's time and its regret."""
    print(f"{program}, {least.frames:,} frames: at least {least.reads:,} pages read and {least.writes:,} written")
    rows = [("its own instructions", least.compute_s), ("least time, any order", least.any_order_s)]
    rows += [("least time, reads on demand", least.on_demand_s), (vm, took_s), ("regret", regret_s)]
    for name, value in rows:
        print(f"  {name:<28}{value * 1000:>12,.3f} ms")
    if not on_demand:
        print("with this policy, a guard or several processes, reads can come ahead of faults: any order counts")


def bound(
    folder: Annotated[Path, typer.Argument(metavar="RESULT", help="The folder of an exact run.")],
    frames: Annotated[
        int | None,
        typer.Option("--frames", metavar="N", help="Frames [default: the run's cap, or those that were free at boot]."),
    ] = None,
    image_: options.Image = options.DEFAULT.image,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Prove how long a run's process takes at least, for any order of evictions and of requests to its disk.

    Example:  tidemark run seqscan 24576 4 --mem 8M --swap sim:ssd -o scan; tidemark bound scan

    The run is recorded once more, and the bounds follow from its references and the model of its disk; the proof is in
    tools/tidemark/strings/least_time.py. Of several processes it takes the one with the most references. Regret is the
    run's time beyond the bound.
    """
    from tidemark.strings import foresight, least_time
    from tidemark.trace import policy_strings

    first = results.load(folder)
    image_ = options.image_of(first, image_)
    repeat.check_repeatable(first, image.describe(image_))
    settings, disk = replace(first.settings(), image=image_.resolve()), least_time.disk_of_run(first)
    if first.meta["exit"]:
        raise LabError(f"{folder}: {first.meta['reason']}; a bound needs a run that came to its end", FAILED)
    count = least_time.frames_of(first) if frames is None else frames
    with LiveLine(quiet) as line, tempfile.TemporaryDirectory(prefix="tidemark-") as scratch:

        def live(records: list[dict[str, Any]], words: int) -> None:
            line(records, "   recording the run")

        recording = foresight.recorded(settings, first, Path(scratch, "recording"), live)
        main, program, alone = foresight.main_space(recording)
        space = policy_strings.spaces_of(recording, foresight.DIRECT_MAP)[main]
        least = least_time.of_recording(recording, main, space, count, disk)
    took_s = story.turnaround_s(first.telemetry())
    regret_s = took_s - least_time.seconds(least, settings, alone)
    if json_:
        print(json.dumps({"program": program, "took_s": took_s, "regret_s": regret_s, **asdict(least)}, indent=2))
    else:
        show(program, settings.vm, took_s, least, regret_s, least_time.on_demand(settings, alone))
