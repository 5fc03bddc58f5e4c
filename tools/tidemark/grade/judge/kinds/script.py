"""Kind `script`: what a string of references cannot show. Pages are locked, or lie in other zones, or come back, or
select may look at few pages only; then a page is asked for, and a forbidden choice becomes visible.

The simulator performs a script with the student's policy (tools/vmsim/script.c), under the sanitizers and the rules of
the policy interface. The script also contains the expected results. Options:

    policy    the policy whose file is tested
    script    words, or a list of such strings, each beginning with an empty policy:

        in1-4  in5@0    pages come, one after another, into zone 1 (Normal) or the one named
        use1-3          a program uses them; lock2, open2: eviction forbidden, allowed; gone2: freed; back2: put back
        touch1-3        the policy is told of a use of them, by its hook touch. A millisecond passes with each page
        ask             for a page, from all zones, at priority 12; ask0: at priority 0; ask@1: from zone 1 alone;
                        ask#3: with at most three looks (64)
        =3              the page that it must give; =none: no page; =some: any page that is allowed
        kept1-3         their accessed bits are still set; cleared4: no longer set
        looks3          the last ask cleared at most 3 bits, or 4: a policy that looks first and then asks whether it
                        may has looked once more

        p2              the words after it are of process 2; at first they are of process 1 (tools/vmsim/crowd.c)
        uses30          in each turn it uses 30 pages of its own, which come in and are evicted without further words
        sleep, wake, end
        run600          for 600 ms the processes that may run and do not sleep take turns: how often one had to stop
        may1-3          may_run is called for each of these processes: the number that may run
        lost            the number of pages that were evicted from processes which never had to wait
        ran             for how many ms the process has run
        least2, most5   bounds of the number that one of the last four words gave

    set       parameters, such as ws.tau_ms=100
    hint      a hint for the student

For a student who has a variant of the policy's rule, the pages that are given, and the bits that are kept or cleared,
are those of the variant's solution.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from tidemark.errors import BAD_INPUT, FAILED, LabError
from tidemark.grade.build import object_rules
from tidemark.grade.build.workspace import tail
from tidemark.grade.judge import expected, host_runs
from tidemark.grade.model import Outcome, Test, Verdict, right, wrong
from tidemark.grade.witness.machine import Machine

FRAMES, LOOKS, CALM, ALL_ZONES, NORMAL = 64, 64, 12, 7, 1
LIMIT_S = 10  # of processor time
HAPPENS = re.compile(r"(in|use|touch|lock|open|gone|back)(\d+)(?:-(\d+))?(?:@([0-2]))?")
ASKS = re.compile(r"ask(\d*)(?:@([0-2]))?(?:#(\d+))?")
EXPECTS = re.compile(r"(=|kept|cleared|looks|least|most)(\d+|some|none)(?:-(\d+))?")
CROWD = re.compile(r"(p|uses|sleep|wake|end|run|may|lost|ran)(\d*)(?:-(\d+))?")
COUNTS = {
    "run": "{} times a process had to stop",
    "may": "{} may run",
    "lost": "{} pages were taken from processes that never had to wait",
    "ran": "it ran for {} ms",
}
ANSWERED = ("ask", "who", "uses", "sleep", "wake", "end", *COUNTS)  # their answers begin with a number


@dataclass(frozen=True)
class Step:
    """A word of a script: `lines` for the simulator, and the expectations that follow the word. `who`: the process."""

    word: str
    lines: tuple[str, ...]
    expects: list[tuple[str, str, str]] = field(default_factory=list)
    who: str = "1"


class Wrong(Exception):
    """The policy differs from the script's expectation; the text says how."""


def refuse(word: str) -> NoReturn:
    """Raises LabError for a mistake in lab.toml."""
    raise LabError(f"script: {word!r} is not a word of a script; see tidemark.grade.judge.kinds.script", BAD_INPUT)


def step_of_crowd(word: str, who: str) -> Step | None:
    """The step of a word about processes; None if it is none."""
    if not (found := CROWD.fullmatch(word)):
        return None
    what, first, last = found.groups()
    if what == "p":
        return Step(word, (f"who {first}",), who=first)
    if what == "may":
        return Step(word, tuple(f"may {each}" for each in range(int(first), int(last or first) + 1)), who=who)
    if what == "lost":
        return Step(word, (what,), who=who)
    return Step(word, (f"{what} {first or who}",), who=who)


def step_of(word: str, who: str) -> Step:
    """The step of a word of process `who`, without its expectations."""
    if step := step_of_crowd(word, who):
        return step
    if found := ASKS.fullmatch(word):
        priority, zone, looks = found.groups()
        zones = 1 << int(zone) if zone else ALL_ZONES
        return Step(word, (f"ask {priority or CALM} {zones} {looks or LOOKS}",), who=who)
    if not (found := HAPPENS.fullmatch(word)):
        refuse(word)
    what, first, last, zone = found.groups()
    more = f" {zone or NORMAL}" if what == "in" else ""
    return Step(word, tuple(f"{what} {page}{more}" for page in range(int(first), int(last or first) + 1)), who=who)


def steps_of(script: str) -> list[Step]:
    """A script's steps, in order."""
    steps: list[Step] = []
    for word in script.split():
        found = EXPECTS.fullmatch(word)
        if not found:
            steps.append(step_of(word, steps[-1].who if steps else "1"))
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
    """Pages as text for a message."""
    return ("pages " if len(numbers) > 1 else "page ") + ", ".join(map(str, sorted(numbers)))


