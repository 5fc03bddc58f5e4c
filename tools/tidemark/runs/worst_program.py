"""An adversary among the parameters of a program: numbers with which one policy reads far more pages than another.

A command has ranges, {LEAST..MOST}, in place of numbers. A try draws a number for each and runs the command in the
kernel under both policies, exactly and with everything else equal; what counts is the ratio of major faults, of which
each side has at least one. The first third of the tries is drawn at random, evenly on a logarithmic scale; the others
change the best numbers so far, most of them by up to half. The same seed draws the same numbers.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from tidemark.errors import FAILED, USAGE, LabError
from tidemark.machine import qemu
from tidemark.runs import experiment

RANGE = re.compile(r"\{(\d{1,9})\.\.(\d{1,9})\}")
AT_RANDOM = 1 / 3  # of the tries
ANYWHERE = 1 / 4  # of the numbers in the others


@dataclass(frozen=True)
class Worst:
    """The command found, with its numbers, and the major faults of both. `failed`: tries in which a run failed."""

    a: str
    b: str
    command: str
    faults_a: int
    faults_b: int
    tried: int
    failed: int
    seed: int

    @property
    def ratio(self) -> float:
        return max(self.faults_a, 1) / max(self.faults_b, 1)


def ranges(command: str) -> list[tuple[int, int]]:
    """The ranges of a command. Raises LabError if it has none, or one that is empty or has a 0."""
    found = [(int(least), int(most)) for least, most in RANGE.findall(command)]
    if not found:
        raise LabError(f"--workload {command}: give a range for a number at least, such as {{1024..8192}}", USAGE)
    for least, most in found:
        if not 0 < least <= most:
            raise LabError(
                f"--workload: {{{least}..{most}}} is not a range: it goes from a number above 0 to one not less", USAGE
            )
    return found


def filled(command: str, numbers: Sequence[int]) -> str:
    """The command with these numbers in place of its ranges."""
    left = iter(numbers)
    return RANGE.sub(lambda match: str(next(left)), command)


def drawn(rng: random.Random, limits: Sequence[tuple[int, int]], near: Sequence[int] | None) -> tuple[int, ...]:
    """Numbers within the limits: anywhere, or most of them near others."""
    numbers = []
    for at, (least, most) in enumerate(limits):
        if near is None or rng.random() < ANYWHERE:
            wanted = least * (most / least) ** rng.random()
        else:
            wanted = near[at] * 2 ** rng.uniform(-0.6, 0.6)
        numbers.append(min(max(round(wanted), least), most))
    return tuple(numbers)


def major_faults(settings: qemu.Settings) -> int:
    """Major faults of one run. Raises LabError if it fails."""
    with tempfile.TemporaryDirectory(prefix="tidemark-worst-") as folder:
        result = experiment.run(settings, Path(folder, "run"))
        experiment.drop_refused(result)
        if result.meta["exit"] != qemu.OK:
            said = f"{settings.run} under {settings.vm}: {result.meta['reason']}. The console ends so:\n{result.tail()}"
            raise LabError(said, FAILED)
        return int(result.telemetry().samples[-1]["vm"]["pgmajfault"])


def major_faults_of_both(machine: qemu.Settings, policies: Sequence[str], run: str) -> Sequence[int]:
    """Major faults of a command under each policy. Raises LabError if a run fails."""
    with ThreadPoolExecutor(len(policies)) as pool:
        return [*pool.map(lambda policy: major_faults(replace(machine, vm=policy, run=run)), policies)]


def search(
    command: str,
    machine: qemu.Settings,
    policies: tuple[str, str],
    tries: int,
    seed: int = 1,
    progress: Callable[[int, int, Worst | None], None] = lambda tried, tries, best: None,
) -> Worst:
    """The worst numbers of `tries`, under policy A against B, on a machine. Raises LabError for a wrong command, if the
    policies are one, or if no try could be run under both."""
    limits = ranges(command)
    if policies[0] == policies[1]:
        raise LabError(f"{policies[0]} and {policies[1]} are the same policy: they do not differ", USAGE)
    rng = random.Random(seed)
    best: Worst | None = None
    numbers: tuple[int, ...] = ()
    why, failed = "", 0
    for tried in range(1, tries + 1):
        at_random = best is None or tried <= tries * AT_RANDOM
        new = drawn(rng, limits, None if at_random else numbers)
        run = filled(command, new)
        try:
            a, b = major_faults_of_both(machine, policies, run)
        except LabError as error:
            if error.code != FAILED:
                raise
            why, failed = str(error), failed + 1
        else:
            one = Worst(*policies, run, a, b, tried, failed, seed)
            if best is None or one.ratio > best.ratio:
                best, numbers = one, new
        progress(tried, tries, best)
    if best is None:
        raise LabError(f"no try of {tries} ran under both policies; the last: {why}", FAILED)
    return replace(best, tried=tries, failed=failed)
