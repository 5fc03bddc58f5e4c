"""The decisions of a policy on a string: those of the release's own policy, the reference solution, in the simulator.

A student's release has no solutions. There, visible tests take their expectations from labs/NAME/expected, which `make
release` wrote.
"""

from __future__ import annotations

import functools
import json
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tidemark.errors import BAD_INPUT, LabError
from tidemark.grade.build.workspace import built_by, make_trusted
from tidemark.grade.model import Lab, Test
from tidemark.grade.witness import playback
from tidemark.grade.witness.machine import Machine
from tidemark.strings import explain, vmsim
from tidemark.strings.refstrings import Given

FOLDER = "expected"
VICTIMS, FAULTS = "victims", "faults"  # the kinds of tests with such expectations

building = threading.Lock()


@dataclass(frozen=True)
class Decision:
    """A policy's decision at one reference: a hit, or a fault that evicts `victim` (None: a frame was free).
    `lists`: name to pages, before the reference; `used`: the pages whose accessed bit was set then.
    """

    page: int
    hit: bool
    victim: int | None
    lists: dict[str, tuple[int, ...]]
    used: frozenset[int] = frozenset()


@functools.cache
def built(tree: Path, policy: str) -> Path:
    """The simulator of a policy of a trusted tree, built if necessary. One caller at a time. Raises LabError if it does
    not compile.
    """
    target = f"build/vmsim/{policy}.fast"
    make_trusted(tree, target)
    return tree / target


def simulator(tree: Path, policy: str) -> Path:
    """As `built`, but threads that ask at the same time wait for one build."""
    with building:
        return built(tree, policy)


def decisions_of(rows: Sequence[dict[str, Any]], program: Path | None) -> list[Decision]:
    """Decisions, with the state before each reference, from the simulator's rows, which have the state afterwards. If
    `program` is given, lists have the names that they have in it.
    """
    named = explain.named(rows, program) if program else list(rows)
    before = [{"lists": {}, "used": []}, *named[:-1]]
    return [
        Decision(
            page=row["page"],
            hit=row["result"] != "fault",
            victim=next((hook["gave"] for hook in row["hooks"] if hook.get("act") == "evict"), None),
            lists={name: tuple(pages) for name, pages in was["lists"].items()},
            used=frozenset(was["used"]),
        )
        for was, row in zip(before, named)
    ]


def simulated(
    program: Path, pages: Sequence[int], frames: int, parameters: Iterable[str], names: bool = True
) -> list[Decision]:
    """The decisions of a policy's simulator, a trusted program; `names`: with the names of lists."""
    rows: list[dict[str, Any]] = []
    vmsim.run(program, Given("the string", np.array(pages, np.uint32), 0), frames, parameters, rows.append)
    return decisions_of(rows, program if names else None)


def options_of(test: Test) -> tuple[str, int, list[str]]:
    """(policy, frames, parameters) of a test."""
    return str(test.options["policy"]), int(test.options["frames"]), list(test.options.get("set", []))


def model_of(test: Test) -> str:
    """The policy whose decisions are right."""
    return str(test.options.get("like", test.options["policy"]))


@functools.lru_cache
def decided(
    tree: Path, policy: str, pages: tuple[int, ...], frames: int, parameters: tuple[str, ...], names: bool
) -> list[Decision]:
    """The decisions of a policy of the tree on a string. The prefix is played, too, but left out of the result."""
    prefix = playback.prefix_of(pages, frames)
    return simulated(simulator(tree, policy), (*prefix, *pages), frames, parameters, names)[len(prefix) :]


def decided_by(
    tree: Path, policy: str, test: Test, parameters: Iterable[str] = (), names: bool = True
) -> list[Decision]:
    """As `decided`, for a test's string."""
    return decided(tree, policy, playback.pages_of(test), int(test.options["frames"]), tuple(parameters), names)


def of_reference(tree: Path, test: Test, names: bool = True) -> list[Decision]:
    """The expected decisions of a test of the kind `victims`; `names`: with the names of lists."""
    return decided_by(tree, model_of(test), test, options_of(test)[2], names)


def read_again(decisions: Sequence[Decision]) -> list[int]:
    """The indices of references at which a page is read that had been in memory before."""
    known: set[int] = set()
    found = []
    for at, decision in enumerate(decisions):
        if not decision.hit and decision.page in known:
            found.append(at)
        known.add(decision.page)
    return found


def is_compared(test: Test) -> bool:
    """Is the test compared with a solution's decisions on its string?"""
    return test.kind in (VICTIMS, FAULTS) and "string" in test.options


def file_of(folder: Path, test: Test) -> Path:
    """The file in a lab's folder with the expectations of a visible test."""
    return folder / FOLDER / (re.sub(r"\W+", "-", test.title.lower()).strip("-") + ".json")


def read(machine: Machine, test: Test) -> list[Any]:
    """The expectations of a test in a student's release. Raises LabError if there are none."""
    path = file_of(machine.lab.folder, test)
    if not path.is_file():
        raise LabError(f"{path} is missing; the release that you were given has it", BAD_INPUT)
    rows = json.loads(path.read_text())
    assert isinstance(rows, list)
    return rows


def decisions(machine: Machine, test: Test, names: bool = True) -> list[Decision]:
    """The expected decisions of a test of the kind `victims`, one for each reference of its string. Raises LabError if
    a student's release lacks them. `names`: the lists must have their names.
    """
    if machine.has_solutions:
        return of_reference(machine.reference, test, names)
    return [from_json(row) for row in read(machine, test)]


def read_again_by_fifo(machine: Machine, test: Test) -> list[int]:
    """The indices of references at which FIFO reads a page again, for a test of the kind `faults`, as a comparison."""
    if machine.has_solutions:
        return read_again(decided_by(machine.release, "fifo", test))
    return [int(at) for at in read(machine, test)]


def to_json(decision: Decision) -> list[Any]:
    """A decision as a row of a file."""
    return [decision.page, decision.hit, decision.victim, decision.lists, sorted(decision.used)]


def from_json(row: Sequence[Any]) -> Decision:
    """The decision in a row that to_json made."""
    page, hit, victim, lists, used = row
    return Decision(page, hit, victim, {name: tuple(pages) for name, pages in lists.items()}, frozenset(used))


def rows_of(tree: Path, test: Test) -> list[Any]:
    """The expectations of a test that a student's release must have, as JSON values; empty if it needs none."""
    if test.hidden or not is_compared(test):
        return []
    if test.kind == VICTIMS:
        return [to_json(decision) for decision in of_reference(tree, test)]
    return read_again(decided_by(tree, "fifo", test))


def write(folder: Path, lab: Lab, figures: Mapping[str, float]) -> None:
    """Write the expectations of the visible tests of `lab`, in the instructor's tree, into `folder`, which is the lab's
    folder in the students' release. `figures`: by title, for tests with a relative budget. Each is followed by the
    compiler with which it was measured.
    """
    for test in lab.tests:
        tree = lab.folder.parents[1]
        rows = [figures[test.title], built_by(tree)] if test.title in figures else rows_of(tree, test)
        if rows:
            path = file_of(folder, test)
            path.parent.mkdir(exist_ok=True)
            path.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