def check_given(value: str, given: int) -> None:
    """Raises Wrong if the policy gave something else than expected."""
    yours = f"yours gave {f'page {given}' if given else 'none'}"
    if value == "some" and not given:
        raise Wrong(f"expected a page, {yours}")
    if value == "none" and given:
        raise Wrong(f"expected no page, {yours}")
    if value.isdigit() and given != int(value):
        raise Wrong(f"expected page {value}, {yours}")


def check_bits(what: str, wanted: set[int], used: set[int]) -> None:
    """Raises Wrong if accessed bits differ from what is expected."""
    if what == "kept" and wanted - used:
        raise Wrong(f"the accessed bit of {pages(wanted - used)} was cleared; it should not have been looked at")
    if what == "cleared" and wanted & used:
        raise Wrong(f"the accessed bit of {pages(wanted & used)} is still set; passing it should have cleared it")


def check_count(step: Step, what: str, bound: int, count: int) -> None:
    """Raises Wrong if the number that a step answered is out of bounds."""
    if count < bound if what == "least" else count > bound:
        said = COUNTS[step.lines[0].split()[0]].format(count)
        raise Wrong(f"{said}; {'at least' if what == 'least' else 'at most'} {bound} expected")


def check(step: Step, given: int, before: set[int], used: set[int]) -> None:
    """Compare the expectations of a step with its result. Raises Wrong if they differ."""
    for what, first, last in step.expects:
        if what == "=":
            check_given(first, given)
        elif what in ("least", "most"):
            check_count(step, what, int(first), given)
        elif what == "looks" and len(before - used) > int(first) + 1:
            raise Wrong(f"it may look at {first} pages, but cleared the accessed bits of {len(before - used)}")
        elif what != "looks":
            check_bits(what, set(range(int(first), int(last) + 1)), used)


def read_answer(order: str, answer: str) -> tuple[int, set[int]]:
    """(the number that the simulator's answer begins with, or 0; the pages whose accessed bits are set)."""
    numbers = [int(word) for word in answer.split()]
    given = numbers.pop(0) if order.split()[0] in ANSWERED else 0
    return given, set(numbers)


def follow(steps: list[Step], lines: list[str]) -> None:
    """Go through a script and the simulator's answers. Raises Wrong at the first difference."""
    used: set[int] = set()
    answers = iter(lines)
    for at, step in enumerate(steps):
        said = "after `" + " ".join(each.word for each in steps[: at + 1]) + "`"
        before, given = used, 0
        for order in step.lines:
            answer = next(answers, "")
            if answer.startswith("{"):
                raise Wrong(f"{said}: the policy broke a rule: {json.loads(answer)['violation']['what']}")
            more, used = read_answer(order, answer)
            given += more
        try:
            check(step, given, before, used)
        except Wrong as error:
            raise Wrong(f"{said}: {error}") from None


def program(test: Test) -> str:
    """The simulator of the student's policy, under the sanitizers."""
    return f"build/vmsim/{test.options['policy']}"


def needs(test: Test) -> tuple[str, ...]:
    """The make target of the simulator."""
    return (program(test),)


def arguments(test: Test) -> list[str]:
    """The simulator's arguments."""
    parameters = [part for each in test.options.get("set", ()) for part in ("--set", str(each))]
    return ["--frames", str(FRAMES), *parameters, "--script"]


def perform(test: Test, machine: Machine, scripts: Sequence[list[Step]]) -> tuple[list[str], str]:
    """Run the scripts; returns what host_runs.run does."""
    orders = ("".join(f"{line}\n" for step in steps for line in step.lines) for steps in scripts)
    words = (program(test), *arguments(test))
    return host_runs.run(machine, [(words, text.encode()) for text in orders], LIMIT_S)


def by_rule(step: Step, given: int, used: set[int]) -> Step:
    """A step whose expectations are what a variant's solution did."""
    expects: list[tuple[str, str, str]] = []
    for what, first, last in step.expects:
        if what in ("kept", "cleared"):
            pages = range(int(first), int(last) + 1)
            expects += [("kept" if page in used else "cleared", str(page), str(page)) for page in pages]
        elif what == "=" and first != "some":
            expects.append((what, str(given or "none"), ""))
        else:
            expects.append((what, first, last))
    return replace(step, expects=expects)


def of_rule(test: Test, machine: Machine, steps: list[Step]) -> list[Step]:
    """A script as the solution of the student's rule performs it. Raises LabError if that breaks a rule."""
    policy = str(test.options["policy"])
    orders = "".join(f"{line}\n" for step in steps for line in step.lines)
    words = [str(expected.simulator(machine.reference, policy)), *arguments(test)]
    lines = iter(subprocess.run(words, input=orders, capture_output=True, text=True).stdout.splitlines())
    made = []
    for step in steps:
        given, used = 0, set[int]()
        for order in step.lines:
            answer = next(lines, "{")
            if answer.startswith("{"):
                raise LabError(f"{test.title}: the solution of {policy} ends at `{step.word}`: {answer}", FAILED)
            given, used = read_answer(order, answer)
        made.append(by_rule(step, given, used))
    return made


def expected_of(test: Test, machine: Machine) -> tuple[list[list[Step]], str]:
    """(the scripts with what is expected, the hint)."""
    scripts, rule = scripts_of(test), machine.lab.rule
    if not rule or rule.policy != test.options["policy"] or not machine.rule_tree:
        return scripts, str(test.options.get("hint", ""))
    return [of_rule(test, machine, steps) for steps in scripts], ""


def judge(test: Test, machine: Machine) -> Verdict:
    """All scripts of the test; the first that goes wrong decides."""
    (scripts, hint), made = expected_of(test, machine), machine.build_results[program(test)]
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
            return wrong("\n".join([said, *filter(None, [hint])]))
    return right(f"{sum(map(len, scripts))} steps")
