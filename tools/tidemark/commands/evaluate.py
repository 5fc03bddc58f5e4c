"""tidemark evaluate: one policy's file against the best possible, for a person or a program that searches."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from tidemark.commands import options


def evaluate(
    policy: Annotated[Path, typer.Argument(metavar="POLICY.c", help="The policy's C file, in the tree or elsewhere.")],
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", min=1, max=10**9, help="Seed of the held-out half; default: drawn anew, and part of the result."
        ),
    ] = None,
    text_: Annotated[bool, typer.Option("--text", help="Print a table for people instead of JSON.")] = False,
    sandbox: Annotated[
        str, typer.Option("--sandbox", help="The sandbox for the policy's code: auto, bwrap, user or none.")
    ] = "auto",
    quiet: options.Quiet = False,
) -> None:
    """Compile a policy's file, check every rule, measure it, and print its score as JSON: 1 is the best possible.

    Example:  tidemark evaluate mine.c --text

    tidemark evaluate mine.c --seed 7 | jq .held_out.score.ratio

    The score counts faults over MIN on reference strings, time over the least time of programs under memory pressure
    (one process, several with a guard and without, a file), and instructions with hooks over those without; each with
    an interval, and again on a held-out set. A policy that breaks a rule is refused: the result says which rule, and
    the exit status is 1, or 3 for a file that cannot be one. It takes less than a minute on two processors.
    """
    from tidemark.commands.trace import progress_bar
    from tidemark.evaluate import evaluation, text
    from tidemark.grade.build import sandbox as sandboxes
    from tidemark.machine import host

    os.umask(0o022)  # the user that runs the policy's code must be able to read
    box = sandboxes.choose(sandbox)
    jobs = host.processors()
    request = evaluation.Request(policy, evaluation.any_seed() if seed is None else seed, jobs=jobs)
    try:
        with progress_bar(f"evaluate {policy.stem}", quiet) as progress:
            made = evaluation.evaluate(request, box, progress)
    except KeyboardInterrupt:
        print("tidemark: stopped; there is no result", file=sys.stderr)
        raise
    print(text.of(made.told) if text_ else json.dumps(made.told, indent=2))
    if made.refusal:
        if not text_:
            print(f"tidemark: {made.refusal.said}", file=sys.stderr)
        raise typer.Exit(made.refusal.status)
