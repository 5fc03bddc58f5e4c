"""A kernel built from release files alone, with a lab's starter in place of the submission. A submission is compared
with it, so the submission must not be able to choose it."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import replace
from pathlib import Path

from tidemark.errors import FAILED, LabError
from tidemark.files import sha256
from tidemark.grade.build import starters, tree
from tidemark.grade.build.workspace import tail
from tidemark.grade.intake import lab
from tidemark.grade.model import Lab
from tidemark.grade.witness.machine import Machine
from tidemark.machine import qemu

FOLDER = "ours"
making = threading.Lock()
hashes: dict[tuple[Path, str], str] = {}  # of a release and a lab; a release does not change while it is used


def made_of(release: Path, students: Lab) -> str:
    """A hash of what that kernel is made of: the release without the files of this lab, or, in a student's release,
    where starters replace them, without the files of all labs. Computed once per process."""
    if (release, students.name) not in hashes:
        hashes[release, students.name] = hash_of(release, students)
    return hashes[release, students.name]


def hash_of(release: Path, students: Lab) -> str:
    """As made_of, computed now."""
    theirs = lab.students_files(release) if (release / tree.MANIFEST).is_file() else set(students.files)
    sources = (file for file in tree.files_of(release) if str(file) not in theirs and file.suffix not in tree.TEXTS)
    flags = release / "build/flags"
    lines = [f"{sha256(release / file)}  {file}" for file in sources]
    lines += [hashlib.sha256(data).hexdigest() for data in starters.of_labs([students]).values()]
    lines += [students.name, flags.read_text() if flags.is_file() else ""]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def machine(students: Machine) -> Machine:
    """The machine with that kernel, made once per grading. Its runs do not count for the student. Raises LabError if it
    cannot be built."""
    ours = replace(students, tree=students.scratch / FOLDER, objects=(), boots=[])
    with making:
        if not ours.tree.is_dir():
            others = lab.others(students.release, students.lab.name)
            labs = (students.lab, *(() if students.has_solutions else others))  # as in the student's kernel
            tree.lay(students.release, students.lab, students.release, ours.tree)
            tree.lay_starters(ours.tree, starters.of_labs(labs))
            made = ours.make(qemu.KERNEL)
            if made.status:
                raise LabError(f"the starter of {students.lab.name} does not build:\n{tail(made.err)}", FAILED)
    return ours
