"""The source as a graph: which file includes or imports which, the room of each file, and the length of functions.

A room is a folder whose files serve one idea (kernel/mm/space, tools/tidemark/curves); arrows.toml names the rooms and
says which room may use which. C is read as text: because the source is formatted, a function's body stands between a
brace at the start of a line and the next such brace. Python is read by its own parser, including imports within
functions and for type checking. JavaScript is read as text, too.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("arrows.toml")
TESTS = ("*_test.c", "*_ktest.c")


@dataclass(frozen=True)
class Arrow:
    """`file` (relative to ROOT), in `room`, uses `target`, which lies in `to`; `line` counts from 1."""

    file: Path
    line: int
    target: Path
    room: str
    to: str


@dataclass(frozen=True)
class Function:
    """A function whose body has `length` lines; it begins at `line` of `file`. Parameters, which may be a command's
    list of options, and the docstring do not count."""

    file: Path
    line: int
    name: str
    length: int


@cache
def table() -> dict:
    """arrows.toml."""
    return tomllib.loads(TABLE.read_text())


def files(*patterns: str) -> list[Path]:
    """The files below ROOT that match one of the patterns, except those that git ignores; relative, in order."""
    folders = {pattern.split("/", 1)[0] for pattern in patterns}
    found = (path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).rglob("*.*") if path.is_file())
    return sorted(path for path in found if any(fnmatch(str(path), pattern) for pattern in patterns))


# --- rooms -----------------------------------------------------------------------------------------------------------


@cache
def folder_of_source(header: Path) -> str | None:
    """The folder below kernel/AREA of the only .c file with the name of a header of kernel/include/AREA."""
    area = header.parts[2] if len(header.parts) > 3 else ""
    found = list((ROOT / "kernel" / area).rglob(f"{header.stem}.c")) if area else []
    return str(found[0].parent.relative_to(ROOT)) if len(found) == 1 else None


def place_of(path: Path) -> str:
    """The folder to which a file belongs: for a header of kernel/include, that of the source with its name."""
    if path.parts[:2] != ("kernel", "include") or path.parts[2] == "arch":
        return str(path.parent)
    return folder_of_source(path) or f"kernel/{'/'.join(path.parts[2:-1])}".rstrip("/")


@cache
def room(part: str, path: Path) -> str:
    """The room of `part` to which a file belongs: the one with the longest folder, or file, that its place begins
    with."""
    told = table()["headers"].get("/".join(path.parts[2:])) if path.parts[:2] == ("kernel", "include") else None
    if told:
        return told
    place = f"{place_of(path)}/{path.name}/"
    folders = [(folder, one["room"]) for one in table()[part] for folder in one["folders"]]
    found = [(len(folder), name) for folder, name in folders if place.startswith(folder + "/")]
    return max(found, default=(0, "elsewhere"))[1]


def may_use(part: str) -> dict[str, set[str]]:
    """For each room of `part`, the rooms that it may use, itself included."""
    names = [one["room"] for one in table()[part]]
    return {
        one["room"]: {one["room"], *one.get("only", [*names[at:], *one.get("up", [])])}
        for at, one in enumerate(table()[part])
    }


def forbidden(part: str, arrows: list[Arrow]) -> list[Arrow]:
    """The arrows that the table does not allow."""
    allowed = may_use(part)
    return [arrow for arrow in arrows if arrow.to not in allowed.get(arrow.room, ())]


def unneeded(part: str, arrows: list[Arrow]) -> list[tuple[str, str]]:
    """The pairs that the table allows by `up` although nothing uses them."""
    used = {(arrow.room, arrow.to) for arrow in arrows}
    named = [(one["room"], to) for one in table()[part] for to in one.get("up", [])]
    return [pair for pair in named if pair not in used]


# --- C ---------------------------------------------------------------------------------------------------------------


def c_files(*patterns: str) -> list[Path]:
    """The C files that match one of the patterns, except tests."""
    found = files(*patterns)
    return [path for path in found if not any(path.match(test) for test in TESTS)]


def included(file: Path, name: str) -> Path | None:
    """The file that `#include "name"` in `file` means, relative to ROOT; None if it is not one of the project's."""
    for folder in (file.parent, Path("kernel/include"), Path("user")):
        path = (ROOT / folder / name).resolve()
        if path.is_file() and path.is_relative_to(ROOT):
            return path.relative_to(ROOT)
    return None


def c_arrows(part: str) -> Iterator[Arrow]:
    """Every include in the C files of `part` (a folder) of another file of the project."""
    for file in c_files(f"{part}/*.[ch]"):
        for number, line in enumerate((ROOT / file).read_text().splitlines(), 1):
            match = re.match(r'#include "(.+)"', line)
            target = included(file, match[1]) if match else None
            if target:
                yield Arrow(file, number, target, room(part, file), room(part, target))


