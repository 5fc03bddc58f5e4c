"""Kind `queue`: the run queue by itself, on the host, against the rules of CFS.

A driver (labs/cfs/driver.c) has the student's fair.c, linked into a separate program, perform a string of operations,
and prints the state of the queue after each. tidemark.grade.judge.run_queue has the rules.

Options:
    operations    such as "n0 n5 p t4000 s w1": entity 0 of nice 0 starts, and entity 1 of nice 5; pick; a tick after
                  4000 us; curr sleeps; entity 1 wakes, if it sleeps. y: curr yields; r1,-5: entity 1 gets nice -5; d:
                  damage that fair_check must notice; l3600,19: fair_delta of 3600 s at nice 19. As in the kernel, a
                  pick follows s and y, and the time is charged before n and w. Or a list of such strings, each with a
                  new queue
    random, seed  instead of operations: the number of operations, drawn with this seed
    begin         min_vruntime of the empty queue (default: one that overflows soon)
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidemark.errors import BAD_INPUT, LabError
from tidemark.grade.build import object_rules
from tidemark.grade.build.workspace import tail
from tidemark.grade.judge import driven
from tidemark.grade.judge.driven import LIMIT_S, Wrong
from tidemark.grade.judge.run_queue import (
    NICE_0,
    Model,
    State,
    check_changes,
    check_counts,
    check_least,
    check_tree,
    near,
    next_queue,
    weight,
)
from tidemark.grade.model import Outcome, Test, Verdict, right, wrong
from tidemark.grade.witness.machine import Machine

DRIVER = "build/labs/cfs/driver"
OBJECT = "build/labs/cfs/kernel/sched/fair.o"  # the student's object file in it
BEGIN = (1 << 64) - 30_000_000
MOST_ENTITIES = 12  # of a random string
TICKS = (100, 700, 1000, 2000, 4000, 8000)  # us; of a random string
DAMAGES = (
    "nr_running",
    "the load",
    "the order by vruntime",
    "leftmost",
    "a colour in the tree",
    "on_rq of an entity in the tree",
    "that curr is in the tree as well",
)
WORD = re.compile(r"[psyd]|n-?\d+|[wt]\d+|[rl]\d+,-?\d+")


@dataclass(frozen=True)
class Operation:
    """One operation: `what` (labs/cfs/driver.c), its numbers, and what it is in words."""

    what: str
    numbers: tuple[int, ...]
    said: str

    def __str__(self) -> str:
        return " ".join(map(str, (self.what, *self.numbers)))


PICK, CHARGE = Operation("p", (), "the next entity is picked"), Operation("t", (0,), "a tick after 0 ns")


def check_damage(words: Sequence[str]) -> None:
    """Raises Wrong unless fair_check noticed each damage."""
    if words == ["none"]:
        raise Wrong("the queue has not enough entities, or rb_check finds an error")
    if missed := [kind for kind, word in zip(DAMAGES, words) if word != "found"]:
        raise Wrong(f"fair_check returns 0 although {' and '.join(missed)} is wrong")
    if words[-1] != "content":
        raise Wrong("fair_check is not 0 although the damage was undone, or before it was done")


def check(model: Model, operation: Operation, line: str) -> None:
    """Judge one line of the transcript, and update the model."""
    what, result, *rest = line.split(" ", 2)
    if what == "panic":
        raise Wrong(f"panic: {line.partition(' ')[2]}", Outcome.PANICKED)
    if operation.what == "d":
        return check_damage(line.split()[1:])
    if operation.what == "l":
        ns, own = operation.numbers
        return near(int(result), ns * NICE_0 / own, "fair_delta")
    before, now = model.state, State(**json.loads(rest[0]))
    assert before
    if operation.what in "nr":
        model.weights[operation.numbers[0]] = operation.numbers[1]
        before.vruntimes.extend(now.vruntimes[len(before.vruntimes) :])
    check_changes(model, operation.what, operation.numbers, result, before, now)
    curr, tree = next_queue(operation.what, operation.numbers, result, before, now)
    if now.curr != curr or (operation.what == "p" and int(result) != curr):
        raise Wrong(f"curr is entity {now.curr}; it must be {curr}")
    check_tree(now, tree)
    check_counts(model, now)
    check_least(before, now, operation.what == "t" and curr >= 0)
    model.state = now
    return None


def written(text: str) -> Iterator[Operation]:
    """The operations of "n0 p s". The number of calls of fair_check between damages depends on the string, so a
    function that only counts its calls fails."""
    draw, entities = random.Random(text), 0
    for word in text.split():
        if not WORD.fullmatch(word):
            raise LabError(f"operation {word!r}: there are n0, w0, r0,5, t4000, p, s, y, d and l3600,19", BAD_INPUT)
        what, numbers = word[0], [int(number) for number in word[1:].split(",") if number]
        if what == "n":
            yield from (CHARGE, Operation("n", (entities, weight(numbers[0])), f"entity {entities} starts ({word})"))
            entities += 1
        elif what == "w":
            yield from (CHARGE, Operation("w", tuple(numbers), f"entity {numbers[0]} wakes"))
        elif what in "sy":
            yield from (Operation(what, (), "curr sleeps" if what == "s" else "curr yields"), PICK)
        elif what == "r":
            yield Operation("r", (numbers[0], weight(numbers[1])), f"entity {numbers[0]} gets nice {numbers[1]}")
        elif what == "t":
            yield Operation("t", (numbers[0] * 1000,), f"a tick after {numbers[0]} us")
        elif what == "l":
            yield Operation("l", (numbers[0] * 10**9, weight(numbers[1])), f"{numbers[0]} s at nice {numbers[1]}")
        else:
            yield Operation("d", (draw.getrandbits(14),), "damage") if what == "d" else PICK


def drawn(count: int, seed: int) -> str:
    """A string of random operations."""
    draw, words, nr = random.Random(seed), ["n0"], 1
    for _ in range(count - 1):
        number = draw.random()
        if number < 0.35:
            words.append(f"t{draw.choice(TICKS)}")
        elif number < 0.5:
            words.append("p")
        elif number < 0.7 or (number < 0.8 and nr == MOST_ENTITIES):
            words.append(f"w{draw.randrange(nr)}")
        elif number < 0.8:
            words.append(f"n{draw.randint(-10, 10)}")
            nr += 1
        elif number < 0.85:
            words.append(f"r{draw.randrange(nr)},{draw.randint(-10, 10)}")
        else:
            words.append("s" if number < 0.95 else "y")
    return " ".join(words)


def strings_of(test: Test) -> list[str]:
    """The strings of operations that a test asks for."""
    if "operations" not in test.options:
        if not {"random", "seed"} <= set(test.options):
            raise LabError(f"{test.title}: it needs operations, or random and seed", BAD_INPUT)
        return [drawn(int(test.options["random"]), int(test.options["seed"]))]
    given = test.options["operations"]
    return [given] if isinstance(given, str) else list(given)


def perform(test: Test, machine: Machine, operations: Sequence[Operation]) -> Verdict:
    """Run the driver, and compare its output with the rules."""
    model = Model()

    def begun(line: str) -> None:
        model.state = State(**json.loads(line.split(" ", 2)[2]))
        check_tree(model.state, [])
        check_counts(model, model.state)

    return driven.follow(
        driven.perform(machine, DRIVER, f"b {test.options.get('begin', BEGIN)}", operations, LIMIT_S),
        begun,
        [(step, f"operation {number}, {step.said}") for number, step in enumerate(operations, 1)],
        lambda operation, line: check(model, operation, line),
        lambda run: driven.crash(run, "kernel/sched/", LIMIT_S),
        "the empty queue",
    )


def needs(test: Test) -> tuple[str, ...]:
    """The make target of the driver, which contains the student's run queue."""
    return (DRIVER,)


def judge(test: Test, machine: Machine) -> Verdict:
    """All strings of the test; the first that goes wrong decides."""
    strings = {string: list(written(string)) for string in strings_of(test)}  # reports a mistake in lab.toml first
    made = machine.build_results[DRIVER]
    if made.status:
        return wrong(f"the compiler says:\n{tail(made.err, 20)}", Outcome.NO_BUILD)
    if offences := object_rules.host_offences(machine.tree, machine.lab, OBJECT):
        return wrong("\n".join(offences), Outcome.BROKE_RULE)
    for string, operations in strings.items():
        verdict = perform(test, machine, operations)
        if verdict.outcome is not Outcome.RIGHT:
            begin = f"{string[:60]}{' ...' if len(string) > 60 else ''}: " if len(strings) > 1 else ""
            return wrong(begin + verdict.message, verdict.outcome)
    return right(f"{sum(map(len, strings.values()))} operations")
