"""tidemark sim: run a policy of the kernel on the host over a reference string."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemark.commands import options
from tidemark.errors import USAGE, LabError

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.strings.refstrings import References
    from tidemark.strings.vmsim import Outcome

COLUMNS = ("policy", "frames", "references", "pages", "faults", "hits", "minor", "evictions", "trimmed", "looked")
MAX_SIZES = 1000


def frame_numbers(text: str) -> list[int]:
    """The numbers of frames in `3`, `3,4,8` or `3-8`, in ascending order. Raises LabError if the text is invalid."""
    numbers: set[int] = set()
    for word in text.split(","):
        match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", word.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last or last - first >= MAX_SIZES:
            raise LabError(f"--frames {text}: give numbers such as 3 or 3,4,8 or 3-8", USAGE)
        numbers.update(range(first, last + 1))
    return sorted(numbers)


def show(outcomes: list[Outcome]) -> None:
    """Print one line for each number of frames."""
    lines = [[name.upper() for name in COLUMNS]]
    lines += [
        [f"{value:,}" if isinstance(value, int) else str(value) for value in map(asdict(one).get, COLUMNS)]
        for one in outcomes
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths)))


def explain(program: Path, string: References, frames: int, set_: list[str], as_json: bool) -> Outcome:
    """Run the policy and print its decisions; if it breaks a rule, those before that."""
    from tidemark.strings import explain as explaining
    from tidemark.strings import vmsim

    rows: list[dict[str, Any]] = []
    try:
        return vmsim.run(program, string, frames, set_, rows.append)
    finally:
        named = explaining.named(rows, program)
        print("\n".join(map(json.dumps, named)) if as_json else explaining.table(named))


def remark(vm: str, set_: list[str], ns: int) -> str:
    """A warning if the string is too short for the policy's window; empty if it is not."""
    from tidemark.strings import vmsim

    tau_ms = vmsim.window_ms(vm, set_)
    if ns >= tau_ms * 1e6:
        return ""
    return (
        f"the string takes {ns / 1e6:g} ms of its process's time, less than {vm}'s window of {tau_ms} ms: no page "
        "leaves the working set, and pages are evicted as by FIFO. --step or --set tau_ms=N change that"
    )


def sim(
    trace: Annotated[
        str,
        typer.Argument(metavar="STRING", help="Page numbers, a file of them, a trace, or a name such as zipf:1000."),
    ] = "",
    vm: options.Vm = options.DEFAULT.vm,
    frames: Annotated[
        str, typer.Option("--frames", help="Page frames: 3 or 3,4,8 or 3-8 (default: eighths of the pages).")
    ] = "",
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the policy: ws.tau_ms=500")
    ] = None,
    explain_: Annotated[
        bool, typer.Option("--explain", help="Show every decision; needs one number of frames.")
    ] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Build for speed, without sanitizers.")] = False,
    step: Annotated[
        int, typer.Option("--step", min=0, max=10**9, help="Nanoseconds per reference, for policies with a clock.")
    ] = 100_000,
    space: Annotated[
        str, typer.Option("--space", help="Address space of a trace, by name or number (default: the largest).")
    ] = "",
    json_: options.AsJson = False,
) -> None:
    """Run a policy's C file on this machine over a string of references, and count its faults.

    Example:  tidemark sim --vm clock --frames 3 --explain "1 2 3 4 1 2 5 1 2 3 4 5"

    STRING may also be a file of numbers, a trace (.tmt), the name of a standard string (belady, loop, scan, zipf,
    phases, random, correlated, btree), or KIND:PAGES,refs=N,seed=S.
    """
    from tidemark.strings import refstrings, vmsim

    string = refstrings.find(trace, space, step)
    sizes = frame_numbers(frames) if frames else vmsim.some_frames(string.nr_pages)
    if explain_ and len(sizes) != 1:
        raise LabError("--explain shows one number of frames: add --frames N", USAGE)
    program = vmsim.build(vm, fast)
    if explain_:
        outcomes = [explain(program, string, sizes[0], set_ or [], json_)]
    else:
        outcomes = [vmsim.run(program, string, size, set_ or []) for size in sizes]
    if json_:
        for outcome in outcomes:
            print(json.dumps(asdict(outcome)))
    else:
        show(outcomes)
    if said := remark(vm, set_ or [], outcomes[0].ns):
        print(f"tidemark: {said}", file=sys.stderr)
