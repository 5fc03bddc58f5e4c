"""Grading one submission: lay its files over the release, build, look at the objects, run the tests."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

from tidemark import image, qemu
from tidemark.errors import BAD_INPUT, LabError
from tidemark.files import sha256
from tidemark.grade.build import object_rules, tree
from tidemark.grade.build.sandbox import Sandbox
from tidemark.grade.build.workspace import HostRun, tail
from tidemark.grade.intake import lab
from tidemark.grade.model import Grade, Graded, Lab, Outcome, Test, Verdict, wrong
from tidemark.grade.witness.machine import Machine, suspicions, trespasses

MOST_SOURCE = 1 << 20
KERNEL = (qemu.KERNEL, qemu.INITRD)

Progress = Callable[[Graded], None]


def silent(graded: Graded) -> None:
    """No progress is shown."""


def kind_of(test: Test) -> ModuleType:
    """The module that judges it."""
    return importlib.import_module(f"tidemark.grade.judge.kinds.{test.kind}")


def judge(test: Test, machine: Machine) -> tuple[Verdict, list[str]]:
    """Run one test; and what was noticed. Whatever it came to, code that touched what is not its own gets nothing."""
    machine = replace(machine, boots=[])
    verdict = kind_of(test).judge(test, machine)
    touched = trespasses(machine.boots)
    if touched:
        verdict = wrong("\n".join([*touched, *filter(None, [verdict.message])]), Outcome.BROKE_RULE)
    return verdict, suspicions(machine.boots)


def prepare(machine: Machine) -> None:
    """Make what the tests need, before the first of them begins; whether that worked is theirs to look at."""
    for test in machine.lab.tests:
        for target in getattr(kind_of(test), "needs", lambda test: ())(test):
            if target not in machine.build_results:
                machine.build_results[target] = machine.make(target)


def obstacle(machine: Machine) -> Verdict | None:
    """Build, and look at what was built: what keeps every test from being run, if anything does."""
    missing = [file for file in machine.lab.files if not (machine.tree / file).is_file()]
    if missing:
        return wrong(f"{', '.join(missing)}: not handed in", Outcome.NO_BUILD)
    large = [file for file in machine.lab.files if (machine.tree / file).stat().st_size > MOST_SOURCE]
    if large:
        return wrong(f"{', '.join(large)}: more than {MOST_SOURCE >> 20} MiB", Outcome.NO_BUILD)
    for targets, offences in ((machine.objects, object_rules.offences), (KERNEL, object_rules.kernel_offences)):
        made = machine.make(*targets) if targets else HostRun(0, "", "")
        if made.status:
            return wrong(f"the compiler says:\n{tail(made.err, 20)}", Outcome.NO_BUILD)
        if found := offences(machine.tree, machine.lab):
            return wrong("\n".join(found), Outcome.BROKE_RULE)
    return None


def judged(machine: Machine, jobs: int, progress: Progress) -> tuple[tuple[Graded, ...], list[str]]:
    """All tests, `jobs` at a time, and what was noticed; progress comes in their order."""
    in_the_way = obstacle(machine)
    made, noticed = [], []
    if not in_the_way:
        prepare(machine)
    with ThreadPoolExecutor(jobs) as pool:
        coming = [None if in_the_way else pool.submit(judge, test, machine) for test in machine.lab.tests]
        try:
            for test, future in zip(machine.lab.tests, coming):
                verdict, suspicious = future.result() if future else (in_the_way or wrong(""), [])
                made.append(Graded(test, verdict))
                noticed += suspicious
                progress(made[-1])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return tuple(made), list(dict.fromkeys(noticed))


def described(machine: Machine) -> dict[str, str]:
    """What graded it, and what was graded. No dates: two gradings of the same files are the same bytes."""
    kernel = machine.tree / qemu.KERNEL
    return {
        "release": tree.identity(machine.release),
        "kernel_sha256": sha256(kernel) if kernel.exists() else "",
        "qemu": image.qemu_version(),
        "tidemark": version("tidemark"),
    }


def check_release(release: Path) -> None:
    """LabError when a folder is not a release that has been built."""
    if not (release / qemu.KERNEL).exists() or not (release / "build/plugin/tidemark.so").exists():
        raise LabError(f"{release} has not been built: run `make grade-base` there", BAD_INPUT)


def grade(
    release: Path,
    submission: Path,
    lab_name: str,
    secret: Path | None,
    scratch: Path,
    sandbox: Sandbox,
    remarks: Sequence[str] = (),
    jobs: int = 1,
    progress: Progress = silent,
) -> Grade:
    """Grade a submission's files with the lab `lab_name` of a built `release`.

    `submission` is a tree, or a folder with the lab's files in their places; `secret` a folder of hidden tests;
    `scratch` a folder that may be filled, whose tree/ is made anew; `remarks` what else is to be noted about the
    submission (archive.notes). LabError when it cannot be graded for a reason that is not the student's.
    """
    assignment: Lab = lab.load(release, lab_name, secret)
    check_release(release)
    shutil.rmtree(scratch / "tree", ignore_errors=True)
    shutil.rmtree(scratch / "runs", ignore_errors=True)
    (scratch / "runs").mkdir(parents=True)
    tree.lay(release, assignment, submission, scratch / "tree")
    machine = Machine(
        lab=assignment,
        tree=scratch / "tree",
        release=release,
        scratch=scratch / "runs",
        sandbox=sandbox,
        objects=object_rules.objects(assignment),
    )
    tests, noticed = judged(machine, jobs, progress)
    notes = (*remarks, *noticed)
    return Grade(assignment.name, assignment.title, tests, notes, described(machine))
