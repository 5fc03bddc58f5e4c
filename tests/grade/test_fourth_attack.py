"""Findings of a fourth attack on the grader: a test for each hole that was closed."""

from __future__ import annotations

import json
import os
import subprocess
import time
import zipfile
from pathlib import Path

import pytest
from grading import solution, starter
from tidemark.commands import viva
from tidemark.errors import LabError
from tidemark.grade.build import object_form, object_rules, plain_c
from tidemark.grade.build.elf import Elf
from tidemark.grade.build.workspace import compiler
from tidemark.grade.intake import lab
from tidemark.grade.judge.broken import own_lines
from tidemark.grade.judge.kinds import cut
from tidemark.machine import plugin, qemu
from tidemark.runs import results
from tidemark.telemetry import events
from trials import changed, trial

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


def malformed(folder: Path) -> dict[str, str]:
    """Results by their students' names, each malformed in another way, with a word of what is said."""
    meta = {"schema": 1, "kind": "run", "state": "done", "exit": 0, "image": {"sha256": "0"}}
    settings = {"exact": True, "cmdline": "", "vm": "clock", "timeout": 60}
    ways = {
        "ada": (meta, "KeyError"),
        "bob": (meta | {"settings": settings | {"disk": str(folder)}}, "its disk is a folder"),
        "cleo": (meta | {"settings": settings | {"timeout": 1e9}}, "TIMEOUT"),
        "dora": (meta | {"settings": settings, "image": {"sha256": "\x1b[2J"}, "files": []}, "cannot be read"),
        "erik": (meta | {"settings": settings, "files": {"/dev/zero": {"sha256": "0"}}}, "not a file of a result"),
    }
    for name, (made, _) in ways.items():
        (folder / name / "image/build").mkdir(parents=True)
        (folder / name / results.META).write_text(json.dumps(made))
        for file in (qemu.KERNEL, qemu.INITRD, plugin.SYMBOLS):
            (folder / name / "image" / file).write_bytes(b"")
    for name in ("fay", "gil", "hal", "ida"):
        (folder / name).mkdir()
        (folder / name / results.META).write_text("[" * 100_000 if name == "fay" else "{}")
    (folder / "gil" / results.CONSOLE).symlink_to("/dev/zero")
    os.mkfifo(folder / "hal" / results.TELEMETRY)
    with zipfile.ZipFile(folder / "ida" / events.FILE, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("kind.npy", bytes((1 << 30) + 1))
    said = {name: word for name, (_, word) in ways.items()}
    return said | {"fay": "Recursion", "gil": "is a link", "hal": "is a link", "ida": "make a shorter run"}


def test_malformed_result_costs_its_own_viva(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A crash ended the command for all students; a file without an end stopped it for ever."""
    (tmp_path / "runs").mkdir()
    said = malformed(tmp_path / "runs")
    (tmp_path / "key").write_bytes(b"a course's secret of 2027")
    with pytest.raises(LabError, match=f"0 sheets were made, {len(said)} could not be"):
        viva.viva(tmp_path / "runs", tmp_path / "key", tmp_path / "viva.html", tmp_path / "keys.html", quiet=True)
    told = capsys.readouterr().err
    for name, word in said.items():
        (line,) = (line for line in told.splitlines() if line.startswith(f"tidemark: {name}: "))
        assert word in line, line
    assert "\x1b" not in told


def test_long_line_is_not_changed() -> None:
    """One of 100,000 characters took all memory, since it has 100,000 changes, each with its text."""
    short = "static int few = 1 + 1;\n"
    found = list(own_lines.possible(FIFO, f"{short}static int sum = {1000 * '1+'}1;\n", ""))
    assert found and {change.line for change in found} == {1}


AHEAD = "kernel/mm/cache/ahead.c"
COMPUTES = """static volatile u32 burnt;

	(void)ahead, (void)index;
	for (u32 i = 0; i < 20000; i++)
		burnt++;
	return false;"""


@pytest.mark.graded
def test_kernel_that_computes_meanwhile_has_waited(tmp_path: Path) -> None:
    """Of the machine's time, only idle time counted as waiting."""
    tried = trial("readahead", tmp_path)
    tried.lay(changed(starter("readahead", AHEAD), "(void)ahead, (void)index;\n\treturn false;", COMPUTES))
    verdict = tried.judge(tried.test("the disk works while the program computes"))
    assert verdict.fraction == 0 and "ms of waiting for the disk" in verdict.message


FLOODS = """static u32 number;

	for (u32 i = 0; i < 1000; i++) {
		number++;
		memcpy(fs->super.data + 0x300, &number, sizeof(number));
		buf_dirty(&fs->super);
		buf_sync_all(sb->bdev);
	}
	u32 nr = ++fs->flushes_begun;
"""


@pytest.mark.graded
def test_flood_of_requests_is_not_cut_at_each(tmp_path: Path) -> None:
    """A run with 300,000 requests would have filled memory with media, and /dev/shm with files for e2fsck."""
    tried = trial("crash", tmp_path)
    tried.lay(changed(solution("kernel/fs/ext2/order.c"), "u32 nr = ++fs->flushes_begun;\n", FLOODS))
    verdict = tried.judge(tried.test("create: a name that was synced has its file"))
    assert verdict.fraction == 0 and "the disk got 10," in verdict.message


@pytest.mark.graded
def test_cuts_of_several_lots_are_all_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut, "TOGETHER", 7)
    tried = trial("crash", tmp_path)
    test = tried.test("rename: a file has one of its names")
    for text, fraction in ((solution(tried.file), 1), (starter("crash", tried.file), 0)):
        tried.lay(text)
        assert tried.judge(test).fraction == fraction
