"""Grading one submission: install its files over the release, build, check the objects, run the tests."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

from tidemark.errors import LabError
from tidemark.files import sha256
from tidemark.grade import reference
from tidemark.grade.build import object_rules, starters, tree
from tidemark.grade.build.sandbox import Sandbox
from tidemark.grade.build.workspace import HostRun, built_by, check_release, tail
from tidemark.grade.intake import choice, lab, rules
from tidemark.grade.model import Grade, Graded, Lab, Outcome, Test, Verdict, wrong
from tidemark.grade.witness import to_debug
from tidemark.grade.witness.machine import Machine, suspicions, trespasses
from tidemark.machine import image, qemu

MOST_SOURCE = 1 << 20
KERNEL = (qemu.KERNEL, qemu.INITRD)

NO_QUIZ = "the quiz is not in this score: at home it is practice; it gives points only under supervision"
SEE = "the reason is told with the test {!r}"
Progress = Callable[[Graded], None]


@dataclass(frozen=True)
class Request:
    """What is graded: a submission's files, in the tree of a built `release`, with the tests of a lab.

    `submission` is a tree, or a folder with the lab's files in their places; `secret` a folder of hidden tests;
    `student` its author: without a name no quiz is graded; `rule_of` the student whose variant of the rule is graded,
    if the lab has rules per student: without a name it is the plain lab; `only` one test's number or a part of its
    title (choice.of_tests); `remarks` notes about the submission (archive.take), which the grade repeats.
    """

    release: Path
    submission: Path
    lab: str
    secret: Path | None = None
    student: str = ""
    rule_of: str = ""
    only: str = ""
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Host:
    """Where it is graded: `scratch` is a folder that may be filled, whose tree/ is made anew; the student's code runs
    in `sandbox`, and `jobs` tests run at a time; `keep` is a folder, made anew, for runs that go wrong."""

    scratch: Path
    sandbox: Sandbox
    jobs: int = 1
    keep: Path | None = None


def silent(graded: Graded) -> None:
    """Show no progress."""


def kind_of(test: Test) -> ModuleType:
    """The module that judges a test."""
    return importlib.import_module(f"tidemark.grade.judge.kinds.{test.kind}")


def judge(test: Test, machine: Machine) -> tuple[Verdict, list[str]]:
    """Run one test; returns (verdict, notes). Code with forbidden accesses gets no points, whatever the result."""
    keep = machine.keep and machine.keep / f"{machine.lab.name}-{machine.lab.tests.index(test) + 1}"
    machine = replace(machine, boots=[], keep=keep)
    verdict = kind_of(test).judge(test, machine)
    touched = trespasses(machine.boots)
    if touched:
        verdict = wrong("\n".join([*touched, *filter(None, [verdict.message])]), Outcome.BROKE_RULE)
        verdict = replace(verdict, place="")
    said = how_to_debug(test, machine, verdict)
    noticed = suspicions(machine.boots, test.hidden)
    return replace(verdict, message=f"{verdict.message}\n{said}") if said else verdict, noticed


def how_to_debug(test: Test, machine: Machine, verdict: Verdict) -> str:
    """The command that puts gdb at the place of the error, if that is known; or how to get it if no runs are kept."""
    went_wrong = [run for run in machine.boots if verdict.place or run.went_wrong or run.evidence.breaches]
    said = ""
    if verdict.outcome is not Outcome.RIGHT and went_wrong:
        run = went_wrong[0]
        place = verdict.place or (run.evidence.breaches[0].place if run.evidence.breaches else "")
        if run.left:
            said = to_debug.keep(machine, run.left, place)
        elif not machine.keep and not test.hidden:
            again = f'make grade LAB={machine.lab.name} TEST="{test.title}"'
            said = f"`{again}` in your tree keeps this run, and prints the command that puts gdb there."
    for each in machine.boots:
        if each.left:
            each.left.remove()
    return said


def foresee(test: Test, machine: Machine) -> None:
    """Compute what a test expects during the build. Errors are ignored: they occur again when the test runs."""
    with suppress(LabError):
        getattr(kind_of(test), "foresee", lambda test, machine: None)(test, machine)


def needs(machine: Machine, tests: Iterable[Test]) -> list[str]:
    """The make targets that these tests need and that have not been made yet."""
    wanted = [target for test in tests for target in getattr(kind_of(test), "needs", lambda test: ())(test)]
    return [target for target in dict.fromkeys(wanted) if target not in machine.build_results]


def prepare(machine: Machine, tests: Iterable[Test], more: Sequence[str] = ()) -> HostRun:
    """Make what these tests need, before the first of them begins; the tests check whether that worked. All is made at
    once, with `more`; if that fails, one by one, for separate messages. Returns the result for `more`."""
    targets = needs(machine, tests)
    together = machine.make(*more, *targets) if more or targets else HostRun(0, "", "")
    made = machine.make(*more) if more and together.status else together
    if not made.status:
        for target in targets:
            machine.build_results[target] = machine.make(target) if together.status else together
    return made


def stand_in(machine: Machine, file: str) -> None:
    """Replace a student's unusable file by the starter's, so that the student's other files can still be tested."""
    tree.leave_behind(machine.tree, file)
    start = starters.of(machine.lab.folder, file)
    if start is not None:
        tree.lay_starters(machine.tree, {file: start})