def c_functions(file: Path) -> Iterator[Function]:
    """The functions of a formatted C file."""
    lines = (ROOT / file).read_text().splitlines()
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{" and lines[number - 2].strip():
            start = number
        elif line == "}" and start:
            first = start - 1
            while first > 1 and lines[first - 2].strip() and not re.match(r"[}#*/]|.*\*/$|.*;$", lines[first - 2]):
                first -= 1
            name = re.search(r"(\w+)\s*\(", " ".join(lines[first - 1 : start]))
            yield Function(file, first, name[1] if name else "?", number - start - 1)
            start = None


# --- JavaScript ------------------------------------------------------------------------------------------------------


def javascript_functions(file: Path) -> Iterator[Function]:
    """The functions of a file formatted by prettier: each ends with a brace below the start of its first line."""
    lines = (ROOT / file).read_text().splitlines()
    for number, line in enumerate(lines, 1):
        opened = re.fullmatch(
            r"(\s*)(?=\S)(.*(?:function\b.*\)|=>)|(?!if|for|while|switch|catch|else)[\w ]+\(.*\)) \{", line
        )
        if opened and not opened[2].startswith("}"):
            inside = lines[number:]
            length = next(i for i, at in enumerate(inside) if re.match(opened[1] + r"\}", at))
            yield Function(file, number, opened[2], length)


# --- Python ----------------------------------------------------------------------------------------------------------


def python_files() -> list[Path]:
    """The Python files that the rules apply to: the tools, not the tests."""
    return files("tools/*.py")


def module_file(name: str) -> Path | None:
    """The file of a module of tools/, such as tidemark.curves.lru, relative to ROOT; None if it is not one of the
    project's."""
    base = ROOT / "tools" / name.replace(".", "/")
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path.relative_to(ROOT)
    return None


def imported(node: ast.stmt, package: str) -> Iterator[str]:
    """The modules that an import statement in a package of this name may mean."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        base = ".".join([*parents, *([node.module] if node.module else [])])
        for alias in node.names:
            name = f"{base}.{alias.name}"
            yield name if module_file(name) else base


def python_arrows() -> Iterator[Arrow]:
    """Every import of a module of the project, also within functions and under TYPE_CHECKING."""
    for file in python_files():
        package = ".".join(file.parts[1:-1])
        for node in ast.walk(ast.parse((ROOT / file).read_text())):
            for name in imported(node, package) if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
                target = module_file(name)
                if target and target != file:
                    yield Arrow(file, node.lineno, target, room("tools", file), room("tools", target))


def python_functions(file: Path) -> Iterator[Function]:
    """The functions of a Python file."""
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno:
            told = node.body[0].end_lineno if ast.get_docstring(node) else None
            yield Function(file, node.lineno, node.name, node.end_lineno - (told or node.body[0].lineno - 1))


# --- calls of rename ---------------------------------------------------------------------------------------------

RENAMES = {  # in a line of a script
    ".c": r"\brename(at2?)?\s*\(",
    ".js": r"\brename(Sync)?\s*\(",
    ".mjs": r"\brename(Sync)?\s*\(",
    ".sh": r"(^|[\s;&|(])mv\s",
    ".mk": r"(^|[\s;&|(@Q])mv\s",
}


def is_rename(call: ast.Call) -> bool:
    """Does a Python call rename a file: path.rename(to), path.replace(to), os.rename, os.replace, shutil.move?"""
    if not isinstance(call.func, ast.Attribute):
        return False
    owner = call.func.value.id if isinstance(call.func.value, ast.Name) else ""
    if call.func.attr in ("rename", "renames") or (owner, call.func.attr) in (("os", "replace"), ("shutil", "move")):
        return True
    return call.func.attr == "replace" and len(call.args) == 1 and not call.keywords  # str.replace takes two arguments


def renames(file: Path, text: str) -> list[int]:
    """The lines of a file's text that rename something."""
    if file.suffix == ".py":
        return [node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and is_rename(node)]
    pattern = RENAMES[file.suffix]
    return [number for number, line in enumerate(text.splitlines(), 1) if re.search(pattern, line)]


# --- circles ---------------------------------------------------------------------------------------------------------


def circles(arrows: list[Arrow]) -> list[list[Path]]:
    """The groups of files that use each other in a circle (strongly connected components of two files or more)."""
    uses: dict[Path, set[Path]] = {}
    for arrow in arrows:
        uses.setdefault(arrow.file, set()).add(arrow.target)
    reach = {file: reachable(file, uses) for file in uses}
    groups = {
        frozenset(other for other in reach[file] if file in reach.get(other, ()))
        for file in uses
        if file in reach[file]
    }
    return sorted(sorted(group) for group in groups)


def reachable(file: Path, uses: dict[Path, set[Path]]) -> set[Path]:
    """All files that can be reached from `file` by arrows, in one step or more."""
    found: set[Path] = set()
    todo = [*uses.get(file, ())]
    while todo:
        at = todo.pop()
        if at not in found:
            found.add(at)
            todo += uses.get(at, ())
    return found
