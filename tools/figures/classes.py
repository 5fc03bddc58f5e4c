"""Measures how long a class takes in each lab in which students write code.

A class is CLASS submissions: the solution, the starter, and up to KINDS - 2 drawn changes of the solution, as
tests/mutation/labs.py draws them. These are repeated, each time with another comment, until the class is full. A lab
that was graded before an interruption is not graded again.
"""

from __future__ import annotations

import importlib
import itertools
import sys
import tempfile
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
    changed = (right | {file: text} for file, _, _, text in drawing.drawn(name, 1))
    return [right, given, *itertools.islice(changed, KINDS - 2)]


def hand_in(name: str, folder: Path) -> int:
    """Fills a folder with the submissions of a class; returns the number of kinds."""
    kinds = qualities(name)
    for number in range(CLASS):
        for file, text in kinds[number % len(kinds)].items():
            path = folder / f"student{number:03}" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + (f"\n/* student {number} */\n" if file.endswith(".c") else ""))
    return len(kinds)


def minutes(name: str, work: Path) -> tuple[str, str]:
    """(number of kinds, minutes) of a class, as texts."""
    kept = work / f"{name}.txt"
    if not kept.exists():
        with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as scratch:
            kinds = hand_in(name, Path(scratch, "class"))
            command = ["build/venv/bin/tidemark", "grade-class", f"{scratch}/class", "--lab", name]
            took = timed([*command, "-q", "--out", f"{scratch}/out"])
        kept.write_text(f"{kinds} {took / 60:.1f}\n")
    kinds_text, took_text = kept.read_text().split()
    return kinds_text, took_text


def make(figure: Figure, work: Path) -> str:
    timed(["make", "grade-base"])
    drawing.copy_tree()
    rows = [[f"`{name}`", *minutes(name, work)] for name in drawing.labs()]
    return f"{host()}; {CLASS} submissions.\n\n{table(['lab', 'kinds of submissions', 'minutes'], rows)}"
