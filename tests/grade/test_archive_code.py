"""No file of the students' archive contains code of a file that a lab grades or withholds, in any form."""

from __future__ import annotations

import re
import subprocess
import tarfile
from pathlib import Path
from unittest import mock

import pytest
from confined import NEEDS_WAY_IN
from grading import graded, starter
from lifted import Code, defined, functions_of, secret_files, unpacked
from lifter import lifted
from soak import soak_but
from tidemark.grade.build import machines, plain_c
from tidemark.grade.build.elf import FILE, Elf
from tidemark.grade.build.workspace import compiler
from tidemark.grade.hand_out import figures, release
from tidemark.grade.intake import lab
from tidemark.machine import qemu

pytestmark = pytest.mark.graded

LABS = [lab.load(qemu.ROOT, name) for name in lab.names(qemu.ROOT)]
SECRET = secret_files(LABS)
PLAIN_C = [each for each in LABS if each.registers]
FEW = {"follow", "hunt4"}  # the ones that test_gdb_labs.py needs, too


def object_of(file: str, tree: Path = qemu.ROOT) -> Path:
    """The object file that a tree's kernel has for a source file."""
    return tree / "build" / Path(file).with_suffix(".o")


def released(folder: Path) -> Path:
    """The archive of `make release`, unpacked; test_matrix.py measures what its visible tests expect."""
    with mock.patch.object(figures, "measured", return_value={}):
        release.write(qemu.ROOT, folder / "student.tar.gz", say=lambda text: None)
    with tarfile.open(folder / "student.tar.gz") as members:
        members.extractall(folder)
    return folder / release.TOP


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive with two of the machines. Two are enough, because one function makes all machines."""
    real = machines.listed
    listed = mock.patch.object(
        machines, "listed", side_effect=lambda *of: [each for each in real(*of) if each.name in FEW]
    )
    with listed:
        return released(tmp_path_factory.mktemp("few"))


@pytest.fixture(scope="module")
def solutions() -> dict[str, list[Code]]:
    """The functions of the solutions, by file."""
    return {file: functions_of(object_of(file)) for file in SECRET}


@pytest.fixture(scope="module")
def public(few: Path) -> bytes:
    """Code whose source students have: starters, as in the archive, and the kernel's other files."""
    starters = [str(object_of(file).relative_to(qemu.ROOT)) for file in SECRET if (few / file).is_file()]
    words = ["make", "--silent", "-j2", "-f", "tools/build.mk", f"CC={' '.join(compiler())}", *starters]
    subprocess.run(words, cwd=few, check=True, capture_output=True)
    others = {*(qemu.ROOT / "build/kernel").rglob("*.o")} - {object_of(file) for file in SECRET}
    return b"".join(path.read_bytes() for path in [*(few / name for name in starters), *sorted(others)])


def contents(archive: Path) -> dict[str, bytes]:
    """All bytes of an archive's files that were not built there, by path; packed content is unpacked."""
    paths = (path for path in sorted(archive.rglob("*")) if path.is_file() and archive / "build" not in path.parents)
    return {str(path.relative_to(archive)): b"".join(unpacked(path.read_bytes())) for path in paths}


def test_search_finds_solutions_where_they_are(solutions: dict[str, list[Code]], public: bytes) -> None:
    """Nothing in fifo.c is secret: its functions differ from those of kernel/mm/policy/TEMPLATE.c by an address."""
    kernel = (qemu.ROOT / qemu.KERNEL).read_bytes()
    for file, functions in solutions.items():
        assert functions and all(code.is_in(kernel) for code in functions), file
        assert file.endswith("/fifo.c") or not all(code.is_in(public) for code in functions), file


def check_code(archive: Path, solutions: dict[str, list[Code]], public: bytes) -> None:
    files = contents(archive)
    assert sum(name.endswith(".elf") for name in files) >= len(FEW)
    secret = [(file, code) for file in solutions for code in solutions[file] if not code.is_in(public)]
    held = [(name, file, code.name) for name, data in files.items() for file, code in secret if code.is_in(data)]
    assert held == []


def check_names(archive: Path) -> None:
    """Names that only solutions define are in no symbol table and no debug information; nor are withheld files."""
    sources = (path for folder in ("kernel", "user") for path in (archive / folder).rglob("*.[ch]"))
    theirs = {word for path in sources for word in re.findall(r"\w+", path.read_text())}
    names = {name for file in SECRET for name in defined((qemu.ROOT / file).read_text())} - theirs
    withheld = {Path(file).name for file in SECRET if not (archive / file).exists()}
    assert len(names) > 50 and len(withheld) >= 3
    said = [f"\0{name}\0".encode() for name in names | withheld]
    for name, data in contents(archive / machines.MACHINES).items():
        assert [word for word in said if word in data] == [], name
    for kernel in (archive / machines.MACHINES).glob("*/build/*.elf"):
        sources = {symbol.name for symbol in Elf(kernel).symbols if symbol.kind == FILE}
        assert {Path(file).name for file in SECRET} - withheld <= sources and not withheld & sources


def test_archive_holds_no_code_of_solutions(few: Path, solutions: dict[str, list[Code]], public: bytes) -> None:
    check_code(few, solutions, public)
    check_names(few)


@pytest.mark.soak
def test_whole_archive_holds_no_code_of_solutions(
    tmp_path: Path, solutions: dict[str, list[Code]], public: bytes
) -> None:
    archive = released(tmp_path)
    assert len(list((archive / machines.MACHINES).iterdir())) == len(FEW) + 4
    check_code(archive, solutions, public)
    check_names(archive)


@NEEDS_WAY_IN
@pytest.mark.parametrize("name", soak_but([each.name for each in PLAIN_C], "clock"))
def test_lifted_code_brings_no_more_than_the_starter(name: str, few: Path, tmp_path: Path) -> None:
    """If assembly is allowed, code lifted from the instructor's own kernel gets points: so the lifting works."""
    blank = {file: starter(name, file) for file in lab.load(qemu.ROOT, name).files}
    kernel = min((few / machines.MACHINES).glob("*/build/*.elf"))

    def points(what: str, source: Path | None) -> float:
        files = {file: lifted(source, file, text) if source else text for file, text in blank.items()}
        return graded(tmp_path / what, name, files).score

    least = points("starter", None)
    with mock.patch.object(plain_c, "offences", return_value=[]):
        assert points("own", qemu.ROOT / qemu.KERNEL) > least + 3
        assert points("archive", kernel) <= least
    assert points("refused", qemu.ROOT / qemu.KERNEL) == points("refused archive", kernel) == 0
