"""tidemark worst: a short string on which one policy has many more faults than another."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.commands import options

if TYPE_CHECKING:
    from tidemark.strings.worst import Worst

FRAMES, TRIES = 4, 150_000


def text(found: Worst) -> str:
    """What was found, in words, and the command that shows every decision."""
    string = " ".join(map(str, found.string))
    times = f"{found.ratio:.2f} times as many" if found.faults_a > found.faults_b else "never more"
    again = "" if found.a == found.b else f'\ntidemark sim --vm {found.a} --frames {found.frames} --explain "{string}"'
    return (
        f"{string}\n\n{found.a} has {found.faults_a} faults, {found.b} {found.faults_b}: {times}, on "
        f"{len(found.string)} references to {max(found.string)} pages with {found.frames} frames.\n"
        f"{found.tried:,} strings were tried (seed {found.seed}); a worse one may exist.{again}"
    )


def worst(
    a: Annotated[str, typer.Argument(metavar="A", help="The policy that shall have many faults.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The policy that shall have few; MIN: the least possible.")],
    frames: Annotated[int, typer.Option("--frames", help="Page frames.")] = FRAMES,
    references: Annotated[int, typer.Option("--references", help="The longest string.")] = 40,
    tries: Annotated[int, typer.Option("--tries", min=1, max=10**8, help="Number of strings to try.")] = TRIES,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another seed searches elsewhere.")] = 1,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="VM.NAME=VALUE", help="A parameter, such as ws.tau_ms=500")
    ] = None,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Search for a short string of references on which policy A has many more faults than policy B.

    Example:  tidemark worst clock fifo

    Strings have at most 40 references to at most 12 pages. Of strings with the same ratio of faults the shortest is
    shown. The search takes about a minute on two processors, and finds the same string with the same seed. Both
    policies run in the simulator, each string from a fresh start, 100 us a reference. --workload, which would search
    the parameters of a program in the kernel, does not exist.
    """
    from tidemark.commands.trace import progress_bar
    from tidemark.strings import compare
    from tidemark.strings import worst as adversary

    by_policy = compare.parameters_of(set_ or [], [a, b])
    with progress_bar("worst", quiet) as progress:
        found = adversary.search(
            a,
            b,
            frames,
            tries,
            seed,
            (by_policy.get(a, []), by_policy.get(b, [])),
            references,
            lambda done, total, best: progress(done, total),
        )
    print(json.dumps(asdict(found) | {"ratio": found.ratio}, indent=2) if json_ else text(found))
