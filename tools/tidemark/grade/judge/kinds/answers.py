"""Kind `answers`: a number that the student has measured, compared with a measurement during grading.

The numbers are in the lab's .toml file, one per line. No file of the release has the correct values: each is
measured from outside, once, in a kernel built from release files alone.

Options:
    answer      name of the number in the student's file
    measure     how it is checked:
        limit       it is the last number with which `run` ends within `within_s` seconds, or at most `tolerance` (0)
                    steps away; one `step` more takes too long. {n} in `run` or `mem` is replaced; `range`: valid values
        pages       pages read from the disk during `run`, to `tolerance` percent
    run, vm, mem, swap: as for the kind `guard`
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from tidemark.grade.judge import answer_file
from tidemark.grade.judge.kinds import guard
from tidemark.grade.model import Test, Verdict, right, wrong
from tidemark.grade.witness.machine import Machine

MOST = 1_000_000_000


def answer(path: Path, name: str) -> tuple[float, str]:
    """(the number, empty), or (nan, what is wrong with it)."""
    try:
        value = answer_file.read(path).get(name)
    except (OSError, ValueError) as error:
        return math.nan, f"{path.name} cannot be read: {error}"
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < MOST:
        return math.nan, f"{path.name}: {name} is not a number, or far too large"
    if value <= 0:
        return math.nan, f"{path.name}: {name} = {value:g}: not answered yet"
    return float(value), ""


def filled_in(test: Test, number: int) -> Test:
    """The test with a number in place of {n}."""
    options = {key: test.options[key] for key in ("run", "mem") if key in test.options}
    filled = {key: str(text).replace("{n}", str(number)) for key, text in options.items()}
    return replace(test, options={**test.options, **filled})


def limit(test: Test, machine: Machine, number: float) -> Verdict:
    """Is the run within the limit `tolerance` steps below the number, and beyond it one step above the tolerance?"""
    low, high = test.options["range"]
    if number != int(number) or not low <= number <= high:
        return wrong(f"{test.options['answer']} = {number:g}: it must be a whole number from {low} to {high}")
    within_s, seconds = float(test.options["within_s"]), []
    step, tolerance = int(test.options["step"]), int(test.options.get("tolerance", 0))
    tried = int(number) - step * tolerance, int(number) + step * (tolerance + 1)
    for n in tried:
        one = filled_in(test, n)
        try:
            seconds.append(guard.without(one, machine, one.options["run"]).seconds)
        except guard.Failed as error:
            return error.verdict(f"with {n}")
    said = (
        f"with {tried[0]} it takes {seconds[0]:.1f} s, with {tried[1]} {seconds[1]:.1f} s; the limit is {within_s:g} s"
    )
    return right(said) if seconds[0] <= within_s < seconds[1] else wrong(said)


def near(test: Test, number: float, true: float, what: str) -> Verdict:
    """Is the number right within the tolerance? The message does not tell the true value."""
    tolerance = float(test.options["tolerance"])
    name = test.options["answer"]
    if abs(number - true) <= tolerance / 100 * true:
        return right(f"{name} = {number:g}: {what}, within {tolerance:g} %")
    return wrong(f"{name} = {number:g}: not {what}: it differs by more than {tolerance:g} %")


def pages(test: Test, machine: Machine, number: float) -> Verdict:
    """Compare the number with the pages read from the disk."""
    try:
        true = guard.without(test, machine, str(test.options["run"])).pages
    except guard.Failed as error:
        return error.verdict()
    return near(test, number, true, "pages read")


MEASURES = {"limit": limit, "pages": pages}


def judge(test: Test, machine: Machine) -> Verdict:
    """Read the answer, and measure."""
    file = next(file for file in machine.lab.files if file.endswith(".toml"))
    number, complaint = answer(machine.tree / file, str(test.options["answer"]))
    return wrong(complaint) if complaint else MEASURES[str(test.options["measure"])](test, machine, number)
