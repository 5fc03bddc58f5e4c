"""Budgets: full points up to so many times what the reference solution needs, measured in the same tree.

    full, none    the numbers themselves, where no other file of the tree plays a part: a string's faults, for instance
    times         [1.05, 1.2]: full points up to 1.05 times the reference's figure, none from 1.2 times on

How often processes take turns, and so what they read again, hangs on every file of the kernel: also on those of other
labs, which are solutions in an instructor's tree and starters in a student's. So figures that do are not written into
lab.toml. In an instructor's tree the release's own kernel is run, once. A student's release has no solutions, but for
each visible test the figure that `make release` measured with the starters of all other labs; and there the grader
lays these, whatever the student has made of them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidemark import image, qemu
from tidemark.errors import BAD_INPUT, FAILED, LabError
from tidemark.files import sha256, write_atomically
from tidemark.grade.build import object_rules
from tidemark.grade.judge import expected
from tidemark.grade.model import Outcome, Test
from tidemark.grade.witness.boot import Boot
from tidemark.grade.witness.machine import Machine

CACHE = "build/reference.json"  # of the release: figures that were measured before

writing = threading.Lock()
Figure = Callable[[Test, Machine], float]


def is_relative(test: Test) -> bool:
    """Is its budget a multiple of the reference's figure?"""
    return "times" in test.options


def of_model(test: Test, name: str) -> Test:
    """The test as it is put to the reference: `name` is the option that says whose policy it is."""
    options = dict(test.options)
    return replace(test, options=options | {name: options.get("like", options.get(name, ""))})


def ended_well(test: Test, boot: Boot) -> Boot:
    """LabError when the reference's own run went wrong."""
    if boot.outcome is not Outcome.RIGHT:
        raise LabError(f"{test.title}: the reference solution's run: {boot.reason}", FAILED)
    return boot


def key_of(test: Test, machine: Machine) -> str:
    """What a figure depends on."""
    kernel, initrd = (sha256(machine.tree / file) for file in (qemu.KERNEL, qemu.INITRD))
    return json.dumps([kernel, initrd, image.qemu_version(), test.kind, dict(test.options)], sort_keys=True)


def remembered(path: Path) -> dict[str, Any]:
    """The figures of a release that are known; none when there is no such file yet."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def of_reference(test: Test, machine: Machine, figure: Figure) -> float:
    """The figure of the release's own kernel; measured once, if the release's folder can be written."""
    objects = object_rules.objects(machine.lab)
    own = replace(machine, tree=machine.release, objects=objects, boots=[], build_results={})
    return float(once(machine.release, key_of(test, own), lambda: figure(test, own)))


def once(release: Path, key: str, measure: Callable[[], Any]) -> Any:
    """What was measured before of a release under this key; if nothing was, measure it, and keep it, if the release's
    folder can be written."""
    path = release / CACHE
    known = remembered(path)
    if key in known:
        return known[key]
    found = measure()
    with writing, suppress(LabError):
        write_atomically(path, json.dumps(remembered(path) | {key: found}, indent=0))
    return found


def limits(test: Test, machine: Machine, figure: Figure) -> tuple[float, float]:
    """(full, none) of a test. LabError when it has no budget, or two."""
    if is_relative(test) == ("full" in test.options) or ("full" in test.options) != ("none" in test.options):
        raise LabError(f"{test.title}: it needs a budget: times, or full and none", BAD_INPUT)
    if not is_relative(test):
        return float(test.options["full"]), float(test.options["none"])
    best = of_reference(test, machine, figure) if machine.has_solutions else float(expected.read(machine, test)[0])
    full, none = test.options["times"]
    return full * best, none * best
