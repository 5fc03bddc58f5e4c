"""Measures how long a class takes in each lab that has files to hand in.

The submissions are the solution, the starter, and up to KINDS - 2 drawn changes of the solution, as
tests/mutation/labs.py draws them, if the lab has code. The time of a class is that of these, in proportion, and not
less: they keep all cores busy but for the last one. Before, the solution is graded, not timed, so that all that is
measured once per release is known. A lab that was graded before an interruption is not graded again.
"""

from __future__ import annotations

import importlib
import itertools
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tidemark.grade.build import starters
from tidemark.grade.intake import lab as labs

from figures.common import host, table, timed
from figures.entries import ROOT, Figure

sys.path.insert(0, str(ROOT / "tests/mutation"))
drawing = importlib.import_module("labs")

CLASS, KINDS = 100, 20


def qualities(name: str) -> list[dict[str, str]]:
    """The texts of the files of each kind of submission."""
    lab = labs.load(ROOT, name)
    right = {file: (ROOT / file).read_text() for file in lab.files if (ROOT / file).exists()}
    given = {file: data.decode() for file, data in starters.of_labs([lab]).items()}
    drawn = drawing.drawn(name, 1) if name in drawing.labs() else ()
    changed = (right | {file: text} for file, _, _, text in drawn)
    return [right, given, *itertools.islice(changed, KINDS - 2)]


def names() -> list[str]:
    """The labs with files to hand in, in their order."""
    found = {path.parent.name: drawing.of_toml(path.parent.name) for path in ROOT.glob("labs/*/lab.toml")}
    return sorted((name for name, lab in found.items() if lab["files"]), key=lambda name: found[name]["number"])


def hand_in(kinds: Sequence[dict[str, str]], folder: Path) -> None:
    """Fills a folder with a submission of each kind."""
    for number, files in enumerate(kinds):
        for file, text in files.items():
            path = folder / f"student{number:02}" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def graded(name: str, kinds: Sequence[dict[str, str]], scratch: Path) -> float:
    """Seconds to grade a submission of each kind."""
    hand_in(kinds, scratch / "class")
    command = ["build/venv/bin/tidemark", "grade-class", scratch / "class", "--lab", name]
    return timed([*command, "-q", "--out", scratch / "out"])


def measured(name: str, work: Path) -> tuple[int, float]:
    """(number of submissions, seconds that they took)."""
    kept = work / f"{name}.txt"
    if not kept.exists():
        kinds = qualities(name)
        with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as scratch:
            graded(name, kinds[:1], Path(scratch, "first"))
            took = graded(name, kinds, Path(scratch, "all"))
        kept.write_text(f"{len(kinds)} {took}\n")
    nr_text, took_text = kept.read_text().split()
    return int(nr_text), float(took_text)


def row(name: str, work: Path) -> list[str]:
    """A row of the table."""
    nr, took = measured(name, work)
    return [f"`{name}`", str(nr), f"{took:.0f}", f"{took / nr * CLASS / 60:.1f}"]


def make(figure: Figure, work: Path) -> str:
    timed(["make", "grade-base"])
    drawing.copy_tree()
    head = ["lab", "submissions graded", "seconds", f"minutes for {CLASS}"]
    return f"{host()}.\n\n{table(head, [row(name, work) for name in names()])}"
