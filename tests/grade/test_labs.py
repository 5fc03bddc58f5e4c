"""The assignments: every solution gets full marks; every starter builds, boots, and fails only its own tests."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from confined import NEEDS_WAY_IN
from grading import graded, messages, submission
from guest import boot
from soak import soak_but
from tidemark.grade import grading
from tidemark.grade.build import reading, starters, tree
from tidemark.grade.build.sandbox import best
from tidemark.grade.intake import archive, lab
from tidemark.grade.model import Outcome
from tidemark.machine import qemu

pytestmark = pytest.mark.graded

LABS = lab.names(qemu.ROOT)
OLD_INCLUDES = {"kernel/mm/buddy.c": ("mm/zone.h",), "kernel/mm/anon.c": ("anon.h", "internal.h", "mm/swap.h")}
NUMBERS = {
    "buddy": 1,
    "paging": 2,
    "cfs": 3,
    "clock": 4,
    "twoq": 5,
    "workingset": 6,
    "thrashing": 7,
    "follow": 8,
    "hunt": 9,
    "crash": 10,
    "readahead": 11,
    "redo": 12,
}


def starter_files(name: str) -> dict[str, str]:
    """The starter of a lab: paths and texts."""
    return {file: data.decode() for file, data in starters.of_labs([lab.load(qemu.ROOT, name)]).items()}


def is_the_trees_own(folder: Path, target: str) -> bool:
    """Is a built file in a copy of this tree the same one as here? Copying keeps dates."""
    here = qemu.ROOT / target
    return here.is_file() and here.stat().st_mtime_ns == (folder / target).stat().st_mtime_ns


def failing_host_tests(folder: Path) -> set[str]:
    """The failing host tests in a copy of this tree, by name; prints their output. Tests none of whose files were
    changed are this tree's own, which `make check` has run."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    names = [str(path.with_suffix("")) for path in sorted((folder / "kernel").rglob("*_test.c"))]
    targets = [f"build/host/{Path(name).relative_to(folder)}" for name in names]
    made = subprocess.run(
        ["make", "--no-print-directory", "--silent", *qemu_files(), *targets],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr[-3000:]
    failing = set()
    for target in targets:
        if not is_the_trees_own(folder, target):
            run = subprocess.run([target], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if run.returncode:
                failing.add(Path(target).name)
                print(f"{target}: {run.stdout}")
    return failing


def qemu_files() -> tuple[str, str]:
    """Kernel and first file system."""
    return qemu.KERNEL, qemu.INITRD


def failing_suites(console: str) -> set[str]:
    """The suites of the tests inside the kernel that fail."""
    return set(re.findall(r"(?m)^not ok \d+ (\S+)", console))


def test_assignments_are_numbered_and_described() -> None:
    found = {name: lab.load(qemu.ROOT, name).number for name in LABS}
    assert found.items() >= NUMBERS.items() and len(set(found.values())) == len(found)
    for name in LABS:
        assert (qemu.ROOT / "labs" / name / "handout.md").stat().st_size > 3000


@NEEDS_WAY_IN
@pytest.mark.parametrize("name", soak_but(LABS, "buddy", "clock"))
def test_solution_gets_full_marks(name: str, tmp_path: Path) -> None:
    made = graded(tmp_path, name)
    assert made.score == made.most, messages(made)
    assert made.notes == ()


@pytest.mark.parametrize(
    ("name", "old", "title"),
    [
        pytest.param("buddy", "kernel/mm/buddy.c", "the smallest block that fits is halved", marks=pytest.mark.soak),
        pytest.param(
            "paging", "kernel/mm/anon.c", "a first write takes one frame, cleared for it", marks=pytest.mark.soak
        ),
        ("twoq", "kernel/mm/policy/2q.c", "a scan pushes out nothing but itself"),
    ],
)
def test_solution_of_an_older_release_is_taken(name: str, old: str, title: str, tmp_path: Path) -> None:
    """The old solution's files lie at their old paths, include the old headers, and are policies with their old
    names."""
    assignment = lab.load(qemu.ROOT, name)
    handed_in = submission(tmp_path / "handed-in", name)
    (handed_in / old).parent.mkdir(parents=True, exist_ok=True)
    source = (handed_in / assignment.was[old]).rename(handed_in / old)
    names = (f'.name = "{Path(path).stem}"' for path in (assignment.was[old], old))
    text = source.read_text().replace(*names)
    source.write_text("".join(f'#include "{header}"\n' for header in OLD_INCLUDES.get(old, ())) + text)
    taken = archive.take(handed_in, assignment, {}, reading.reader(best()))
    unpacked = taken.write(tmp_path / "unpacked")
    one = replace(assignment, tests=tuple(test for test in assignment.tests if test.title == title))
    with mock.patch.object(lab, "load", return_value=one):
        made = grading.grade(
            grading.Request(qemu.ROOT, unpacked, name, remarks=taken.notes), grading.Host(tmp_path / "work", best())
        )
    assert made.score == made.most > 0, messages(made)
    assert made.notes == (f"{old} was taken as {assignment.was[old]}, its path in this release",)


def test_what_a_make_beside_removes_is_not_copied(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    (source / "stays.o").touch()
    tree.copy_files(source, target, [Path("gone.o"), Path("stays.o")])
    assert [path.name for path in target.iterdir()] == ["stays.o"]


@pytest.mark.soak
@pytest.mark.parametrize("name", LABS)
def test_starter_boots_and_fails_its_own_tests_only(name: str, tmp_path: Path) -> None:
    assignment = lab.load(qemu.ROOT, name)
    folder = tmp_path / "tree"
    tree.lay(qemu.ROOT, assignment, qemu.ROOT, folder)
    tree.lay_starters(folder, starters.of_labs([assignment]))
    host = failing_host_tests(folder)
    console = boot("", cmdline="ktest", image=folder).console
    suites = failing_suites(console)
    assert re.search(r"(?m)^1\.\.\d+", console), console[-2000:]
    assert host | suites <= set(assignment.own_tests)
    assert set(assignment.own_tests) <= host | suites
    boot("thrash 2 512 2", image=folder).check_exit()


@NEEDS_WAY_IN
@pytest.mark.parametrize("name", soak_but((name for name in LABS if name != "follow"), "twoq"))  # a quiz only
def test_starter_gets_less(name: str, tmp_path: Path) -> None:
    made = graded(tmp_path, name, starter_files(name))
    assert made.score < made.most
    assert {one.verdict.outcome for one in made.tests} <= {Outcome.RIGHT, Outcome.WRONG, Outcome.OVER_BUDGET}
    assert all(one.verdict.message for one in made.tests if one.verdict.fraction < 1)
