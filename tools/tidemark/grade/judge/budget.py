"""Budgets: full points up to a multiple of what the reference solution needs, measured in the same tree.

    full, none    the numbers themselves, if no other file of the tree affects them: a string's faults, for instance
    times         [1.05, 1.2]: full points up to 1.05 times the reference's figure, none from 1.2 times on

How often processes take turns, and so what they read again, depends on every file of the kernel, including those of
other labs, which are solutions in an instructor's tree and starters in a student's. So figures that depend on them are
not written into lab.toml. In an instructor's tree the release's own kernel is run, once. A student's release has no
solutions, but has for each visible test the figure that `make release` measured with the starters of all other labs;
there the grader installs these starters, whatever the student has changed in them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidemark.errors import BAD_INPUT, FAILED, LabError
from tidemark.files import sha256, write_atomically
from tidemark.grade.build import object_rules
from tidemark.grade.build.workspace import built_by
from tidemark.grade.judge import expected
from tidemark.grade.model import Outcome, Test
from tidemark.grade.witness.boot import Boot
from tidemark.grade.witness.machine import Machine
from tidemark.machine import image, qemu

CACHE = "build/reference.json"  # of the release: figures measured earlier

writing = threading.Lock()
Figure = Callable[[Test, Machine], float]


def is_relative(test: Test) -> bool:
    """Is its budget a multiple of the reference's figure?"""
    return "times" in test.options


def of_model(test: Test, name: str) -> Test:
    """The test for the reference solution. `name` is the option that names the policy, and so its parameters."""
    options = dict(test.options)
    policy = options.get(name, "")
    model = options.get("like", policy)
    words = [str(word).replace(f"{policy}.", f"{model}.") for word in options.get("set", [])]
    return replace(test, options=options | {name: model, "set": words})


def ended_well(test: Test, boot: Boot) -> Boot:
    """Returns the reference's own run. Raises LabError if it went wrong."""
    if boot.outcome is not Outcome.RIGHT:
        raise LabError(f"{test.title}: the reference solution's run: {boot.reason}", FAILED)
    return boot


def key_of(test: Test, machine: Machine) -> str:
    """A key of everything that a figure depends on."""
    kernel, initrd = (sha256(machine.tree / file) for file in (qemu.KERNEL, qemu.INITRD))
    return json.dumps([kernel, initrd, image.qemu_version(), test.kind, dict(test.options)], sort_keys=True)


def remembered(path: Path) -> dict[str, Any]:
    """The known figures of a release; empty if there is no such file yet."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def of_reference(test: Test, machine: Machine, figure: Figure) -> float:
    """The figure of the kernel with the solutions; measured only once if the release's folder can be written."""
    objects = object_rules.objects(machine.lab)
    own = replace(machine, tree=machine.reference, objects=objects, boots=[], build_results={})
    return float(once(machine.release, key_of(test, own), lambda: figure(test, own)))


def once(release: Path, key: str, measure: Callable[[], Any]) -> Any:
    """The result that is stored for a release under this key. If there is none, measure it, and store it if the
    release's folder can be written."""
    path = release / CACHE
    known = remembered(path)
    if key in known:
        return known[key]
    found = measure()
    with writing, suppress(LabError):
        write_atomically(path, json.dumps(remembered(path) | {key: found}, indent=0))
    return found


def of_another_compiler(test: Test, machine: Machine) -> str:
    """A sentence if a test's limits were measured with another compiler than the one that built this tree. The number
    of instructions depends on it. Empty if not."""
    if machine.has_solutions or not is_relative(test):
        return ""
    measured, here = (*expected.read(machine, test)[1:], "")[0], built_by(machine.release)
    if not measured or measured == here:
        return ""
    return f"the limits were measured with {measured}, and this kernel is built by {here}: only the former is exact"


def limits(test: Test, machine: Machine, figure: Figure) -> tuple[float, float]:
    """(full, none) of a test. Raises LabError if it has no budget, or two."""
    if is_relative(test) == ("full" in test.options) or ("full" in test.options) != ("none" in test.options):
        raise LabError(f"{test.title}: it needs a budget: times, or full and none", BAD_INPUT)
    if not is_relative(test):
        return float(test.options["full"]), float(test.options["none"])
    best = of_reference(test, machine, figure) if machine.has_solutions else float(expected.read(machine, test)[0])
    full, none = test.options["times"]
    return full * best, none * best
