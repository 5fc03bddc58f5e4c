"""The graded tree: a release with a student's files installed in it, in a separate folder.

Only the lab's files come from the student. The release's build results are copied, so that only these files are
compiled again; build results of the release's own versions of them are left out.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from tidemark.files import sha256
from tidemark.grade.model import Lab

# Sources of a kernel, its programs and its simulators.
PARTS = (
    "Makefile",
    "linker.ld",
    "pyproject.toml",
    "boot",
    "kernel",
    "user",
    "tools",
    "labs",
    "tests/host",
    "tests/kernel/vmsim",
)
BUILT = ("boot", "kernel", "registry", "user", "obj", "vmsim", "plugin", "musl")
BUILT_FILES = (
    "flags",
    "programs",
    "sources",
    "user-files",
    "ksyms.S",
    "ksyms.o",
    "ksyms0.S",
    "ksyms0.o",
    "pass1.elf",
    "initramfs.cpio",
)
SIMULATORS = "build/vmsim"
VENV = "build/venv"
LINKED = (VENV, "build/zig")
MANIFEST = "labs/RELEASE"
REGISTERS = ("VM_POLICY(", "VM_GUARD(")
TEXTS = (".md", ".svg")
VARIANTS = "labs/*/variants.toml"  # solutions of students' rules
NOT_GRADED_WITH = ("questions.toml",)  # rubrics: students' code must not read them, and no test depends on them


def files_of(tree: Path) -> Iterator[Path]:
    """The source files of a tree that grading uses, relative to it, in order."""
    for part in PARTS:
        if (tree / part).is_file():
            yield Path(part)
        for folder, folders, names in os.walk(tree / part):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            kept = (name for name in sorted(names) if name not in NOT_GRADED_WITH)
            yield from (Path(folder, name).relative_to(tree) for name in kept)


def built_files_of(tree: Path) -> Iterator[Path]:
    """The build results in a tree, relative to it. Simulators are left out: they are large and quickly linked."""
    for name in BUILT_FILES:
        if (tree / "build" / name).is_file():
            yield Path("build", name)
    for part in BUILT:
        for folder, _, names in os.walk(tree / "build" / part):
            if folder != str(tree / SIMULATORS):
                yield from (Path(folder, name).relative_to(tree) for name in names)


def copy_file(source: str, target: str) -> None:
    """Copy a file with its permissions and dates, in half of the time that shutil.copy2 takes, which copies more
    attributes. A link stays a link."""
    if os.path.islink(source):
        os.symlink(os.readlink(source), target)
        return
    with open(source, "rb", 0) as old, open(target, "wb", 0) as new:
        state = os.fstat(old.fileno())
        shutil.copyfileobj(old, new, max(state.st_size, 1))
        os.fchmod(new.fileno(), stat.S_IMODE(state.st_mode))
        os.utime(new.fileno(), ns=(state.st_atime_ns, state.st_mtime_ns))


def copy_files(source: Path, target: Path, files: Collection[Path]) -> None:
    """Copy files of one folder into another, with their dates."""
    for folder in {file.parent for file in files}:
        (target / folder).mkdir(parents=True, exist_ok=True)
    for file in files:
        try:
            copy_file(f"{source}/{file}", f"{target}/{file}")
        except FileNotFoundError:
            if (source / file).exists():  # otherwise a concurrent `make` has removed it
                raise


def copy_built(tree: Path, copy: Path) -> None:
    """Copy the sources and build results of a tree; link its venv, and zig."""
    copy_files(tree, copy, list(files_of(tree)))
    take_along_what_is_built(tree, copy)


def take_along_what_is_built(release: Path, tree: Path) -> None:
    """Copy the build results of the release, with their dates; link its venv, and zig."""
    (tree / "build").mkdir()
    copy_files(release, tree, list(built_files_of(release)))
    for name in LINKED:
        if (release / name).exists():
            (tree / name).symlink_to((release / name).resolve())


def lay(release: Path, lab: Lab, submission: Path, tree: Path) -> None:
    """Make `tree` (which must not exist) from a built release and a submission's files. Files that the submission lacks
    are missing in the tree, too, and so are files that the lab withholds: they could be included."""
    copy_built(release, tree)
    for path in tree.glob(VARIANTS):
        path.unlink()
    for name in (*lab.files, *lab.withholds):
        leave_behind(tree, name)
        if name in lab.files and (submission / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(submission / name, tree / name)


def leave_behind(tree: Path, file: str) -> None:
    """Remove a file of the lab, and everything that was built from the release's version of it."""
    (tree / file).unlink(missing_ok=True)
    stem = Path(file).with_suffix("")
    built = [tree / "build" / f"{stem}.o", tree / "build/host" / f"{stem}_test", tree / "build/pass1.elf"]
    for kind in ("fast", "checked"):
        built.append(tree / "build/vmsim" / kind / f"{stem}.o")
    built += [tree / "build/vmsim" / name for name in (stem.name, stem.name + ".fast")]
    for path in built:
        path.unlink(missing_ok=True)


def hide(tree: Path, lab: Lab, others: Iterable[Lab]) -> None:
    """Remove the solutions of other labs from a tree, and the files that those withhold: a submission could include and
    print them. Their object files stay, and of each source the line that registers it."""
    for file in {name for each in others for name in (*each.files, *each.withholds)} - set(lab.files):
        path, built = tree / file, (tree / "build" / file).with_suffix(".o")
        if not path.is_file():
            continue
        if path.suffix != ".c" or path.stem.endswith("_test"):
            path.unlink()
        elif built.is_file() and (date := path.stat().st_mtime_ns) <= built.stat().st_mtime_ns:
            lines = path.read_text().splitlines(keepends=True)
            path.write_text("".join(line for line in lines if line.startswith(REGISTERS)))
            os.utime(path, ns=(date, date))


def lay_starters(tree: Path, starters: Mapping[str, bytes]) -> None:
    """Install starters, by path, in a tree, so that no student's work affects what they stand for."""
    for file, data in starters.items():
        if not (tree / file).is_file() or (tree / file).read_bytes() != data:
            leave_behind(tree, file)
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            (tree / file).write_bytes(data)


def manifest(tree: Path) -> str:
    """One line "SHA-256  path" for each source file of a tree: the content of labs/RELEASE, for comparison."""
    files = (file for file in files_of(tree) if str(file) != MANIFEST)
    return "".join(f"{sha256(tree / file)}  {file}\n" for file in files)


def identity(release: Path) -> str:
    """A hash of the release's sources: two gradings with equal hashes had the same grader. Texts and pictures are left
    out, so that a corrected handout does not cause regrading."""
    lines = (line for line in manifest(release).splitlines() if not line.endswith(TEXTS))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def released(release: Path, without: Collection[str] = ()) -> dict[str, str]:
    """Path to SHA-256 of each source file as released; in a student's tree, before the student changed it. `without`:
    files to leave out."""
    text = (release / MANIFEST).read_text() if (release / MANIFEST).is_file() else manifest(release)
    pairs = (line.partition("  ") for line in text.splitlines())
    return {file: digest for digest, _, file in pairs if file not in without}
