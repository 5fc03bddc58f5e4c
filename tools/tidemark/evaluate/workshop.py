"""From a policy's file to programs that run it: reads the file, compiles it in a copy of the tree, checks the objects.

A file that stands in the tree's own folder of policies is evaluated under its own name. Any other file gets a place
there in the copy, under its own name, which must be free.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from tidemark import files
from tidemark.errors import LabError
from tidemark.evaluate.refusal import COMPILE, FILE, OBJECT, Refused
from tidemark.grade.build import object_rules, tree, workspace
from tidemark.grade.build.sandbox import Sandbox
from tidemark.grade.model import Lab
from tidemark.grade.witness.machine import Machine
from tidemark.machine import qemu
from tidemark.strings import vmsim

MOST_SOURCE = 1 << 20
NAME = re.compile(r"[a-z][a-z0-9_]{0,15}")
LINES_OF_COMPILER = 20
KERNEL = (qemu.KERNEL, qemu.INITRD)


@dataclass(frozen=True)
class Source:
    """A policy's file: its name, its place in a tree, and its content."""

    name: str
    file: str
    data: bytes


def content(path: Path) -> bytes:
    """The content of a policy's file. Raises Refused if it is not a regular file of a possible size."""
    try:
        kind = path.stat()
        if not stat.S_ISREG(kind.st_mode):
            raise Refused(FILE, "file", f"{path} is not a file: give the C file of a policy")
        if kind.st_size > MOST_SOURCE:
            raise Refused(FILE, "file", f"{path} has more than {MOST_SOURCE >> 20} MiB: a policy is a small C file")
        data = path.read_bytes()
    except OSError as error:
        raise Refused(FILE, "file", f"{path} cannot be read: {error.strerror}") from None
    if not data.strip():
        raise Refused(FILE, "file", f"{path} is empty: `make new-policy NAME=mine` makes a file to begin with")
    return data


def read(path: Path) -> Source:
    """The policy in a file. Raises Refused if it cannot be one."""
    data, name = content(path), path.stem
    if path.suffix != ".c" or not NAME.fullmatch(name):
        said = "name it NAME.c, at most 16 lower-case letters, digits and _, of which the first is a letter"
        raise Refused(FILE, "name", f"{path.name} is not the name of a policy's file: {said}")
    file = f"{vmsim.POLICIES}/{path.name}"
    if name in vmsim.WITH_FUTURE:
        raise Refused(FILE, "name", f"{name} needs the future of each run: it cannot be evaluated")
    own = (qemu.ROOT / file).resolve()
    taken = own.exists() or name.endswith(vmsim.NOT_POLICIES)
    if taken and path.resolve() != own:
        raise Refused(FILE, "name", f"{path.name}: the tree has a {file} already: give the file another name")
    return Source(name, file, data)


def assignment(source: Source, folder: Path) -> Lab:
    """What the grader's rules have to know about the policy: as a lab with this one file."""
    return Lab(
        name="evaluate",
        number=0,
        title=source.name,
        folder=folder,
        files=(source.file,),
        may_use=("[policy]",),
        may_store=(),
        own_tests=(),
        tests=(),
        registers={source.file: source.name},
    )


def compiler_says(text: str) -> str:
    """The first lines of the compiler's messages."""
    lines = text.strip().splitlines()
    more = [f"... and {len(lines) - LINES_OF_COMPILER} lines more"] if len(lines) > LINES_OF_COMPILER else []
    return "\n".join(lines[:LINES_OF_COMPILER] + more)


def registered(source: Source, said: str) -> str:
    """The reason why what the file registers is not the policy that its name announces."""
    if "registers 0 policies" in said:
        return f"{source.name}.c is not a policy: it has no line VM_POLICY(...)"
    if found := re.search(r"it registers '(.*)'; the assignment", said):
        return f"{source.name}.c has .name = {found[1]!r}: it must be the file's name, {source.name!r}"
    return said


def check_objects(source: Source, found: Iterable[str]) -> None:
    """Raises Refused if there are offences."""
    if said := "\n".join(text.replace("this assignment", "a policy") for text in found):
        reason = registered(source, said)
        raise Refused(OBJECT, "policy" if reason != said else "plain-c", reason)


def compile_in(machine: Machine, source: Source) -> None:
    """Build the policy's objects, simulator and kernel, with checks in between. Raises Refused."""
    made = machine.make(*machine.objects)
    if made.status:
        raise Refused(COMPILE, "compile", f"{source.name}.c does not compile:\n{compiler_says(made.err)}")
    check_objects(source, chain(*object_rules.offences(machine.tree, machine.lab).values()))
    made = machine.make(*KERNEL, f"{tree.SIMULATORS}/{source.name}")
    if made.status:
        raise Refused(COMPILE, "compile", f"{source.name}.c does not build:\n{compiler_says(made.err)}")
    in_simulator = f"{tree.SIMULATORS}/checked/{source.file[:-2]}.o"
    check_objects(source, object_rules.host_offences(machine.tree, machine.lab, in_simulator))
    check_objects(source, chain(*object_rules.kernel_offences(machine.tree, machine.lab).values()))


def make_tree(source: Source) -> None:
    """Build what the tree lacks. Raises Refused if the policy is one of the tree's and does not compile, LabError if
    anything else does not."""
    try:
        workspace.make_trusted(qemu.ROOT, "grade-base")
    except LabError as error:
        if source.file not in str(error):
            raise
        text = str(error).partition("\n")[2]
        raise Refused(COMPILE, "compile", f"{source.name}.c does not compile:\n{compiler_says(text)}") from None


@contextmanager
def built(source: Source, box: Sandbox) -> Iterator[Machine]:
    """A machine whose tree has the built policy, until the block ends. Raises Refused if it does not build or its
    object breaks a rule, LabError if the tree itself does not build."""
    make_tree(source)
    with files.scratch("tidemark-evaluate-") as scratch:
        folder = Path(scratch)
        tree.copy_built(qemu.ROOT, folder / "tree")
        tree.leave_behind(folder / "tree", source.file)
        (folder / "tree" / source.file).write_bytes(source.data)
        (folder / "runs").mkdir()
        lab = assignment(source, folder)
        machine = Machine(lab, folder / "tree", qemu.ROOT, folder / "runs", box, object_rules.objects(lab))
        compile_in(machine, source)
        yield machine
