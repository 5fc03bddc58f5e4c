"""Kernels that students get as they run, without their sources: the labs in gdb.

A lab with such kernels lists them in labs/NAME/machines.toml, which students do not get. Each [[machine]] has a name,
and may have a fault: in `file` the text `before` becomes `after`, with as many lines, so that all lines keep their
numbers; `function` is the place. `run` and `says`: the command that shows the fault, and words that show it. `disk`:
it comes with a folder of files for a disk, which is filled at random until the fault shows.

A machine is an image's folder, build/machines/NAME: kernel, its symbols, first file system, and programs. `make
release` makes them, and puts them into the students' archive as machines/NAME. Machine code can be turned into C again,
so the kernel is built from the starters of all labs, and without the files that they withhold.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark.errors import FAILED, LabError
from tidemark.files import sha256
from tidemark.grade.build import starters
from tidemark.grade.build import tree as trees
from tidemark.machine import plugin, qemu
from tidemark.runs import result_image, results

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LIST, FOLDER, MACHINES, STAMP = "machines.toml", "build/machines", "machines", "made-of"
DISK = "disk"
NEAR = 2  # lines around a fault that count as right, too
MOST_NAMES, MOVES = 60, 12  # of the disk
TRIED = 40  # number of disks


@dataclass(frozen=True)
class Machine:
    """An entry of the list, see above. Without a file it is the tree's own kernel."""

    name: str
    run: tuple[str, ...] = ()
    says: str = ""
    file: str = ""
    before: str = ""
    after: str = ""
    function: str = ""
    disk: bool = False

    def changed(self, source: str) -> str:
        """The file with the fault. Raises LabError unless its place occurs exactly once."""
        same = self.before.count("\n") == self.after.count("\n")
        if not same or self.before == self.after or source.count(self.before) != 1:
            raise LabError(f"{self.name}: {self.file} has no such place, or it has more or fewer lines", FAILED)
        return source.replace(self.before, self.after)

    def lines(self, source: str) -> range:
        """The line numbers, from 1 on, that count as the place of the fault."""
        pairs = zip(source.splitlines(), self.changed(source).splitlines(), strict=True)
        differing = [number for number, (one, other) in enumerate(pairs, 1) if one != other]
        return range(differing[0] - NEAR, differing[-1] + NEAR + 1)


def listed(tree: Path, lab: str) -> list[Machine]:
    """The machines of a lab; empty if it has no list, or the tree is a student's."""
    path = tree / "labs" / lab / LIST
    tables: list[dict[str, Any]] = tomllib.loads(path.read_text())["machine"] if path.is_file() else []
    return [Machine(**{**table, "run": tuple(table["run"])}) for table in tables]


