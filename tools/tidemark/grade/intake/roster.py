"""The names of a class: the roster, a file with one name per line, and the names of submissions.

What a student gets (a quiz, a rule) is drawn by the plain form of the name (personal.plain_name), so two names with one
plain form cannot be told apart. Such names, and names that are not on the roster, get a sentence; all others go on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tidemark.errors import BAD_INPUT, LabError
from tidemark.grade.judge.quiz.personal import owner, plain_name


@dataclass(frozen=True)
class Roster:
    """The names of a class by their plain forms, which name files; `refused`: a sentence for each line left out."""

    file: str
    names: dict[str, str]
    refused: tuple[str, ...] = ()

    def strangers(self, names: Iterable[str]) -> dict[str, str]:
        """A sentence for each name of a submission that is not on the roster."""
        unknown = [name for name in names if plain_name(owner(name)) not in self.names]
        return {name: f"{owner(name)!r} is not on the roster {self.file}: name it as there" for name in unknown}


def read(path: Path) -> Roster:
    """The roster in a file. Raises LabError if the file cannot be read, or has no names."""
    try:
        lines = [line.strip() for line in path.read_text("utf-8-sig").splitlines()]
    except (OSError, ValueError) as error:
        raise LabError(f"{path} cannot be read: {getattr(error, 'strerror', '') or error}", BAD_INPUT) from None
    names = [line for line in lines if line and not line.startswith("#")]
    if not names:
        raise LabError(f"{path} has no names; write one per line", BAD_INPUT)
    refused = [f"{name!r} is not a name" for name in names if not is_name(name)]
    twice = clashes(name for name in names if is_name(name))
    good = {plain_name(name): name for name in names if is_name(name) and name not in twice}
    return Roster(path.name, good, (*refused, *dict.fromkeys(twice.values())))


def is_name(name: str) -> bool:
    """Can a quiz be drawn for this name?"""
    return bool(plain_name(name)) and name.isprintable()


def clashes(names: Iterable[str]) -> dict[str, str]:
    """A sentence for each name, also of a submission, that is one name with another to the draw."""
    same: dict[str, list[str]] = {}
    for name in names:
        same.setdefault(plain_name(owner(name)), []).append(name)
    several = [found for found in same.values() if len(found) > 1]
    said = "{} are one name to the draw: change one"
    return {name: said.format(" and ".join(map(repr, found))) for found in several for name in found}


def misnamed(names: Iterable[str], roster: Path | None, drawn: bool = True) -> dict[str, str]:
    """A sentence for each name of a submission that is not on the roster, if there is one, or that is one name with
    another; the latter only if something is `drawn` by the name. Raises LabError as `read` does, and if no name is on
    the roster, which then is another class's."""
    known = list(names)
    strangers = read(roster).strangers(known) if roster else {}
    if known and len(strangers) == len(known):
        raise LabError(f"no submission has a name of the roster {roster}: is it that of another class?", BAD_INPUT)
    return strangers | (clashes(known) if drawn else {})
