"""tidemark worst: a short string on which one policy has many more faults than another."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.commands import options

if TYPE_CHECKING:
    from tidemark.runs import worst_program
    from tidemark.strings.worst import Worst

FRAMES, TRIES, TRIES_OF_A_PROGRAM = 4, 150_000, 30


def text(found: Worst, parameters: list[str]) -> str:
    """What was found, in words, and the command that shows every decision of A, which has these parameters."""
    string = " ".join(map(str, found.string))
    times = f"{found.ratio:.2f} times as many" if found.faults_a > found.faults_b else "never more"
    words = " ".join([f"--vm {found.a} --frames {found.frames}", *(f"--set {one}" for one in parameters)])
    return (
        f"{string}\n\n{found.a} has {found.faults_a} faults, {found.b} {found.faults_b}: {times}, on "
        f"{len(found.string)} references to {max(found.string)} pages with {found.frames} frames.\n"
        f"{found.tried:,} strings were tried (seed {found.seed}); a worse one may exist.\n"
        f'tidemark sim {words} --explain "{string}"'
    )


def text_of_program(found: worst_program.Worst) -> str:
    """The same for a program."""
    failed = f"; in {found.failed} of them a run failed" if found.failed else ""
    return (
        f"{found.command}\n\n{found.a} has {found.faults_a:,} major faults, {found.b} {found.faults_b:,}: "
        f"{found.ratio:.2f} times as many.\n{found.tried} settings of its numbers were tried (seed {found.seed})"
        f"{failed}. One run of each is one sample: `tidemark sweep` compares with replicates."
    )


def worst(
    a: Annotated[str, typer.Argument(metavar="A", help="The policy that shall have many faults.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The policy that shall have few; MIN: the least possible.")],
    frames: Annotated[int, typer.Option("--frames", help="Page frames.")] = FRAMES,
    references: Annotated[int, typer.Option("--references", help="The longest string.")] = 40,
    tries: Annotated[
        int | None,
        typer.Option(
            "--tries",
            min=1,
            max=10**8,
            show_default=f"{TRIES:,}, of a program {TRIES_OF_A_PROGRAM}",
            help="Number of strings, or of settings of a program, to try.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another seed searches elsewhere.")] = 1,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="VM.NAME=VALUE", help="A parameter, such as ws.tau_ms=500")
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option("--workload", help='Search the numbers of a program instead: "pattern zipf {1024..12288} 20000".'),
    ] = None,
    mem: options.Mem = "16M",
    swap: options.Swap = options.DEFAULT.swap,
    cmdline: options.Cmdline = "",
    timeout: options.Timeout = options.DEFAULT.timeout,
    image: options.Image = options.DEFAULT.image,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Search for a short string of references on which policy A has many more faults than policy B.

    Example:  tidemark worst clock fifo

    tidemark worst 2q ws --workload "thrash {2..8} {1024..8192} 3 300" --swap sim:ssd

    Strings have at most 40 references to at most 12 pages. Of strings with the same ratio of faults the shortest is
    shown. The search takes about a minute on two processors, and finds the same string with the same seed. Both
    policies run in the simulator, each string from a fresh start, 100 us a reference. With --workload both run a
    program in the kernel; numbers are drawn for its ranges {LEAST..MOST}, and major faults count. --mem, --swap and
    the options after it are for that; --frames, --references and --set for strings.
    """
    from tidemark.commands.trace import progress_bar
    from tidemark.runs import worst_program
    from tidemark.strings import compare
    from tidemark.strings import worst as adversary

    by_policy = compare.parameters_of(set_ or [], [a, b])
    parameters = by_policy.get(a, []), by_policy.get(b, [])
    best: Worst | worst_program.Worst | None = None

    def told(found: Worst | worst_program.Worst) -> str:
        if json_:
            return json.dumps(asdict(found) | {"ratio": found.ratio}, indent=2)
        return text_of_program(found) if isinstance(found, worst_program.Worst) else text(found, parameters[0])

    try:
        with progress_bar("worst", quiet) as progress:

            def live(tried: int, all_tries: int, found: Worst | worst_program.Worst | None) -> None:
                nonlocal best
                best = found
                progress(tried, all_tries)

            if workload is not None:
                machine = options.settings([workload], a, mem, swap, cmdline=cmdline, timeout=timeout, image=image)
                best = worst_program.search(workload, machine, (a, b), tries or TRIES_OF_A_PROGRAM, seed, live)
            else:
                best = adversary.search(a, b, frames, tries or TRIES, seed, parameters, references, live)
    except KeyboardInterrupt:
        if best:
            print("tidemark: stopped; the worst so far:", file=sys.stderr)
            print(told(best))
        raise
    print(told(best))
