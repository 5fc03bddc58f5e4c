"""Kind `asked`: what a string of references cannot show. Pages are locked, or lie in other zones, or come back, or
select may look at few pages; then it is asked for one, and what it may not do shows.

The simulator performs a script with the student's policy (tools/vmsim/script.c), under the sanitizers and the rules of
the seam. What is right stands in the script. Options:

    policy    whose file is asked
    script    words, or a list of such strings, each with a policy of its own that holds nothing:

        in1-4  in5@0    pages come, one after another, into zone 1 (Normal) or the one named
        use1-3          a program uses them; lock2, open2: may not leave, may again; gone2: given up; back2: put back
        ask             for a page, from all zones, at priority 12; ask0: at priority 0; ask@1: from zone 1 alone;
                        ask#3: with three looks at most (64)
        =3              what it then gives: page 3; =none: no page; =some: any that it may give
        kept1-3         their accessed bits are still set; cleared4: not any more
        looks3          at most so many bits were cleared by the last ask, and one: who looks first and then asks
                        whether it may has looked once more

    hint      what to think about
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from tidemark.errors import BAD_INPUT, LabError
from tidemark.grade.build import object_rules
from tidemark.grade.build.workspace import tail
from tidemark.grade.judge import several
from tidemark.grade.model import Outcome, Test, Verdict, right, wrong
from tidemark.grade.witness.machine import Machine

FRAMES, LOOKS, CALM, ALL_ZONES, NORMAL = 64, 64, 12, 7, 1
LIMIT_S = 10  # of processor time
HAPPENS = re.compile(r"(in|use|lock|open|gone|back)(\d+)(?:-(\d+))?(?:@([0-2]))?")
ASKS = re.compile(r"ask(\d*)(?:@([0-2]))?(?:#(\d+))?")
EXPECTS = re.compile(r"(=|kept|cleared|looks)(\d+|some|none)(?:-(\d+))?")


@dataclass(frozen=True)
class Step:
    """A word of a script: `lines` for the simulator, and the words after it that say what is expected then."""

    word: str
    lines: tuple[str, ...]
    expects: list[tuple[str, str, str]] = field(default_factory=list)


class Wrong(Exception):
    """What is not as it should be, in words."""


def refuse(word: str) -> NoReturn:
    """A mistake in lab.toml."""
    raise LabError(f"script: {word!r} says nothing; see tidemark.grade.judge.kinds.asked", BAD_INPUT)


def step_of(word: str) -> Step:
    """What happens, or is asked."""
    if found := ASKS.fullmatch(word):
        priority, zone, looks = found.groups()
        zones = 1 << int(zone) if zone else ALL_ZONES
        return Step(word, (f"ask {priority or CALM} {zones} {looks or LOOKS}",))
    if not (found := HAPPENS.fullmatch(word)):
        refuse(word)
    what, first, last, zone = found.groups()
    more = f" {zone or NORMAL}" if what == "in" else ""
    return Step(word, tuple(f"{what} {page}{more}" for page in range(int(first), int(last or first) + 1)))


def steps_of(script: str) -> list[Step]:
    """A script's steps, in order."""
    steps: list[Step] = []
    for word in script.split():
        found = EXPECTS.fullmatch(word)
        if not found:
            steps.append(step_of(word))
        elif not steps:
            refuse(word)
        else:
            steps[-1].expects.append((found[1], found[2], found[3] or found[2]))
    return steps


def scripts_of(test: Test) -> list[list[Step]]:
    """The scripts of a test."""
    given = test.options["script"]
    return [steps_of(text) for text in ([given] if isinstance(given, str) else given)]


def pages(numbers: set[int]) -> str:
    """Pages in a message."""
    return ("pages " if len(numbers) > 1 else "page ") + ", ".join(map(str, sorted(numbers)))


def check_given(value: str, given: int) -> None:
    """Did it give what it should?"""
    yours = f"yours gave {f'page {given}' if given else 'none'}"
    if value == "some" and not given:
        raise Wrong(f"expected a page, {yours}")
    if value == "none" and given:
        raise Wrong(f"expected no page, {yours}")
    if value.isdigit() and given != int(value):
        raise Wrong(f"expected page {value}, {yours}")


def check_bits(what: str, wanted: set[int], used: set[int]) -> None:
    """Are accessed bits as they should be?"""
    if what == "kept" and wanted - used:
        raise Wrong(f"the accessed bit of {pages(wanted - used)} was cleared; it should not have been looked at")
    if what == "cleared" and wanted & used:
        raise Wrong(f"the accessed bit of {pages(wanted & used)} is still set; it should have been cleared in passing")


def check(step: Step, given: int, before: set[int], used: set[int]) -> None:
    """Hold what was expected of a step against what came of it."""
    for what, first, last in step.expects:
        if what == "=":
            check_given(first, given)
        elif what == "looks" and len(before - used) > int(first) + 1:
            raise Wrong(f"it may look at {first} pages, and cleared the accessed bits of {len(before - used)}")
        elif what != "looks":
            check_bits(what, set(range(int(first), int(last) + 1)), used)


def follow(steps: list[Step], lines: list[str]) -> None:
    """Go through a script and the simulator's answers; Wrong says what differs."""
    used: set[int] = set()
    answers = iter(lines)
    for at, step in enumerate(steps):
        said = "after `" + " ".join(each.word for each in steps[: at + 1]) + "`"
        before, given = used, 0
        for order in step.lines:
            answer = next(answers, "")
            if answer.startswith("{"):
                raise Wrong(f"{said}: the policy broke a rule: {json.loads(answer)['violation']['what']}")
            numbers = [int(word) for word in answer.split()]
            given = numbers.pop(0) if order.startswith("ask") else 0
            used = set(numbers)
        try:
            check(step, given, before, used)
        except Wrong as error:
            raise Wrong(f"{said}: {error}") from None


def program(test: Test) -> str:
    """The simulator of the student's policy, under the sanitizers."""
    return f"build/vmsim/{test.options['policy']}"


def needs(test: Test) -> tuple[str, ...]:
    """The simulator."""
    return (program(test),)


def perform(test: Test, machine: Machine, scripts: Sequence[list[Step]]) -> tuple[list[str], str]:
    """Run the scripts: what each came to, as of several.run."""
    orders = ("".join(f"{line}\n" for step in steps for line in step.lines) for steps in scripts)
    words = (program(test), "--frames", str(FRAMES), "--script")
    return several.run(machine, [(words, text.encode()) for text in orders], LIMIT_S)


def judge(test: Test, machine: Machine) -> Verdict:
    """All scripts of the test; the first that goes wrong decides."""
    scripts, made = scripts_of(test), machine.build_results[program(test)]
    if made.status:
        return wrong(f"the compiler says:\n{tail(made.err, 20)}", Outcome.NO_BUILD)
    found = f"build/vmsim/checked/kernel/mm/policy/{test.options['policy']}.o"
    offences = object_rules.host_offences(machine.tree, machine.lab, found)
    if offences:
        return wrong("\n".join(offences), Outcome.BROKE_RULE)
    printed, errors = perform(test, machine, scripts)
    for steps, said_of_it in zip(scripts, itertools.chain(printed, itertools.repeat(""))):
        try:
            follow(steps, said_of_it.splitlines())
        except (Wrong, ValueError, LookupError) as error:
            said = str(error) if isinstance(error, Wrong) else f"the simulator ended early\n{tail(errors)}"
            return wrong("\n".join([said, *filter(None, [str(test.options.get("hint", ""))])]))
    return right(f"{sum(map(len, scripts))} steps")