def fill_disk(folder: Path, seed: int) -> None:
    """Write two directories of files, and scripts that move files between them, read some, and add some. How many files
    there are decides, too, who meets whom."""
    rng = random.Random(seed)
    names = range(rng.randrange(MOST_NAMES // 2, MOST_NAMES))
    for place, letters in (("in", "xz"), ("out", "yz")):
        (folder / place).mkdir(parents=True)
        for name in (f"{letter}{n}" for letter in letters for n in names):
            (folder / place / name).write_text(f"{name[0]}\n")
    orders = {letter: rng.sample(names, len(names)) for letter in "xy"}
    scripts = {}
    for n in range(2):
        for script, letter, to in ((f"in{n}", "x", "out"), (f"out{n}", "y", "in")):
            scripts[script] = [f"mv /mnt/{script[:-1]}/{letter}{orders[letter].pop()} /mnt/{to}/" for _ in range(MOVES)]
        scripts[f"w{n}"] = [f"echo {i} >/mnt/{('in', 'out')[n]}/w{n}.{i}" for i in range(20)]
    for _ in range(3):
        read = " ".join(f"/mnt/{rng.choice(['in', 'out'])}/z{rng.choice(names)}" for _ in range(20))
        scripts.setdefault("c0", []).append(f"cat {read}")
    for script, lines in scripts.items():
        (folder / script).write_text("\n".join(lines) + "\n")


def all_starters(tree: Path) -> dict[str, bytes]:
    """The starters of all labs, by path. Raises LabError if one is missing."""
    labs = {path.parent: tomllib.loads(path.read_text())["files"] for path in sorted(tree.glob("labs/*/lab.toml"))}
    found = {file: starters.of(folder, file) for folder, files in labs.items() for file in files}
    lacking = [file for file, data in found.items() if data is None]
    if lacking:
        raise LabError(f"machines for students need all starters; missing: {', '.join(lacking)}", FAILED)
    return {file: data for file, data in found.items() if data is not None}


def lay_starters(tree: Path, copy: Path) -> None:
    """Replace each lab's files by its starter, and remove what labs withhold: students get these machines."""
    for path in sorted(tree.glob("labs/*/lab.toml")):
        for file in tomllib.loads(path.read_text()).get("withholds", ()):
            trees.leave_behind(copy, file)
    trees.lay_starters(copy, all_starters(tree))


def build(tree: Path, machine: Machine, copy: Path) -> None:
    """Build a machine's kernel in an empty folder, from what students have, with its fault, if it has one."""
    trees.copy_built(tree, copy)
    lay_starters(tree, copy)
    if machine.file:
        (copy / machine.file).write_text(machine.changed((tree / machine.file).read_text()))
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "--no-print-directory", "--silent", qemu.KERNEL]
    made = subprocess.run(command, cwd=copy, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if made.returncode:
        raise LabError(f"{machine.name} does not build: {made.stderr[-2000:]}", FAILED)


def lay(built: Path, image: Path, machine: Machine, folder: Path) -> None:
    """Fill a machine's folder: the kernel is that of the tree `built`, everything else comes from `image`."""
    for name in (qemu.KERNEL, plugin.SYMBOLS, qemu.INITRD, *result_image.programs(image, " ".join(machine.run))):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2((built if name.startswith(qemu.KERNEL) else image) / name, folder / name)


def shows(machine: Machine, place: Path) -> bool:
    """Does a run of the machine show its fault?"""
    env = os.environ | {"PYTHONPATH": str(qemu.ROOT / "tools")}
    with tempfile.TemporaryDirectory(prefix="tidemark-machine-") as scratch:
        folder = Path(scratch, "run")
        words = [str(place / DISK) if word == "DISK" else word for word in machine.run]
        command = [sys.executable, "-m", "tidemark.cli", "run", "-q", "--image", str(place), "-o", str(folder), *words]
        subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return bool(re.search(machine.says, (folder / results.CONSOLE).read_text(errors="replace")))


def choose_disk(machine: Machine, place: Path) -> None:
    """Fill the disk until the fault shows: its processes do not collide on every disk. Raises LabError if never."""
    for seed in range(1, TRIED):
        shutil.rmtree(place / DISK, ignore_errors=True)
        fill_disk(place / DISK, seed)
        if shows(machine, place):
            return
    raise LabError(f"{machine.name}: its fault does not show on {TRIED} disks", FAILED)


def made_of(tree: Path, machine: Machine) -> str:
    """Hashes of what a machine is made of: kernel, starters, first file system, and its entry in the list."""
    listed = [*sorted(tree.glob("labs/*/lab.toml")), tree / qemu.KERNEL, tree / qemu.INITRD]
    return " ".join(
        [
            *map(sha256, listed),
            *(hashlib.sha256(data).hexdigest() for data in all_starters(tree).values()),
            repr(machine),
        ]
    )


def make(tree: Path, machine: Machine) -> Path:
    """Make a machine of the built tree in its place, unless it exists; returns its folder. One is made at a time."""
    place = tree / FOLDER / machine.name
    place.parent.mkdir(parents=True, exist_ok=True)
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if not is_made(tree, machine):
            make_anew(tree, machine, place)
    finally:
        os.close(folder)
    return place


def is_made(tree: Path, machine: Machine) -> bool:
    """Does the machine exist, made of what the tree holds now?"""
    stamp = tree / FOLDER / machine.name / STAMP
    return stamp.is_file() and stamp.read_text() == made_of(tree, machine)


def make_anew(tree: Path, machine: Machine, place: Path) -> None:
    """Make a machine in its place, replacing any existing one."""
    built = tree / FOLDER / "tree"  # always the same path, which is in the debug information
    for folder in (built, place):
        shutil.rmtree(folder, ignore_errors=True)
    built.mkdir(parents=True)
    build(tree, machine, built)
    lay(built, tree, machine, place)
    shutil.rmtree(built, ignore_errors=True)
    if machine.disk:
        choose_disk(machine, place)
    (place / STAMP).write_text(made_of(tree, machine))


def made(tree: Path, lab: str, name: str) -> Path:
    """A machine's folder, made if it does not exist."""
    machine = next(each for each in listed(tree, lab) if each.name == name)
    place = tree / FOLDER / name
    return place if (place / qemu.KERNEL).is_file() else make(tree, machine)


def files(tree: Path, lab: str, say: Callable[[str], None]) -> Iterator[tuple[Path, Path]]:
    """(file, its path in the archive) for all files of all machines of a lab."""
    for machine in listed(tree, lab):
        say(f"labs/{lab}: {MACHINES}/{machine.name}")
        place = make(tree, machine)
        for path in sorted(place.rglob("*")):
            if path.is_file() and path.name != STAMP:
                yield path, Path(MACHINES, machine.name) / path.relative_to(place)