def does_not_compile(made: HostRun) -> Verdict:
    """The verdict on a failed build."""
    return wrong(f"the compiler says:\n{tail(made.err, 20)}", Outcome.NO_BUILD)


def not_usable(machine: Machine) -> dict[str, Verdict]:
    """Compile the lab's files; by file, the verdict that prevents its tests. Starters replace these files."""
    found: dict[str, Verdict] = {}
    for file in machine.lab.sources:
        path = machine.tree / file
        if not path.is_file():
            found[file] = wrong(f"{file} is missing", Outcome.MISSING)
        elif path.stat().st_size > MOST_SOURCE:
            found[file] = wrong(f"{file}: more than {MOST_SOURCE >> 20} MiB", Outcome.NO_BUILD)
    for file in found:
        stand_in(machine, file)
    made = machine.make(*machine.objects) if machine.objects else HostRun(0, "", "")
    for file in machine.lab.sources if made.status else ():
        compiled = machine.make(f"build/{Path(file).with_suffix('.o')}") if file.endswith(".c") else made
        if file.endswith(".c") and compiled.status and file not in found:
            found[file] = does_not_compile(compiled)
            stand_in(machine, file)
    return found


def build(machine: Machine, tests: Sequence[Test], compiled: bool) -> tuple[Verdict | None, object_rules.Offences]:
    """Build the objects, unless `compiled`, then the kernel and what `tests` need, and check them. Returns the verdict
    that prevents every test, or None, and the rules that files violate."""
    made = machine.make(*machine.objects) if machine.objects and not compiled else HostRun(0, "", "")
    if made.status:
        return does_not_compile(made), {}
    if found := object_rules.offences(machine.tree, machine.lab):
        return None, found
    machine.build_results.clear()
    made = prepare(machine, tests, KERNEL)
    if made.status:
        return does_not_compile(made), {}
    return None, object_rules.kernel_offences(machine.tree, machine.lab)


def obstacles(machine: Machine) -> list[Verdict | None]:
    """For each test, the verdict that prevents it; None if nothing does, and what it needs has been made. A file that
    violates a rule is replaced by its starter, and costs only its own tests."""
    unusable, lab = not_usable(machine), machine.lab
    compiled = not unusable
    while True:
        usable = [test for test in lab.tests if not unusable.keys() & set(lab.files_of(test))]
        failed, refused = build(machine, usable, compiled)
        for file, texts in refused.items():
            unusable[file] = wrong("\n".join(texts), Outcome.BROKE_RULE)
            stand_in(machine, file)
        compiled = False
        if not refused or all(unusable.keys() & set(lab.files_of(test)) for test in usable):
            break

    def hinders(test: Test) -> Verdict | None:
        if lab.files_of(test) == (lab.quiz_answers,):
            return None
        return next((unusable[file] for file in lab.files_of(test) if file in unusable), failed)

    return told_once(lab.tests, [hinders(test) for test in lab.tests])


