"""The change that a student's file gets, drawn from the course's secret, the lab and the submission's name.

Changes of the lines that the student wrote are tried in drawn order. The first one is taken that compiles, and whose
first failure is visible (first_failure.py). Everything of the student's runs in the grader's sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tidemark.errors import BAD_INPUT, LabError
from tidemark.grade.build import object_rules, starters
from tidemark.grade.judge.broken import first_failure, own_lines
from tidemark.grade.judge.broken.first_failure import Failure
from tidemark.grade.judge.broken.own_lines import Change
from tidemark.grade.judge.quiz.personal import draw_for
from tidemark.grade.model import Lab, Personal, Test
from tidemark.grade.witness.machine import Machine

SCHEMA = "tidemark-break/1"
MOST_TRIED = 60  # changes; each is a build of one file


@dataclass(frozen=True)
class Broken:
    """A student's changed file: its text before the change, the change, the tests that the student chooses from, all
    of which the file passes without the change, and the first that then fails."""

    source: str
    change: Change
    tests: tuple[Test, ...]
    failure: Failure


def check_lab(lab: Lab) -> None:
    """Raises LabError if no test of the lab can be asked about."""
    if not any(map(first_failure.can_be_asked, lab.tests)):
        said = "it has no test of the kind victims with a string that can be followed on paper"
        raise LabError(f"lab {lab.name} has no Break my code: {said}", BAD_INPUT)


def file_of(lab: Lab, test: Test) -> str:
    """The file with the policy of a test."""
    return lab.files_of(test)[0]


def check_files(machine: Machine) -> None:
    """Raises LabError if the submission's files do not compile, or break a rule that holds before they may run."""
    made = machine.make(*machine.objects)
    if made.status:
        lines = made.err.strip().splitlines() or ["no message"]
        first = next((line for line in lines if "error" in line), lines[-1])
        raise LabError(f"it does not compile: {first.strip()}", BAD_INPUT)
    for file, said in object_rules.offences(machine.tree, machine.lab).items():
        raise LabError(f"{file}: {' '.join(said[0].split())}", BAD_INPUT)


def asked(machine: Machine, file: str) -> list[Test]:
    """The tests about a file of the submission that can be asked about, and that it passes."""
    tests = [test for test in machine.lab.tests if first_failure.can_be_asked(test)]
    tests = [test for test in tests if file_of(machine.lab, test) == file]
    if not tests or not (machine.tree / file).is_file() or not first_failure.build(machine, tests[0]):
        return []
    return first_failure.passed(machine, tests)


def shuffled(changes: Sequence[Change], below: Callable[[int], int]) -> list[Change]:
    """The changes in drawn order."""
    left, order = list(changes), []
    while left:
        order.append(left.pop(below(len(left))))
    return order


def tried(machine: Machine, source: str, change: Change, tests: Sequence[Test]) -> Failure | None:
    """The first visible failure of a file with a change; None if there is none. The file is as before afterwards."""
    path = machine.tree / change.file
    path.write_text(change.applied(source))
    try:
        return first_failure.of(machine, tests) if first_failure.build(machine, tests[0]) else None
    finally:
        path.write_text(source)


def sources(machine: Machine, files: Mapping[str, Sequence[Test]]) -> dict[str, str]:
    """The texts of these files of the submission."""
    return {file: (machine.tree / file).read_text(errors="replace") for file in files}


def of(machine: Machine, personal: Personal) -> Broken:
    """The drawn change of the submission in a machine's tree, with its key. Raises LabError, which says why there is
    none."""
    check_files(machine)
    lab = machine.lab
    tests = {file: found for file in lab.sources if (found := asked(machine, file))}
    if not tests:
        raise LabError("its files pass none of the tests that can be asked about", BAD_INPUT)
    texts = sources(machine, tests)
    changes = [
        change
        for file, source in texts.items()
        for change in own_lines.possible(file, source, (starters.of(lab.folder, file) or b"").decode())
    ]
    if not changes:
        raise LabError("it has no line that its student wrote and that can be changed", BAD_INPUT)
    for change in shuffled(changes, draw_for(personal, SCHEMA, lab.name).below)[:MOST_TRIED]:
        failure = tried(machine, texts[change.file], change, tests[change.file])
        if failure:
            return Broken(texts[change.file], change, tuple(tests[change.file]), failure)
    raise LabError(
        f"of {min(len(changes), MOST_TRIED)} changes to its lines none has a visible first failure", BAD_INPUT
    )
