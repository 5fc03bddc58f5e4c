"""tidemark contention: how long n processors would wait for the zone's lock."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemark.commands import options
from tidemark.errors import NO_SPACE, USAGE, LabError
from tidemark.machine import parameters
from tidemark.runs import results
from tidemark.telemetry.live import LiveLine

if TYPE_CHECKING:
    from tidemark.contention.record import Sections
    from tidemark.contention.replay import Waiting

LISTS = "vm.percpu_pagelist_fraction"
NAMES = ("without lists", "with lists")


def numbers(text: str) -> list[int]:
    """Numbers of processors, in ascending order. Raises LabError if one is not a positive number."""
    words = text.split(",")
    if not all(word.isdecimal() and int(word) for word in words):
        raise LabError(f"--processors {text}: give numbers of at least 1, such as 1,2,4", USAGE)
    return sorted({int(word) for word in words})


def described(name: str, recorded: Sections, line: list[Waiting]) -> dict[str, Any]:
    """One recording and its replays as JSON."""
    return {
        "lists": name,
        "sections": len(recorded.holds),
        "mean_hold": float(recorded.holds.mean()),
        "mean_think": float(recorded.thinks.mean()),
        "replays": [
            {"processors": one.processors, "mean_wait": one.per_section, "waiting_share": one.share} for one in line
        ],
    }


def show(told: list[dict[str, Any]]) -> None:
    """Print each recording's means, and the waits by processors."""
    for one in told:
        print(
            f"{one['lists']}: the lock is taken {one['sections']:,} times, held for {one['mean_hold']:,.0f} "
            f"instructions, and taken again after {one['mean_think']:,.0f}"
        )
    print(f"{'processors':>10}" + "".join(f"{'mean wait':>14}{'of time':>9}" for _ in told))
    for rows in zip(*(one["replays"] for one in told)):
        cells = "".join(f"{row['mean_wait']:>14,.1f}{100 * row['waiting_share']:>8.2f}%" for row in rows)
        print(f"{rows[0]['processors']:>10}{cells}")


def save(title: str, case: list[list[Waiting]], folder: Path) -> None:
    """The figure as SVG, PNG and CSV in `folder`."""
    from tidemark.contention.figures import of_cases
    from tidemark.report import figure

    try:
        folder.mkdir(parents=True, exist_ok=True)
        figure.save(of_cases({title: case}), folder)
    except OSError as error:
        raise LabError(f"{folder} cannot be written: {error.strerror}", NO_SPACE) from None


def contention(
    command: options.Command,
    processors: Annotated[
        str, typer.Option("--processors", "-n", help="Numbers of processors to replay.")
    ] = "1,2,4,8,16,32",
    fraction: Annotated[
        int, typer.Option("--fraction", min=8, help=f"{LISTS} of the run with lists: 1/N of a zone's frames.")
    ] = 8,
    vm: options.Vm = options.DEFAULT.vm,
    mem: options.Mem = options.DEFAULT.mem,
    swap: options.Swap = options.DEFAULT.swap,
    cmdline: options.Cmdline = "",
    timeout: options.Timeout = options.DEFAULT.timeout,
    image: options.Image = options.DEFAULT.image,
    out: options.Out = None,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Record when a kernel for several processors would hold the zone's lock, and replay it on n processors.

    Example:  tidemark contention thrash 6 4096 3 --mem 16M

    The command runs twice, without and with lists of single frames in front of the buddy allocator. Times are in
    instructions. The result's folder has both runs and the figure.
    """
    from tidemark.contention.record import record
    from tidemark.contention.replay import replay

    wanted = numbers(processors)
    plain = options.settings(command, vm, mem, swap, cmdline=cmdline, timeout=timeout, image=image)
    lists = replace(plain, cmdline=parameters.joined(cmdline, {LISTS: fraction}))
    place = out or results.new_folder(plain, Path("results"))
    recordings = []
    with LiveLine(quiet) as live:
        for name, settings in zip(NAMES, (plain, lists)):
            recordings.append(record(settings, place / name.replace(" ", "-"), live))
    case = [[replay(one, n) for n in wanted] for one in recordings]
    save(f"{plain.run}, {plain.mem}", case, place)
    told = [described(*row) for row in zip(NAMES, recordings, case)]
    if json_:
        print(json.dumps({"folder": str(place), "recordings": told}, indent=2))
    else:
        show(told)
        print(place)
