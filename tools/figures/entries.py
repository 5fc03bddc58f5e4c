"""The table of figures: figures.toml, runs.toml and consoles.toml, without making any. Cheap, because `make check`
reads it.

An entry is `[KIND.NAME]`. Every entry may have `seconds` (expected, on two cores), `needs` (names of `[needs]`),
`space` (GiB in build/ and the folder for temporary files), `blocks` (names of places in the documents; its own name if
not given), `files` (pictures and other files that it makes), and `image = false` if it does not depend on the kernel.
The other keys are its kind's. A name with a star is a family: `each` lists the words for the star, or gives files (of
which all must exist) with a star in their names; `*` in the entry's values stands for the word.
"""

from __future__ import annotations

import difflib
import importlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from tidemark.errors import USAGE, LabError

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
TABLES = ("figures.toml", "runs.toml", "consoles.toml")
SECONDS, SPACE_GIB = 5.0, 0.3


@dataclass(frozen=True)
class Figure:
    """An entry of the table. `settings` are the keys of its kind, `word` what stands for the star of its family."""

    name: str
    kind: str
    blocks: tuple[str, ...]
    files: tuple[str, ...]
    settings: Mapping[str, Any]
    seconds: float = SECONDS
    space: float = SPACE_GIB
    needs: tuple[str, ...] = ()
    image: bool = True
    word: str = ""

    @property
    def what(self) -> str:
        """Says what it is, in a word."""
        if self.kind == "consoles":
            return "console"
        return "table" if self.blocks else "picture" if any(".svg" in file for file in self.files) else "data"


@dataclass(frozen=True)
class Need:
    """A requirement: all `files` (patterns below the root) and one of `programs`. `reason` completes "skipped: "."""

    reason: str
    files: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()

    def met(self) -> bool:
        path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        return all(any(ROOT.glob(file)) for file in self.files) and (
            not self.programs or any(shutil.which(program, path=path) for program in self.programs)
        )


def with_word(value: Any, word: str) -> Any:
    """A value of an entry, with the word in place of each star."""
    if isinstance(value, str):
        return value.replace("*", word)
    return [with_word(one, word) for one in value] if isinstance(value, list) else value


def words(each: Sequence[str]) -> list[str]:
    """The words of a family: listed, or for which all the files exist."""
    if not any("*" in one for one in each):
        return list(each)
    stems = [{path.name[slice(*ends(one))] for path in ROOT.glob(one)} for one in each]
    return sorted(set.intersection(*stems))


def ends(pattern: str) -> tuple[int, int | None]:
    """Where the star's part of a file name begins and ends."""
    before, _, after = Path(pattern).name.partition("*")
    return len(before), -len(after) or None


def members(kind: str, name: str, entry: dict[str, Any]) -> Iterator[Figure]:
    """The figures of an entry: one, or its family."""
    every = words(entry.pop("each")) if "each" in entry else [""]
    for word in every:
        mine = {key: with_word(value, word) if word else value for key, value in entry.items()}
        own = name.replace("*", word)
        options = {key: mine.pop(key) for key in ("seconds", "space", "image") if key in mine}
        options |= {key: tuple(mine.pop(key)) for key in ("needs",) if key in mine}
        blocks, files = tuple(mine.pop("blocks", [own])), tuple(mine.pop("files", ()))
        yield Figure(own, kind, blocks, files, mine, word=word, **options)


@cache
def raw() -> dict[str, dict[str, dict[str, Any]]]:
    """The files, as they stand."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name in TABLES:
        for kind, entries in tomllib.loads(Path(__file__).with_name(name).read_text()).items():
            found.setdefault(kind, {}).update(entries)
    return found


@cache
def figures() -> dict[str, Figure]:
    """All figures by name, in the order of the table."""
    kinds = {kind: entries for kind, entries in raw().items() if kind != "needs"}
    every = (
        figure for kind in kinds for name, entry in kinds[kind].items() for figure in members(kind, name, {**entry})
    )
    return {figure.name: figure for figure in every}


@cache
def needs() -> dict[str, Need]:
    """The requirements by name."""
    return {
        name: Need(one["reason"], tuple(one.get("files", ())), tuple(one.get("programs", ())))
        for name, one in raw()["needs"].items()
    }


def function(name: str) -> Callable[..., Any]:
    """The function MODULE.FUNCTION of this folder."""
    module, _, name = name.partition(".")
    return getattr(importlib.import_module(f"figures.{module}"), name)


def chosen(names: Iterable[str], there: Mapping[str, Figure]) -> list[Figure]:
    """The figures of these names or patterns, each once, in the order of the table; all if there are no names."""
    found = set()
    for name in names:
        matching = [one for one in there if fnmatchcase(one, name)]
        if not matching:
            near = difflib.get_close_matches(name, there, n=3)
            hint = f"; did you mean {' or '.join(near)}?" if near else "; `python -m figures --list` names them"
            raise LabError(f"there is no figure {name}{hint}", USAGE)
        found.update(matching)
    return [figure for name, figure in there.items() if name in found] if found else list(there.values())
