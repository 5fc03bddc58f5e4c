"""What a policy decides on a string: from a textbook's model where there is one, else from the reference solution.

A reference solution runs in the simulator. A student's release has none; there the decisions that visible tests expect
are read from labs/NAME/expected, which `make release` wrote.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from tidemark import explain, vmsim
from tidemark.errors import BAD_INPUT, FAILED, LabError
from tidemark.grade.judge.oracle import ORACLES, Decision
from tidemark.grade.model import Lab, Test
from tidemark.grade.witness import playback
from tidemark.grade.witness.machine import Machine
from tidemark.strings import Given

FOLDER = "expected"
KIND = "victims"


def simulator(tree: Path, policy: str) -> Path:
    """The simulator of a policy of a tree that can be trusted, built if need be, by one at a time. LabError when it
    does not compile.
    """
    target = f"build/vmsim/{policy}.fast"
    command = ["make", "--no-print-directory", "--silent", target]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    folder = os.open(tree / "build", os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        made = subprocess.run(command, cwd=tree, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    finally:
        os.close(folder)
    if made.returncode:
        raise LabError(f"{tree}: make {target} fails:\n{made.stderr.strip()}", FAILED)
    return tree / target


def decisions_of(rows: Sequence[dict], program: Path) -> list[Decision]:
    """The simulator's rows, which say how things are afterwards, as decisions, which say how they were before."""
    named = explain.named(rows, program)
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


def simulated(program: Path, pages: Sequence[int], frames: int, parameters: Iterable[str]) -> list[Decision]:
    """The decisions of a policy's simulator, a program that can be trusted."""
    rows: list[dict] = []
    vmsim.run(program, Given("the string", np.array(pages, np.uint32), 0), frames, parameters, rows.append)
    return decisions_of(rows, program)


def options_of(test: Test) -> tuple[str, int, list[str]]:
    """(policy, frames, parameters) of a test."""
    return str(test.options["policy"]), int(test.options["frames"]), list(test.options.get("set", []))


def model_of(test: Test) -> str:
    """The policy whose decisions are right."""
    return str(test.options.get("like", test.options["policy"]))


def of_reference(tree: Path, test: Test) -> list[Decision]:
    """What the tree's own policy decides on the string of a test; the prefix is played, too, and left out."""
    _, frames, parameters = options_of(test)
    pages = playback.pages_of(test)
    prefix = playback.prefix_of(pages, frames)
    return simulated(simulator(tree, model_of(test)), (*prefix, *pages), frames, parameters)[len(prefix) :]


def of_oracle(test: Test) -> list[Decision]:
    """The same by a textbook's model."""
    _, frames, _ = options_of(test)
    pages = playback.pages_of(test)
    prefix = playback.prefix_of(pages, frames)
    return ORACLES[model_of(test)]((*prefix, *pages), frames)[len(prefix) :]


def file_of(folder: Path, test: Test) -> Path:
    """Where a lab's folder keeps what a visible test expects."""
    return folder / FOLDER / (re.sub(r"\W+", "-", test.title.lower()).strip("-") + ".json")


def decisions(machine: Machine, test: Test) -> list[Decision]:
    """What is right for a test of the kind `victims`: one decision for each reference of its string. LabError when a
    student's release does not have it.
    """
    if model_of(test) in ORACLES:
        return of_oracle(test)
    if machine.has_solutions:
        return of_reference(machine.release, test)
    path = file_of(machine.lab.folder, test)
    if not path.is_file():
        raise LabError(f"{path} is missing; the release that you were given has it", BAD_INPUT)
    return [from_json(row) for row in json.loads(path.read_text())]


def to_json(decision: Decision) -> list:
    """A decision as a row of a file."""
    return [decision.page, decision.hit, decision.victim, decision.lists, sorted(decision.used)]


def from_json(row: Sequence) -> Decision:
    """What to_json wrote."""
    page, hit, victim, lists, used = row
    return Decision(page, hit, victim, {name: tuple(pages) for name, pages in lists.items()}, frozenset(used))


def write(folder: Path, lab: Lab) -> None:
    """Write what the visible tests of `lab`, in the instructor's tree, expect into `folder`, which is the lab's in the
    students' release. Only tests that are held against a reference solution have anything to be written.
    """
    for test in lab.tests:
        if test.hidden or test.kind != KIND or model_of(test) in ORACLES:
            continue
        path = file_of(folder, test)
        path.parent.mkdir(exist_ok=True)
        rows = map(json.dumps, map(to_json, of_reference(lab.folder.parents[1], test)))
        path.write_text("[\n" + ",\n".join(rows) + "\n]\n")
