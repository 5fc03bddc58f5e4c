"""Kind `paging`: the frame of each page, and when frames are cleared and copied.

The workload `pages` performs a script of single accesses, one at a time, in a family of processes
(user/workloads/pages.c has the notation). The plugin reports the frame of each access, and the frames that were
cleared and copied meanwhile. The expected frames follow from the script alone (tidemark.grade.judge.fork_model).

Options:
    script            "0 m 0 9; 0 w 5; ...". Or drawn by a seed:
    seed, operations  the number of operations,
    pages             the number of pages that they use, and
    processes         the number of processes (1), which fork and end. Or, for tables:
    areas, rounds     in each round, map a page in each of `areas` ranges of page tables, write them, and unmap them
                      again. Tables, and frames cleared for them, are then counted
    needless          "clears copies" (default): these are wrong if they are not needed. "copies": frames may be
                      cleared before they are wanted. "": in addition the last owner of a frame may copy it
    mem               the machine's memory, "16M"
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from tidemark.errors import BAD_INPUT, LabError
from tidemark.grade.build.workspace import tail
from tidemark.grade.judge.fork_model import PAGES_PER_TABLE, Family, Operation, Step, Wrong, steps_of, torn_fork
from tidemark.grade.model import Outcome, Test, Verdict, right, wrong
from tidemark.grade.witness.boot import Boot
from tidemark.grade.witness.machine import Machine

SUMMARY = "\n  PID COMMAND"
BUDGET = 200_000_000  # instructions of a run; the solution needs 14 million
NEEDLESS = ("clears copies", "clears", "copies", "")


def parsed(text: str) -> list[Operation]:
    """The operations of "0 m 0 9; 0 w 5". Raises LabError if one is malformed, or of a process that does not exist."""
    made: list[Operation] = []
    alive = {0}
    for line in filter(str.strip, text.split(";")):
        match = re.fullmatch(r"\s*(\d) ([mu] \d+|[rwkfx]) (\d+)\s*", line)
        if not match or int(match[1]) not in alive:
            raise LabError(
                f"operation {line!r}: write P m|u FIRST LAST, P r|w|k PAGE, P f|x CHILD; P is alive", BAD_INPUT
            )
        verb, *first = match[2].split()
        numbers = [int(number) for number in (*first, match[3])]
        alive = alive | {numbers[0]} if verb == "f" else alive - {numbers[0]} if verb == "x" else alive
        made.append(Operation(len(made) + 1, int(match[1]), verb, *numbers))
    return made


def drawn(seed: int, count: int, pages: int, processes: int) -> list[Operation]:
    """A random script. All processes are created in its first half, each of them once."""
    numbers, parent = random.Random(seed), {0: 0}
    made = [Operation(1, 0, "m", 0, pages - 1)]
    unborn = list(range(processes - 1, 0, -1))
    while len(made) < count:
        process, page, chance = numbers.choice(sorted(parent)), int(numbers.random() * pages), numbers.random()
        childless = [one for one in parent if one and one not in parent.values()]
        early, place = len(made) < count / 2, len(made) + 1
        if early and unborn and chance < 0.1:
            parent[unborn[-1]] = process
            operation = Operation(place, process, "f", unborn.pop())
        elif not early and childless and chance < 0.05:
            ending = numbers.choice(childless)
            operation = Operation(place, parent.pop(ending), "x", ending)
        elif 0.1 <= chance < 0.15:
            last = min(pages - 1, page + int(numbers.random() * 3))
            operation = Operation(place, process, "m", page, last)
        else:
            operation = Operation(place, process, numbers.choice("rrrwwwk"), page)
        made.append(operation)
    return made


def in_areas(areas: int, rounds: int) -> list[Operation]:
    """Operations on single pages, each in another table's range: map, write and unmap."""
    lines: list[tuple[str, int]] = []
    for at in range(rounds):
        pages = [area * PAGES_PER_TABLE + (37 * area + 5 * at) % PAGES_PER_TABLE for area in range(areas)]
        lines += [(verb, page) for page in pages for verb in "mw"] + [("u", page) for page in pages]
    return [Operation(place, 0, verb, page, page) for place, (verb, page) in enumerate(lines, 1)]


def script_of(test: Test) -> list[Operation]:
    """The script of a test."""
    o = test.options
    if "script" in o:
        return parsed(str(o["script"]))
    if "areas" in o:
        return in_areas(int(o["areas"]), int(o["rounds"]))
    return drawn(int(o["seed"]), int(o["operations"]), int(o["pages"]), int(o.get("processes", 1)))


def lines_of(script: list[Operation]) -> Iterator[str]:
    """The script in the workload's format. A write stores its place in it; a read is given the expected value."""
    values: dict[int, dict[int, int]] = {0: {}}
    for one in script:
        mine, second = values[one.process], one.second
        if one.verb in "mu":
            mine.update(dict.fromkeys(range(one.first, one.second + 1), 0))
        elif one.verb in "wk":
            second = mine[one.first] = one.place
        elif one.verb == "r":
            second = mine[one.first]
        elif one.verb == "f":
            values[one.first] = dict(mine)
        yield f"{one.process} {one.verb} {one.first} {second}\n"


def difference(script: list[Operation], steps: list[Step], family: Family) -> str:
    """The first difference between the model and what was observed; "" if there is none."""
    for one, step in zip(script, steps):
        try:
            family.follow(one, step)
        except Wrong as error:
            return f"{one}: {error}"
    return ""


def said(run: Boot) -> str:
    """How a run ended, and the console before the summary."""
    return f"{run.reason}\n{tail(run.console.split(SUMMARY)[0])}"


def unfinished(script: list[Operation], steps: list[Step], run: Boot) -> str:
    """Why a run may have ended before its script did."""
    began = f"{script[len(steps)]}: it never got that far" if steps else "the workload did not begin"
    return "\n".join(filter(None, [began, torn_fork(run.evidence), said(run)]))


def judge(test: Test, machine: Machine) -> Verdict:
    """Run the script, and compare every page with the model."""
    script, needless = script_of(test), test.options.get("needless", NEEDLESS[0])
    if needless not in NEEDLESS:
        raise LabError(
            f"{test.title}: needless = {needless!r}; it is one of {', '.join(map(repr, NEEDLESS))}", BAD_INPUT
        )
    mem, tables = str(test.options.get("mem", "16M")), "areas" in test.options
    files = {"ops": "".join(lines_of(script)).encode()}
    run = machine.boot("pages", files, mem=mem, tables=tables, budget=BUDGET)
    steps = steps_of(run.evidence, script)
    text = difference(script, steps, Family("clears" in needless, "copies" in needless, tables))
    if not text and len(steps) < len(script):
        text = unfinished(script, steps, run)
    if not text and run.outcome is Outcome.RIGHT:
        return right(f"{len(script)} operations")
    bad = run.outcome if run.outcome is not Outcome.RIGHT else Outcome.WRONG
    return wrong(text or said(run), bad)