def told_once(tests: Sequence[Test], hinder: Sequence[Verdict | None]) -> list[Verdict | None]:
    """The verdicts with a message of several lines only for the first of the tests that it prevents."""
    first: dict[str, str] = {}
    told: list[Verdict | None] = []
    for test, verdict in zip(tests, hinder):
        said = verdict.message if verdict else ""
        title = first.setdefault(said, test.title)
        repeats = verdict and "\n" in said and title != test.title
        told.append(replace(verdict, message=SEE.format(title)) if verdict and repeats else verdict)
    return told


def longest_first(tests: Sequence[Test]) -> list[int]:
    """The indices of tests, those with runs of programs before those with strings, so that no long test begins last."""
    return sorted(range(len(tests)), key=lambda at: "run" not in tests[at].options)


def judged(machine: Machine, jobs: int, progress: Progress) -> tuple[tuple[Graded, ...], list[str]]:
    """(all tests graded, `jobs` at a time; notes). `progress` is called in the order of the tests."""
    made, noticed, tests = [], [], machine.lab.tests
    with ThreadPoolExecutor(jobs) as pool:
        try:
            for test in tests:
                pool.submit(foresee, test, machine)
            hinder = obstacles(machine)
            coming = {at: hinder[at] or pool.submit(judge, tests[at], machine) for at in longest_first(tests)}
            for at, test in enumerate(tests):
                found = coming[at]
                verdict, suspicious = (found, []) if isinstance(found, Verdict) else found.result()
                made.append(Graded(test, verdict))
                noticed += suspicious
                progress(made[-1])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return tuple(made), list(dict.fromkeys(noticed))


def described(machine: Machine) -> dict[str, str]:
    """What graded, and what was graded. There are no dates: two gradings of the same files are the same bytes."""
    kernel = machine.tree / qemu.KERNEL
    return {
        "release": tree.identity(machine.release),
        "kernel_sha256": sha256(kernel) if kernel.exists() else "",
        "qemu": image.qemu_version(),
        "compiler": built_by(machine.release),
        "tidemark": version("tidemark"),
    } | ({"rule": machine.lab.rule.name} if machine.lab.rule else {})


def about_quiz(request: Request, loaded: Lab) -> list[str]:
    """A note if the course has this lab's quiz, and it is not graded."""
    has_key = bool(request.secret and (request.secret / lab.QUIZ_KEY).is_file())
    return [NO_QUIZ] if loaded.quiz and has_key and not loaded.personal else []


def lay_tree(request: Request, host: Host, assignment: Lab) -> Path:
    """Make the tree to grade anew: the release's, with the submission's files, and no solution of another lab. Folders
    of an earlier grading are emptied. Returns the tree's folder."""
    laid = host.scratch / "tree"
    for folder in (laid, host.scratch / "runs", *([host.keep] if host.keep else [])):
        shutil.rmtree(folder, ignore_errors=True)
    (host.scratch / "runs").mkdir(parents=True)
    tree.lay(request.release, assignment, request.submission, laid)
    others = lab.others(request.release, request.lab)
    if (request.release / tree.MANIFEST).exists():
        tree.lay_starters(laid, starters.of_labs(others))
    else:
        tree.hide(laid, assignment, others)
    return laid


def grade(request: Request, host: Host, progress: Progress = silent) -> Grade:
    """Grade a submission; `progress` is called in the order of the tests. Raises LabError if it fails and the student
    is not the cause."""
    loaded = lab.load(request.release, request.lab, request.secret, request.student)
    ruled = rules.applied(loaded, request.secret, request.rule_of)
    assignment: Lab = choice.of_tests(ruled, request.only)
    check_release(request.release)
    with reference.of_rule(request.release, assignment) as rule_tree:
        machine = Machine(
            lab=assignment,
            tree=lay_tree(request, host, assignment),
            release=request.release,
            scratch=host.scratch / "runs",
            sandbox=host.sandbox,
            objects=object_rules.objects(assignment),
            keep=host.keep,
            rule_tree=rule_tree,
        )
        tests, noticed = judged(machine, host.jobs, progress)
    notes = (
        *request.remarks,
        *noticed,
        *rules.notes(assignment),
        *([choice.note(assignment)] if request.only else []),
        *about_quiz(request, loaded),
    )
    return Grade(assignment.name, assignment.title, tests, notes, described(machine))
