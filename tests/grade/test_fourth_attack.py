"""Findings of a fourth attack on the grader: a test for each hole that was closed."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from tidemark.grade.build import object_form, object_rules, plain_c
from tidemark.grade.build.elf import Elf
from tidemark.grade.build.workspace import compiler
from tidemark.grade.intake import lab
from tidemark.machine import qemu

FIFO = "kernel/mm/policy/fifo.c"


def compiled(folder: Path, text: str) -> str:
    """The name in the folder of the object of this text."""
    (folder / "fifo.c").write_text(text)
    words = [*compiler(), "-std=gnu11", "-g", "-w", "-save-temps=obj", "-c", "-o", "fifo.o", "fifo.c"]
    subprocess.run(words, cwd=folder, check=True)
    return "fifo.o"


WORDS = {"assembly": "asm " * 15_000, "brackets": "[" * 8_000 + "]" * 8_000}


@pytest.mark.parametrize("what", WORDS)
def test_attribute_of_many_words_is_read_at_once(what: str, tmp_path: Path) -> None:
    """Time that grew with the square of their number kept the grader busy for hours."""
    name = compiled(tmp_path, f"[[some::thing({WORDS[what]})]] int x;\n")
    begun = time.process_time()
    found = plain_c.offences(tmp_path, name, (FIFO,))
    assert time.process_time() - begun < 5 and bool(found) == (what == "assembly")


@pytest.mark.parametrize("what", ["uses", "defines"])
def test_many_names_are_not_looked_up_one_by_one(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each took a run of nm: for 20,000 names it ran for hours."""
    clock, nr = lab.load(qemu.ROOT, "clock"), 1000
    uses = "".join(f"extern int n{at}(void); int u{at}(void) {{ return n{at}(); }}" for at in range(nr))
    name = compiled(tmp_path, uses)
    looked: list[str] = []

    def place(symbol: str) -> str:
        looked.append(symbol)
        return FIFO

    monkeypatch.setattr(object_rules, "line_of_symbol", lambda tree, file, name, symbol: place(symbol))
    if what == "uses":
        found = object_rules.symbol_offences(tmp_path, clock, name)
    else:
        found = object_form.offences(clock, FIFO, Elf(tmp_path / name), place)
    assert len(looked) <= object_form.MOST_SHOWN and len(found) == object_form.MOST_SHOWN + 1
    assert found[-1].startswith("and ") and found[-1].endswith(" more")
